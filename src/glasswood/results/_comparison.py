"""Comparison: the curves of several explainers side by side, on the cells that all their cuts make together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.kernels._read_only import ReadOnly
from glasswood.models._outputs import position_of
from glasswood.results._basis import with_basis
from glasswood.results._curves import Curve
from glasswood.results._frames import to_frame
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood.plots._spec import Steps

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(ReadOnly):
    """The curves of several explainers, and how they differ: groups of rows of one model (drift), or several models.

    Make one with `compare`. Curves are centred before they are compared: each is taken relative to its mean over the
    rows of all explainers, so that a different level of the score is no difference of shape. Only cells in which some
    explainer has rows take part.

    Parameters
    ----------
    names : tuple of str
        The names of the explainers.
    features : tuple of str
        The features that all of them have, those with the largest `difference` first.
    difference : ndarray of shape (n_features, n_outputs)
        How far the centred curves are apart, as a mean over rows (each explainer's rows count alike). With three or
        more explainers: how far the highest is above the lowest. NaN if the rows in common cells are not known.
    largest : ndarray of shape (n_features, n_outputs)
        How far they are apart where it is most.
    shift : ndarray of shape (n_features,)
        How differently the rows are distributed: the population stability index, over ten bins of about as many rows
        each, or over categories; missing values are a bin. The largest of all pairs of explainers. 0.1 is customarily
        called small, 0.25 large. NaN if the rows in common cells are not known.
    basis : {"rows", "counts", "covers"}
        "rows": the rows of all explainers in common cells are known. "counts": some explainer has only counts in the
        cells of its own model (a Background, a stream that can be read once, a frame of a cluster), and models have
        different cuts. "covers": some explainer has no background. Unless it is "rows", all cells count alike where
        rows are not known, features are ranked by `largest`, `caveat` says so, and frames have a column `basis`.
    outputs : tuple
        The labels of the outputs.
    units : str
    shared : mapping from str to tuple of Curve
        The curves of each feature, on common cells, in the order of `names`.

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
        """What to know before using the numbers; empty if the rows in common cells are known."""
        return "" if self.basis == "rows" else "rows in common cells are not known"

    @property
    def total(self) -> NDArray[np.float64]:
        """One value per feature, by which they are ranked: `difference`, or `largest` if `basis` is not "rows".

        Of several outputs, the root of the sum of squares. `largest`, too, for features without rows of their own.
        """
        known = np.where(np.isnan(self.difference) | (self.basis != "rows"), self.largest, self.difference)
        total: NDArray[np.float64] = np.sqrt((known**2).sum(axis=1))
        return total

    def curves(self, feature: str) -> dict[str, Curve]:
        """Return the curve of a feature of each explainer, all on the same cells.

        Examples
        --------
        See `compare`.
        """
        if feature not in self.shared:
            message = f"there is no feature {feature!r} that all have; these are {list(self.features[:10])!r}"
            raise TableError(message)
        return dict(zip(self.names, self.shared[feature], strict=True))

    def top(self, n: int = 10) -> Comparison:
        """Return the n features that differ most.

        Examples
        --------
        See `compare`.
        """
        n = max(0, n)
        return Comparison(
            names=self.names,
            features=self.features[:n],
            difference=self.difference[:n],
            largest=self.largest[:n],
            shift=self.shift[:n],
            basis=self.basis,
            outputs=self.outputs,
            units=self.units,
            shared={feature: self.shared[feature] for feature in self.features[:n]},
        )

    def _repr_html_(self) -> str:
        note = f"; {self.caveat}" if self.caveat else ""
        return table_html(f"Comparison of {', '.join(self.names)} ({self.units}){note}", self._columns())

    def to_frame(self) -> Any:
        """Return one row per feature (and output): how far the curves are apart, and how differently rows are spread.

        Examples
        --------
        See `compare`.
        """
        return to_frame(self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [name for name in self.features for _ in self.outputs]}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(self.features)
        columns |= {"difference": self.difference.ravel(), "largest": self.largest.ravel()}
        if len(self.outputs) > 1:
            columns["total"] = np.repeat(self.total, len(self.outputs))
        return with_basis(columns | {"shift": np.repeat(self.shift, len(self.outputs))}, self.basis)

    def panel(self, feature: str, output: int | None = None, **options: Any) -> Steps:
        """Return what `plot` draws, as plain data. Options are those of `plot`; outputs are given by position.

        Examples
        --------
        See `Comparison`.
        """
        from glasswood.results.panels import panel_of_comparison

        return panel_of_comparison(self, feature, output, **options)

    def plot(
        self,
        features: str | Sequence[str] | None = None,
        *,
        output: Any = None,
        output_index: int | None = None,
        sort: str | None = None,
        xscale: str = "linear",
        sharey: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        engine: str = "matplotlib",
        ax: Any = None,
    ) -> Any:
        """Draw the curves of all explainers over each other, with the distributions of their rows below.

        Parameters
        ----------
        features : str or sequence of str, optional
            The six that differ most by default.
        sharey : bool, default True
            Whether all panels have the same heights.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The axis of numbers; on a "quantile" scale, all rows of the background are equally wide.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches; as large as the panels need by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or as many as features, optional
            Where to draw; on a new figure by default.
        output : label, optional
            One output (class, target); needed if there are several.
        output_index : int, optional
            The same, by its position among `outputs`.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Figure of matplotlib or plotly, or `ax` if that is given
            Notebooks show it. In scripts ``plt.show()`` shows it; ``savefig`` and ``write_html`` save it.

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
        place = position_of(self.outputs, output, output_index)
        panels = [self.panel(name, place, sort=sort, xscale=xscale) for name in chosen]
        notes = [self.caveat] if self.caveat else []
        return plot_page(panels, Canvas(engine, ax, title, figsize), notes, sharey=sharey)
