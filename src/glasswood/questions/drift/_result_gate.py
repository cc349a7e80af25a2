"""Measures and Violations: how far explainers are from a reference, and which of these values are beyond limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np

from glasswood.errors import ArgumentError
from glasswood.results._drawable import Drawable
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._plain import number
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Series

    class MeasuresFigure(FigureOptions, total=False):
        features: str | Sequence[str] | None


__all__ = ["FEW_ROWS", "Measured", "Measures", "Violations"]


WITHOUT_ERROR = ("largest", "ndcg")  # a maximum and ranks: leaving out rows does not tell their errors

FEW_ROWS = 500  # below, the population stability index is often large by chance


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of a measure, and the rule that it was compared with.

    Parameters
    ----------
    name : str
        The name of the explainer that was compared with the reference.
    measure : str
        See `compare`.
    feature : str or None
        None for measures of the whole model.
    output : label or None
        None for measures that all outputs have in common.
    value : float
    limit : float
    rule : str
        The rule, for example "age: psi > 0.3".
    broken : bool
        Whether the value is beyond the limit; with ``error=``, by more than so many standard errors.
    chance : float or None
        For "psi": about its mean if both groups of rows had the same distribution.
    error : float or None
        The standard error of the value, if the rows of both were counted in folds (``folds=``); None for "largest" and
        "ndcg", a maximum and a comparison of ranks, which have none.
    rows, reference_rows : int
        The number of rows of the explainer and of the reference.

    Examples
    --------
    See `Measures`.
    """

    name: str
    measure: str
    feature: str | None
    output: Any
    value: float
    limit: float
    rule: str
    broken: bool
    chance: float | None
    error: float | None
    rows: int
    reference_rows: int

    def as_dict(self) -> dict[str, Any]:
        """Return the entries as a dictionary that JSON can hold."""
        result = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if isinstance(self.output, np.generic):
            result["output"] = self.output.item()
        elif not isinstance(self.output, str | int | float | None):
            result["output"] = str(self.output)
        return result


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Listed(Tabular):
    """Values of measures, in a row.

    `to_frame` returns one row per value.
    """

    entries: tuple[Measured, ...]
    reference: str
    margin: float | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.entries)

    def __getitem__(self, place: int) -> Measured:
        return self.entries[place]

    @property
    def caveat(self) -> str:
        """A limitation of the numbers: groups with few rows, if "psi" was judged; otherwise empty."""
        judged = [one for one in self.entries if one.measure == "psi"]
        sizes = dict(
            [*((self.reference, one.reference_rows) for one in judged), *((one.name, one.rows) for one in judged)]
        )
        few = [f"{name!r} has {how_many(size, 'row')}" for name, size in sizes.items() if size < FEW_ROWS]
        return f"{', '.join(few)}: below {FEW_ROWS} rows, psi may be large by chance" if few else ""

    @property
    def allowance(self) -> str:
        """By how much values may be beyond their limits, in words; empty if they may not."""
        if self.margin is None:
            return ""
        without = [name for name in WITHOUT_ERROR if any(one.measure == name for one in self.entries)]
        have = "has no standard error and is judged by its value" if len(without) == 1 else "have no standard errors"
        have += "" if len(without) == 1 else " and are judged by their values"
        but = f"; {' and '.join(without)} {have}" if without else ""
        return f"a limit counts as exceeded if a value is beyond it by more than {self.margin:g} standard errors{but}"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary per value, which JSON can hold."""
        return [one.as_dict() for one in self.entries]

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            name: [getattr(one, name) for one in self.entries] for name in Measured.__dataclass_fields__
        }
        if all(output is None for output in columns["output"]):
            del columns["output"]
        for name in ("chance", "error"):
            if all(value is None for value in columns[name]):
                del columns[name]
            else:
                columns[name] = [np.nan if value is None else value for value in columns[name]]
        return columns


def _text_of(one: Measured) -> str:
    """Return a value as text."""
    of = "" if one.feature is None else f"{printable(one.feature)} "
    output = "" if one.output is None else f" of {printable(one.output)}"
    chance = "" if one.chance is None else f", {number(one.chance)} by chance"
    error = "" if one.error is None else f" ± {number(one.error)}"
    return f"{printable(one.name)}: {of}{one.measure}{output} {number(one.value)}{error} (limit {one.limit:g}{chance})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Measures(_Listed, Drawable):
    """How far explainers are from a reference, and the limit of each value.

    Created by `compare` with ``reference=``, as `Comparison.measures`. It is a sequence of `Measured` values, one for
    each explainer except the reference, measure, feature, output and rule. `compare` defines the measures.

    Parameters
    ----------
    entries : tuple of Measured
        The values, with the attributes `name` (of the explainer), `measure`, `feature`, `output`, `value`, `limit`,
        `rule`, `broken`, `chance`, `error`, `rows` and `reference_rows`.
    reference : str
        The name of the reference.
    margin : float or None
        By how many standard errors a value must be beyond its limit to exceed it: ``error=`` of `compare`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = X.sample(3000, replace=True, random_state=0)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y[X.index])
    >>> months = {"jan": X[:600], "feb": X[600:1200], "mar": X[1200:][X["age"][1200:] > 0]}
    >>> explainers = {name: gw.Explainer(model, rows) for name, rows in months.items()}
    >>> drift = gw.compare(explainers, reference="jan", limits={"psi": 0.2, "ndcg": 0.9})
    >>> drift.measures
    Measures(22 values against jan: ...)
    >>> drift.measures.to_frame().columns.tolist()
    ['name', 'measure', 'feature', 'value', 'limit', 'rule', 'broken', 'chance', 'rows', 'reference_rows']
    >>> drift.measures.to_dicts()[0]
    {'name': 'feb', 'measure': 'psi', 'feature': ..., 'limit': 0.2, 'rule': 'psi > 0.2', 'broken': False, ...}
    >>> drift.violations[0].feature, drift.violations[0].name
    ('age', 'mar')
    """

    def __repr__(self) -> str:
        broken = sum(one.broken for one in self.entries)
        values = how_many(len(self), "value")
        by = "" if self.margin is None else f" by more than {self.margin:g} standard errors"
        return f"Measures({values} against {printable(self.reference)}: {broken or 'none'} beyond the limit{by})"

    def _repr_html_(self) -> str:
        return table_html(f"Measures against {self.reference}", self._columns())

    @property
    def violations(self) -> Violations:
        """The values that are beyond their limits."""
        broken = tuple(one for one in self.entries if one.broken)
        return Violations(entries=broken, reference=self.reference, margin=self.margin, n_judged=len(self))

    def panel(self, measure: str, features: Sequence[str] | None = None) -> Series:
        """Return the data that `plot` draws for one measure."""
        result: Series = self._made("panel", measure, features)
        return result

    @overload
    def plot(
        self,
        measures: str | Sequence[str] | None = None,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[MeasuresFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(
        self,
        measures: str | Sequence[str] | None = None,
        *,
        backend: Literal["plotly"],
        **options: Unpack[MeasuresFigure],
    ) -> PlotlyFigure: ...
    @overload
    def plot(self, measures: str | Sequence[str] | None = None, *, ax: A, **options: Unpack[MeasuresFigure]) -> A: ...

    def plot(
        self,
        measures: str | Sequence[str] | None = None,
        *,
        features: str | Sequence[str] | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw each measure over the explainers, in their order: a line per feature, and the limits.

        The features that come closest to their limits, or are furthest beyond them, are drawn in colour. Filled marks
        are beyond their limits, with ``error=`` by more than so many standard errors. For "psi", a dotted line shows
        its mean by chance. If errors are known, bars show how far one standard error goes, or as many as ``error=``.

        Parameters
        ----------
        measures : str or sequence of str, optional
            The measures to draw, one panel each. Defaults to all.
        features : str or sequence of str, optional
            The features to draw. Defaults to all.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or one per measure, optional
            The axes to draw on. By default, a new figure is created.

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
        >>> X = X.sample(2000, replace=True, random_state=0)
        >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y[X.index])
        >>> months = {"jan": X[:600], "feb": X[600:1200], "mar": X[1200:]}
        >>> explainers = {name: gw.Explainer(model, rows) for name, rows in months.items()}
        >>> gw.compare(explainers, reference="jan", limits={"psi": 0.2, "level": 0.2}).measures.plot()
        <Drawing size ... with 2 Axes>
        """
        from glasswood.plots._draw import Canvas, plot_page

        known = list(dict.fromkeys(one.measure for one in self.entries))
        if not known:
            message = "nothing was judged, so there is nothing to draw: the model has no such features"
            raise ArgumentError(message)
        chosen = known if measures is None else [measures] if isinstance(measures, str) else list(measures)
        names = [features] if isinstance(features, str) else features
        panels = [self.panel(measure, names) for measure in chosen]
        notes = [f"measured against {self.reference}", *filter(None, [self.allowance, self.caveat])]
        return plot_page(panels, Canvas(backend, ax, title, figsize), notes, sharey=False)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Violations(_Listed):
    """The values of measures that are beyond their limits.

    Created by `compare` with ``reference=``, as `Comparison.violations`. It is a sequence of `Measured` values, and so
    it is true if there is any violation, and false if all limits are kept: ``if comparison.violations: ...``.

    Parameters
    ----------
    entries : tuple of Measured
        The values beyond their limits, in the order of the explainers and measures; the worst feature first.
    reference : str
        The name of the reference.
    margin : float or None
        By how many standard errors a value must be beyond its limit to exceed it: ``error=`` of `compare`.
    n_judged : int
        The number of all values that were compared with a limit.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = X.sample(2000, replace=True, random_state=0)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y[X.index])
    >>> then, now = X[:1000], X[1000:]
    >>> groups = {"then": gw.Explainer(model, then), "now": gw.Explainer(model, now[now["age"] > 0])}
    >>> gw.compare(groups, reference="then", limits={"level": 0.5}).violations
    Violations(none of 1 value)
    >>> drift = gw.compare(groups, reference="then", limits={"psi": 0.2, "age: psi": 20})
    >>> bool(drift.violations)
    False
    >>> gw.compare(groups, reference="then", limits={"psi": 0.2}).violations
    Violations(1 of 10 values: now: age psi ... (limit 0.2, ... by chance))
    """

    n_judged: int

    def __repr__(self) -> str:
        shown = (
            ": " + ", ".join(map(_text_of, self.entries[:3])) + (", ..." if len(self) > 3 else "")
            if self.entries
            else ""
        )
        return f"Violations({len(self) or 'none'} of {how_many(self.n_judged, 'value')}{shown})"

    def _repr_html_(self) -> str:
        of = how_many(self.n_judged, "value")
        caption = f"Violations: {len(self) or 'none'} of {of} beyond the limits, against {self.reference}"
        return table_html(caption, self._columns())
