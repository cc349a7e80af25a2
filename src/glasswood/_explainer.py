"""The Explainer: one method per question. It connects the stages and computes nothing itself.

The folder of a question is imported when it is first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from glasswood.errors import ScaleError, UnsupportedModelError
from glasswood.metrics import BanzhafValues, HasCalcMetric, ShapleyInteractions, ShapleyValues
from glasswood.parallel._threads import check_jobs, threads_limited_to, threads_of
from glasswood.questions.curves import (
    Curve,
    Curves,
    Points,
    Request,
    Surface,
    grid_spec,
    joint_partial_dependence,
    partial_dependence,
)
from glasswood.results import Grouped, Report
from glasswood.study._build import study_of
from glasswood.study._view import View, view_of
from glasswood.tables._row_values import RowColumns, n_folds
from glasswood.tables._sources import stored
from glasswood.text._arguments import Centering, by_position, new_file, whole_number
from glasswood.text._html import facts_html

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, Files, MatplotlibFigure, PlotlyFigure, Table
    from glasswood.questions.ale import Ale, Ales, AleSurface
    from glasswood.questions.curves._result_collections import CurvesFigure
    from glasswood.questions.drift import Comparison
    from glasswood.questions.importance import Importance, PermutationImportance
    from glasswood.questions.interactions import HStatistics, PurifiedEffects, Strengths
    from glasswood.questions.rating_tables import RatingTable
    from glasswood.questions.rows import Attributions, Ice, Interactions, SourceValues
    from glasswood.questions.shapes import Certificate, Monotonicity, RowMonotonicity, Spikes

    AnyDependence: TypeAlias = Curve | Surface | Points | Curves[Curve | Surface | Points]

    class AskedOptions(TypedDict, total=False):
        output: Hashable
        response: str | None

    class CenteredOptions(AskedOptions, total=False):
        centered: Centering

    class PartialDependenceOptions(CenteredOptions, total=False):
        at: object
        grid: Grid | None

    class RowOptions(AskedOptions, total=False):
        keep: object
        engine: object

    class SetOptions(RowOptions, total=False):
        max_order: int | None
        features: Sequence[str | int] | None

    class IceOptions(RowOptions, total=False):
        at: object
        grid: Grid | None

    class AleOptions(AskedOptions, total=False):
        bins: object
        order: object

    class ImportanceOptions(AskedOptions, total=False):
        kind: str | None
        all_rows: bool

    class PermutationOptions(TypedDict, total=False):
        loss: object
        all_rows: bool

    class OverviewFigure(CurvesFigure, total=False):
        response: str | None
        by: object


__all__ = ["Explainer"]

Grid: TypeAlias = int | tuple[str, int] | tuple[str, int, int] | Mapping[Any, Any]


P = ParamSpec("P")
T = TypeVar("T")


class _Asked(NamedTuple):
    """On which scale a question is asked, about which output, and for which groups of rows."""

    response: str | None
    output: object
    by: object = None


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
    response : {"raw", "probability", "prediction"}, optional
        The scale of results, unless a question asks for another. "raw" is the score to which the trees add up (log-odds
        for boosted classifiers), "probability" the probability of a class, and "prediction" the output of the model's
        `predict`. The last two take a few times as long as one `predict` of all rows. By default, it is what the link
        of the model gives: probabilities of classifiers, the mean of Poisson, gamma and Tweedie models, and the raw
        score of models without a link. Voting, stacking and calibrated models have no raw score; their results are
        what they predict. See Notes for the questions that are about the raw score.
    target : name of a column, sequence of names, or array of shape (n_rows,) or (n_rows, n_outputs), optional
        What was observed for the background's rows: numbers, or labels of classes. Curves then have `Curve.observed`,
        `Curve.predicted` and what follows from them. With `exposure`, the row's total, such as its number of claims.
    exposure : name of a column, or array of shape (n_rows,), optional
        The exposure of each row, such as policy-years: observed and predicted are then totals divided by exposure.
    offset : name of a column, sequence of names, or array of shape (n_rows,) or (n_rows, n_outputs), optional
        What is added to the raw score of each row before the link, see `summarize`. Results on the raw scale are about
        what the library adds to it: the trees, and the base score unless the offset takes its place. On the scale of
        the response, there are curves and importance, per unit of `exposure` if that is given, too.
    prediction : name of a column, sequence of names, or array, optional
        What the model predicts for each row, as `predict` or `predict_proba` return it. By default it is computed,
        which takes about as long as `predict`.
    folds : int, optional
        The number of folds that the background's rows are divided into, for errors and bands, see `Curve.error`: 20 are
        enough. Counting then takes two to three times as long.
    fold_by : name of a column, or array of shape (n_rows,), optional
        The values by which rows are divided, see `summarize`. By default the numbers of the rows.
    filesystem, storage_options : optional
        The storage that the background's Parquet files are in, see `summarize`.
    n_jobs : int, optional
        The number of threads that questions may use: -1 for all cores that this process may use, -2 for all but one. By
        default the environment variable ``GLASSWOOD_NUM_THREADS``, or all cores. Results are bit-identical for every
        number.

    Notes
    -----
    By default, a question is answered for the raw score where it cannot be answered on the scale of the response: if
    there are no rows, or a Background has no sums of responses, and for surfaces if rows cannot be read again, or have
    an offset. Shapley values, interactions, strengths, H statistics, certificates and rating tables are those of the
    raw score in any case. The `units` of each result say which scale it is on. A `response` that was asked for is not
    replaced: a question that cannot be answered on it raises a ScaleError.

    An Explainer is a snapshot of the model and its rows. Fitting the model again does not change it. Targets, weights
    and the like are copied when it is made. A table in memory is not: the columns that the model uses are digested at
    the same moment, and if they are changed in place, questions that read them later raise a TableError. Files are
    listed when the Explainer is made; files that change afterwards are refused, and new ones are not read. Streams,
    lists of tables, lazy frames, tables of databases and frames of clusters are not read when the Explainer is made,
    but for the first rows, with which the model is checked: answers are about the rows that they have when a question
    reads them.

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

    @by_position(2, "Explainer(model, rows): what was observed is target=, weights are sample_weight=")
    def __init__(
        self,
        model: object,
        background: object = None,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        sample_weight: object = None,
        response: str | None = None,
        target: object = None,
        exposure: object = None,
        offset: object = None,
        prediction: object = None,
        folds: int | None = None,
        fold_by: object = None,
        filesystem: object = None,
        storage_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._n_jobs = check_jobs(n_jobs)
        values = RowColumns(target, exposure, offset, prediction, n_folds(folds, fold_by), fold_by)
        background = stored(background, filesystem, storage_options)
        with threads_limited_to(self._threads):
            self._study = study_of(model, background, groups, sample_weight, response, values)
        self._response = response
        self.ensemble = self._study.ensemble
        self._view()  # refuses scales that the model does not have

    def __repr__(self) -> str:
        text, scale = repr(self.ensemble).replace("TreeEnsemble", "Explainer", 1), self._view().scale
        notes = [] if scale.is_score else [f"answers: {scale.units}"]
        notes += [] if self._study.model.own is None else ["predictions compared, not proven"]
        return f"{'; '.join([text[:-1], *notes])})"

    def _repr_html_(self) -> str:
        facts = {"answers": self._view().scale.units, "averages over": self._study.over.text, **self.ensemble.facts}
        if self._study.model.own is not None:
            facts["predictions"] = self._study.model.own.text
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
        return self._view().scale.outputs.labels

    @property
    def features(self) -> tuple[str, ...]:
        """The names that questions accept: features, and groups in place of their columns.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
        >>> gw.Explainer(model, X, groups={"blood": ["s1", "s2", "s3", "s4", "s5", "s6"]}).features
        ('blood', 'age', 'sex', 'bmi', 'bp')
        """
        return self._study.plan(1).players

    @property
    def response(self) -> str:
        """The scale of results, unless a question asks for another: "raw", "probability" or "prediction"."""
        return self._view().scale.response

    @property
    def units(self) -> str:
        """The units of results on this scale, such as "value", "log-odds" or "probability".

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.ensemble import HistGradientBoostingClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingClassifier(max_iter=5).fit(X, y), X)
        >>> ex.response, ex.units
        ('probability', 'probability')
        >>> ex.partial_dependence("mean area", response="raw").units
        'log-odds'
        """
        return self._view().scale.units

    # --------------------------------------------------------------------------------------------------- asking

    def _view(self, response: str | None = None, output: object = None) -> View:
        """Return what answers questions on a scale."""
        return view_of(self._study, response or self._response or self._study.default_response, output)

    @property
    def _threads(self) -> int | None:
        """The number of threads that questions may use; None for the default."""
        return threads_of(self._n_jobs)

    def _ask(
        self, answer: Callable[Concatenate[View, P], T], asked: _Asked, *args: P.args, **kwargs: P.kwargs
    ) -> T | Grouped[T]:
        """Return an answer, or one for each group of rows.

        If no scale was asked for, and there is no answer on the default one, the answer is that of the score.
        """
        view = self._view(asked.response, asked.output)
        with threads_limited_to(self._threads):
            try:
                return _answered(view, asked.by, answer, *args, **kwargs)
            except ScaleError:
                if asked.response or self._response:
                    raise
            return _answered(self._view("raw", asked.output), asked.by, answer, *args, **kwargs)

    def _ask_raw(
        self, what: str, answer: Callable[Concatenate[View, P], T], asked: _Asked, *args: P.args, **kwargs: P.kwargs
    ) -> T | Grouped[T]:
        """Return the answer to a question that exists on the raw scale only."""
        if asked.response not in (None, "raw"):
            message = f"Glasswood computes {what} of the raw score only, which is a sum over trees; leave out response="
            raise UnsupportedModelError(message)
        self._refuse_combined(what)
        return self._ask(answer, asked._replace(response="raw"), *args, **kwargs)

    def _refuse_combined(self, what: str) -> None:
        """Refuse a question about the sum over trees of a combination of models, which has none."""
        if self._study.combined:
            message = (
                f"{what} need a score that is a sum over trees, which a {self.ensemble.source} does not have; explain "
                "the models that it combines"
            )
            raise UnsupportedModelError(message)

    # ------------------------------------------------------------------------------------------------- questions

    # A group of columns is evaluated at points, too, which no type checker can know of its name.
    @overload
    def partial_dependence(
        self, *, at: None = None, grid: None = None, by: None = None, **options: Unpack[CenteredOptions]
    ) -> Curves[Curve]: ...
    @overload
    def partial_dependence(
        self, *, at: object = None, grid: Grid | None = None, by: None = None, **options: Unpack[CenteredOptions]
    ) -> Curves[Points]: ...
    @overload
    def partial_dependence(
        self,
        features: list[Any],
        /,
        *,
        at: None = None,
        grid: None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Curves[Curve | Surface]: ...
    @overload
    def partial_dependence(
        self,
        features: list[Any],
        /,
        *,
        at: object = None,
        grid: Grid | None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Curves[Points]: ...
    @overload
    def partial_dependence(
        self,
        feature: str | int,
        /,
        *,
        at: None = None,
        grid: None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Curve: ...
    @overload
    def partial_dependence(
        self,
        feature: str | int,
        /,
        *,
        at: object = None,
        grid: Grid | None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Points: ...
    @overload
    def partial_dependence(
        self,
        first: str | int,
        second: str | int,
        /,
        *,
        at: None = None,
        grid: None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Surface: ...
    @overload
    def partial_dependence(
        self,
        first: str | int,
        second: str | int,
        /,
        *,
        at: object = None,
        grid: Grid | None = None,
        by: None = None,
        **options: Unpack[CenteredOptions],
    ) -> Points: ...
    @overload
    def partial_dependence(
        self,
        first: str | int,
        second: str | int,
        /,
        *more: str | int,
        by: None = None,
        **options: Unpack[PartialDependenceOptions],
    ) -> Points: ...
    @overload
    def partial_dependence(
        self, *, by: object, **options: Unpack[PartialDependenceOptions]
    ) -> Grouped[Curves[Curve | Points]]: ...
    @overload
    def partial_dependence(
        self, features: list[Any], /, *, by: object, **options: Unpack[PartialDependenceOptions]
    ) -> Grouped[Curves[Curve | Surface | Points]]: ...
    @overload
    def partial_dependence(
        self, feature: str | int, /, *, by: object, **options: Unpack[PartialDependenceOptions]
    ) -> Grouped[Curve | Points]: ...
    @overload
    def partial_dependence(
        self,
        first: str | int,
        second: str | int,
        /,
        *more: str | int,
        by: object,
        **options: Unpack[PartialDependenceOptions],
    ) -> Grouped[Surface | Points]: ...

    def partial_dependence(
        self,
        *features: Any,
        output: Hashable = None,
        at: object = None,
        grid: Grid | None = None,
        centered: Centering = False,
        response: str | None = None,
        by: object = None,
    ) -> AnyDependence | Grouped[AnyDependence]:
        """Return the partial dependence of one feature, of two, of any number at given points, or of all features.

        Parameters
        ----------
        *features : str or int, or one list of these and of pairs
            One: its `Curve`. Two: their `Surface`. A group, or more than two: `Points` (see `at`). A list, or none for
            all features: `Curves`, a mapping from each entry to its result.
        output : label, optional
            The output to explain: a class or the number of a target. By default all outputs or, for binary models, the
            second class. `outputs` lists the labels.
        at : table, or mapping from features to values, optional
            The points to evaluate at: a table with the features' columns. Defaults to the distinct rows of a group. If
            no feature is named, or a list of them, a mapping from features to values, each evaluated alone.
        grid : int, ("quantiles", int), ("rows", int, int), or mapping from features to values, optional
            Evaluate at some values of each feature instead of everywhere; of several features, at all combinations of
            their values. Missing values are on a grid only if a mapping has them.

            - ``20``: this number of evenly spaced values between the 5th and the 95th percentile of the rows. If the
              rows are not a table in memory (files, streams, a Background), or there are none, evenly spaced values
              from the first to the last cut of the model.
            - ``("quantiles", 20)``: the quantiles of 20 evenly spaced probabilities from 5 % to 95 %; equal ones once.
              They are interpolated as in NumPy. If rows have weights, a quantile is the smallest value such that the
              rows up to it have at least that share of the weight.
            - ``("rows", 20, seed)``: the values of 20 distinct rows that are drawn with a seed; equal ones once. With
              the same seed and rows, the same values. Rows of weight 0 are not drawn, others in proportion to their
              weight; nor are rows whose value is missing.
            - ``{"age": [20, 40], "bmi": [25, 30, 35]}``: these values. It must have values of every feature that is
              named; if none is named, the features are those of the mapping.

            With a number or quantiles, features that have no more distinct values than that, and categories, are
            evaluated at all of them. Quantiles and rows need a table in memory. Groups of rows (`by`) have their own.
        centered : bool or "mean", default False
            True: curves start at zero, in the first cell with rows, or in the most frequent category; points at the
            first of them. "mean": curves minus the mean prediction (`Curve.mean`), which is the centred partial
            dependence of the Woodelf paper.
        response : {"raw", "probability", "prediction"}, optional
            The scale of the result. Defaults to that of the Explainer.
        by : name of a column, sequence of names, or array of shape (n_rows,), optional
            Groups of background rows to average over separately. Returns a `Grouped` mapping from groups to results.

        Returns
        -------
        Curve, Surface, Points, Curves or Grouped

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
        >>> ex.partial_dependence("petal width (cm)", output=2, by=y)
        Grouped by rows: Curve of 0, 1, 2
        >>> ex.partial_dependence("petal width (cm)", output=2, grid=5).to_frame().columns.tolist()
        ['petal width (cm)', 'value']
        >>> values = {"petal width (cm)": [0.5, 1.5], "petal length (cm)": [2.0, 4.0, 6.0]}
        >>> ex.partial_dependence("petal width (cm)", "petal length (cm)", output=2, grid=values).grid_values.shape
        (2, 3)
        >>> ex.partial_dependence(at=values, output=2)
        Curves(petal width (cm), petal length (cm))
        >>> curve = ex.partial_dependence("petal width (cm)", output=2, grid=("quantiles", 5), centered="mean")
        >>> float(curve.values[0]) < 0 < float(curve.values[-1])
        True
        """
        request = Request.of(at, grid, centered)
        return self._ask(partial_dependence, _Asked(response, output, by), features, request)

    @overload
    def joint_partial_dependence(
        self, *, grid: None = None, by: None = None, **options: Unpack[AskedOptions]
    ) -> Curves[Surface]: ...
    @overload
    def joint_partial_dependence(
        self, *, grid: None = None, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[Curves[Surface]]: ...
    @overload
    def joint_partial_dependence(
        self, *, grid: Grid, by: None = None, **options: Unpack[AskedOptions]
    ) -> Curves[Points]: ...
    @overload
    def joint_partial_dependence(
        self, *, grid: Grid, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[Curves[Points]]: ...

    def joint_partial_dependence(
        self,
        *,
        output: Hashable = None,
        grid: Grid | None = None,
        response: str | None = None,
        by: object = None,
    ) -> Curves[Surface | Points] | Grouped[Curves[Surface | Points]]:
        """Return the joint partial dependence of every pair of features, as a mapping from (name, name) to `Surface`.

        Results are computed when they are looked up; the rows are counted only once for all of them.

        Parameters
        ----------
        output : label, optional
            The output to explain, one of `outputs`.
        grid : int, ("quantiles", int), ("rows", int, int), or mapping from features to values, optional
            Evaluate at all combinations of some values of both features instead of everywhere, as in
            `partial_dependence`: the results are `Points`, and only their values are computed. With a mapping, the
            pairs are those of its features.
        response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        Curves or Grouped

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
        >>> ex = gw.Explainer(RandomForestClassifier(20, random_state=0).fit(X, y), X)
        >>> ex.joint_partial_dependence(grid=5, output=2)["petal length (cm)", "petal width (cm)"]
        Points(petal length (cm) x petal width (cm): 25 points, probability)
        """
        spec = None if grid is None else grid_spec(grid)
        return self._ask(joint_partial_dependence, _Asked(response, output, by), spec)

    @overload
    def interaction_values(self, rows: Files, *, by: None = None, **options: Unpack[SetOptions]) -> SourceValues: ...
    @overload
    def interaction_values(self, rows: Table, *, by: None = None, **options: Unpack[SetOptions]) -> Interactions: ...
    @overload
    def interaction_values(
        self, rows: object, *, by: None = None, **options: Unpack[SetOptions]
    ) -> Interactions | SourceValues: ...
    @overload
    def interaction_values(
        self, rows: object, *, by: object, **options: Unpack[SetOptions]
    ) -> Grouped[Interactions | SourceValues]: ...

    def interaction_values(
        self,
        rows: object,
        *,
        max_order: int | None = None,
        features: Sequence[str | int] | None = None,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Interactions | SourceValues | Grouped[Interactions | SourceValues]:
        """Return the partial dependence interaction values (PDIV) of rows: the joint contribution of each feature set.

        The value of a set is its partial dependence at the row's values minus the values of all its proper subsets; the
        value of the empty set is the mean. Only sets of features that share a path of a tree can have nonzero values.
        All values of a row sum to its score.

        Parameters
        ----------
        max_order : int, optional
            The largest number of features in a set. Unlimited by default.
        features : sequence of str or int, optional
            Restrict the result to sets of these features (or groups).
        output, response, by : optional
            As in `partial_dependence`.
        rows, keep, engine
            As in `shap_values`.

        Returns
        -------
        Interactions, or SourceValues if the rows are not a table in memory
        """
        from glasswood.questions.rows import explained_rows, interaction_values

        if max_order is not None:
            max_order = whole_number(max_order, "max_order is the number of features of the largest sets")
        listed = (features,) if isinstance(features, str) else features
        given = explained_rows(rows, keep, engine)
        asked = _Asked(response, output, by)
        return self._ask_raw("interaction values", interaction_values, asked, given, max_order, listed)

    @overload
    def evaluate(
        self, metric: HasCalcMetric, rows: Files, *, by: None = None, **options: Unpack[RowOptions]
    ) -> SourceValues: ...
    @overload
    def evaluate(
        self, metric: HasCalcMetric, rows: Table, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Interactions: ...
    @overload
    def evaluate(
        self, metric: HasCalcMetric, rows: object, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Interactions | SourceValues: ...
    @overload
    def evaluate(
        self, metric: HasCalcMetric, rows: object, *, by: object, **options: Unpack[RowOptions]
    ) -> Grouped[Interactions | SourceValues]: ...

    def evaluate(
        self,
        metric: HasCalcMetric,
        rows: object,
        *,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Interactions | SourceValues | Grouped[Interactions | SourceValues]:
        """Evaluate a metric over cubes for each row.

        Parameters
        ----------
        metric : CubeMetric, or any object with the method calc_metric
            One of `glasswood.metrics` or of the woodelf package, or your own.
        output, response, by : optional
            As in `partial_dependence`.
        rows, keep, engine
            As in `shap_values`.

        Returns
        -------
        Interactions, or SourceValues if the rows are not a table in memory
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
        from glasswood.questions.rows import explained_rows, metric_values, refuse_no_metric

        refuse_no_metric(metric)
        given = explained_rows(rows, keep, engine)
        return self._ask_raw("metrics over cubes", metric_values, _Asked(response, output, by), metric, given)

    @overload
    def shap_values(self, rows: Files, *, by: None = None, **options: Unpack[RowOptions]) -> SourceValues: ...
    @overload
    def shap_values(self, rows: Table, *, by: None = None, **options: Unpack[RowOptions]) -> Attributions: ...
    @overload
    def shap_values(
        self, rows: object, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Attributions | SourceValues: ...
    @overload
    def shap_values(
        self, rows: object, *, by: object, **options: Unpack[RowOptions]
    ) -> Grouped[Attributions | SourceValues]: ...

    def shap_values(
        self,
        rows: object,
        *,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Attributions | SourceValues | Grouped[Attributions | SourceValues]:
        """Return the Shapley values of each row.

        A feature that takes part has the row's value; one that does not has the background's. With a background, the
        values are interventional and use all of its rows; without one, they are path-dependent. Trees may be of any
        depth.

        Parameters
        ----------
        rows : table, files, stream, or frame of a cluster
            The rows to explain: a table in memory, or any other source that `summarize` accepts.
        output, response, by : optional
            As in `partial_dependence`.
        keep : list of str, or mapping of str to str, optional
            Columns of files, streams and frames that are passed on with the values, such as an identifier; a mapping
            renames them.
        engine : optional
            Who explains the rows of files, as in `summarize`.

        Returns
        -------
        Attributions, or SourceValues if the rows are not a table in memory
            For each row, the values and the mean sum to its score.
        """
        from glasswood.questions.rows import attributions, explained_rows

        given, name = explained_rows(rows, keep, engine), "Shapley values"
        return self._ask_raw(name, attributions, _Asked(response, output, by), given, name, ShapleyValues())

    @overload
    def banzhaf_values(self, rows: Files, *, by: None = None, **options: Unpack[RowOptions]) -> SourceValues: ...
    @overload
    def banzhaf_values(self, rows: Table, *, by: None = None, **options: Unpack[RowOptions]) -> Attributions: ...
    @overload
    def banzhaf_values(
        self, rows: object, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Attributions | SourceValues: ...
    @overload
    def banzhaf_values(
        self, rows: object, *, by: object, **options: Unpack[RowOptions]
    ) -> Grouped[Attributions | SourceValues]: ...

    def banzhaf_values(
        self,
        rows: object,
        *,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Attributions | SourceValues | Grouped[Attributions | SourceValues]:
        """Return the Banzhaf values of each row: the mean effect of adding a feature, over all sets of other features.

        Parameters
        ----------
        output, response, by : optional
            As in `partial_dependence`.
        rows, keep, engine
            As in `shap_values`.

        Returns
        -------
        Attributions, or SourceValues if the rows are not a table in memory

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X).banzhaf_values(X)
        Attributions(Banzhaf values: 442 rows x 10 features, value)
        """
        from glasswood.questions.rows import attributions, explained_rows

        given, name = explained_rows(rows, keep, engine), "Banzhaf values"
        return self._ask_raw(name, attributions, _Asked(response, output, by), given, name, BanzhafValues())

    @overload
    def shap_interaction_values(
        self, rows: Files, *, by: None = None, **options: Unpack[RowOptions]
    ) -> SourceValues: ...
    @overload
    def shap_interaction_values(
        self, rows: Table, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Attributions: ...
    @overload
    def shap_interaction_values(
        self, rows: object, *, by: None = None, **options: Unpack[RowOptions]
    ) -> Attributions | SourceValues: ...
    @overload
    def shap_interaction_values(
        self, rows: object, *, by: object, **options: Unpack[RowOptions]
    ) -> Grouped[Attributions | SourceValues]: ...

    def shap_interaction_values(
        self,
        rows: object,
        *,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Attributions | SourceValues | Grouped[Attributions | SourceValues]:
        """Return the Shapley interactions of all pairs of features for each row, arranged as in the shap package.

        The interaction of a pair is split equally between the two sides of the diagonal, and the diagonal holds the
        rest of each feature's Shapley value. `evaluate` with `metrics.ShapleyInteractions` returns the plain index, for
        interacting pairs only.

        Parameters
        ----------
        output, response, by : optional
            As in `partial_dependence`.
        rows, keep, engine
            As in `shap_values`.

        Returns
        -------
        Attributions, or SourceValues if the rows are not a table in memory

        Examples
        --------
        >>> pairs = ex.shap_interaction_values(X)
        >>> pairs
        Attributions(Shapley interactions: 442 rows x 10 x 10 features, value)
        >>> bool(abs(pairs.values.sum(axis=2) - ex.shap_values(X).values).max() < 1e-9)
        True
        """
        from glasswood.questions.rows import attributions, explained_rows

        given, name = explained_rows(rows, keep, engine), "Shapley interactions"
        return self._ask_raw(name, attributions, _Asked(response, output, by), given, name, ShapleyInteractions(2))

    @overload
    def ice(
        self, *features: str | int, rows: Files, by: None = None, **options: Unpack[IceOptions]
    ) -> SourceValues: ...
    @overload
    def ice(
        self, *features: str | int, rows: Table | None = None, by: None = None, **options: Unpack[IceOptions]
    ) -> Ice: ...
    @overload
    def ice(
        self, *features: str | int, rows: object, by: None = None, **options: Unpack[IceOptions]
    ) -> Ice | SourceValues: ...
    @overload
    def ice(
        self, *features: str | int, rows: object = None, by: object, **options: Unpack[IceOptions]
    ) -> Grouped[Ice | SourceValues]: ...

    def ice(
        self,
        *features: str | int,
        rows: object = None,
        at: object = None,
        grid: Grid | None = None,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        keep: object = None,
        engine: object = "auto",
    ) -> Ice | SourceValues | Grouped[Ice | SourceValues]:
        """Return individual conditional expectation (ICE) curves: the response of every row as features vary.

        Parameters
        ----------
        *features : str or int
            One feature, evaluated in each of its cells, or any number of features with `at`.
        rows : table, files, stream, or frame of a cluster, optional
            The rows to explain. Defaults to the rows of the background.
        at : table, optional
            The points to evaluate at: a table with the features' columns.
        grid : int, ("quantiles", int), ("rows", int, int), or mapping from features to values, optional
            Evaluate at some values of each feature instead, as in `partial_dependence`.
        output, response, by : optional
            As in `partial_dependence`.
        keep, engine : optional
            As in `shap_values`.

        Returns
        -------
        Ice, or SourceValues if `rows` is not a table in memory
            The values of a source are one list per row: the column ``response``.
        """
        from glasswood.questions.rows import explained_rows, ice

        given = None if rows is None else explained_rows(rows, keep, engine)
        request = Request.of(at, grid, centered=False)
        return self._ask(ice, _Asked(response, output, by), features, given, request)

    @overload
    def ale(self, *, by: None = None, **options: Unpack[AleOptions]) -> Ales: ...
    @overload
    def ale(self, features: list[Any], /, *, by: None = None, **options: Unpack[AleOptions]) -> Ales: ...
    @overload
    def ale(self, feature: str | int, /, *, by: None = None, **options: Unpack[AleOptions]) -> Ale: ...
    @overload
    def ale(
        self, first: str | int, second: str | int, /, *, by: None = None, **options: Unpack[AleOptions]
    ) -> AleSurface: ...
    @overload
    def ale(self, *, by: object, **options: Unpack[AleOptions]) -> Grouped[Ales]: ...
    @overload
    def ale(self, features: list[Any], /, *, by: object, **options: Unpack[AleOptions]) -> Grouped[Ales]: ...
    @overload
    def ale(self, feature: str | int, /, *, by: object, **options: Unpack[AleOptions]) -> Grouped[Ale]: ...
    @overload
    def ale(
        self, first: str | int, second: str | int, /, *, by: object, **options: Unpack[AleOptions]
    ) -> Grouped[AleSurface]: ...

    def ale(
        self,
        *features: str | int | list[Any],
        bins: object = None,
        order: object = None,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> Ale | AleSurface | Ales | Grouped[Ale | AleSurface | Ales]:
        """Return the accumulated local effects (ALE) of one feature, of two, or of all that the model uses; see `Ale`.

        Where features depend on each other, partial dependence averages over rows that do not occur; ALE only moves
        rows within their own bin. `Ale.gap` tells how far both are apart.

        Parameters
        ----------
        *features : str or int, or one list of these
            One: its `Ale`. Two numbers: their `AleSurface`. A list, or none for all features that the model uses:
            `Ales`, a mapping from names.
        bins : int, array of edges, or mapping from features to these, optional
            The number of bins, or their edges as for ``numpy.histogram``. By default 20: the edges are those cuts of
            the model at which the rows reach the quantiles, and the least and the greatest value. A Background has
            the edges that it was made with. Pairs have 10 bins of each feature by default.
        order : sequence of labels, or mapping from features to these, optional
            The order of the levels of a feature of categories. By default that of the table's column if it is ordered;
            else levels are next to each other whose rows are alike in the other features, which takes a pass over the
            rows; or the model's order, if these cannot be read again. `Ale.in_order` changes it later.
        output, response, by
            As for `partial_dependence`. Groups have the edges of all rows.

        Returns
        -------
        Ale, AleSurface, Ales or Grouped

        Examples
        --------
        >>> ex.ale("bmi")
        Ale(bmi: ... bins, value from ... to ...)
        >>> ex.ale("bmi", bins=[-0.1, 0.0, 0.1]).edges
        array([-0.1,  0. ,  0.1])
        >>> ex.ale("bmi", "s5")
        AleSurface(bmi x s5: ... x ... bins, ... without rows, value from ... to ...)
        >>> ex.ale(["bmi", "s5"])
        Ales(bmi, s5)
        """
        from glasswood.questions.ale import ale, plan_ale

        planned = plan_ale(self._view(response).study, features, bins, order)  # of all rows, also for groups of them
        return self._ask(ale, _Asked(response, output, by), planned)

    @overload
    def importance(self, *, by: None = None, **options: Unpack[ImportanceOptions]) -> Importance: ...
    @overload
    def importance(self, *, by: object, **options: Unpack[ImportanceOptions]) -> Grouped[Importance]: ...

    def importance(
        self,
        *,
        kind: str | None = None,
        all_rows: bool = False,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> Importance | Grouped[Importance]:
        """Return the importance of each feature: how much the score varies with it over the rows.

        This requires a background: a table, a source or a Background. Groups of several columns require a table.

        Parameters
        ----------
        kind : {"total", "main"}, optional
            "total": the root of the mean squared change of the score if the feature is redrawn from all rows, which
            includes its interactions. It takes a few times as long as one `predict` of all rows; a Background has it if
            it was made with ``summarize(..., answers=["importance"])``. "main": the standard deviation of the feature's
            curve, which counts are enough for. By default the total where the rows are at hand or a Background has it,
            and main importance elsewhere and for models of tens of millions of leaves: the result says which it is.
        all_rows : bool, default False
            By default, total importance is computed from a sample of the rows if it would take longer than some ten
            seconds: if the rows, each in the cells of all features, take more than 2**32 responses and leaf values.
            Rows are sampled by a hash of their number, so that a sample is always the same, and the result tells its
            size. Pass True for all rows.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        Importance
        """
        from glasswood.questions.importance import importance

        return self._ask(importance, _Asked(response, output, by), kind, all_rows=all_rows)

    @overload
    def permutation_importance(
        self, *, by: None = None, **options: Unpack[PermutationOptions]
    ) -> PermutationImportance: ...
    @overload
    def permutation_importance(
        self, *, by: object, **options: Unpack[PermutationOptions]
    ) -> Grouped[PermutationImportance]: ...

    def permutation_importance(
        self, *, loss: object = None, all_rows: bool = False, by: object = None
    ) -> PermutationImportance | Grouped[PermutationImportance]:
        """Return how much the mean loss increases if a feature is permuted, on average over all permutations.

        The loss is that of the model's predictions (`predict` or `predict_proba`), with offsets if there are any, so
        the Explainer must have been made with ``target=``; or the Background with ``summarize(..., target=...,
        loss=...)``. It takes a few times as long as one `predict` of all rows, for all features.

        Parameters
        ----------
        loss : str or function, optional
            For numbers: "squared_error", "absolute_error", "quantile:0.9" (or another level), "poisson" or "gamma" (the
            deviances); several targets count equally. For classes: "log_loss" or "brier". By default "squared_error"
            for regression, "log_loss" for classes, and "poisson" for models of the logarithm of a mean. A function is
            called with arrays of what was observed and predicted, of shape (n_rows,) or (n_rows, n_outputs), and
            returns one loss per row; classes are one indicator per output. Its name is that of the loss. Probabilities
            below 2**-52 count as such for "log_loss" if the trees themselves add up to probabilities, as in forests.
        all_rows : bool, default False
            As in `importance`: very many rows of a table in memory are sampled by default.
        by : optional
            As in `partial_dependence`.

        Returns
        -------
        PermutationImportance
        """
        from glasswood.questions.importance import permutation_importance

        return self._ask(permutation_importance, _Asked(None, None, by), loss, all_rows=all_rows)

    @overload
    def interaction_strengths(
        self, rows: object = None, *, by: None = None, **options: Unpack[AskedOptions]
    ) -> Strengths: ...
    @overload
    def interaction_strengths(
        self, rows: object = None, *, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[Strengths]: ...

    def interaction_strengths(
        self,
        rows: object = None,
        *,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> Strengths | Grouped[Strengths]:
        """Return how strongly each pair of features interacts: the root mean square of its interaction values.

        Parameters
        ----------
        rows : table, optional
            The rows to average over, with equal weights. Defaults to the rows of the background with their weights;
            files are read a second time, and frames of a cluster are counted once more by its workers. If only counts
            are available (a Background of order 2, a stream that can be read only once, a frame and a pair of features
            with more than four million pairs of cells), features are assumed to be independent, and the result says so.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        Strengths
        """
        from glasswood.questions.interactions import interaction_strengths

        return self._ask_raw("interaction strengths", interaction_strengths, _Asked(response, output, by), rows)

    @overload
    def h_statistics(
        self, *sets: Sequence[str | int], pairs: bool = True, by: None = None, **options: Unpack[AskedOptions]
    ) -> HStatistics: ...
    @overload
    def h_statistics(
        self, *sets: Sequence[str | int], pairs: bool = True, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[HStatistics]: ...

    def h_statistics(
        self,
        *sets: Sequence[str | int],
        pairs: bool = True,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> HStatistics | Grouped[HStatistics]:
        """Return how much interactions contribute: H of each feature, of the whole model, and of sets of features.

        This reads the rows twice, and evaluates each row at all values of each feature.

        Parameters
        ----------
        *sets : sequences of names
            Sets of three (or more) features whose interaction is of interest.
        pairs : bool, default True
            Whether to compute what is left after the interactions of all pairs, too.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        HStatistics
        """
        from glasswood.questions.interactions import h_statistics

        return self._ask_raw("H statistics", h_statistics, _Asked(response, output, by), sets, pairs=pairs)

    @overload
    def purified_effects(
        self, *pairs: Sequence[str | int], by: None = None, **options: Unpack[AskedOptions]
    ) -> PurifiedEffects: ...
    @overload
    def purified_effects(
        self, *pairs: Sequence[str | int], by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[PurifiedEffects]: ...

    def purified_effects(
        self,
        *pairs: Sequence[str | int],
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> PurifiedEffects | Grouped[PurifiedEffects]:
        """Return main effects and the interactions of some pairs, without what they share if features are dependent.

        Parameters
        ----------
        *pairs : pairs of names
            The pairs whose interaction is purified, such as ``("age", "income")``.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        PurifiedEffects
        """
        from glasswood.questions.interactions import purified_effects

        return self._ask_raw("purified effects", purified_effects, _Asked(response, output, by), pairs)

    @overload
    def monotonicity(self, *features: str | int, by: None = None, **options: Unpack[AskedOptions]) -> Monotonicity: ...
    @overload
    def monotonicity(
        self, *features: str | int, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[Monotonicity]: ...

    def monotonicity(
        self, *features: str | int, output: Hashable = None, response: str | None = None, by: object = None
    ) -> Monotonicity | Grouped[Monotonicity]:
        """Return whether curves are monotonic.

        `row_monotonicity` looks at the curves of all rows, and `certificate` proves monotonicity for all rows that
        there can be, where it can.

        Parameters
        ----------
        *features : str or int
            All numeric features by default.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        Monotonicity
        """
        from glasswood.questions.shapes import monotonicity

        return self._ask(monotonicity, _Asked(response, output, by), features)

    @overload
    def row_monotonicity(
        self, *features: str | int, by: None = None, **options: Unpack[AskedOptions]
    ) -> RowMonotonicity: ...
    @overload
    def row_monotonicity(
        self, *features: str | int, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[RowMonotonicity]: ...

    def row_monotonicity(
        self, *features: str | int, output: Hashable = None, response: str | None = None, by: object = None
    ) -> RowMonotonicity | Grouped[RowMonotonicity]:
        """Return how many rows have a curve of their own that is not monotonic, how far it goes, and where.

        This takes a few times as long as `predict`. `certificate` proves monotonicity for all rows that there can be,
        where it can.

        Parameters
        ----------
        *features : str or int
            All numeric features by default.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        RowMonotonicity
        """
        from glasswood.questions.shapes import row_monotonicity

        return self._ask(row_monotonicity, _Asked(response, output, by), features)

    def certificate(
        self,
        *features: str | int,
        output: Hashable = None,
    ) -> Certificate:
        """Return what the trees alone prove about monotonicity, and constraints that the model declares but breaks.

        No data is needed: ``Explainer(model).certificate()``. What is proven holds for every row that there can be, on
        the raw scale.

        Parameters
        ----------
        *features : str or int
            All numeric features by default.
        output : label, optional
            The output to explain, one of `outputs`.

        Returns
        -------
        Certificate
        """
        from glasswood.questions.shapes import certificate

        self._refuse_combined("certificates")
        with threads_limited_to(self._threads):
            return certificate(self._view("raw", output), features)

    def rating_table(
        self,
        *,
        pairs: int | Sequence[Sequence[str | int]] = 10,
        output: Hashable = None,
    ) -> RatingTable:
        """Return the model as a table: a base, entries for the values of each feature, and for those of some pairs.

        This reads the rows twice: the remainder, what the table leaves of the score, is stated for all of them.

        Parameters
        ----------
        pairs : int or sequence of pairs of names, default 10
            The pairs that have entries, or the number of those that interact most.
        output : label and int, optional
            The output, by its label or its position in `outputs`. A model of several outputs has a table for each.

        Returns
        -------
        RatingTable
        """
        from glasswood.questions.rating_tables import rating_table

        self._refuse_combined("rating tables")
        with threads_limited_to(self._threads):
            return rating_table(self._view("raw", output), pairs)

    @overload
    def spikes(
        self, *features: str | int, points: int = 100, by: None = None, **options: Unpack[AskedOptions]
    ) -> Spikes: ...
    @overload
    def spikes(
        self, *features: str | int, points: int = 100, by: object, **options: Unpack[AskedOptions]
    ) -> Grouped[Spikes]: ...

    def spikes(
        self,
        *features: str | int,
        points: int = 100,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
    ) -> Spikes | Grouped[Spikes]:
        """Return the spikes that a partial dependence sampled at evenly spaced values would miss.

        A spike lies between two neighbouring sample points and leaves the range of their heights by more than 5 % of
        the range of the whole curve.

        Parameters
        ----------
        *features : str or int
            All numeric features by default.
        points : int, default 100
            The number of sample points between the smallest and largest value in the background. If these are infinite,
            files are read a second time to find the finite ones; if they are not known, or only counts are available,
            the points are between the first and the last cut.
        output, response, by : optional
            As in `partial_dependence`.

        Returns
        -------
        Spikes
        """
        from glasswood.questions.shapes import spikes

        return self._ask(spikes, _Asked(response, output, by), features, points)

    @overload
    def plot(
        self,
        features: str | Sequence[str | tuple[str, str]] | None = None,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[OverviewFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(
        self,
        features: str | Sequence[str | tuple[str, str]] | None = None,
        *,
        backend: Literal["plotly"],
        **options: Unpack[OverviewFigure],
    ) -> PlotlyFigure: ...
    @overload
    def plot(
        self, features: str | Sequence[str | tuple[str, str]] | None = None, *, ax: A, **options: Unpack[OverviewFigure]
    ) -> A: ...

    def plot(
        self,
        features: str | Sequence[str | tuple[str, str]] | None = None,
        *,
        page: int = 0,
        output: Hashable = None,
        response: str | None = None,
        by: object = None,
        sort: str | None = None,
        xscale: str = "linear",
        std: bool = False,
        observed: bool = False,
        error: bool = False,
        sharey: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
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
        response : {"raw", "probability", "prediction"}, optional
            The scale. Defaults to that of the Explainer.
        by : name of a column, sequence of names, or array of shape (n_rows,), optional
            Groups of background rows, whose curves are drawn over each other.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        sharey : bool, default True
            Whether panels share the y-axis. Those of curves that reach less than a fifth as far as others have their
            own, and say so.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        std : bool, default False
            Whether to shade one standard deviation of the rows' own (ICE) curves above and below each curve, see
            `Curve.std`. Surfaces and points have none.
        observed : bool, default False
            Whether to draw what was observed and predicted beside each curve, see `Curve.observations`.
        error : bool, default False
            Whether to shade a band of 95 % around each curve, see `Curve.error`.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, one per panel, optional
            The axes to draw on. By default, a new figure is created.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.plot()
        <Drawing size ... with 10 Axes>
        >>> figure = ex.plot(["bmi", ("bmi", "s5")])
        >>> figure.savefig("bmi.png")  # doctest: +SKIP
        """
        from glasswood.plots._draw import Canvas, page_of, plot_page
        from glasswood.questions.importance import ranked

        asked = [features] if isinstance(features, str) else features
        options: dict[str, Any] = {"sort": sort, "xscale": xscale, "std": std, "observed": observed, "error": error}
        with threads_limited_to(self._threads):
            listed = ranked(self._view(response)) if asked is None else list(asked)
            chosen, note = page_of(listed, page)  # only the features of a page are computed
            curves = self.partial_dependence(chosen, output=output, response=response, by=by)
            panels = [make() for make in curves._drawers(**options)]
        return plot_page(panels, Canvas(backend, ax, title, figsize), [note] if note else [], sharey=sharey)

    def report(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        response: str | None = None,
        by: object = None,
        n_interactions: int = 10,
        notes: str | Sequence[str] = (),
        gate: Comparison | None = None,
    ) -> Report:
        """Make a report for model validation and sign-off: one self-contained HTML page.

        The report describes the model, the rows and the checks, and shows the exact curves of all features, the
        strongest interactions, monotonicity, missing values and the spikes that a sampled curve would miss. Figures can
        be zoomed, searched and saved as CSV or SVG. Names are always shown as plain text, never as markup.

        Parameters
        ----------
        path : path, optional
            The file to write. By default, none is written: notebooks show the report, and `Report.save` writes it.
        title : str, optional
            The title of the page. Defaults to the class of the model.
        response : {"raw", "probability", "prediction"}, optional
            The scale. Defaults to that of the Explainer. Interactions are shown on the raw scale.
        by : str, sequence of str, array of shape (n_rows,), or mapping from groups to Backgrounds, optional
            Groups of rows to compare: anything that `summarize` accepts as `by`, or the dict it then returns.
        n_interactions : int, default 10
            The number of pairs shown as a surface.
        notes : str or sequence of str, optional
            Your own notes as plain text, one paragraph each.
        gate : Comparison, optional
            What `compare` returns for this model with ``reference=`` or ``limits=``: its measures and limits are a
            section of the report, and what is beyond a limit is among the first findings.

        Returns
        -------
        Report

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ex.report(folder + "/model.html", title="Diabetes", by="sex").path.name
        'model.html'
        """
        from glasswood.questions import parts
        from glasswood.report import Settings, Subject, report_of

        if path is not None:
            new_file(path)  # refused before the work begins
        view = self._view(response)
        with threads_limited_to(self._threads):
            report = report_of(Subject(view, parts("_section"), Settings(title, by, n_interactions, notes, gate)))
        if path is not None:
            report.save(path)
        return report


def _answered(
    view: View, by: object, answer: Callable[Concatenate[View, P], T], *args: P.args, **kwargs: P.kwargs
) -> T | Grouped[T]:
    """Return an answer, or one for each group of rows."""
    if by is None:
        return answer(view, *args, **kwargs)
    names, studies = view.study.in_groups(by)
    return Grouped(names, {key: answer(view.of(own), *args, **kwargs) for key, own in studies.items()})
