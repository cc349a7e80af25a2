"""summarize: a model and rows from anywhere in, a Background out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood._arguments import brief, checked_groups, whole_number
from glasswood._columns import index_labels
from glasswood._counting import count, count_groups
from glasswood._ensemble import TreeEnsemble
from glasswood._extra_columns import group_rows, row_weights, sorted_groups, without_columns
from glasswood._given_tables import given_table
from glasswood._passes import Pass
from glasswood._plan import CountPlan
from glasswood._sources import open_source
from glasswood._tables import frame_of, n_rows
from glasswood._weights import ColumnWeights
from glasswood.errors import TableError
from glasswood.readers import Proof, prove, read_unproven, refuse_own_predictions

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["make_plan", "own_names", "places_of_groups", "summarize"]


def summarize(  # noqa: PLR0913 (one call has all settings of a pass)
    model: Any,
    source: Any,
    *,
    order: int | None = 1,
    groups: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
    by: Any = None,
    engine: Any = "auto",
    checkpoint: str | PathLike[str] | None = None,
) -> Any:
    """Return the counts of a model over all rows of a source: one pass over the data, then questions are free.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
    source : table, files, stream, or frame of an engine
        In memory: NumPy, pandas, Polars, PyArrow. Larger: the path of a Parquet file, a folder of them (with partitions
        such as ``year=2026``), a pattern like ``"data/*.parquet"`` or a list of paths; a PyArrow dataset; a DuckDB
        relation, a Polars LazyFrame, a Delta or Iceberg table; a RecordBatchReader or anything else that streams Arrow
        data; an iterator of tables. On a cluster: a Spark, Dask or Ray frame. Only the columns that the model splits
        on are read.
    order : int or None, default 1
        How many features may be fixed together: 1 for curves, 2 for surfaces of pairs; None for any number, which
        interactions of all orders and Shapley values need.
    groups : mapping of str to sequences of str, optional
        Columns to be fixed together, such as the columns of a one-hot encoding: ``{"city": ["city_a", "city_b"]}``.
    sample_weight : array of shape (n_rows,), or the name of a column, optional
        Whole numbers are exact. Others are rounded to a fixed point, so fine that sums are right to 1e-12. Those of a
        column are summed exactly before they are rounded, so that the order and the division of rows do not matter.
    by : name of a column, sequence of names, or array of shape (n_rows,), optional
        Groups of rows that are summed up apart, in the same pass. Names of partitions will do.
    engine : {"auto", "threads", "dask", "spark", "ray"}, Dask Client, or SparkSession, default "auto"
        Who reads Parquet files: the threads of this process, or the workers of a cluster, if they see the same paths.
        A frame of an engine is always counted by it.
    checkpoint : path of a folder, optional
        Where to keep what has been counted of Parquet files, about twice a minute. The same call after a crash goes on
        from there, and no row is counted twice. Files that are added later are all that is counted then.

    Returns
    -------
    Background, or a dict from groups to Backgrounds if there is a `by`

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
    opened = open_source(source)
    if opened is None:
        if engine not in ("auto", "threads") or checkpoint is not None:
            message = "a table in memory is counted at once by threads; engine= and checkpoint= are for Parquet files"
            raise TableError(message)
        source = given_table(source)
        ensemble, _ = read_for(model, source, names_in(by, sample_weight))
        return _count_table(make_plan(ensemble, order, groups), source, sample_weight, by)
    passing = Pass(opened, engine=engine, checkpoint=checkpoint)
    ensemble, _ = read_for(model, passing.head, names_in(by, sample_weight))
    return passing.count(make_plan(ensemble, order, groups), sample_weight, by)


def names_in(by: Any, sample_weight: Any) -> list[str]:
    """Return the names among what tells groups of rows and their weights."""
    several = by if isinstance(by, list | tuple) else (by,)
    return [name for name in (*several, sample_weight) if isinstance(name, str)]


def read_for(model: Any, table: Any, further: Sequence[str]) -> tuple[TreeEnsemble, Proof | None]:
    """Return a model, and the proof on a table that it was read right. Some of its columns may tell groups and weights.

    A model that knows no names counts columns through, without these.
    """
    if isinstance(model, TreeEnsemble):
        return model, None
    ensemble = read_unproven(model)
    if table is None or n_rows(table) == 0:
        refuse_own_predictions(model)
        return ensemble, None
    return ensemble, prove(ensemble, model, table if ensemble.schema.named else without_columns(table, further))


def own_names(ensemble: TreeEnsemble, groups: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """Return groups by the model's own names of their columns: LightGBM writes blanks as underscores."""

    def own(name: str) -> str:
        return name.replace(" ", "_") if ensemble.schema.underscored and name not in ensemble.feature_names else name

    return {name: tuple(map(own, columns)) for name, columns in checked_groups(groups).items()}


def make_plan(ensemble: TreeEnsemble, order: int | None, groups: Mapping[str, Sequence[str]] | None) -> CountPlan:
    """Return the plan of what is counted, after checking the groups."""
    groups = own_names(ensemble, groups)
    known = set(ensemble.feature_names)
    seen: set[str] = set()
    for name, columns in groups.items():
        for column in columns:
            if column not in known:
                message = f"group {name!r} names the column {column!r}, which the model does not have"
                raise TableError(message)
            if column in seen:
                message = f"column {column!r} is in two groups; a column belongs to one player"
                raise TableError(message)
            seen.add(column)
        if name in known and name not in columns:
            message = f"group {name!r} has the name of a column that is not in it; choose another name"
            raise TableError(message)
    order = None if order is None else whole_number(order, "order is the number of features fixed together")
    if order is None or order > 1:  # larger sets than those of the longest path add no counts
        most = CountPlan(ensemble, 1, groups).most_players
        order = most if order is None else min(order, most)
    plan = CountPlan(ensemble, order, groups)
    if order > 1:  # the curves of larger models are made part by part, see `count_in_parts`
        plan.refuse_uncountable(order)
    return plan


def _count_table(plan: CountPlan, table: Any, sample_weight: Any, by: Any) -> Any:
    """Return the counts of a plan over all rows of a table in memory, or over groups of them."""
    further = names_in(by, sample_weight)
    own = table if plan.ensemble.schema.named else without_columns(table, further)
    if isinstance(sample_weight, str):
        sample_weight = ColumnWeights(row_weights(table, sample_weight), sample_weight)
    if by is None:
        return count(plan, own, sample_weight)
    return sorted_groups(count_groups(plan, own, sample_weight, *places_of_groups(table, by)))


def places_of_groups(table: Any, by: Any) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the groups that rows of a table fall into, and each row's place in their list."""
    frame = None if hasattr(table, "__array_interface__") else frame_of(table)
    if isinstance(by, str) or (frame is not None and _are_names(by, frame)):
        return group_rows(table, (by,) if isinstance(by, str) else by)
    labels = np.asarray(by, dtype=object)
    if labels.ndim != 1:
        message = f"by= must be the name of a column, several names, or one value per row, not {brief(by)}"
        raise TableError(message)
    found = index_labels(labels.tolist())
    return [*found.labels, None], np.where(found.positions < 0, len(found.labels), found.positions)


def _are_names(by: Any, frame: nw.DataFrame[Any]) -> bool:
    """Return whether a list has names of columns, and not one value per row."""
    texts = isinstance(by, list | tuple) and all(isinstance(name, str) for name in by)
    return texts and (set(by) <= set(frame.columns) or len(by) != len(frame))
