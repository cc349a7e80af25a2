"""SummaryPlan: what `summarize` knows before its pass over the rows."""

from __future__ import annotations

from typing import NamedTuple

from glasswood.counting._plan import CountPlan
from glasswood.engines._pass import Pass
from glasswood.models._opened import Opened
from glasswood.models._scale import Scale
from glasswood.tables._row_values import RowColumns

__all__ = ["SummaryPlan"]


class SummaryPlan(NamedTuple):
    """What `summarize` knows before its pass over the rows. Questions add what they need counted.

    Parameters
    ----------
    model : Opened
    plan : CountPlan
        What is counted in any case.
    scale : Scale
        The scale on which questions will be asked.
    columns : RowColumns
        What was observed for each row, and the like.
    rows : Pass
        The rows, which may be counted for this first.
    sample_weight : array, name of a column or None
    """

    model: Opened
    plan: CountPlan
    scale: Scale
    columns: RowColumns
    rows: Pass
    sample_weight: object
