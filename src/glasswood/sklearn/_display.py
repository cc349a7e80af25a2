"""PartialDependenceDisplay: scikit-learn's figures, with steps drawn as steps, and with support for categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import inspection
from sklearn.base import is_regressor
from sklearn.utils import Bunch

from glasswood.errors import ArgumentError, MissingExtraError
from glasswood.sklearn._function import (
    KINDS,
    UNREADABLE,
    Exact,
    check_centered,
    check_estimator,
    check_weight,
    warn_of_brute_force,
)
from glasswood.sklearn._grids import Grid, Table

__all__ = ["PartialDependenceDisplay"]


class PartialDependenceDisplay(inspection.PartialDependenceDisplay):  # type: ignore[misc]
    """Figures of partial dependence, as `sklearn.inspection.PartialDependenceDisplay`.

    The constructor, `from_estimator`, `plot` and all attributes are scikit-learn's. Lines are drawn as steps, which is
    what the curves of trees are; pairs of a number and a category are drawn as one line per category, and individual
    curves of categories are also drawn.

    Attributes
    ----------
    drawstyle : str
        How lines are drawn: "steps-mid", or "default" (straight) where scikit-learn computed the values.

    Examples
    --------
    >>> from glasswood.sklearn import PartialDependenceDisplay
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> display = PartialDependenceDisplay.from_estimator(model, X, ["bmi", ("bmi", "s5")], grid_resolution=20)
    >>> display.axes_.shape
    (1, 2)
    """

    drawstyle = "steps-mid"
    features: list[tuple[int, ...]]
    pd_results: list[Any]
    is_categorical: Any  # the attribute of scikit-learn's class

    @classmethod
    def from_estimator(  # noqa: PLR0913 (scikit-learn's signature)
        cls,
        estimator: object,
        X: object,
        features: Iterable[Any],
        *,
        sample_weight: ArrayLike | None = None,
        categorical_features: object = None,
        feature_names: Iterable[str] | None = None,
        target: object = None,
        response_method: str = "auto",
        n_cols: int = 3,
        grid_resolution: int = 100,
        percentiles: Sequence[float] = (0.05, 0.95),
        custom_values: Mapping[Any, Any] | None = None,
        method: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        line_kw: dict[str, Any] | None = None,
        ice_lines_kw: dict[str, Any] | None = None,
        pd_line_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        ax: object = None,
        kind: str | Iterable[str] = "average",
        centered: bool = False,
        subsample: float | None = 1000,
        random_state: object = None,
    ) -> Self:
        """Compute partial dependence and draw it.

        The arguments are scikit-learn's; those that also belong to `partial_dependence` are described there.
        """
        check_centered(centered)
        values: dict[str, Any] = {
            "sample_weight": sample_weight,
            "categorical_features": categorical_features,
            "target": target,
            "response_method": response_method,
            "grid_resolution": grid_resolution,
            "percentiles": percentiles,
            "custom_values": custom_values,
        }
        look: dict[str, Any] = {
            "ax": ax,
            "n_cols": n_cols,
            "line_kw": line_kw,
            "ice_lines_kw": ice_lines_kw,
            "pd_line_kw": pd_line_kw,
            "contour_kw": contour_kw,
            "centered": centered,
        }
        chosen: dict[str, Any] = {"kind": kind, "subsample": subsample, "random_state": random_state}
        if method == "auto":
            panels = Panels(estimator, Table(X, feature_names), features, kind)
            panels.check_figure(ax, subsample)
            try:
                result = panels.compute(**values)
            except UNREADABLE as error:
                warn_of_brute_force(estimator, error)
            else:
                return cls(**result, **chosen).plot(**look)
        look["line_kw"] = {"drawstyle": "default", **(line_kw or {})}
        values["method"] = "brute" if method == "auto" else method
        if custom_values is None:  # which scikit-learn 1.6 does not know
            del values["custom_values"]
        more = {"feature_names": feature_names, "n_jobs": n_jobs, "verbose": verbose}
        display: Self = super().from_estimator(estimator, X, features, **values, **chosen, **look, **more)
        display.drawstyle = "default"
        return display

    def plot(  # noqa: PLR0913 (scikit-learn's signature)
        self,
        *,
        ax: object = None,
        n_cols: int = 3,
        line_kw: dict[str, Any] | None = None,
        ice_lines_kw: dict[str, Any] | None = None,
        pd_line_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        bar_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        pdp_lim: Mapping[int, Any] | None = None,
        centered: bool = False,
    ) -> Self:
        """Draw the results; the arguments are scikit-learn's."""
        check_centered(centered)
        line_kw = dict(line_kw or {})
        if "ds" not in line_kw:
            line_kw.setdefault("drawstyle", self.drawstyle)
        look = {"line_kw": line_kw, "ice_lines_kw": ice_lines_kw, "pd_line_kw": pd_line_kw, "contour_kw": contour_kw}
        more = {"bar_kw": bar_kw, "heatmap_kw": heatmap_kw, "pdp_lim": pdp_lim, "centered": centered}
        own = self.features, self.pd_results, self.is_categorical
        mixed = self._simplify()
        try:
            super().plot(ax=ax, n_cols=n_cols, **look, **more)
        finally:
            self.features, self.pd_results, self.is_categorical = own
        self._place_deciles()
        for panel in mixed:
            self._draw_categories(panel, centered=centered)
        if mixed and pdp_lim is None:
            self._widen()
        return self

    def _simplify(self) -> list[int]:
        """Replace results that scikit-learn cannot draw; return the panels that need to be completed.

        A pair of a number and a category is replaced by its first line. Individual curves of a category are drawn
        like those of a number.
        """
        if self.is_categorical is None:
            return []
        kinds = [self.kind] * len(self.features) if isinstance(self.kind, str) else self.kind
        panels = list(zip(self.features, self.pd_results, self.is_categorical, strict=True))
        mixed = []
        for k, (features, result, categorical) in enumerate(panels):
            if len(features) == 2 and categorical[0] != categorical[1]:
                x = 1 if categorical[0] else 0
                first = np.take(result.average, 0, axis=2 - x)
                shown = Bunch(grid_values=[result.grid_values[x]], average=first)
                panels[k] = ((features[x],), shown, (False,))
                mixed.append(k)
            elif len(features) == 1 and k < len(kinds) and kinds[k] != "average":
                panels[k] = (features, result, (False,))
        self.features, self.pd_results, self.is_categorical = (list(part) for part in zip(*panels, strict=True))
        return mixed

    def _place_deciles(self) -> None:
        """Put the deciles of vertical axes at their values next to the axis: scikit-learn swaps the two directions."""
        from matplotlib.transforms import blended_transform_factory

        for axes, lines in zip(self.axes_.ravel(), self.deciles_hlines_.ravel(), strict=True):
            if lines is not None:
                lines.set_transform(blended_transform_factory(axes.transAxes, axes.transData))

    def _draw_categories(self, panel: int, *, centered: bool) -> None:
        """Draw the lines of all categories except the first, which is already drawn."""
        result, features = self.pd_results[panel], self.features[panel]
        x = 1 if self.is_categorical[panel][0] else 0
        heights = result.average[self.target_idx]
        curves = heights if x else heights.T
        ax = self.axes_.ravel()[panel]
        first = ax.get_lines()[-1]
        first.set_label(str(result.grid_values[1 - x][0]))
        same = {"drawstyle": first.get_drawstyle(), "linestyle": first.get_linestyle(), "alpha": first.get_alpha()}
        for k, curve in enumerate(curves[1:], start=1):
            label = str(result.grid_values[1 - x][k])
            ax.plot(result.grid_values[x], curve - curve[0] * centered, color=f"C{k % 10}", label=label, **same)
        ax.legend(title=str(self.feature_names[features[1 - x]]))

    def _widen(self) -> None:
        """Extend the limits, shared by all panels of lines, to the lines added here."""
        drawn = [axes for axes in self.axes_.ravel() if axes is not None and axes.get_lines()]
        heights = np.concatenate([line.get_ydata() for axes in drawn for line in axes.get_lines()])
        margin = 0.05 * np.ptp(heights)
        for axes in drawn:
            low, high = axes.get_ylim()
            axes.set_ylim(min(low, heights.min() - margin), max(high, heights.max() + margin))


class Panels:
    """What is to be drawn: features and kinds, one of each for a panel.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    table : Table
    features : sequence of int, str or pairs of them
    kind : str or sequence of str
    """

    def __init__(self, estimator: object, table: Table, features: Iterable[object], kind: str | Iterable[str]) -> None:
        self.estimator, self.table = estimator, table
        self.features = [self._entry(entry) for entry in features]
        self.kinds = [kind] * len(self.features) if isinstance(kind, str) else list(kind)
        if len(self.kinds) != len(self.features):
            message = (
                "When `kind` is provided as a list of strings, it should contain as many elements as `features`: it "
                f"has {len(self.kinds)}, and there are {len(self.features)} features"
            )
            raise ArgumentError(message)
        if set(self.kinds) - set(KINDS):
            message = f"Values provided to `kind` must be one of {KINDS} or a list of such values, not {kind!r}"
            raise ArgumentError(message)
        pairs = [entry for entry, kind in zip(features, self.kinds, strict=True) if kind != "average"]
        pairs = [entry for entry in pairs if len(self._entry(entry)) == 2]
        if pairs:
            message = f"ICE plot cannot be rendered for 2-way feature interactions; use kind='average' for {pairs!r}"
            raise ArgumentError(message)

    def _entry(self, entry: object) -> tuple[int, ...]:
        if isinstance(entry, str | int | np.integer):
            return self.table.find([entry])
        if not isinstance(entry, Sequence | np.ndarray) or not 1 <= len(entry) <= 2:
            message = (
                "Each entry in features must be either an int, a string, or an iterable of size at most 2, "
                f"but {entry!r} is none"
            )
            raise ArgumentError(message)
        return tuple(self.table.find([feature])[0] for feature in entry)

    def check_figure(self, ax: object, subsample: int | float | None) -> None:
        """Raise errors of drawing before anything is computed."""
        try:
            from matplotlib.axes import Axes
        except ImportError as error:  # pragma: no cover (tests run with matplotlib)
            raise MissingExtraError.of("matplotlib", extra="plot", what="drawing figures") from error
        if ax is not None and not isinstance(ax, Axes) and np.asarray(ax, dtype=object).size != len(self.features):
            message = f"Expected ax to have {len(self.features)} axes, got {np.asarray(ax, dtype=object).size}"
            raise ArgumentError(message)
        if isinstance(subsample, int | np.integer):
            if subsample <= 0:
                message = f"When an integer, subsample={subsample} should be positive."
                raise ArgumentError(message)
        elif subsample is not None and not 0 < subsample < 1:
            message = f"When a floating-point, subsample={subsample} should be in the (0, 1) range."
            raise ArgumentError(message)

    def compute(  # noqa: PLR0913 (scikit-learn's arguments)
        self,
        *,
        sample_weight: ArrayLike | None,
        categorical_features: Iterable[Any],
        target: object,
        response_method: str,
        grid_resolution: int,
        percentiles: Sequence[float],
        custom_values: Mapping[Any, Any] | None,
    ) -> dict[str, Any]:
        """Return the results of a display; the rows are counted only once for all panels."""
        check_estimator(self.estimator, response_method)
        table, chosen = self.table, self._target(target)
        grid = Grid(percentiles, grid_resolution, custom_values or {}, table.categorical(categorical_features))
        columns = {number: table.column(number) for entry in self.features for number in entry}
        self._check_categories(grid)
        exact = Exact(self.estimator, table, response_method, check_weight(sample_weight, table))
        results = [
            exact.result(entry, [grid.axis(table, number) for number in entry], kind)
            for entry, kind in zip(self.features, self.kinds, strict=True)
        ]
        labels = {number for number, column in columns.items() if column.labels or number in grid.categorical}
        return {
            "pd_results": results,
            "features": self.features,
            "feature_names": table.names,
            "target_idx": self._task(target, results[0]) if chosen is None else chosen,
            "deciles": {number: column.deciles for number, column in columns.items() if number not in labels},
            "is_categorical": [tuple(number in labels for number in entry) for entry in self.features],
        }

    def _target(self, target: object) -> int | None:
        """Return the number of the class to show; None for regressors, whose outputs are not known yet."""
        classes = getattr(self.estimator, "classes_", None)
        if is_regressor(self.estimator) or classes is None:
            return None
        if np.size(classes) <= 2:
            return 0
        if target is None:
            message = f"target must be specified for multi-class: one of {list(classes)!r}"
            raise ArgumentError(message)
        result = np.flatnonzero(np.asarray(classes) == target)
        if not result.size:
            message = f"target not in est.classes_, got {target}; the classes are {list(classes)!r}"
            raise ArgumentError(message)
        return int(result[0])

    def _task(self, target: Any, result: Bunch) -> int:
        """Return the number of the output to show of a regressor."""
        n_tasks = len(result.average if "average" in result else result.individual)
        if n_tasks == 1:
            return 0
        if target is None:
            message = f"target must be specified for multi-output regressors: 0 to {n_tasks - 1}"
            raise ArgumentError(message)
        if not 0 <= target < n_tasks:
            message = f"target must be in [0, n_tasks], got {target}; there are {n_tasks} outputs"
            raise ArgumentError(message)
        return int(target)

    def _check_categories(self, grid: Grid) -> None:
        """Raise if a grid is too coarse for categories that the user named."""
        named = {number for entry in self.features for number in entry} & grid.categorical
        fewest = min((grid.axis(self.table, number).size for number in named), default=0)
        if grid.resolution < fewest:
            message = (
                "The resolution of the computed grid is less than the minimum number of categories in the targeted "
                f"categorical features: grid_resolution is {grid.resolution}, pass at least {fewest}"
            )
            raise ArgumentError(message)
