"""Comparison: the curves of several explainers on common cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.models._outputs import position_of
from glasswood.questions.curves import Curve
from glasswood.questions.drift._result_gate import Measures, Violations
from glasswood.results._basis import with_basis
from glasswood.results._drawable import Drawable
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Steps

    class ComparisonFigure(FigureOptions, total=False):
        output: Hashable
        sort: str | None
        xscale: str
        std: bool
        observed: bool
        sharey: bool


__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Drawable, Tabular):
    """The curves of several explainers and how they differ: one model on groups of rows (drift), or several models.

    Created by `compare`. Curves are centred before they are compared: each is taken relative to its mean over the rows
    of all explainers, so that a different level of the score does not count as a difference in shape. Only cells in
    which at least one explainer has rows are compared.

    `to_frame` returns one row per feature (and output): the difference of the curves and the shift of the rows.

    Parameters
    ----------
    names : tuple of str
        The names of the explainers.
    features : tuple of str
        The features that all of them have, those with the largest `difference` first.
    difference : ndarray of shape (n_features, n_outputs)
        The mean absolute difference of the centred curves over the rows; all explainers have equal weight. With three
        or more explainers, the difference between the highest and the lowest. NaN if the rows in common cells are
        unknown.
    largest : ndarray of shape (n_features, n_outputs)
        The largest difference of the centred curves.
    shift : ndarray of shape (n_features,)
        How differently the rows are distributed: the population stability index over ten bins with about the same
        number of rows, or over categories; missing values form a bin. The largest value over all pairs of explainers.
        By convention, 0.1 is small and 0.25 large. NaN if the rows in common cells are unknown.
    basis : {"rows", "counts", "covers"}
        "rows": the number of rows in common cells is known for all explainers. "counts": some explainer only has counts
        in the cells of its own model (a Background, a stream that can be read only once, a cluster's frame), and the
        models have different cuts. "covers": some explainer has no background. Unless it is "rows", all cells have
        equal weight where rows are unknown, features are ranked by `largest`, `caveat` says so, and frames have a
        column `basis`.
    outputs : tuple
        The labels of the outputs.
    units : str
    shared : mapping from str to tuple of Curve
        The curves of each feature, on common cells, in the order of `names`.
    measures : Measures or None
        How far each explainer is from the reference, and the limits; None if `compare` was not given a reference.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> models = {"boosted": HistGradientBoostingRegressor(max_iter=50), "forest": RandomForestRegressor(20)}
    >>> found = gw.compare({name: gw.Explainer(model.fit(X, y), X) for name, model in models.items()})
    >>> found.top(2)
    Comparison(boosted, forest: 2 features, value apart by ...)
    """

    names: tuple[str, ...]
    features: tuple[str, ...]
    difference: NDArray[np.float64]
    largest: NDArray[np.float64]
    shift: NDArray[np.float64]
    basis: str
    outputs: tuple[Any, ...]
    units: str
    shared: Mapping[str, tuple[Curve, ...]]
    measures: Measures | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        shown = [
            f"{printable(name)} {value:.4g}" for name, value in zip(self.features[:3], self.total[:3], strict=True)
        ]
        more = ", ..." if len(self) > 3 else ""
        names = ", ".join(map(printable, self.names[:3])) + (", ..." if len(self.names) > 3 else "")
        total = f" in total over {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        by = "by" if self.basis == "rows" else f"by at most ({self.caveat})"
        features = how_many(len(self), "feature")
        return f"Comparison({names}: {features}, {self.units} apart{total} {by} {', '.join(shown)}{more})"

    @property
    def caveat(self) -> str:
        """A limitation of the numbers; empty if the rows in common cells are known."""
        return "" if self.basis == "rows" else "rows in common cells are not known"

    @property
    def violations(self) -> Violations:
        """The measures beyond their limits; true if there are any. Only if `compare` was given a reference."""
        if self.measures is None:
            message = 'nothing was judged; pass a reference: compare(explainers, reference="name", limits={"psi": 0.2})'
            raise ArgumentError(message)
        return self.measures.violations

    @property
    def total(self) -> NDArray[np.float64]:
        """The value by which features are ranked: `difference`, or `largest` if `basis` is not "rows".

        Several outputs are combined as the root of the sum of squares. Features without known rows use `largest`.
        """
        known = np.where(np.isnan(self.difference) | (self.basis != "rows"), self.largest, self.difference)
        total: NDArray[np.float64] = np.sqrt((known**2).sum(axis=1))
        return total

    def curves(self, feature: str) -> dict[str, Curve]:
        """Return the curves of a feature, one per explainer, all on the same cells."""
        if feature not in self.shared:
            raise TableError.no_feature(feature, self.features)
        return dict(zip(self.names, self.shared[feature], strict=True))

    def top(self, n: int = 10) -> Comparison:
        """Return the n features that differ most."""
        n = max(0, n)
        return replace(
            self,
            features=self.features[:n],
            difference=self.difference[:n],
            largest=self.largest[:n],
            shift=self.shift[:n],
            shared={feature: self.shared[feature] for feature in self.features[:n]},
        )

    def _repr_html_(self) -> str:
        note = f"; {self.caveat}" if self.caveat else ""
        return table_html(f"Comparison of {', '.join(self.names)} ({self.units}){note}", self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [name for name in self.features for _ in self.outputs]}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(self.features)
        columns |= {"difference": self.difference.ravel(), "largest": self.largest.ravel()}
        if len(self.outputs) > 1:
            columns["total"] = np.repeat(self.total, len(self.outputs))
        return with_basis(columns | {"shift": np.repeat(self.shift, len(self.outputs))}, self.basis)

    def panel(self, feature: str, output: int | None = None, **options: Any) -> Steps:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position."""
        result: Steps = self._made("panel", feature, output, **options)
        return result

    @overload
    def plot(
        self,
        features: str | Sequence[str] | None = None,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[ComparisonFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(
        self,
        features: str | Sequence[str] | None = None,
        *,
        backend: Literal["plotly"],
        **options: Unpack[ComparisonFigure],
    ) -> PlotlyFigure: ...
    @overload
    def plot(self, features: str | Sequence[str] | None = None, *, ax: A, **options: Unpack[ComparisonFigure]) -> A: ...

    def plot(
        self,
        features: str | Sequence[str] | None = None,
        *,
        output: Hashable = None,
        sort: str | None = None,
        xscale: str = "linear",
        std: bool = False,
        observed: bool = False,
        sharey: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the curves of all explainers in the same panels, with the distributions of their rows below.

        Parameters
        ----------
        features : str or sequence of str, optional
            The features to draw. Defaults to the six that differ most.
        sharey : bool, default True
            Whether panels share the y-axis. Those of curves that reach less than a fifth as far as others have their
            own, and say so.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        std : bool, default False
            Whether to shade one standard deviation of the rows' own (ICE) curves above and below each curve, see
            `Curve.std`.
        observed : bool, default False
            Whether to draw what was observed and predicted for the rows of each explainer, in place of the curves: see
            `Curve.observations`. All explainers need a target, and the same model: what was observed in parts of a
            model's cells is not known. Neighbouring cells are merged until they have 5 % of the
            exposure.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or one per feature, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
        >>> halves = {"first": gw.Explainer(model, X[:221]), "second": gw.Explainer(model, X[221:])}
        >>> gw.compare(halves).plot(["bmi", "s5"])
        <Drawing size ... with 2 Axes>
        """
        from glasswood.plots._draw import Canvas, plot_page

        chosen = self.features[:6] if features is None else [features] if isinstance(features, str) else features
        place = position_of(self.outputs, output)
        panels = [self.panel(name, place, sort=sort, xscale=xscale, std=std, observed=observed) for name in chosen]
        notes = [self.caveat] if self.caveat else []
        return plot_page(panels, Canvas(backend, ax, title, figsize), notes, sharey=sharey)
