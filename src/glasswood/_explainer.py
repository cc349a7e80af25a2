"""Explainer: one object, one method per question. It wires the stages and does no arithmetic."""

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
    """Answers questions about a fitted tree ensemble.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
        What `read_model` takes.
    background : table, anything else that `summarize` takes, or Background, optional
        The rows to average over. Rows are counted when a question needs it, once. Without a background the answers are
        path-dependent: they use the covers that the model keeps from training instead of data.
    groups : mapping of str to sequences of str, optional
        Columns that are fixed together, such as those of a one-hot encoding: ``{"city": ["city_a", "city_b"]}``.
    sample_weight : array of shape (n_rows,), or the name of a column, optional
        Weights of the background's rows.
    response : {"raw", "probability", "prediction"}, default "raw"
        The scale of curves, surfaces, points and ICE. "raw" is the score on which trees add up (log-odds for boosted
        classifiers). "probability" is that of a classifier, "prediction" whatever the model's `predict` makes of the
        score: these need a pass over the rows for every question that is not about one feature.

    Notes
    -----
    An Explainer can be shared by threads. It keeps up to 64 MB of the tables behind Shapley values, interactions and
    other indices, so keep it to explain further rows: one more row then takes about a millisecond.

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
        """The labels that `output=` takes: classes, numbers of targets, or "prediction". They keep their type.

        Models without labels (files, boosters, several targets) have the labels 0, 1, ... A binary model has two, and
        answers for the second unless it is asked for the first.

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
        """Return the partial dependence of one feature, of a pair, of any features at points, or of all features.

        Parameters
        ----------
        *features : str or int
            None: all features. One: its `Curve`. Two: their `Surface`. A group, or more than two: `Points`, see `at`.
        output : label, optional
            One output, by its label: a class, or the number of a target. By default all of them; of a binary model, the
            second class. `outputs` lists the labels.
        output_index : int, optional
            The same, by its position among the labels.
        at : table, optional
            The points, as a table of the features' columns. For a group: by default, its distinct rows.

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

        Surfaces are made when they are looked up; the rows are counted once for all of them.

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
        """Return the joint partial dependence of every pair of features at some values of each, all pairs at once.

        Parameters
        ----------
        grids : mapping from feature names to arrays
            The values to look at, as many for each feature.
        output, output_index : label and int, optional
            One output, by its label or its position.

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
        """Return the partial dependence interaction values (PDIV) of rows: what each set of features adds, together.

        The value of a set is its partial dependence at the row's values, minus the values of all smaller sets within;
        the empty set has the mean. Only sets that share a path of a tree can have one. All values of a row sum to its
        score.

        Parameters
        ----------
        rows : table
            The rows to explain.
        max_order : int, optional
            The largest number of features of a set; all by default.
        features : sequence of str or int, optional
            Only sets of these features (or groups).
        output, output_index : label and int, optional
            One output, by its label or its position.

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
        """Return a metric over cubes, for rows.

        Parameters
        ----------
        metric : CubeMetric
            One of `glasswood.metrics`, or your own.
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            One output, by its label or its position.

        Returns
        -------
        Interactions
            The values of the metric's sets.

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
        """Return the Shapley values of rows: of the game in which features take the row's value, or the background's.

        With a background, all of its rows take part ("interventional"); without one, the values are path-dependent.
        There is no limit to the depth of trees.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            One output, by its label or its position.

        Returns
        -------
        Attributions
            The values and the mean of a row sum to its score.

        Examples
        --------
        See `Attributions`.
        """
        return self._answers.attributions(
            "Shapley values", ShapleyValues(), rows, self._study.outputs.choose(output, output_index)
        )

    def banzhaf_values(self, rows: Any, *, output: Any = None, output_index: int | None = None) -> Attributions:
        """Return the Banzhaf values of rows: the mean effect of a feature over all sets of others.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            One output, by its label or its position.

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
        """Return the Shapley interactions of all pairs of features, for rows, as the package shap arranges them.

        Half of the interaction of a pair is on either side of the diagonal, and the diagonal has what is left of each
        feature's Shapley value. `evaluate` with `metrics.ShapleyInteractions` gives the plain index, for the pairs that
        have one only.

        Parameters
        ----------
        rows : table
            The rows to explain.
        output, output_index : label and int, optional
            One output, by its label or its position.

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
        """Return the response of every row, if a feature (or some) took other values: one curve per row.

        Parameters
        ----------
        *features : str or int
            One feature, at every cell of it; or any, with `at`.
        rows : table, optional
            The rows; those of the background by default.
        at : table, optional
            The points, as a table of the features' columns.
        output, output_index : label and int, optional
            One output, by its label or its position.

        Returns
        -------
        Ice

        Examples
        --------
        See `Ice`.
        """
        return self._answers.ice(self._asked(features), rows, at, self._study.outputs.choose(output, output_index))

    def importance(self, *, output: Any = None, output_index: int | None = None) -> Importance:
        """Return how much the score varies with each feature alone: the standard deviation of its curve over the rows.

        It needs a background: a table, a source or a Background; groups of several columns need a table.

        Examples
        --------
        See `Importance`.
        """
        return self._overview.importance(self._study.outputs.choose(output, output_index))

    def interaction_strengths(
        self, rows: Any = None, *, output: Any = None, output_index: int | None = None
    ) -> Strengths:
        """Return how strongly each pair of features interacts: the root mean square of what it adds to two curves.

        Parameters
        ----------
        rows : table, optional
            The rows to average over, all alike; by default those of the background, with their weights: files are read
            a second time. If only their counts are at hand (a Background of order 2, a stream that can be read once, a
            frame of a cluster), features are taken as independent, and the result says so.
        output, output_index : label and int, optional
            One output, by its label or its position.

        Returns
        -------
        Strengths

        Examples
        --------
        See `Strengths`.
        """
        return self._overview.strengths(rows, self._study.outputs.choose(output, output_index))

    def monotonicity(self, *features: str | int, output: Any = None, output_index: int | None = None) -> Monotonicity:
        """Return whether the curves of some features, or of all that are numbers, rise or fall throughout.

        Examples
        --------
        See `Monotonicity`.
        """
        return self._overview.monotonicity(self._some(features), self._study.outputs.choose(output, output_index))

    def spikes(
        self, *features: str | int, points: int = 100, output: Any = None, output_index: int | None = None
    ) -> Spikes:
        """Return what a partial dependence sampled at evenly spaced values would not show.

        A spike lies between two neighbouring sample points, and leaves the range of both by more than 5 % of the whole
        curve's range.

        Parameters
        ----------
        *features : str or int
            All that are numbers by default.
        points : int, default 100
            The number of sample points, from the smallest to the largest value of the background's rows; files are read
            a second time for that. If only counts are at hand, from the first to the last cut.
        output, output_index : label and int, optional
            One output, by its label or its position.

        Returns
        -------
        Spikes

        Examples
        --------
        See `Spikes`.
        """
        return self._overview.spikes(self._some(features), points, self._study.outputs.choose(output, output_index))

    def _some(self, features: Sequence[str | int]) -> list[str]:
        """Return the names of some distinct players; none if none are named."""
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
        """Draw curves and surfaces side by side, by default those of the most important features, all equally high.

        Parameters
        ----------
        features : str, or sequence of str and pairs of str, optional
            A name is drawn as a curve, a pair of names as a surface. By default all features that the model uses are
            drawn, the most important first, twelve to a page. Without a background there is no importance: those come
            first whose curves span most.
        page : int, default 0
            The page, if there are more than twelve panels.
        output : label, optional
            One output; all by default, up to eight. Surfaces need one.
        output_index : int, optional
            The same, by its position among the labels.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        sharey : bool, default True
            Whether all panels have the same heights.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The axis of numbers; on a "quantile" scale, all rows of the background are equally wide.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches; as large as the panels need by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, as many as panels, optional
            Where to draw; on a new figure by default.

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
        """Write a report for those who must sign off the model: one HTML file that needs no network.

        It tells what the model and the rows are and how it was checked, and shows the exact curves of all features, the
        strongest interactions, monotonicity, missing values and spikes that a sampled curve would miss. Figures are
        zoomed, searched and saved as CSV or SVG in the page. Names are shown as text, whatever they hold.

        Parameters
        ----------
        path : path
            Where to write it.
        title : str, optional
            What the page is called; the model's class by default.
        by : str, sequence of str, array of shape (n_rows,), or mapping from groups to Backgrounds, optional
            Groups of rows to compare: what `summarize` takes as `by`, or what it returns then.
        n_interactions : int, default 10
            How many pairs get a surface.
        notes : str or sequence of str, optional
            What you have to say, as plain text; a paragraph each.

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
        """Return the names of all features that the model uses, the most important first; of one, if it uses none."""
        names = list(self.importance().names) if self._study.has_rows else self._overview.by_span()
        plan, used = self._study.plan(1), self.ensemble.used_features
        players = {plan.players[player] for player in plan.player_of[used]}
        return [name for name in names if name in players] or names[:1]

    def _asked(self, features: Sequence[str | int]) -> list[str]:
        """Return the names of some distinct players."""
        players = [self._study.player(feature) for feature in features]
        if not players:
            message = "name a feature"
            raise TableError(message)
        if len(set(players)) != len(players):
            message = f"the same feature is asked for twice: {features!r}"
            raise TableError(message)
        return players
