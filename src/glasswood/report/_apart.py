"""Where partial dependence and accumulated local effects (ALE) differ: features whose curve rests on unlikely rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.results import Ale, Ales
from glasswood.study._ale import ale
from glasswood.study._ale_bins import plan_ale
from glasswood.study._view import View

__all__ = ["Apart", "apart_of"]

LIMIT, ERRORS = 0.1, 2.0  # standard deviations of the score; standard errors of the gap


@dataclass(frozen=True, eq=False)
class Apart:
    """A feature whose two curves differ, and by how many standard deviations of the score."""

    ale: Ale
    gap: float
    error: float | None


def apart_of(raw: View) -> dict[str, Apart]:
    """Return the features whose curves differ beyond the limit, the largest gap first; none if that is not known.

    Gaps are those of the raw score, and the largest of all outputs.
    """
    try:
        found = {name: _judged(own) for name, own in cast(Ales, ale(raw, plan_ale(raw.study, ()))).items()}
    except GlasswoodError:  # a Background that has no local effects, or too many counts
        return {}
    beyond = {
        name: one
        for name, one in found.items()
        if one.gap > LIMIT and (one.error is None or one.gap > ERRORS * one.error)
    }
    return dict(sorted(beyond.items(), key=lambda item: -item[1].gap))


def _judged(own: Ale) -> Apart:
    gaps = np.atleast_1d(own.gap)
    k = int(np.nanargmax(gaps)) if not np.isnan(gaps).all() else 0
    error = float(np.atleast_1d(own.gap_error)[k]) if gaps[k] > LIMIT and own.find_left_out is not None else None
    return Apart(own, float(np.nan_to_num(gaps[k])), error)
