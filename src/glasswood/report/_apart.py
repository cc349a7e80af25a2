"""Where partial dependence and accumulated local effects (ALE) differ: features whose curve rests on unlikely rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.models._outputs import Chosen
from glasswood.results import Ale
from glasswood.study._scope import Scope

__all__ = ["Apart", "apart_of"]

LIMIT, ERRORS = 0.1, 2.0  # standard deviations of the score; standard errors of the gap


@dataclass(frozen=True, eq=False)
class Apart:
    """A feature whose two curves differ, and by how many standard deviations of the score."""

    ale: Ale
    gap: float
    error: float | None


def apart_of(raw: Scope, outputs: Chosen) -> dict[str, Apart]:
    """Return the features whose curves differ beyond the limit, the largest gap first; none if that is not known.

    Gaps are those of the raw score, and the largest of all outputs.
    """
    local = raw.study.local
    try:
        ales = raw.local.all(local.features, local.bins(local.features, None), None, outputs)
        found = {name: _judged(ale) for name, ale in ales.items()}
    except GlasswoodError:  # a Background that has no local effects, or too many counts
        return {}
    beyond = {
        name: one
        for name, one in found.items()
        if one.gap > LIMIT and (one.error is None or one.gap > ERRORS * one.error)
    }
    return dict(sorted(beyond.items(), key=lambda item: -item[1].gap))


def _judged(ale: Ale) -> Apart:
    gaps = np.atleast_1d(ale.gap)
    k = int(np.nanargmax(gaps)) if not np.isnan(gaps).all() else 0
    error = float(np.atleast_1d(ale.gap_error)[k]) if gaps[k] > LIMIT and ale.find_left_out is not None else None
    return Apart(ale, float(np.nan_to_num(gaps[k])), error)
