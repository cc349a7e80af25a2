"""The panel of a rating table: how far the entries of each feature are apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glasswood.plots._spec import Bars
from glasswood.questions.rating_tables._result import RatingTable
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import scale_label
from glasswood.results.panels._rankings import Ranked, joined, ranked_bars

__all__ = ["panel_of_rating_table"]


@drawn(RatingTable)
def panel_of_rating_table(result: RatingTable, *, top: int = 20) -> Bars:
    """Return the panel of a `RatingTable`: how far the entries of each feature and pair are apart."""
    spans = sorted(result.spans.items(), key=lambda item: -item[1])
    heights = np.array([span for _, span in spans]).reshape(-1, 1)
    ranked = Ranked(heights, [name for name, _ in spans], (result.output,), result.units)
    units = scale_label(result.units, ranked.outputs, [0], average=False)
    bars = ranked_bars(ranked, None, top, "Entries of the rating table", f"largest minus smallest entry ({units})")
    return replace(bars, note=joined(bars.note, result.remainder_text))
