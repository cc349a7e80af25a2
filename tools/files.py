"""Write docs/contributing/files.md: every file of the package and of the core, with the first sentence in it."""

from __future__ import annotations

import ast
import re
import sys
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, CORE, PAGE = ROOT / "src" / "glasswood", ROOT / "src" / "core", ROOT / "docs" / "contributing" / "files.md"
HEAD = """# Files

Every file of `src/glasswood`, with the first paragraph of its docstring, and every header of `src/core`, with its first
comment. `python tools/files.py` writes this page, and a test compares it with the files.
[Architecture](architecture.md) describes how they belong together.
"""


def summary(path: Path) -> str:
    """Return the first paragraph of the docstring of a file, on one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.sub(r"\s+", " ", docstring.partition("\n\n")[0])


def comment(path: Path) -> str:
    """Return the first sentence of the comment with which a file of the core begins."""
    lines = takewhile(lambda line: line.startswith("//"), path.read_text(encoding="utf-8").splitlines())
    text = " ".join(line.removeprefix("//").strip() for line in lines)
    return re.split(r"(?<=[.:]) (?=[A-Z])", text)[0]


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    folders = sorted({path.parent for path in PACKAGE.rglob("*.py")}, key=lambda folder: folder.parts)
    for folder in folders:
        name = folder.relative_to(PACKAGE.parent).as_posix()
        parts.append(f"\n## {name}\n\n{summary(folder / '__init__.py')}\n")
        files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        parts += [f"\n`{path.stem}`\n: {summary(path)}\n" for path in files]
    parts.append("\n## src/core\n\nThe compiled core. A header and the file of the same name belong together.\n")
    parts += [f"\n`{path.name}`\n: {comment(path)}\n" for path in sorted(CORE.glob("*.h"))]
    return "".join(parts)


def main() -> int:
    """Write the page; with --check, return 1 if it is not what it should be."""
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
