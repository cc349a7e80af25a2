"""Write docs/contributing/public-names.md: every public name with its arguments, and what it was before.

The names are those of `tests/contract/golden/names.json`. What they were before is kept in the page itself, or taken
from the names of another commit: `python tools/public_names.py --before FILE`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAMES = ROOT / "tests" / "contract" / "golden" / "names.json"
PAGE = ROOT / "docs" / "contributing" / "public-names.md"
HEAD = """# Public names

Every public name with its arguments; `name=` are arguments by name with a default. "Before" is what the name was before
the names were revised for the first release, if that differs. `python tools/public_names.py` writes this page, and a
test compares it with the names. [Old and new names](names.md) lists the names inside the package.
"""
NONE = "no such name"


def signature(name: str, arguments: list[str]) -> str:
    """Return a name with its arguments, without the defaults; those by name are sorted."""
    named = [argument for argument in arguments if argument.endswith(" (by name)")]
    ordered = [argument for argument in arguments if argument not in named and argument != "self"]
    shown = [re.sub(r"=.*| \(by name\)", lambda match: match[0][:1].strip(), one) for one in [*ordered, *sorted(named)]]
    return f"{name}({', '.join(shown)})"


def entries(names: dict[str, Any]) -> dict[str, str]:
    """Return every public name, and how it is written with its arguments."""
    result: dict[str, str] = {}
    for module, own in names.items():
        for name, what in own.items():
            place = f"{module}.{name}".removeprefix("glasswood.")
            if isinstance(what, list):
                result[place] = signature(name, what)
                continue
            result[place] = name
            result |= {f"{place}.{one}": one for one in what.get("attributes", ())}
            result |= {f"{place}.{one}": signature(one, own) for one, own in what.get("methods", {}).items()}
    return result


def read_before(text: str, now: dict[str, str]) -> dict[str, str]:
    """Return what names were before, as an earlier form of the page says."""
    result, place = dict(now), ""
    for line in re.sub(r"\n {2}(?=\S)", " ", text).splitlines():
        if match := re.match(r"## (\S+)", line):
            place = match[1].removeprefix("Functions,")
        elif match := re.match(r"- `([\w.]+).*?`(?:\. Before: (?:`(.+)`|no such name))?$", line):
            key = f"{place}.{match[1]}".removeprefix(".")
            if " Before: " in line:
                result[key] = match[2] or NONE
        elif match := re.match(r"- Gone: `([\w]+).*`$", line):
            result[f"{place}.{match[1]}"] = line[len("- Gone: `") : -1]
    return result


def page(now: dict[str, str], before: dict[str, str]) -> str:
    """Return the text of the page."""
    parts = [HEAD]
    classes = sorted({key for key in now if any(other.startswith(f"{key}.") for other in now)})
    functions = [key for key in now if key.rpartition(".")[0] not in classes and key not in classes]
    sections = {"": sorted(functions)} | {one: sorted(k for k in now if k.rpartition(".")[0] == one) for one in classes}
    for title, keys in sections.items():
        parts.append(f"\n## {title or 'Functions, and classes without methods'}\n\n")
        for key in keys:
            shown = now[key] if title else f"{key.rpartition('.')[0]}.{now[key]}".removeprefix(".")
            text = f"- `{shown}`"
            old = before.get(key, NONE)
            text += "" if old == now[key] else f". Before: {NONE if old == NONE else f'`{old}`'}"
            parts.append(_wrapped(text))
        gone = sorted(k for k in before if k not in now and k.rpartition(".")[0] == title and title)
        parts += [_wrapped(f"- Gone: `{before[key]}`") for key in gone]
    return "".join(parts)


def _wrapped(text: str) -> str:
    return (
        "\n".join(textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
        + "\n"
    )


def main() -> int:
    """Write the page; with --check, return 1 if it is not what it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--before", type=Path, help="the names.json of another commit")
    options = parser.parse_args()
    now = entries(json.loads(NAMES.read_text(encoding="utf-8")))
    if options.before is not None:
        before = entries(json.loads(options.before.read_text(encoding="utf-8")))
    else:
        before = read_before(PAGE.read_text(encoding="utf-8"), now)
    if options.check:
        return int(PAGE.read_text(encoding="utf-8") != page(now, before))
    PAGE.write_text(page(now, before), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
