"""PairsOnGrid: the joint partial dependence of pairs of features on a grid, computed when a pair is looked up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._read_only import read_only
from glasswood.parallel._lazy import Recent, cached_property, cached_unpickled
from glasswood.questions.curves._answer_grids import GridSpec, PointsOnGrid
from glasswood.questions.curves._answer_points import points_at, points_of_located
from glasswood.questions.curves._result_points import Points
from glasswood.results import check_memory, squeezed
from glasswood.study._locations import Located, locate
from glasswood.study._view import View

__all__ = ["PairsOnGrid"]


MAX_AT_ONCE = 12  # values of a feature, up to which many pairs are computed in one pass over the leaves

MAX_KEPT = 2**25  # numbers at once: 256 megabytes


Cells = NDArray[np.int64]

Floats = NDArray[np.float64]


class PairsOnGrid:
    """The joint partial dependence of pairs of features on a grid.

    Sums over trees cost least if many pairs are computed together. The first pair that is looked up is computed with
    all others of its first feature; the first pair of another feature with all pairs that there are. Only the cells on
    the grid are computed.

    Parameters
    ----------
    view : View
    spec : GridSpec
    names : sequence of str
        The features.
    """

    def __init__(self, view: View, spec: GridSpec, names: Sequence[str]) -> None:
        self._view, self._spec = view, spec
        self._study, groups = view.study, view.study.groups
        single = [name for name in names if len(groups.get(name, (name,))) == 1]
        self._single = {name: k for k, name in enumerate(single)}  # columns of the trees
        self._first: str | None = None  # the first feature of the first pair
        self._axes: Recent[Located] = Recent(len(names))
        self._added: Recent[Floats | None] = Recent(2)
        self._joint: Recent[dict[str, Floats] | None] = Recent(2)

    def _is_simple(self, pair: tuple[str, str]) -> bool:
        """Return whether the heights of a pair are those of two curves, and what the pair adds to them."""
        return self._view.scale.additive and pair[0] in self._single and pair[1] in self._single

    def values_of(self, pair: tuple[str, str]) -> Floats:
        """Return the values of a pair, with an axis for both features, and one of outputs if there are several."""
        if not self._is_simple(pair):
            return np.asarray(self(pair).grid_values)
        joint = self._joint.get(pair[0], lambda: self._joint_with(pair[0]))
        if joint is not None:
            return joint[pair[1]]
        values: Floats = read_only(squeezed(self._view.levels(self._heights(self._view, pair))))
        return values

    def _joint_with(self, first: str) -> dict[str, Floats] | None:
        """Return the values of all pairs of a feature with a later one; None if pairs cost less one by one."""
        added = self._added_with(first)
        if added is None:
            return None
        view, place, cells = self._view, self._single[first], self._cells
        curves = np.stack([view.curves[f][own] for f, own in zip(self._features, self._padded, strict=True)])
        heights = curves[place][None, :, None] + curves[place + 1 :, None] - view.mean + added
        levels = read_only(squeezed(view.levels(heights)))
        later = list(self._single)[place + 1 :]
        return {
            name: values[: cells[place].size, : own.size]
            for name, values, own in zip(later, levels, cells[place + 1 :], strict=True)
        }

    def __call__(self, pair: tuple[str, str]) -> Points:
        """Return the points of a pair."""
        if not self._is_simple(pair):
            given = PointsOnGrid.of({name: self._spec.values(self._study, name) for name in pair})
            return points_at(self._view, list(pair), given.columns, given.shape)
        x, y = (self._axis(name) for name in pair)
        shape = x.cells.shape[1], y.cells.shape[1]
        check_memory((*shape, self._study.ensemble.n_outputs), 8, "Ask for fewer points at a time")
        columns = PointsOnGrid.of(x.shown | y.shown).columns
        cells = np.stack([np.repeat(x.cells[0], shape[1]), np.tile(y.cells[0], shape[0])])
        located = Located(np.concatenate([x.features, y.features]), cells, columns)

        def heights(view: View) -> Floats:
            return self._heights(view, pair).reshape(cells.shape[1], -1)

        return points_of_located(self._view, list(pair), located, shape, heights)

    def _axis(self, name: str) -> Located:
        """Return the values of one feature, and their cells."""

        def axis() -> Located:
            return locate(self._study, [name], {name: self._spec.values(self._study, name)})

        return self._axes.get(name, axis)

    @cached_property
    def _cells(self) -> list[Cells]:
        """The cells of the values of each single column."""
        return [self._axis(name).cells[0] for name in self._single]

    @cached_property
    def _features(self) -> list[int]:
        """The number of each single column."""
        return [int(self._axis(name).features[0]) for name in self._single]

    @cached_property
    def _padded(self) -> Cells:
        """The cells of the values of each single column, (n_columns, n): the last cell fills up."""
        n = max(own.size for own in self._cells)
        return np.stack([np.append(own, np.repeat(own[-1:], n - own.size)) for own in self._cells])

    def _heights(self, view: View, pair: tuple[str, str]) -> Floats:
        """Return the heights of a pair, (n_x, n_y, n_outputs): both curves, and what the pair adds to them.

        The view is that of all rows, or of the rows without a fold.
        """
        first, second = (self._axis(name) for name in pair)
        (a, x), (b, y) = ((int(axis.features[0]), axis.cells[0]) for axis in (first, second))
        study = view.study
        if study.over.once_only:
            study.effects(2)  # the largest order first: some sources can be counted once only
        heights: Floats | float = 0.0
        if self._study.shares_path(a, b):
            places = self._single[pair[0]], self._single[pair[1]]
            whole = view is self._view
            added = self._added_with(pair[0]) if whole else self._added_without_fold(view, places)
            if added is None:
                heights = study.pair_effects(a, b).pair(a, b).sparse_grid(x, y)
            else:
                heights = added[places[1] - places[0] - 1 if whole else 0, : x.size, : y.size]
        curves = view.curves
        result: Floats = curves[a][x][:, None] + curves[b][y][None] - view.mean + heights
        return result

    def _added_with(self, first: str) -> Floats | None:
        """Return what a feature adds with each later one, (n_later, n, n, n_outputs).

        None if pairs cost less one by one.
        """

        def added() -> Floats | None:
            self._first = self._first or first
            place, n = self._single[first], len(self._single)
            if not self._fit(self._view, n - place - 1):
                return None
            if first == self._first or not self._fit(self._view, n * (n - 1) // 2):
                later = np.arange(place + 1, n)
                return self._added_by(self._view, np.full_like(later, place), later)
            begin = place * n - place * (place + 1) // 2  # of the pairs of earlier features
            return self._added_by_all[begin : begin + n - place - 1]

        return self._added.get(first, added)

    def _added_without_fold(self, view: View, places: tuple[int, int]) -> Floats | None:
        """Return the same for one pair, and the rows without a fold: (1, n, n, n_outputs)."""
        return self._added_by(view, *np.array(places)[:, None]) if self._fit(view, 1) else None

    @cached_unpickled
    def _added_by_all(self) -> Floats:
        """What all pairs add, in order, (n_pairs, n, n, n_outputs)."""
        return self._added_by(self._view, *np.triu_indices(len(self._single), 1))

    def _fit(self, view: View, n_pairs: int) -> bool:
        """Return whether a number of pairs can be computed together, and cost less than one by one."""
        n, e = self._padded.shape[1], view.ensemble
        size = max(n_pairs * n**2 * e.n_outputs, e.n_features**2)
        return n <= MAX_AT_ONCE and size <= MAX_KEPT and view.study.counts_all_pairs

    def _added_by(self, view: View, firsts: NDArray[np.intp], seconds: NDArray[np.intp]) -> Floats:
        """Return what some pairs add, (n_pairs, n, n, n_outputs)."""
        n_pairs, n_features = firsts.size, view.ensemble.n_features
        features = np.array(self._features)
        grids = np.zeros((n_features, self._padded.shape[1]), dtype=np.int64)
        grids[features] = self._padded
        a, b = features[firsts], features[seconds]
        low, high = np.minimum(a, b), np.maximum(a, b)
        pair_number = np.full((n_features, n_features), -1, dtype=np.int32)
        pair_number[low, high] = np.where(self._study.pairs[low, high], np.arange(n_pairs), -1)
        added = view.study.effects(2).interactions_on_grids(grids, pair_number, n_pairs)
        turned = a > b
        added[turned] = added[turned].swapaxes(1, 2)
        return added
