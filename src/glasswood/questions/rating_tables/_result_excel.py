"""Tables as an Excel workbook: the only place that knows XlsxWriter."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from glasswood.errors import MissingExtraError, TooLargeError

__all__ = ["Sheet", "workbook"]


MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet of Excel

LONGEST = 31  # characters of the name of a sheet

FORBIDDEN = str.maketrans("[]:*?/\\'", "()______")


Sheet = tuple[str, Sequence[Sequence[Any]], int]

"""A name, lines of cells, and the number of lines that are heads."""


def workbook(sheets: Sequence[Sheet], widths: Mapping[int, int]) -> bytes:
    """Return a workbook of some sheets, with the widths of columns in letters.

    Texts are written as texts, never as formulas or links. Numbers that are infinite or missing are empty.
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise MissingExtraError.of("xlsxwriter", extra="excel", what="writing Excel files") from error
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    head = book.add_format({"bold": True, "bottom": 1})
    number = book.add_format({"num_format": "0.000000"})
    taken: set[str] = set()
    for name, lines, n_heads in sheets:
        if len(lines) > MAX_ROWS or max(map(len, lines), default=0) > MAX_COLUMNS:
            message = (
                f"{name} has {len(lines):,} lines of {max(map(len, lines)):,} cells, too many for a sheet of Excel; "
                "write CSV, or leave the pair out"
            )
            raise TooLargeError(message)
        sheet = book.add_worksheet(_free(name, taken))
        for column, width in widths.items():
            sheet.set_column(column, column, width)
        sheet.freeze_panes(n_heads, 0)
        for row, line in enumerate(lines):
            for column, value in enumerate(line):
                _write(sheet, (row, column), value, head if row < n_heads else number)
    book.close()
    return file.getvalue()


def _write(sheet: Any, place: tuple[int, int], value: Any, style: Any) -> None:
    if isinstance(value, str):
        sheet.write_string(*place, value, style)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) < float("inf"):  # neither infinite nor missing
            sheet.write_number(*place, value, style)
    elif value is not None:
        sheet.write_string(*place, str(value), style)


def _free(name: str, taken: set[str]) -> str:
    """Return a name of a sheet that Excel allows, and that no other sheet has."""
    plain = "".join(c for c in name.translate(FORBIDDEN) if c.isprintable())[:LONGEST] or "sheet"
    result, number = plain, 1
    while result.casefold() in taken or result.casefold() == "history":
        number += 1
        result = f"{plain[: LONGEST - len(str(number)) - 1]} {number}"
    taken.add(result.casefold())
    return result
