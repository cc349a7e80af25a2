"""Panels of accumulated local effects: joined heights of numbers, dots of categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Band, Cells, Joined, Line, Scale, Steps
from glasswood.questions.ale._result import Ale
from glasswood.questions.ale._result_pair import AleSurface
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import OTHER_ROWS, as_tuples, one_output, outputs_shown, scale_label
from glasswood.text._plain import plain

__all__ = ["panel_of_ale", "panel_of_ale_surface"]


ALE, DEPENDENCE = "ALE", "partial dependence"


@drawn(Ale)
def panel_of_ale(
    ale: Ale, output: int | None = None, *, partial_dependence: bool = False, error: bool = False
) -> Joined | Steps:
    """Return the panel of an `Ale`: all outputs, or one."""
    heights = ale.heights
    shown, note = outputs_shown(heights, ale.outputs, output)
    alone = len(shown) == 1
    names = [ALE if alone and (partial_dependence or error) else plain(ale.outputs[k]) for k in shown]
    rows = np.asarray(ale.rows, dtype=np.float64)
    total = float(rows.sum()) + float(ale.missing_rows)
    support = tuple((rows / total).tolist()) if total > 0 else ()
    missing = [None if not np.isfinite(ale.missing_heights[k]) else float(ale.missing_heights[k]) for k in shown]
    lines = tuple(
        Line(name, tuple(heights[:, k].tolist()), height) for name, k, height in zip(names, shown, missing, strict=True)
    )
    bands = _bands(ale, heights, shown) if error else ()
    dependence = ale.dependence.reshape(heights.shape) if partial_dependence else heights
    beside = tuple(Line(DEPENDENCE, tuple(dependence[:, k].tolist())) for k in shown) if partial_dependence else ()
    label = f"ALE: change of {scale_label(ale.units, ale.outputs, shown, average=False)}"
    share = float(ale.missing_rows) / total if total > 0 else None
    weighted = ale.axis.weighted
    if ale.levels is None:
        return Joined(
            title=plain(ale.name),
            x_label=plain(ale.name),
            y_label=label,
            places=tuple(ale.edges.tolist()),
            lines=lines,
            empty=tuple((rows <= 0).tolist()),
            support=support,
            missing_share=share,
            bands=bands,
            faint=beside,
            weighted=weighted,
            note=note,
        )
    ordered = f"levels in the order {ale.ordered_by}"
    return Steps(
        title=plain(ale.name),
        x=Scale(plain(ale.name), labels=tuple(plain(level) for level in ale.levels)),
        y_label=label,
        lines=(*lines, *beside),
        support=support,
        missing_share=share,
        bands=bands,
        mean=0.0 if alone and not beside else None,
        weighted=weighted,
        note="; ".join(filter(None, (ordered, note))),
    )


@drawn(AleSurface)
def panel_of_ale_surface(surface: AleSurface, output: int | None = None) -> Cells:
    """Return the panel of an `AleSurface`: the mean of the four corners of each pair of bins."""
    k = one_output(surface.heights, surface.outputs, output, "a surface")
    h = surface.heights[..., k]
    rows = np.asarray(surface.rows, dtype=np.float64)
    share = rows / rows.sum() if rows.sum() > 0 else rows
    x, y = (
        Scale(plain(name), tuple(z.tolist()), view=(float(z[0]), float(z[-1])), cuts=tuple(z[1:-1].tolist()))
        for name, z in zip(surface.names, surface.edges, strict=True)
    )
    empty = f"{surface.empty_share:.0%} of the pairs of bins have no rows" if surface.empty_share else ""
    return Cells(
        title=f"{x.label} x {y.label}",
        x=x,
        y=y,
        z_label=f"ALE of both, beyond each alone ({scale_label(surface.units, surface.outputs, [k], average=False)})",
        heights=as_tuples(((h[1:, 1:] + h[1:, :-1] + h[:-1, 1:] + h[:-1, :-1]) / 4).T),
        density=as_tuples(share.T),
        diverging=True,
        x_support=tuple(share.sum(axis=1).tolist()),
        y_support=tuple(share.sum(axis=0).tolist()),
        weighted=surface.weighted,
        note=empty,
    )


def _bands(ale: Ale, heights: NDArray[np.float64], shown: list[int]) -> tuple[Band, ...]:
    """Return the bands of 95 % around lines."""
    off = ale.errors * ale.folds.multiple
    low, high = heights - off, heights + off
    return tuple(
        Band(OTHER_ROWS, tuple(low[:, k].tolist()), tuple(high[:, k].tolist()), line=place)
        for place, k in enumerate(shown)
    )
