"""PairsOnGrid: the joint partial dependence of pairs of features on a grid, computed when a pair is looked up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._closed_forms import Effects
from glasswood.kernels._read_only import read_only
from glasswood.parallel._lazy import Recent, cached_property
from glasswood.questions.curves._answer_grids import GridSpec, PointsOnGrid
from glasswood.questions.curves._answer_points import points_at, points_of_located
from glasswood.questions.curves._result_points import Points
from glasswood.results import check_memory, squeezed
from glasswood.study._locations import Located, locate
from glasswood.study._view import View

__all__ = ["PairsOnGrid"]


MAX_AT_ONCE = 12  # values of a feature, up to which all pairs with a feature are computed in one pass over the leaves

MAX_KEPT = 2**25  # numbers at once: 256 megabytes


Cells = NDArray[np.int64]

Floats = NDArray[np.float64]


class PairsOnGrid:
    """The joint partial dependence of pairs of features on a grid.

    Sums over trees cost least if the pairs of a feature with all others are computed together, when the first of them
    is looked up. Only the cells on the grid are computed.

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
        self._single = [name for name in names if len(groups.get(name, (name,))) == 1]  # columns of the trees
        self._axes: Recent[Located] = Recent(len(names))
        self._added: Recent[dict[int, Floats] | None] = Recent(2)

    def _is_simple(self, pair: tuple[str, str]) -> bool:
        """Return whether the heights of a pair are those of two curves, and what the pair adds to them."""
        return self._view.scale.additive and set(pair) <= set(self._single)

    def values_of(self, pair: tuple[str, str]) -> Floats:
        """Return the values of a pair, with an axis for both features, and one of outputs if there are several."""
        if not self._is_simple(pair):
            return np.asarray(self(pair).grid_values)
        values: Floats = read_only(squeezed(self._view.levels(self._heights(self._view, pair))))
        return values

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
    def _cells(self) -> dict[int, Cells]:
        """The cells of the values of each single column, by its number."""
        return {int(axis.features[0]): axis.cells[0] for axis in map(self._axis, self._single)}

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
            whole = view is self._view
            added = self._added.get(a, lambda: self._added_by_all(a)) if whole else self._added_by(view, a, [b])
            heights = study.pair_effects(a, b).pair(a, b).sparse_grid(x, y) if added is None else added[b]
        curves = view.curves
        result: Floats = curves[a][x][:, None] + curves[b][y][None] - view.mean + heights
        return result

    def _added_by_all(self, a: int) -> dict[int, Floats] | None:
        """Return what a feature adds with each of all others; None if pairs cost less one by one."""
        return self._added_by(self._view, a, [b for b in self._cells if b != a and self._study.shares_path(a, b)])

    def _added_by(self, view: View, a: int, others: list[int]) -> dict[int, Floats] | None:
        """Return what a feature adds with each of some others, at the cells of both on the grid."""
        study = view.study
        cells = self._cells
        n = max(cells[f].size for f in (a, *others))
        size = max(len(others) * n**2 * study.ensemble.n_outputs, study.ensemble.n_features**2)
        if n > MAX_AT_ONCE or size > MAX_KEPT or study.plan_of_pair(a, others[0]) is not None:
            return None
        return _added(study.effects(2), a, {b: cells[b] for b in (a, *others)}, n)


def _added(effects: Effects, a: int, cells: dict[int, Cells], n: int) -> dict[int, Floats]:
    """Return what a feature adds with each other one, given the cells of all, of which each has at most n."""
    n_features = effects.plan.ensemble.n_features
    grids, pair_number = np.zeros((n_features, n), dtype=np.int64), np.full((n_features,) * 2, -1, dtype=np.int32)
    others = [b for b in cells if b != a]
    for feature, own in cells.items():
        grids[feature] = np.append(own, np.repeat(own[-1:], n - own.size))  # the last cell fills up
    for number, b in enumerate(others):
        pair_number[min(a, b), max(a, b)] = number
    result = {}
    for b, part in zip(others, effects.interactions_on_grids(grids, pair_number, len(others)), strict=True):
        turned = part if a < b else part.transpose(1, 0, 2)
        result[b] = turned[: cells[a].size, : cells[b].size]
    return result
