"""The directive `results`: a link to a page that a benchmark writes, if it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Results(SphinxDirective):
    """A sentence with a link to a page of results beside this one."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sentence."""
        name = self.arguments[0]
        there = (Path(self.env.doc2path(self.env.docname)).parent / name).exists()
        text = f"The results are on [a page of their own]({name})." if there else "No results are stored yet."
        holder = nodes.container()
        self.state.nested_parse(StringList([text], source=name), 0, holder)
        return list(holder.children)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
