"""The directive `results`: includes a generated page if it is there, or says that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Results(SphinxDirective):
    """Includes a file of results that a benchmark writes, relative to the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed file."""
        path = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        if not path.exists():
            return [nodes.paragraph("", "No results of this benchmark are stored yet.")]
        self.env.note_dependency(str(path))
        lines = StringList(path.read_text(encoding="utf-8").splitlines(), source=str(path))
        holder = nodes.section()
        holder.document = self.state.document
        self.state.nested_parse(lines, 0, holder, match_titles=True)
        return list(holder.children)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
