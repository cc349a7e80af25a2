"""Names and numbers as people read them: shortened, free of control characters, with as many digits as matter."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

__all__ = ["number", "percent", "plain", "several", "share_of_rows", "shorten"]

# Characters that would break a line, or turn around the text after them.
HARMFUL = frozenset({"Cc", "Cs", "Zl", "Zp"})
MINUS = "\u2212"
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def plain(value: Any) -> str:
    """Return text on one line, without characters that control how others are shown."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    kept = (" " if unicodedata.category(c) in HARMFUL else c for c in text if c not in TURNING)
    return "".join(kept)


def shorten(value: Any, most: int = 28) -> str:
    """Return text of at most so many characters, with an ellipsis in the middle: names often differ at their ends."""
    text = plain(value)
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return text[: most - 1 - head].rstrip() + "…" + text[len(text) - head :].lstrip()


def several(texts: Iterable[Any], most: int = 28) -> list[str]:
    """Return shortened texts that still differ: those that would look alike get a number."""
    short = [shorten(text, most) or "(empty)" for text in texts]
    seen: dict[str, int] = {}
    result = []
    for text in short:
        seen[text] = seen.get(text, 0) + 1
        result.append(text if seen[text] == 1 else f"{shorten(text, most - 4)} ({seen[text]})")
    return result


def number(x: Any) -> str:
    """Return a number with four digits that matter, thousands apart."""
    x = float(x)
    if not math.isfinite(x):
        return "missing" if math.isnan(x) else ("∞" if x > 0 else "\u2212∞")
    if x == 0 or 1e-4 <= abs(x) < 1e7:
        digits = 0 if x == 0 else max(0, 3 - math.floor(math.log10(abs(x))))
        text = f"{x:,.{digits}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", MINUS)
    return f"{x:.3g}".replace("-", MINUS)


def percent(share: float) -> str:
    """Return a share as per cent: 0 % is nothing at all, and 100 % is everything."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1 - 1e-12:
        return "> 99.9 %"
    digits = 1 if 0 < share < 0.1 or 0.99 < share < 1 - 1e-12 else 0
    return f"{100 * share:.{digits}f} %"


def share_of_rows(share: float, *, weighted: bool) -> str:
    """Return a share of the rows, or of their weight."""
    return f"{percent(share)} of {'the weight' if weighted else 'rows'}"
