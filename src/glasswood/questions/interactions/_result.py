"""Strengths: how strongly pairs of features interact."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.results._basis import with_basis
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import TabularWithError
from glasswood.results._ranking import by_output, colon_of, root_of_squares, totals
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class StrengthsFigure(FigureOptions, total=False):
        kind: str
        top: int
        output: Hashable


__all__ = ["Strengths"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Strengths(DrawnByOutput, TabularWithError):
    """How strongly pairs of features interact: their joint effect beyond the sum of their curves.

    Only pairs that share a path of a tree are listed; all others do not interact at all.

    `to_frame` returns one row per pair: both names, strength and H of each output, and the `total` if there are
    several. With ``error=True``, the standard errors of strength and H, too: see `error`.

    Parameters
    ----------
    pairs : list of (str, str)
        The strongest first. Several outputs are ranked by the root of the sum of squares.
    heights : ndarray of shape (n_pairs, n_outputs)
        The root mean square of the pair's interaction (its partial dependence interaction value) over the rows, in
        units of the score.
    h : ndarray of shape (n_pairs, n_outputs)
        Friedman's H: the standard deviation of the pair's interaction divided by that of its joint partial dependence.
        0 means no interaction, 1 means pure interaction. Above 1, the joint effect varies less than its parts: the two
        features are correlated, and curves and interaction cancel out where the rows are. NaN if the joint effect does
        not vary but the interaction does. A large H is irrelevant if `heights` is small.
    numerator, denominator : ndarray of shape (n_pairs, n_outputs)
        The variances over the rows of the pair's interaction and of its joint partial dependence: the square of H is
        their ratio.
    basis : {"rows", "counts"}
        "rows": computed from the pair's values in each row. "counts": the rows themselves were not available (a
        Background, a stream that can be read only once), or the pairs of a cluster's frame have too many cells, so the
        two features are assumed to be independent. Then `caveat` says so, and frames have a column `basis`.
    outputs : tuple
        The labels of the outputs.
    units : str
    names : tuple of str
        All features (and groups) of the model.

    Examples
    --------
    >>> strengths = ex.interaction_strengths()
    >>> strengths
    Strengths(... pairs of 10 features, value: ... x ... ..., ...)
    >>> strengths.to_frame().columns.tolist()
    ['first', 'second', 'value', 'h']
    >>> names, matrix = strengths.matrix()
    >>> matrix.shape == (len(names), len(names))
    True
    """

    pairs: list[tuple[str, str]]
    heights: NDArray[np.float64]
    h: NDArray[np.float64]
    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]
    basis: str
    outputs: tuple[Any, ...]
    units: str
    names: tuple[str, ...]
    find_folds: Deferred[dict[str, Folds]] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """One value per pair; with a last axis of outputs if there are several."""
        return self.heights[:, 0] if len(self.outputs) == 1 else self.heights

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`. Strengths are computed
        without each fold when this is first asked for, so it takes as many times as long as there are folds. A rank has
        no error.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X, folds=5)
        >>> strengths = ex.interaction_strengths()
        >>> strengths.error.shape == strengths.h_error.shape == strengths.values.shape
        True
        >>> strengths.to_frame(error=True).columns.tolist()
        ['first', 'second', 'value', 'h', 'error', 'h_error']
        """
        return self._error("value", self.heights)

    @property
    def h_error(self) -> NDArray[np.float64]:
        """The standard error of Friedman's H, with a last axis of outputs if there are several; see `error`."""
        return self._error("h", self.h)

    def _error(self, what: str, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        result = self.find_folds()[what].error(heights)
        return result[:, 0] if len(self.outputs) == 1 else result

    @property
    def total(self) -> NDArray[np.float64]:
        """One value per pair: the root of the sum of squares over outputs, by which pairs are ranked."""
        return root_of_squares(self.heights)

    @property
    def caveat(self) -> str:
        """A limitation of the numbers; empty if they were computed from the rows themselves."""
        return "" if self.basis == "rows" else "features taken as independent"

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        shown = [
            f"{printable(a)} x {printable(b)} {value:.4g}"
            for (a, b), value in zip(self.pairs[:2], self.total[:2], strict=True)
        ]
        more = ", ..." if len(self) > 2 else ""
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        colon = colon_of(self) if shown else ""
        features = f"{how_many(len(self), 'pair')} of {how_many(len(self.names), 'feature')}"
        features += self.caveat.removeprefix("features")
        return f"Strengths({features}{outputs}, {self.units}{colon}{', '.join(shown)}{more})"

    def _repr_html_(self) -> str:
        note = f"; {self.caveat}" if self.caveat else ""
        return table_html(f"Interactions of pairs: root mean square ({self.units}), and H{note}", self._columns())

    def top(self, n: int = 10) -> Strengths:
        """Return the n strongest pairs.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(RandomForestClassifier(20, random_state=0).fit(X, y), X)
        >>> ex.interaction_strengths().top(1).pairs
        [('petal length (cm)', 'petal width (cm)')]
        """
        n, folds = max(0, n), self.find_folds
        first = (
            None if folds is None else folds.map(lambda result: {what: own.first(n) for what, own in result.items()})
        )
        own = {name: getattr(self, name)[:n] for name in ("pairs", "heights", "h", "numerator", "denominator")}
        return replace(self, **own, find_folds=first)

    def _error_columns(self) -> dict[str, Any]:
        result = {"error": self.error, "h_error": self.h_error}
        named = [by_output(part.reshape(self.heights.shape), self.outputs) for part in result.values()]
        return {
            name.replace("value", what, 1): part
            for what, columns in zip(result, named, strict=True)
            for name, part in columns.items()
        }

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"first": [a for a, _ in self.pairs], "second": [b for _, b in self.pairs]}
        columns |= by_output(self.heights, self.outputs)
        columns |= {name.replace("value", "h", 1): h for name, h in by_output(self.h, self.outputs).items()}
        return with_basis(columns | totals(self), self.basis)

    def matrix(self, n: int | None = None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """Return the names of the interacting features, the strongest first, and a square matrix of strengths.

        Pairs that share no path have strength 0; the diagonal is NaN. `n` is the maximum number of features.
        """
        names = tuple(dict.fromkeys(name for pair in self.pairs for name in pair))[:n]
        place = {name: number for number, name in enumerate(names)}
        square = np.zeros((len(names), len(names)))
        np.fill_diagonal(square, np.nan)
        for (a, b), value in zip(self.pairs, self.total, strict=True):
            if a in place and b in place:
                square[place[a], place[b]] = square[place[b], place[a]] = value
        return names, square

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[StrengthsFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[StrengthsFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[StrengthsFigure]) -> A: ...

    def plot(
        self,
        *,
        kind: str = "heatmap",
        top: int = 12,
        output: Hashable = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the features that interact most as a heatmap of pairs, or as a network.

        Parameters
        ----------
        kind : {"heatmap", "network"}, default "heatmap"
        top : int, default 12
            The maximum number of features.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw. By default, all outputs combined.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.interaction_strengths().plot(kind="network")
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), place, kind=kind, top=top)
