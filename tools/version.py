"""Check that version, changelog, citation and tag agree: `python tools/version.py v0.1.0`, or without a tag."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def find(path: str, pattern: str) -> tuple[str, ...]:
    """Return what a pattern finds first in a file of the checkout."""
    found = re.search(pattern, (CHECKOUT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return found.groups() if found else ()


def disagreements(tag: str | None = None) -> list[str]:
    """Return one sentence for each place that has another version or date than the package; none if all agree."""
    (version,) = find("src/glasswood/__init__.py", r'^__version__ = "(.*)"$')
    changelog = find("CHANGELOG.md", r"^## (\S+) \((.*)\)$")
    citation = find("CITATION.cff", r"^version: (\S+)\ndate-released: (\S+)$")
    sentences = []
    if changelog[:1] != (version,):
        sentences.append(f"the newest section of CHANGELOG.md is {changelog}, and glasswood.__version__ is {version}")
    if citation != changelog:
        sentences.append(f"CITATION.cff has {citation}, and CHANGELOG.md has {changelog}")
    if tag is not None and tag != f"v{version}":
        sentences.append(f"the tag is {tag}, and glasswood.__version__ is {version}")
    return sentences


if __name__ == "__main__":
    found = disagreements(*sys.argv[1:])
    sys.stdout.write("".join(f"{sentence}\n" for sentence in found))
    sys.exit(1 if found else 0)
