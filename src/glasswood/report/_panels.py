"""Panels for the page: cells merged where there are too many of them, numbers rounded, everything as plain JSON."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._cuts import shown_cuts
from glasswood.plots._spec import Band, Cells, Line, Scale, Steps
from glasswood.results.panels._display import MAX_STEPS, fitted, merged_pale, merged_scale, without_drawn

__all__ = ["anchors", "cells_json", "merge_runs", "merged_cells", "merged_steps", "rounded", "steps_json"]

DIGITS = 6
SEARCHES = 16  # halvings of the tolerance: it is right to one part in 65,536


def rounded(x: float | None, digits: int = DIGITS) -> float | int | None:
    """Return a number rounded to significant digits, as an integer where possible; None if it is not finite."""
    if x is None or not math.isfinite(x):
        return None
    short = float(f"{x:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def anchors(kind: str, names: Sequence[str]) -> list[str]:
    """Return an anchor of the page for each name: the same name has the same one in every report, if it can."""
    result: list[str] = []
    taken: set[str] = set()
    for name in names:
        ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        slug = re.sub("[^A-Za-z0-9]+", "-", ascii_name).strip("-").lower()[:60]
        anchor = first = f"{kind}-{slug}" if slug else kind
        for k in range(2, len(names) + 2):
            if anchor not in taken and anchor != kind:
                break
            anchor = f"{first}-{k}"
        taken.add(anchor)
        result.append(anchor)
    return result


def distinct(values: Sequence[float]) -> list[float | int | None]:
    """Return sorted numbers with the fewest digits, at least six, that preserve the gaps between neighbours."""
    finite = np.array([value for value in values if math.isfinite(value)])
    with np.errstate(over="ignore"):  # as far apart as numbers can be
        gaps = np.diff(finite)
    gap, size = float(gaps[gaps > 0].min(initial=np.inf)), float(np.abs(finite).max(initial=0.0))
    needed = math.ceil(math.log10(size) - math.log10(gap)) + 3 if 0 < gap < np.inf and size > gap else DIGITS
    return [rounded(value, min(17, max(DIGITS, needed))) for value in values]


# ------------------------------------------------------------------------------------------------ fewer cells


def merge_runs(heights: NDArray[np.float64], max_: int) -> NDArray[np.intp]:
    """Return the starts of a limited number of runs of neighbouring cells whose heights differ little.

    Heights are (n_cells, n_lines). The tolerance is the smallest for which the runs are few enough, so that narrow
    spikes stay and slow slopes are made coarser. Nothing is merged if the cells are few enough.
    """
    n = len(heights)
    if n <= max_:
        return np.arange(n)
    low, high = 0.0, float(np.ptp(heights, axis=0).max(initial=0.0)) or 1.0
    if heights.shape[1] == 1:
        runs_within = partial(_runs_of_one, heights[:, 0].tolist())
    else:
        runs_within = partial(_runs_within, _Spreads(heights))
    best = runs_within(high, n)
    for _ in range(SEARCHES):
        middle = (low + high) / 2
        runs = runs_within(middle, max_)
        if len(runs) <= max_:
            best, high = runs, middle
        else:
            low = middle
    return np.array(best, dtype=np.intp)


def _runs_within(spreads: _Spreads, tolerance: float, max_: int) -> list[int]:
    """Return where runs begin within which no line's heights differ by more than the tolerance.

    If there are more than the limit, only the first ones are returned.
    """
    starts = [0]
    while len(starts) <= max_:
        end = spreads.end_of_run(starts[-1], tolerance)
        if end == spreads.n_cells:
            break
        starts.append(end)
    return starts


class _Spreads:
    """How far apart the heights of neighbouring cells are. What was found for one tolerance is kept for the next."""

    def __init__(self, heights: NDArray[np.float64]) -> None:
        self._heights, self.n_cells = heights, len(heights)
        self._from: dict[int, NDArray[np.float64]] = {}  # a cell: the largest spread of a line, up to each next cell

    def end_of_run(self, start: int, tolerance: float) -> int:
        """Return the first cell that no longer belongs to the run that begins at a cell."""
        known = self._from.get(start)
        while known is None or (known[-1] <= tolerance and start + known.size < self.n_cells):
            known = self._from[start] = self._spread(start, 8 if known is None else 4 * known.size)
        return start + int(known.searchsorted(tolerance, side="right"))

    def _spread(self, start: int, size: int) -> NDArray[np.float64]:
        some = self._heights[start : start + size]
        spread = np.maximum.accumulate(some) - np.minimum.accumulate(some)
        result: NDArray[np.float64] = spread.max(axis=1)
        return result


def _runs_of_one(heights: list[float], tolerance: float, max_: int) -> list[int]:
    """Return the same for one line, without arrays: they cost more than the work."""
    starts, low, high = [0], heights[0], heights[0]
    for k, height in enumerate(heights):
        least, greatest = min(low, height), max(high, height)
        if greatest - least > tolerance:
            starts.append(k)
            if len(starts) > max_:
                break
            least = greatest = height
        low, high = least, greatest
    return starts


def _mean_of_runs(values: NDArray[np.float64], weight: NDArray[np.float64], starts: NDArray[np.intp]) -> Any:
    """Return the weighted mean of each run of cells along the first axis; unweighted where a run has no weight."""
    many = np.diff(np.append(starts, len(values)))
    total = np.repeat(np.add.reduceat(weight, starts), many)
    even = np.repeat(1.0 / many, many)
    part = np.divide(weight, total, out=even, where=total > 0)
    return np.add.reduceat(values * part.reshape(-1, *(1,) * (values.ndim - 1)), starts, axis=0)


def merged_steps(panel: Steps, max_: int) -> Steps:
    """Return a panel with a limited number of steps; its note gives the largest distance from the exact curve, if any.

    If the limit is that of other figures, the lowest and highest of neighbouring steps are drawn, as there.
    """
    if not panel.x.edges or panel.x.n_cells <= max_:
        return panel
    if max_ >= MAX_STEPS:
        return fitted(panel, max_)
    heights = np.array([line.heights for line in panel.lines]).T
    starts = merge_runs(heights, max_)
    weight = np.array(panel.support) if panel.support else np.zeros(len(heights))
    means = _mean_of_runs(heights, weight, starts)
    many = np.diff(np.append(starts, len(heights)))
    off = float(np.abs(np.repeat(means, many, axis=0) - heights).max())
    note = f"{len(heights):,} steps drawn as {len(starts):,}; nowhere further than {off:.3g} from the exact curve"
    return replace(
        panel,
        x=merged_scale(panel.x, starts),
        lines=tuple(
            replace(line, heights=tuple(means[:, k].tolist()), pale=merged_pale(line.pale, starts))
            for k, line in enumerate(panel.lines)
        ),
        bands=tuple(_merged_band(band, starts) for band in panel.bands),
        support=tuple(np.add.reduceat(weight, starts).tolist()) if panel.support else (),
        note="; ".join(filter(None, (panel.note, note))),
    )


def _merged_band(band: Band, starts: NDArray[np.intp]) -> Band:
    """Return a band that holds all that it has in runs of cells."""
    low, high = np.minimum.reduceat(band.low, starts), np.maximum.reduceat(band.high, starts)
    return replace(band, low=tuple(low.tolist()), high=tuple(high.tolist()))


def merged_cells(panels: Sequence[Cells], max_: int) -> list[Cells]:
    """Return panels of one pair of features with a limited number of cells along each axis, all with the same edges."""
    exact = np.concatenate([np.array(panel.heights)[..., None] for panel in panels], axis=2)
    x, y = panels[0].x, panels[0].y
    down = merge_runs(exact.reshape(len(exact), -1), max_) if y.edges else np.arange(len(exact))
    across = exact.transpose(1, 0, 2)
    along = merge_runs(across.reshape(len(across), -1), max_) if x.edges else np.arange(len(across))
    if len(down) == exact.shape[0] and len(along) == exact.shape[1]:
        return list(panels)
    result = []
    for panel in panels:
        heights, density = _merged_grid(panel, down, along)
        wide = np.repeat(heights, np.diff(np.append(down, exact.shape[0])), axis=0)
        wide = np.repeat(wide, np.diff(np.append(along, exact.shape[1])), axis=1)
        off = float(np.abs(wide - np.array(panel.heights)).max())
        n_x, n_y = panel.exact or (exact.shape[1], exact.shape[0])
        drawn = f"{n_x:,} x {n_y:,} cells drawn as {len(along):,} x {len(down):,}"
        note = f"{drawn}: means of neighbouring cells by their rows"
        if not panel.exact:
            note += f"; nowhere further than {off:.3g} from the exact surface"
        result.append(
            replace(
                panel,
                x=merged_scale(x, along) if x.edges else x,
                y=merged_scale(y, down) if y.edges else y,
                heights=tuple(map(tuple, heights.tolist())),
                density=tuple(map(tuple, density.tolist())) if panel.density else (),
                note="; ".join(filter(None, (without_drawn(panel.note), note))),
            )
        )
    return result


def _merged_grid(
    panel: Cells, down: NDArray[np.intp], along: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the heights of merged cells, weighted by the rows of either axis, and the shares of rows in them."""
    heights = np.array(panel.heights)
    y_weight = np.array(panel.y_support) if panel.y_support else np.zeros(heights.shape[0])
    x_weight = np.array(panel.x_support) if panel.x_support else np.zeros(heights.shape[1])
    heights = _mean_of_runs(heights, y_weight, down)
    heights = _mean_of_runs(heights.T, x_weight, along).T
    density = np.array(panel.density) if panel.density else np.zeros((0, 0))
    if density.size:
        density = np.add.reduceat(np.add.reduceat(density, down, axis=0), along, axis=1)
    return heights, density


# ------------------------------------------------------------------------------------------------ JSON


def _scale_json(scale: Scale) -> dict[str, Any]:
    """Return an axis for the page.

    Cells are drawn between `edges`, and called by `cuts`, before which they end where `strict` is 1; whole numbers need
    no cuts. `from` and `to` are the values of points.
    """
    shown = [] if scale.whole else shown_cuts(scale.cuts)
    return {
        "label": scale.label,
        "edges": distinct(scale.edges),
        "labels": list(scale.labels),
        "view": distinct(scale.view),
        "cuts": distinct([cut.number for cut in shown]),
        "strict": [int(cut.strict) for cut in shown] if any(cut.strict for cut in shown) else [],
        "whole": scale.whole,
        "open": list(scale.open_ends) if scale.edges else [],
        "from": distinct([first for first, _ in scale.places]),
        "to": distinct([last for _, last in scale.places]),
    }


def _numbers(values: Iterable[float]) -> list[float | int | None]:
    return [rounded(value) for value in values]


def _rows(shares: Iterable[float], total: float) -> list[float | int | None]:
    """Return numbers of rows, of their shares."""
    return [rounded(share * total, 9) for share in shares]


def _line_json(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "heights": _numbers(line.heights),
        "missing": rounded(line.missing),
        "unseen": rounded(line.unseen),
        **({"pale": [int(pale) for pale in line.pale]} if line.pale else {}),
        **({"pale_beside": list(line.pale_beside)} if line.pale_beside else {}),
    }


def steps_json(panel: Steps, total: float) -> dict[str, Any]:
    """Return a panel of steps for the page; `total` is the number (or weight) of all rows."""
    beside = {"missing_rows": panel.missing_share, "unseen_rows": panel.unseen_share}
    return {
        "kind": "steps",
        "x": _scale_json(panel.x),
        "y_label": panel.y_label,
        "lines": [_line_json(line) for line in panel.lines],
        "bands": [
            {"line": band.line, "low": _numbers(band.low), "high": _numbers(band.high)}
            for band in panel.bands
            if band.line is not None
        ],
        "rows": _rows(panel.support, total),
        **{name: None if share is None else _rows([share], total)[0] for name, share in beside.items()},
        "total": rounded(total, 9),
        "mean": rounded(panel.mean),
        "note": panel.note,
    }


def cells_json(panel: Cells, total: float) -> dict[str, Any]:
    """Return a surface for the page."""
    return {
        "kind": "cells",
        "x": _scale_json(panel.x),
        "y": _scale_json(panel.y),
        "z_label": panel.z_label,
        "heights": [_numbers(line) for line in panel.heights],
        "rows": [_rows(line, total) for line in panel.density],
        "total": rounded(total, 9),
        "diverging": panel.diverging,
        "note": panel.note,
    }
