"""summarize: a model and rows from any source in, a Background out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from glasswood.counting._column_ends import EndsSpec
from glasswood.counting._offsets import OffsetSpec
from glasswood.counting._plan import make_plan
from glasswood.counting._players import players_of
from glasswood.effects._response_sums import ResponsesSpec
from glasswood.effects._target_sums import TargetsSpec, target_columns
from glasswood.engines._pass import Pass
from glasswood.errors import ArgumentError
from glasswood.models._opened import open_model
from glasswood.models._scale import predicted_response, scale_of
from glasswood.parallel._threads import check_jobs, threads_limited_to, threads_of
from glasswood.questions import COUNTS, specs_of
from glasswood.study._summary_plan import SummaryPlan
from glasswood.tables._row_columns import names_in
from glasswood.tables._row_values import RowColumns, n_folds
from glasswood.tables._sources import open_source, stored

if TYPE_CHECKING:
    from glasswood.counting._background import Background

    class SummaryOptions(TypedDict, total=False):
        order: int | None
        groups: Mapping[str, Sequence[str]] | None
        sample_weight: object
        response: str | None
        answers: object
        target: object
        exposure: object
        offset: object
        prediction: object
        folds: int | None
        fold_by: object
        engine: object
        checkpoint: str | PathLike[str] | None
        filesystem: object
        storage_options: Mapping[str, Any] | None
        n_jobs: int | None


__all__ = ["summarize"]


@overload
def summarize(model: object, source: object, *, by: None = None, **options: Unpack[SummaryOptions]) -> Background: ...
@overload
def summarize(
    model: object, source: object, *, by: object, **options: Unpack[SummaryOptions]
) -> dict[Hashable, Background]: ...


def summarize(  # noqa: PLR0913 (one call has all settings of a pass)
    model: object,
    source: object,
    *,
    order: int | None = 1,
    groups: Mapping[str, Sequence[str]] | None = None,
    sample_weight: object = None,
    by: object = None,
    response: str | None = None,
    answers: object = (),
    target: object = None,
    exposure: object = None,
    offset: object = None,
    prediction: object = None,
    folds: int | None = None,
    fold_by: object = None,
    engine: object = "auto",
    checkpoint: str | PathLike[str] | None = None,
    filesystem: object = None,
    storage_options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Background | dict[Hashable, Background]:
    """Count all rows of a source for a model, in one pass; the result answers questions without the data.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
    source : table, files, stream, or frame of an engine
        In memory: NumPy, pandas, Polars, PyArrow. Larger: the path of a Parquet file, a folder of them (with partitions
        such as ``year=2026``), a pattern like ``"data/*.parquet"`` or a list of paths, on this machine or in a storage
        (``"s3://bucket/data"``); a PyArrow dataset; a DuckDB relation, a Polars LazyFrame, a Delta or Iceberg table; a
        RecordBatchReader or anything else that streams Arrow data; an iterator of tables. On a cluster: a Spark, Dask
        or Ray frame. Only the columns that the model splits on are read.
    order : int or None, default 1
        The maximum number of features fixed together: 1 for curves, 2 for surfaces of pairs, None for any number, as
        required by interactions of all orders and Shapley values.
    groups : mapping of str to sequences of str, optional
        Columns that are fixed together, such as those of a one-hot encoding: ``{"city": ["city_a", "city_b"]}``.
    sample_weight : array of shape (n_rows,), or the name of a column, optional
        Weights of the rows. Integer weights are exact; others are rounded to fixed point, with sums accurate to 1e-12.
        The weights of a column are summed exactly before rounding, so the order and partitioning of the rows do not
        matter.
    by : name of a column, sequence of names, or array of shape (n_rows,), optional
        Groups of rows to count separately, in the same pass. Names of partitions are accepted.
    response : {"probability", "prediction", "raw"}, optional
        The scale on which curves, their spread (`Curve.std`), importance and what follows from them can be asked for
        later, beside the raw score. The sums over rows that this needs are found in the same pass, which then takes a
        few times as long as one `predict` of all rows. By default, it is the scale that the link of the model gives,
        such as "probability", and there are no sums if it has no link. With "raw", sums are needed for the spread only.
        See "counts" below to leave them out.
    answers : list of str, or mapping of str to mappings, optional
        Questions that need sums over the rows beside the counts, which are found in the same pass, by the names of
        methods of `Explainer`; or their options by these names:

        - ``"counts"``: the counts alone. The pass then takes a fraction of one `predict`, and the Background less than
          half of the space, but it answers for the raw score only;
        - ``"importance"``: total importance, on the scale of `response`. It takes a few times as long as one `predict`;
        - ``"permutation_importance"``: that of the usual loss, or of another: ``{"loss": "poisson"}``. It takes as
          long, and needs `target`;
        - ``"row_monotonicity"``: on the scale of `response`. It takes as long;
        - ``"ale"``: accumulated local effects, in 20 bins, in as many as given (``{"bins": 40}``), or in those of given
          edges, as for ``numpy.histogram``: ``{"bins": {"age": edges}}``, True for a feature of categories. Without
          edges, a first pass finds them, which a stream that can be read only once does not allow. Backgrounds add up
          if their edges are the same.
    target : name of a column, sequence of names, or array of shape (n_rows,) or (n_rows, n_outputs), optional
        What was observed: numbers, or labels of classes. Curves then have `Curve.observed` and `Curve.predicted`: what
        was observed and predicted on average for the rows in each cell. With `exposure`, the row's total.
    exposure : name of a column, or array of shape (n_rows,), optional
        The exposure of each row, such as policy-years: observed and predicted are then totals divided by exposure.
    offset : name of a column, sequence of names, or array of shape (n_rows,) or (n_rows, n_outputs), optional
        What is added to the raw score of each row before the link, such as the logarithm of its exposure, if the model
        was trained with it (`base_margin` of XGBoost, which replaces the base score; `init_score` of LightGBM;
        `baseline` of CatBoost). Predictions are then totals of rows.
    prediction : name of a column, sequence of names, or array, optional
        What the model predicts for each row, as `predict` or `predict_proba` return it. By default it is computed,
        which takes about as long as `predict`.
    folds : int, optional
        The number of folds that rows are divided into and counted apart, for errors and bands, see `Curve.error`: 20
        are enough. The counts then take as many times the memory.
    fold_by : name of a column, or array of shape (n_rows,), optional
        The values by which rows are divided: equal values are in the same fold. A column of customers, say, if their
        rows are alike. By default the numbers of the rows, which tables and Parquet files have; streams and frames of
        clusters need a column.
    engine : {"auto", "threads", "dask", "spark", "ray"}, Dask Client, or SparkSession, default "auto"
        The engine that reads Parquet files: threads of this process, or the workers of a cluster that can access the
        same paths. A Spark, Dask or Ray frame is always counted by its own engine.
    checkpoint : path of a folder, optional
        Folder, on this machine, in which to save progress on Parquet files, about twice a minute. After a crash, the
        same call resumes from there, and no row is counted twice. If files are added later, only these are counted.
    filesystem : pyarrow.fs.FileSystem, or file system of fsspec, optional
        The storage that the paths of Parquet files are in. By default it follows from the path: ``s3://``, ``gs://``,
        ``abfss://`` and ``hdfs://`` are opened by PyArrow, with the credentials that it finds.
    storage_options : mapping, optional
        Options with which fsspec opens the storage of the paths instead, as in pandas and Dask. Pass either or none.
    n_jobs : int, optional
        The number of threads of this process: -1 for all cores that it may use, -2 for all but one. By default the
        environment variable ``GLASSWOOD_NUM_THREADS``, or all cores. Tasks on a cluster use one thread each. Results
        are bit-identical for every number.

    Returns
    -------
    Background, or a dict from groups to Backgrounds if `by` is given

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    >>> background = gw.summarize(model, X, order=2)
    >>> gw.Explainer(model, background).partial_dependence("bmi", "s5").shape
    (..., ...)
    >>> gw.summarize(model, X, by=["young" if age < 0 else "old" for age in X["age"]])
    {'old': Background(... rows, order 1, ... counts), 'young': Background(... rows, order 1, ... counts)}
    """
    with threads_limited_to(threads_of(check_jobs(n_jobs))):
        source = stored(source, filesystem, storage_options)
        rows = Pass(open_source(source), engine=engine, checkpoint=checkpoint)
        values = RowColumns(target, exposure, offset, prediction, n_folds(folds, fold_by), fold_by)
        further = [*names_in(by, sample_weight), *values.names]
        opened = open_model(model, rows.head, further, whole=rows.in_memory)
        opened = opened if offset is None else opened.with_margins()
        players = players_of(opened, groups)
        plan = make_plan(players.ensemble, order, players.groups)
        scale = scale_of(opened, response or predicted_response(opened))
        values = target_columns(values, opened, sample_weight)
        without_sums = _counts_alone(answers, response) or (response is None and scale.additive)
        responses = () if without_sums else (ResponsesSpec.of_model(opened.ensemble, scale, values),)
        targets = (TargetsSpec.of_model(opened, values),) if values.target is not None else ()
        taken = rows.taken_by(opened, further)
        first = taken if checkpoint is None else Pass(open_source(source), engine=engine).taken_by(opened, further)
        summary = SummaryPlan(opened, plan, scale, values, first, sample_weight)
        offsets = () if offset is None else (OffsetSpec(values.description("offset").removeprefix("offset ")),)
        others = (EndsSpec(), *offsets, *targets, *specs_of(summary, answers))
        specs = (*others, *responses)
        if checkpoint is not None and response is None:
            begun = [taken.resumes(plan, sample_weight, by, further=own, values=values) for own in (specs, others)]
            if begun == [False, True]:
                message = f"the checkpoint was begun without sums of the {scale.units}, and is resumed without them"
                warnings.warn(message, UserWarning, stacklevel=2)
                specs = others
        result: Background | dict[Hashable, Background] = taken.count(
            plan, sample_weight, by, further=specs, values=values
        )
        return result


def _counts_alone(answers: object, response: str | None) -> bool:
    """Return whether the counts are asked for without sums of responses."""
    if isinstance(answers, str) or not isinstance(answers, Collection) or COUNTS not in answers:
        return False
    if response is not None:
        message = f"answers={[COUNTS]!r} leaves out the sums that response={response!r} asks for; pass one of both"
        raise ArgumentError(message)
    return True
