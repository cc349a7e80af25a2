"""The Explainer: one method per question. It connects the stages and computes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from glasswood.errors import ArgumentError, TableError
from glasswood.metrics import BanzhafValues, CubeMetric, ShapleyInteractions, ShapleyValues
from glasswood.results import (
    Attributions,
    Ice,
    Importance,
    Interactions,
    Lazy,
    Monotonicity,
    Pairs,
    Spikes,
    Strengths,
)
from glasswood.study._answers import Answers
from glasswood.study._overview import Overview
from glasswood.study._study import Study
from glasswood.text._arguments import new_file, refuse_no_mapping, whole_number
from glasswood.text._html import facts_html

__all__ = ["Explainer"]


class Explainer:
    """Explain a fitted tree ensemble exactly.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
        Anything that `read_model` accepts.
    background : table, any other source that `summarize` accepts, or Background, optional
        The rows to average over. Rows are counted lazily, and only once. Without a background, results are
        path-dependent: they use the covers stored in the model during training instead of data.
    groups : mapping of str to sequences of str, optional
        Columns that are fixed together, such as those of a one-hot encoding: ``{"city": ["city_a", "city_b"]}``.
    sample_weight : array of shape (n_rows,), or the name of a column, optional
        Weights of the background's rows.
    response : {"raw", "probability", "prediction"}, default "raw"
        The scale of curves, surfaces, points and ICE. "raw" is the score to which the trees add up (log-odds for
        boosted classifiers), "probability" the probability of a class, and "prediction" the output of the model's
        `predict`. The last two need a pass over the rows for every question that involves more than one feature.

    Notes
    -----
    An Explainer can be shared between threads. It caches up to 64 MB of the tables behind Shapley values, interactions
    and other indices, so reuse it to explain more rows: each then takes about a millisecond.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
    >>> ex
    Explainer(sklearn HistGradientBoostingRegressor: 20 trees, ... leaves, 10 features, 1 output, score: value)
    >>> ex.partial_dependence("bmi")
    Curve(bmi: ... cuts, value from ... to ...)
    """

    def __init__(
        self,
        model: Any,
        background: Any = None,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        sample_weight: Any = None,
        response: str = "raw",
    ) -> None:
        self._study = Study(model, background, groups, sample_weight, response)
        self._answers = Answers(self._study)
        self._overview = Overview(self._study, self._answers)
        self.ensemble = self._study.ensemble

    def __repr__(self) -> str:
        return repr(self.ensemble).replace("TreeEnsemble", "Explainer", 1)

    def _repr_html_(self) -> str:
        facts = {"answers": self._study.units, "averages over": self._study.average, **self.ensemble.facts}
        return facts_html(f"Explainer: {self.ensemble.source}", facts)

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The labels accepted by `output=`: classes, target numbers, or "prediction". They keep their type.

        Models without labels (files, boosters, several targets) have the labels 0, 1, ... A binary model has two
        labels; results refer to the second one by default.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.ensemble import HistGradientBoostingClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> named = y.map({0: "malignant", 1: "benign"})
        >>> ex = gw.Explainer(HistGradientBoostingClassifier(max_iter=5).fit(X, named), X, response="probability")
        >>> ex.outputs
        ('benign', 'malignant')
        >>> ex.partial_dependence("mean area").outputs
        ('malignant',)
        >>> both = [ex.partial_dependence("mean area", output=label)(500.0) for label in ex.outputs]
        >>> round(float(sum(both)), 9)
        1.0
        """
        return self._study.outputs.labels

    # ------------------------------------------------------------------------------------------------- questions

    def partial_dependence(
        self, *features: str | int, output: Any = None, output_index: int | None = None, at: Any = None
    ) -> Any:
        """Return the partial dependence of one feature, of two, of any number at given points, or of all features.

        Parameters
        ----------
        *features : str or int
            None: all features. One: its `Curve`. Two: their `Surface`. A group, or more than two: `Points` (see `at`).
        output : label, optional
            The output to explain: a class or the number of a target. By default all outputs or, for binary models, the
            second class. `outputs` lists the labels.
        output_index : int, optional
            The output to explain, by its position in `outputs`.
        at : table, optional
            The points to evaluate at: a table with the features' columns. Defaults to the distinct rows of a group.

        Returns
        -------
        Curve, Surface, Points, or a mapping from every feature to its Curve

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(RandomForestClassifier(20, random_state=0).fit(X, y), X)
        >>> list(ex.partial_dependence())
        ['sepal length (cm)', 'sepal width (cm)', 'petal length (cm)', 'petal width (cm)']
        >>> ex.partial_dependence("petal width (cm)", output=2)
        Curve(petal width (cm): ... cuts, probability from ... to ...)
        """
        chosen = self._study.outputs.choose(output, output_index)
        if not features:
            if at is not None:
                message = "at= gives values of features; name the features too"
                raise TableError(message)
            if self._study.originals is not None:
                return Lazy(tuple(self._study.groups), partial(self._answers.points_of, chosen))
            own, names = set(self._study.plan(1).players), self.ensemble.feature_names
            # The column of a group of one has a curve, too, but it is asked for by the name of the group.
            return {names[f]: self._answers.curve(f, chosen) for f in self._study.curves if names[f] in own}
        players = self._asked(features)
        grouped = any(player in self._study.groups for player in players)
        if at is not None or grouped or len(players) > 2:
            return self._answers.points(players, at, chosen)
        numbers = [self.ensemble.feature_names.index(player) for player in players]
        if len(numbers) == 1:
            return self._answers.curve(numbers[0], chosen)
        return self._answers.surface(numbers[0], numbers[1], chosen)

    def joint_partial_dependence(self, *, output: Any = None, output_index: int | None = None) -> Lazy:
        """Return the joint partial dependence of every pair of features, as a mapping from (name, name) to `Surface`.

        Surfaces are computed lazily; the rows are counted only once for all of them.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> surfaces = gw.Explainer(RandomForestClassifier(20, random_state=0).fit(X, y), X).joint_partial_dependence()
        >>> len(surfaces)
        6
        >>> surfaces["petal length (cm)", "petal width (cm)"]
        Surface(petal length (cm) x petal width (cm): ... x ... cells, probability)
        """
        chosen = self._study.outputs.choose(output, output_index)
        single = [name for name in self._study.plan(1).players if name not in self._study.groups]
        return Lazy(Pairs(single), partial(self._answers.surface_of, chosen))

    def joint_grids(
        self, grids: Mapping[str, Any], *, output: Any = None, output_index: int | None = None
    ) -> dict[tuple[str, str], Any]:
        """Return the joint partial dependence of every pair of features on a grid of values of each.

        Parameters
        ----------
        grids : mapping from feature names to arrays
            The values to evaluate at; the same number for each feature.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        dict from (name, name) to ndarray of shape (n_points, n_points) or (n_points, n_points, n_outputs)

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> joint = ex.joint_grids({name: X[name].quantile([0.1, 0.5, 0.9]) for name in X})
        >>> joint["bmi", "s5"].shape
        (3, 3)
        """
        self._answers.only_raw("joint_grids")
        chosen = self._study.outputs.choose(output, output_index)
        refuse_no_mapping(grids, 'grids must map features to their values, such as {"age": [20, 40]}')
        players = {self._study.player(name): grid for name, grid in grids.items()}
        if any(player in self._study.groups for player in players):
            message = "a group has no grid of its own; ask for partial_dependence(group, at=...)"
            raise TableError(message)
        if len({np.size(grid) for grid in players.values()}) != 1:
            message = "grids must name at least one feature, and have the same number of values for each"
            raise TableError(message)
        return self._answers.grids(players, chosen)

    def interaction_values(
        self,
        rows: Any,
        *,
        max_order: int | None = None,
        features: Sequence[str | int] | None = None,
        output: Any = None,
        output_index: int | None = None,
    ) -> Interactions:
        """Return the partial dependence interaction values (PDIV) of rows: the joint contribution of each feature set.

        The value of a set is its partial dependence at the row's values minus the values of all its proper subsets; the
        value of the empty set is the mean. Only sets of features that share a path of a tree can have nonzero values.
        All values of a row sum to its score.

        Parameters
        ----------
        rows : table
            The rows to explain.
        max_order : int, optional
            The largest number of features in a set. Unlimited by default.
        features : sequence of str or int, optional
            Restrict the result to sets of these features (or groups).
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Interactions

        Examples
        --------
        See `Interactions`.
        """
        self._answers.only_raw("interaction_values")
        chosen = self._study.outputs.choose(output, output_index)
        plan = self._study.plan(1)
        if max_order is not None:
            max_order = whole_number(max_order, "max_order is the number of features of the largest sets")
        order = plan.most_players if max_order is None else min(max_order, plan.most_players)
        wanted = np.full(len(plan.players), features is None)
        for feature in (features,) if isinstance(features, str) else () if features is None else features:
            wanted[plan.players.index(self._study.player(feature))] = True
        order = min(order, max(1, int(wanted.sum())))
        plan.refuse_uncountable(order, "max_order")
        opened = self._study.rows(rows)  # first: what is wrong with them is found before anything is counted
        source = self._study.lookups(order, wanted, chosen.columns).of_rows(opened)
        return self._answers.interactions(source, chosen, rows)

    def evaluate(self, metric: Any, rows: Any, *, output: Any = None, output_index: int | None = None) -> Interactions:
        """Evaluate a metric over cubes for each row.

        Parameters
        ----------
        metric : CubeMetric
            One of `glasswood.metrics`, or your own subclass.
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Interactions
            One value per row and feature set of the metric.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20, max_depth=3).fit(X, y), X)
        >>> ex.evaluate(gw.metrics.BanzhafInteractions(), X)
        Interactions(442 rows x ... sets of up to 2 features, value)
        """
        if not isinstance(metric, CubeMetric):
            message = (
                f"a metric is an instance of a class that inherits from glasswood.metrics.CubeMetric, not {metric!r}"
            )
            raise ArgumentError(message)
        self._answers.only_raw("evaluate")
        chosen = self._study.outputs.choose(output, output_index)
        return self._answers.interactions(self._study.evaluate(metric, rows, chosen.columns), chosen, rows)

    def shap_values(self, rows: Any, *, output: Any = None, output_index: int | None = None) -> Attributions:
        """Return the Shapley values of each row.

        A feature that takes part has the row's value; one that does not has the background's. With a background, the
        values are interventional and use all of its rows; without one, they are path-dependent. Trees may be of any
        depth.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Attributions
            For each row, the values and the mean sum to its score.

        Examples
        --------
        See `Attributions`.
        """
        return self._answers.attributions(
            "Shapley values", ShapleyValues(), rows, self._study.outputs.choose(output, output_index)
        )

    def banzhaf_values(self, rows: Any, *, output: Any = None, output_index: int | None = None) -> Attributions:
        """Return the Banzhaf values of each row: the mean effect of adding a feature, over all sets of other features.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Attributions

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X).banzhaf_values(X)
        Attributions(Banzhaf values: 442 rows x 10 features, value)
        """
        return self._answers.attributions(
            "Banzhaf values", BanzhafValues(), rows, self._study.outputs.choose(output, output_index)
        )

    def shap_interaction_values(
        self, rows: Any, *, output: Any = None, output_index: int | None = None
    ) -> Attributions:
        """Return the Shapley interactions of all pairs of features for each row, arranged as in the shap package.

        The interaction of a pair is split equally between the two sides of the diagonal, and the diagonal holds the
        rest of each feature's Shapley value. `evaluate` with `metrics.ShapleyInteractions` returns the plain index, for
        interacting pairs only.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Attributions

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> pairs = ex.shap_interaction_values(X)
        >>> pairs
        Attributions(Shapley interactions: 442 rows x 10 x 10 features, value)
        >>> bool(abs(pairs.values.sum(axis=2) - ex.shap_values(X).values).max() < 1e-9)
        True
        """
        return self._answers.attributions(
            "Shapley interactions", ShapleyInteractions(2), rows, self._study.outputs.choose(output, output_index)
        )

    def ice(
        self,
        *features: str | int,
        rows: Any = None,
        at: Any = None,
        output: Any = None,
        output_index: int | None = None,
    ) -> Ice:
        """Return individual conditional expectation (ICE) curves: the response of every row as features vary.

        Parameters
        ----------
        *features : str or int
            One feature, evaluated in each of its cells, or any number of features with `at`.
        rows : table, optional
            The rows to explain. Defaults to the rows of the background.
        at : table, optional
            The points to evaluate at: a table with the features' columns.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Ice

        Examples
        --------
        See `Ice`.
        """
        return self._answers.ice(self._asked(features), rows, at, self._study.outputs.choose(output, output_index))

    def importance(self, *, output: Any = None, output_index: int | None = None) -> Importance:
        """Return the importance of each feature: the standard deviation of its curve over the rows.

        This requires a background: a table, a source or a Background. Groups of several columns require a table.

        Examples
        --------
        See `Importance`.
        """
        return self._overview.importance(self._study.outputs.choose(output, output_index))

    def interaction_strengths(
        self, rows: Any = None, *, output: Any = None, output_index: int | None = None
    ) -> Strengths:
        """Return how strongly each pair of features interacts: the root mean square of its interaction values.

        Parameters
        ----------
        rows : table, optional
            The rows to average over, with equal weights. Defaults to the rows of the background with their weights;
            files are read a second time. If only counts are available (a Background of order 2, a stream that can be
            read only once, a cluster's frame), features are assumed to be independent, and the result says so.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Strengths

        Examples
        --------
        See `Strengths`.
        """
        return self._overview.strengths(rows, self._study.outputs.choose(output, output_index))

    def monotonicity(self, *features: str | int, output: Any = None, output_index: int | None = None) -> Monotonicity:
        """Return whether the curves of the given features, or of all numeric ones, are monotonic.

        Examples
        --------
        See `Monotonicity`.
        """
        return self._overview.monotonicity(self._some(features), self._study.outputs.choose(output, output_index))

    def spikes(
        self, *features: str | int, points: int = 100, output: Any = None, output_index: int | None = None
    ) -> Spikes:
        """Return the spikes that a partial dependence sampled at evenly spaced values would miss.

        A spike lies between two neighbouring sample points and leaves the range of their heights by more than 5 % of
        the range of the whole curve.

        Parameters
        ----------
        *features : str or int
            All numeric features by default.
        points : int, default 100
            The number of sample points between the smallest and largest value in the background; files are read a
            second time to find these. If only counts are available, between the first and the last cut.
        output, output_index : label and int, optional
            The output to explain, by its label or its position in `outputs`.

        Returns
        -------
        Spikes

        Examples
        --------
        See `Spikes`.
        """
        return self._overview.spikes(self._some(features), points, self._study.outputs.choose(output, output_index))

    def _some(self, features: Sequence[str | int]) -> list[str]:
        """Return the names of the given distinct players; an empty list if none are given."""
        return self._asked(features) if features else []

    def plot(  # noqa: PLR0913 (the options of figures)
        self,
        features: str | Sequence[str | tuple[str, str]] | None = None,
        *,
        page: int = 0,
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
        """Draw curves and surfaces side by side, by default the curves of the most important features.

        Parameters
        ----------
        features : str, or sequence of str and pairs of str, optional
            A name is drawn as a curve, a pair of names as a surface. By default, all features that the model uses are
            drawn, the most important first, twelve per page. Without a background, features are ordered by the range
            of their curves.
        page : int, default 0
            The page to draw if there are more than twelve panels.
        output : label, optional
            The output to draw. By default all outputs, up to eight. Surfaces need a single one.
        output_index : int, optional
            The output to draw, by its position in `outputs`.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        sharey : bool, default True
            Whether all panels share the y-axis.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, one per panel, optional
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
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> ex.plot()
        <Drawing size ... with 10 Axes>
        >>> figure = ex.plot(["bmi", ("bmi", "s5")])
        >>> figure.savefig("bmi.png")  # doctest: +SKIP
        """
        from glasswood.plots._draw import Canvas, page_of, plot_page

        asked = self._ranked() if features is None else [features] if isinstance(features, str) else list(features)
        chosen, note = page_of(asked, page)
        panels = []
        for item in chosen:
            found = self.partial_dependence(
                *((item,) if isinstance(item, str | int) else item), output=output, output_index=output_index
            )
            panels.append(found.panel(sort=sort, xscale=xscale))
        return plot_page(panels, Canvas(engine, ax, title, figsize), [note] if note else [], sharey=sharey)

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        by: Any = None,
        n_interactions: int = 10,
        notes: str | Sequence[str] = (),
    ) -> Path:
        """Write a report for model validation and sign-off: one self-contained HTML file.

        The report describes the model, the rows and the checks, and shows the exact curves of all features, the
        strongest interactions, monotonicity, missing values and the spikes that a sampled curve would miss. Figures can
        be zoomed, searched and saved as CSV or SVG. Names are always shown as plain text, never as markup.

        Parameters
        ----------
        path : path
            The file to write.
        title : str, optional
            The title of the page. Defaults to the class of the model.
        by : str, sequence of str, array of shape (n_rows,), or mapping from groups to Backgrounds, optional
            Groups of rows to compare: anything that `summarize` accepts as `by`, or the dict it then returns.
        n_interactions : int, default 10
            The number of pairs shown as a surface.
        notes : str or sequence of str, optional
            Your own notes as plain text, one paragraph each.

        Returns
        -------
        Path

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ex.report(folder + "/model.html", title="Diabetes", by="sex").name
        'model.html'
        """
        from glasswood.report import Settings, Subject, write_report

        path = new_file(path)
        return write_report(Subject(self, self._study), path, Settings(title, by, n_interactions, notes))

    def _ranked(self) -> list[str]:
        """Return the names of the features that the model uses, the most important first; one name if it uses none."""
        names = list(self.importance().names) if self._study.has_rows else self._overview.by_span()
        plan, used = self._study.plan(1), self.ensemble.used_features
        players = {plan.players[player] for player in plan.player_of[used]}
        return [name for name in names if name in players] or names[:1]

    def _asked(self, features: Sequence[str | int]) -> list[str]:
        """Return the names of the given distinct players."""
        players = [self._study.player(feature) for feature in features]
        if not players:
            message = "name a feature"
            raise TableError(message)
        if len(set(players)) != len(players):
            message = f"the same feature is asked for twice: {features!r}"
            raise TableError(message)
        return players
