"""The page as one self-contained HTML file with style, scripts and data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

__all__ = ["page_of"]

SCRIPTS = ("base.js", "figures.js", "cards.js", "report.js")


def page_of(title: str, data: dict[str, Any]) -> str:
    """Return the HTML of a report.

    The policy in its head lets a browser run this very script and style, and load nothing at all. What the user named
    is in the data, which is not part of either.
    """
    script = "(() => {\n" + '"use strict";\n' + READ_DATA + "\n".join(_file(name) for name in SCRIPTS) + "})();\n"
    style = _file("report.css")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title.encode("utf-8", "replace").decode("utf-8")),
        "style": style,
        "data": json_in_html(data),
        "script": script,
    }
    # One pass over the template, so that placeholders in the inserted text are not replaced.
    pieces = _file("report.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


READ_DATA = 'const DATA = JSON.parse(document.getElementById("data").textContent);\n'


def json_in_html(data: object) -> str:
    """Return JSON that may stand in a script element: ASCII only, and nothing in it that could end the element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _file(name: str) -> str:
    return resources.files("glasswood.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
