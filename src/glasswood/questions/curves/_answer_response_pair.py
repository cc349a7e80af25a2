"""ResponsePair: the interaction of two features on the scale of a response, computed row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._pairs import KnownPair, averaged, middle_cells
from glasswood.kernels._read_only import read_only
from glasswood.parallel._lazy import cached_property
from glasswood.parallel._threads import thread_limit, threads_limited_to
from glasswood.questions.curves._result_surface import REMEDY
from glasswood.results import check_memory
from glasswood.study._view import View

__all__ = ["ResponsePair"]


MAX_RESPONSES = 2**16  # pairs of cells whose responses are computed at once

BYTES_OF_RESPONSE = 400  # while it is computed


class ResponsePair:
    """The interaction of two features on the scale of a response, which has to be computed row by row.

    If there are few pairs of cells, all are computed on first use and cached. Otherwise only those needed are computed;
    they may differ from `all` in the last digits because of the order of summation.

    Parameters
    ----------
    view : View
    features : (int, int)
    """

    def __init__(self, view: View, features: tuple[int, int]) -> None:
        self._view, self._features = view, features
        n_a, n_b = (int(n) for n in view.study.plan(1).cells.n_cells[list(features)])
        self.shape = (n_a, n_b, len(view.labels))
        self._is_small = n_a * n_b <= MAX_RESPONSES
        self._limit = thread_limit()

    @property
    def is_known(self) -> bool:
        """Whether all heights are known."""
        return "_kept" in self.__dict__

    @cached_property
    def _kept(self) -> NDArray[np.float64]:
        return read_only(self._compute())

    def all(self) -> NDArray[np.float64]:
        """Return the heights of all pairs of cells."""
        return self._kept if self._is_small else self._compute()

    def _compute(self) -> NDArray[np.float64]:
        n_a, n_b = self.shape[:2]
        check_memory((n_a, n_b, self._view.ensemble.n_outputs), BYTES_OF_RESPONSE // 8, REMEDY)
        return self._asked(np.repeat(np.arange(n_a), n_b), np.tile(np.arange(n_b), n_a)).reshape(self.shape)

    def _asked(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
        view, (a, b) = self._view, self._features
        with threads_limited_to(self._limit):
            joint = view.responses_at(np.array([a, b]), np.stack([x, y]))
            return view.changes(joint - view.curve(a)[x] - view.curve(b)[y] + view.mean)

    def at(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the heights at points, given their cells."""
        if self._is_small:
            result: NDArray[np.float64] = self.all()[x, y]
            return result
        points, place = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
        return self._asked(points[0], points[1])[place.ravel()]

    def grid(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the heights of all pairs of some cells of both features."""
        return self.at(np.repeat(x, y.size), np.tile(y, x.size)).reshape(x.size, y.size, -1)

    def means(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the means over blocks of cells, or the heights in their middles if there are very many cells."""
        return averaged(self.all(), x, y) if self._is_small else self.grid(middle_cells(x), middle_cells(y))

    def __reduce__(self) -> tuple[type[KnownPair], tuple[NDArray[np.float64]]]:
        """Return a pair that needs neither model nor rows, for pickles and copies."""
        check_memory(self.shape, 2, "Keep the values that you need: surface(x, y)")
        return KnownPair, (self.all(),)
