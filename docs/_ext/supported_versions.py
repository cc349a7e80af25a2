"""The directive `supported-versions`: a table of libraries, from pyproject.toml and the two files of constraints."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def pins(path: Path) -> dict[str, str]:
    """Return the version of each library in a file of constraints."""
    lines = (line.split("==") for line in path.read_text(encoding="utf-8").splitlines() if "==" in line)
    return {name.lower().replace("_", "-"): version for name, version in lines}


class SupportedVersions(SphinxDirective):
    """One line per library that Glasswood declares."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        root = Path(self.env.srcdir).parent
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project["optional-dependencies"].values()
        listed = [*project["dependencies"], *(one for extra in extras for one in extra)]
        found = (re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", one) for one in listed)
        declared = {match[1]: match[2] for match in found if match}
        oldest, newest = pins(root / "constraints-minimum.txt"), pins(root / "constraints.txt")
        lines = ["| library | declared | oldest tested | tested |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {version} or newer | {oldest.get(name, 'untested')} | {newest.get(name, 'untested')} |"
            for name, version in declared.items()
        ]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source="pyproject.toml"), 0, holder)
        return list(holder.children)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("supported-versions", SupportedVersions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
