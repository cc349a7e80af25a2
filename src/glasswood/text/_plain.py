"""Names and numbers as people read them: shortened, without control characters, with four significant digits."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any, SupportsFloat

import numpy as np

__all__ = ["number", "percent", "plain", "several", "share_of_rows", "shorten", "text_of"]

# Characters that would break a line, or change the direction of the text after them.
HARMFUL = frozenset({"Cc", "Cs", "Zl", "Zp"})
MINUS = "\u2212"
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def plain(value: object) -> str:
    """Return a value as text on one line, without characters that control how others are displayed."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    kept = (" " if unicodedata.category(c) in HARMFUL else c for c in text if c not in TURNING)
    return "".join(kept)


def shorten(value: object, max_: int = 28) -> str:
    """Return text of limited length, with an ellipsis in the middle because names often differ at their ends."""
    text = plain(value)
    if len(text) <= max_:
        return text
    head = (max_ - 1) // 2
    return text[: max_ - 1 - head].rstrip() + "…" + text[len(text) - head :].lstrip()


def several(texts: Iterable[Any], max_: int = 28) -> list[str]:
    """Return shortened texts, numbered where they would look the same."""
    short = [shorten(text, max_) or "(empty)" for text in texts]
    seen: dict[str, int] = {}
    result = []
    for text in short:
        seen[text] = seen.get(text, 0) + 1
        result.append(text if seen[text] == 1 else f"{shorten(text, max_ - 4)} ({seen[text]})")
    return result


def number(x: SupportsFloat) -> str:
    """Return a number with four significant digits and thousands separators."""
    x = float(x)
    if not math.isfinite(x):
        return "missing" if math.isnan(x) else ("∞" if x > 0 else MINUS + "∞")
    if x == 0 or 1e-4 <= abs(x) < 1e7:
        digits = 0 if x == 0 else max(0, 3 - math.floor(math.log10(abs(x))))
        text = f"{x:,.{digits}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", MINUS)
    return f"{x:.3g}".replace("-", MINUS)


def text_of(value: object) -> str:
    """Return a value as text: whole numbers with thousands separators, others with four digits, nothing for NaN."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return str(value)
    x = float(value)
    if math.isnan(x):
        return ""
    if math.isinf(x):
        return "∞" if x > 0 else MINUS + "∞"
    return (f"{round(x):,}" if x == round(x) and abs(x) < 1e15 else f"{x:.4g}").replace("-", MINUS)


def percent(share: float) -> str:
    """Return a share as a percentage; only exact zeros and ones are shown as 0 % and 100 %."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1 - 1e-12:
        return "> 99.9 %"
    digits = 1 if 0 < share < 0.1 or 0.99 < share < 1 - 1e-12 else 0
    return f"{100 * share:.{digits}f} %"


def share_of_rows(share: float, *, weighted: bool) -> str:
    """Return a share as a percentage of the rows, or of their weight."""
    return f"{percent(share)} of {'the weight' if weighted else 'rows'}"
