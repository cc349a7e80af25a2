"""Figures that fit a screen: neighbouring cells are drawn together where there are more of them than can be seen.

Results stay exact; only what is drawn of them is made coarser, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Scale, Steps
from glasswood.results.panels._layout import Layout

__all__ = [
    "DRAWN",
    "MAX_CELLS",
    "MAX_STEPS",
    "Blocks",
    "blocks_of",
    "fitted",
    "merged_pale",
    "merged_scale",
    "without_drawn",
]

Floats = NDArray[np.float64]

MAX_CELLS = 300  # of a surface, along each axis
MAX_STEPS = 2000  # of a curve
IN_VIEW = 0.85  # the part of what is drawn that is for the view; the rest goes to cells as such, to be zoomed into
DRAWN = "drawn at "


def merged_scale(scale: Scale, starts: NDArray[np.intp]) -> Scale:
    """Return an axis of numbers on which runs of neighbouring cells are one cell each, given where runs begin."""
    first, after = starts.tolist(), [*starts[1:].tolist(), len(scale.edges) - 1]
    return replace(
        scale,
        edges=(*(scale.edges[k] for k in first), scale.edges[-1]),
        cuts=tuple(scale.cuts[k - 1] for k in first[1:]) if scale.cuts else (),
        places=tuple((scale.places[k][0], scale.places[n - 1][1]) for k, n in zip(first, after, strict=True))
        if scale.places
        else (),
    )


def without_drawn(note: str) -> str:
    """Return a note without what it says about how much is drawn."""
    return "; ".join(part for part in note.split("; ") if not part.startswith(DRAWN))


def _runs(edges: Floats, view: tuple[float, ...], n_columns: int) -> NDArray[np.intp]:
    """Return the starts of runs of cells that lie in the same column of the figure, given the number of columns.

    A cell that is wider than a column stays alone, and no run goes beyond an end of the view.
    """
    (low, high), n = view, edges.size - 1
    place = IN_VIEW * (np.clip(edges, low, high) - low) / (high - low) + (1 - IN_VIEW) * np.arange(n + 1) / n
    wide = np.diff(place) * n_columns > 1
    begins = np.diff(np.floor(place[:-1] * n_columns), prepend=-1.0) > 0
    begins |= wide | np.concatenate([[False], wide[:-1]])
    begins |= np.diff(np.searchsorted([low, high], edges[:-1], side="right"), prepend=-1) > 0
    return np.flatnonzero(begins)


def _few_runs(edges: Floats, view: tuple[float, ...], max_: int, max_of_run: int) -> NDArray[np.intp]:
    """Return the starts of runs such that a limited number of steps is drawn; a run is drawn as one or more steps."""
    n_columns = max_ // max_of_run
    while True:
        starts = _runs(edges, view, n_columns)
        lengths = np.diff(np.append(starts, edges.size - 1))
        if np.minimum(lengths, max_of_run).sum() <= max_ or n_columns <= 2:
            return starts
        n_columns = n_columns * 4 // 5


# ------------------------------------------------------------------------------------------------ curves


def fitted(panel: Steps, max_: int = MAX_STEPS) -> Steps:
    """Return a panel with a limited number of steps that keeps all visible heights of every line.

    Of the steps in one column of the figure two are drawn, for each line: the least and the greatest height, in the
    order in which the line has them. Bands contain all that they have in the column.
    """
    if not panel.x.edges or panel.x.n_cells <= max_:
        return panel
    starts = _few_runs(np.asarray(panel.x.edges), panel.x.view, max_, 2)
    lengths = np.diff(np.append(starts, panel.x.n_cells))
    seconds = (starts + (lengths + 1) // 2)[lengths > 1]
    all_starts = np.sort(np.concatenate([starts, seconds]))

    def least_and_greatest(heights: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(_least_and_greatest(np.asarray(heights), starts, lengths).tolist())

    def extreme(which: np.ufunc, ends: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(np.repeat(which.reduceat(np.asarray(ends), starts), np.minimum(lengths, 2)).tolist())

    def summed(support: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(np.add.reduceat(np.asarray(support), all_starts).tolist()) if support else ()

    note = f"{DRAWN}{all_starts.size:,} of {panel.x.n_cells:,} steps: simplified for display; extremes are kept"
    lines = [
        replace(
            line,
            heights=least_and_greatest(line.heights),
            support=summed(line.support),
            pale=merged_pale(line.pale, all_starts),
        )
        for line in panel.lines
    ]
    bands = [
        replace(band, low=extreme(np.minimum, band.low), high=extreme(np.maximum, band.high)) for band in panel.bands
    ]
    return replace(
        panel,
        x=merged_scale(panel.x, all_starts),
        lines=tuple(lines),
        bands=tuple(bands),
        faint=tuple(map(least_and_greatest, panel.faint)),
        support=summed(panel.support),
        note="; ".join(filter(None, (panel.note, note))),
    )


def merged_pale(pale: tuple[bool, ...], starts: NDArray[np.intp]) -> tuple[bool, ...]:
    """Return which runs of cells are pale: those of which all cells are."""
    return tuple(np.logical_and.reduceat(np.asarray(pale), starts).tolist()) if pale else ()


def _least_and_greatest(heights: Floats, starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> Floats:
    """Return one height of each run of one cell, and of each other run the two extremes, in their order."""
    least, greatest = np.minimum.reduceat(heights, starts), np.maximum.reduceat(heights, starts)
    cells = np.arange(heights.size)
    first = [
        np.minimum.reduceat(np.where(heights == np.repeat(extreme, lengths), cells, heights.size), starts)
        for extreme in (least, greatest)
    ]
    falls = first[1] < first[0]
    both = np.stack([np.where(falls, greatest, least), np.where(falls, least, greatest)], axis=1)
    kept = np.stack([np.ones(lengths.size, dtype=bool), lengths > 1], axis=1)
    result: Floats = both[kept]
    return result


# ------------------------------------------------------------------------------------------------ surfaces


class Blocks(NamedTuple):
    """Blocks of neighbouring cells of a feature that are drawn together.

    `cells` are the numbers of the drawn cells in the result, in the order in which they are drawn, `starts` where
    blocks begin among them, `weights` those of cells in a block, and `scale` the axis as it is drawn.
    """

    cells: NDArray[np.intp]
    starts: NDArray[np.intp]
    weights: Floats
    scale: Scale

    @property
    def is_merged(self) -> bool:
        """Whether some cells are drawn together."""
        return self.starts.size < self.cells.size

    @property
    def n(self) -> int:
        """The number of blocks."""
        return int(self.starts.size)

    @property
    def _numbers(self) -> NDArray[np.intp]:
        """The block of each drawn cell."""
        return np.repeat(np.arange(self.n), np.diff(np.append(self.starts, self.cells.size)))

    def of_cells(self, n_cells: int) -> NDArray[np.int64]:
        """Return the block of each cell of the result, -1 for those that are not drawn."""
        result = np.full(n_cells, -1, dtype=np.int64)
        result[self.cells] = self._numbers
        return result

    def averaged(self, heights: Floats) -> Floats:
        """Return the mean of each block of heights of all cells of the result, along the first axis."""
        drawn, totals = heights[self.cells], np.add.reduceat(self.weights, self.starts)
        means: Floats = np.add.reduceat(drawn * self.weights, self.starts) / totals if self.is_merged else drawn
        return means

    def summed(self, support: tuple[float, ...]) -> tuple[float, ...]:
        """Return the sums over blocks of the shares of drawn cells."""
        return tuple(np.add.reduceat(np.asarray(support), self.starts).tolist()) if support else ()

    def places(self, n_cells: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return where each cell of the result begins on an axis of blocks, and the place of each block on that axis.

        Blocks are in the order of cells there; categories may be drawn in another.
        """
        order = np.argsort(self.cells, kind="stable")  # blocks of several cells are of numbers, which are in order
        rank = np.empty(self.n, dtype=np.intp)
        rank[self._numbers[order][self.starts]] = np.arange(self.n)
        weights = self.weights[order]
        totals = np.add.reduceat(weights, self.starts)[self._numbers]
        before = np.cumsum(weights / totals) - weights / totals - self._numbers  # within the block
        before[self.starts] = 0.0  # but for rounding
        begins = np.append(self._numbers + before.clip(0.0, 1.0), float(self.n))
        return begins[np.searchsorted(self.cells[order], np.arange(n_cells + 1))], rank


def blocks_of(layout: Layout, max_: int = MAX_CELLS) -> Blocks:
    """Return the blocks of cells to draw: the cells themselves, or a limited number of runs of neighbouring cells.

    Cells of a block have the weight of their rows, and a little by their width.
    """
    scale, n = layout.scale, layout.cells.size
    if not scale.edges or n <= max_:
        return Blocks(layout.cells, np.arange(n), np.ones(n), scale)
    edges = np.asarray(scale.edges)
    starts = _few_runs(edges, scale.view, max_, 1)
    widths = np.maximum(np.diff(edges) / (edges[-1] / 2 - edges[0] / 2), 1e-9)
    weights = np.asarray(layout.support) + 1e-6 * widths if layout.support else widths
    return Blocks(layout.cells, starts, weights, merged_scale(scale, starts))
