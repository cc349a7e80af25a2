"""Panels of importance: a bar per feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glasswood.plots._spec import Bars
from glasswood.questions.importance._result import Importance
from glasswood.questions.importance._result_permutation import PermutationImportance, text_of_loss
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import outputs_shown, scale_label
from glasswood.results.panels._rankings import first_of, joined, ranked_bars
from glasswood.text._plain import number, plain

__all__ = ["panel_of_importance", "panel_of_permutation"]


KINDS = {"total": "root mean squared change if redrawn", "main": "standard deviation of the curve"}


@drawn(Importance)
def panel_of_importance(importance: Importance, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of an `Importance`: a bar per feature, the most important first."""
    title = "Importance" if importance.kind == "total" else "Importance of curves alone"
    shown, _ = outputs_shown(np.asarray(importance.heights), importance.outputs, output)
    units = scale_label(importance.units, importance.outputs, shown, average=False)
    result = ranked_bars(importance, output, top, title, f"{KINDS[importance.kind]} ({units})")
    return replace(result, note=joined(_sample(importance), result.note))


@drawn(PermutationImportance)
def panel_of_permutation(importance: PermutationImportance, *, top: int = 20) -> Bars:
    """Return the panel of a `PermutationImportance`: a bar per feature, with its band if it has one."""
    order, some = first_of(np.arange(len(importance.names)), top)
    reach = importance.reach
    return Bars(
        title="Permutation importance",
        x_label=f"increase of the mean {text_of_loss(importance.loss)}, which is {number(importance.base)}",
        labels=tuple(plain(importance.names[i]) for i in order),
        values=(tuple(np.asarray(importance.values)[order].tolist()),),
        reach=() if reach is None else tuple(np.asarray(reach)[order].tolist()),
        note=joined(some, _sample(importance), "lines: bands of 95 %" if reach is not None else ""),
    )


def _sample(result: Importance | PermutationImportance) -> str:
    """Return a note if only some rows were used."""
    return f"from a sample of {result.n_rows:,} rows" if result.sampled else ""
