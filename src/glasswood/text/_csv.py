"""Cells of CSV files, which spreadsheets open: no text is evaluated as a formula."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

__all__ = ["safe_cell"]

# Characters that start a formula in spreadsheets, including full-width forms.
FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def safe_cell(value: object) -> Any:
    """Return a cell of a CSV file that no spreadsheet interprets as a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("-1.5"), safe_cell(-1.5)
    ("'=1+1", '-1.5', '-1.5')
    """
    if isinstance(value, str):
        harmless = not FORMULA.match(value) or NUMBER.fullmatch(value)
        return value if harmless else f"'{value}"
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else value
