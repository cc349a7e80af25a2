"""Small HTML tables for notebooks. All names and categories are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from glasswood.text._plain import text_of
from glasswood.text._printable import printable

__all__ = ["facts_html", "table_html"]

MAX_ROWS = 20


def table_html(caption: str, columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]) -> str:
    """Return a table with a caption, given as one sequence per column; long tables are truncated with a note.

    Colours and fonts are left to the page, so that the table is readable in light and dark themes.
    """
    lists = [list(column) for column in columns.values()]
    n_rows = max(map(len, lists), default=0)
    lines = [f'<table class="glasswood"><caption>{_escaped(caption)}</caption>', "<thead><tr>"]
    lines += [f'<th scope="col">{_escaped(name)}</th>' for name in columns]
    lines.append("</tr></thead><tbody>")
    for row in zip(*(column[:MAX_ROWS] for column in lists), strict=True):
        lines.append("<tr>" + "".join(_cell(value) for value in row) + "</tr>")
    if n_rows > MAX_ROWS:
        lines.append(f'<tr><td colspan="{len(lists)}">… {n_rows - MAX_ROWS:,} more</td></tr>')
    lines.append("</tbody></table>")
    return "\n".join(lines)


def facts_html(caption: str, facts: Mapping[str, Any]) -> str:
    """Return names and values, one per line, as a table with a caption."""
    style = 'style="text-align: left"'
    lines = [f'<table class="glasswood"><caption style="white-space: nowrap">{_escaped(caption)}</caption><tbody>']
    lines += [
        f'<tr><th scope="row" {style}>{_escaped(name)}</th><td {style}>{_escaped(text_of(value))}</td></tr>'
        for name, value in facts.items()
    ]
    return "\n".join([*lines, "</tbody></table>"])


def _cell(value: object) -> str:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    style = ' style="text-align: right"' if number else ' style="text-align: left"'
    return f"<td{style}>{_escaped(text_of(value))}</td>"


def _escaped(value: object) -> str:
    return escape(printable(value))
