"""summarize: a model and rows from anywhere in, a Background out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from glasswood._checkpoints import Checkpoint
from glasswood._columns import index_labels
from glasswood._counting import background_of, count, count_groups
from glasswood._ensemble import TreeEnsemble
from glasswood._job import FINEST, Job, partition_digest
from glasswood._partials import WHOLE, Partial, ledger_of
from glasswood._plan import CountPlan
from glasswood._sources import EngineFrame, Files, Source, Stream, open_source
from glasswood._tables import column_names, frame_of, group_rows, row_weights, without_columns
from glasswood.engines._streams import count_files, count_stream
from glasswood.errors import BackgroundError, MissingExtraError, TableError, TooLargeError
from glasswood.readers import prove, read_model

__all__ = ["Pass", "make_plan", "summarize"]

ENGINES = {"distributed": "dask", "pyspark": "spark", "ray": "ray"}  # by the package of what the user holds


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
        Whole numbers are exact. Others are rounded to a fixed point: so fine that sums are right to 1e-12 if they are
        an array, to multiples of 2**-24 if they are a column.
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
        ensemble = read_for(model, source, names_in(by, sample_weight))
        return _count_table(make_plan(ensemble, order, groups), source, sample_weight, by)
    passing = Pass(opened, engine=engine, checkpoint=checkpoint)
    ensemble = read_for(model, passing.head, names_in(by, sample_weight))
    return passing.count(make_plan(ensemble, order, groups), sample_weight, by)


def names_in(by: Any, sample_weight: Any) -> list[str]:
    """Return the names among what tells groups of rows and their weights."""
    several = by if isinstance(by, list | tuple) else (by,)
    return [name for name in (*several, sample_weight) if isinstance(name, str)]


def read_for(model: Any, table: Any, further: Sequence[str]) -> TreeEnsemble:
    """Return a model, checked on a table. Some of its columns may tell groups and weights.

    A model that knows no names counts columns through, without these.
    """
    if isinstance(model, TreeEnsemble):
        return model
    ensemble = read_model(model)
    if table is not None:
        prove(ensemble, model, table if ensemble.schema.named else without_columns(table, further))
    return ensemble


def make_plan(ensemble: TreeEnsemble, order: int | None, groups: Mapping[str, Sequence[str]] | None) -> CountPlan:
    """Return the plan of what is counted, after checking the groups."""
    groups = {name: tuple(columns) for name, columns in (groups or {}).items()}
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
    if order is None:
        order = CountPlan(ensemble, 1, groups).most_players
    if order < 1:
        message = f"order is the number of features fixed together, at least 1, not {order}"
        raise ValueError(message)
    plan = CountPlan(ensemble, order, groups)
    if order > 1:  # the curves of larger models are made part by part, see `count_in_parts`
        plan.refuse_uncountable(order)
    return plan


def _count_table(plan: CountPlan, table: Any, sample_weight: Any, by: Any) -> Any:
    """Return the counts of a plan over all rows of a table in memory, or over groups of them."""
    further = names_in(by, sample_weight)
    own = table if plan.ensemble.schema.named else without_columns(table, further)
    if isinstance(sample_weight, str):
        sample_weight = row_weights(table, sample_weight)
    if by is None:
        return count(plan, own, sample_weight)
    names = (by,) if isinstance(by, str) else by
    frame = None if hasattr(table, "__array_interface__") else frame_of(table)
    if isinstance(by, str) or (isinstance(by, list | tuple) and frame is not None and set(by) <= set(frame.columns)):
        keys, places = group_rows(table, names)
    else:
        found = index_labels(np.asarray(by, dtype=object).tolist())
        keys, places = [*found.labels, None], np.where(found.positions < 0, len(found.labels), found.positions)
    return in_order(count_groups(plan, own, sample_weight, keys, places))


def in_order(found: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a mapping in the order of its keys, if they have one; missing comes last."""

    def place(key: Any) -> list[Any]:
        return [(part is None, 0 if part is None else part) for part in (key if isinstance(key, tuple) else (key,))]

    try:
        keys = sorted(found, key=place)
    except TypeError:  # several types
        keys = sorted(found, key=lambda key: (type(key).__name__, str(key)))
    return {key: found[key] for key in keys}


class Pass:
    """A pass over a source that is not a table in memory.

    Parameters
    ----------
    source : Source
    engine, checkpoint
        As for `summarize`.
    """

    def __init__(self, source: Source, *, engine: Any = "auto", checkpoint: str | PathLike[str] | None = None) -> None:
        self.source = source
        self._engine, self._session = _engine_of(engine)
        self._folder = checkpoint
        if isinstance(source, EngineFrame):
            if self._engine not in ("auto", source.engine):
                message = f"a frame of {source.engine} is counted by {source.engine}, not by {self._engine}"
                raise TableError(message)
            self._engine = source.engine
            self.names, self.head = _load(source.engine).look(source.frame, self._session)
        else:
            self.names, self.head = source.names, source.head
        if not isinstance(source, Files) and (checkpoint is not None or (self._engine != "auto" and self.is_stream)):
            message = (
                "checkpoint= and engine= are for Parquet files, whose parts can be told apart and read again; this "
                f"source is a {'stream' if self.is_stream else 'frame of ' + self._engine}"
            )
            raise TableError(message)

    @property
    def is_stream(self) -> bool:
        """Whether tables come one after the other."""
        return isinstance(self.source, Stream)

    def count(self, plan: CountPlan, sample_weight: Any = None, by: Any = None) -> Any:
        """Return the counts of a plan: a Background, or one per group."""
        plan.refuse_uncountable(plan.order)
        job = self._job(plan, sample_weight, by)
        if isinstance(self.source, Files):
            partial = self._count_files(job, self.source)
            expected = [fragment.digest for fragment in self.source.fragments]
        elif isinstance(self.source, Stream):
            partial = count_stream(job, self.source, None)
            expected = []
        else:
            partial = _load(self._engine).count_frame(job.ship(), self.source.frame, self._session)
            expected = [partition_digest(str(number)) for number in range(partial.n_fragments)]
        return finish(job, partial, expected)

    def _count_files(self, job: Job, source: Files) -> Partial:
        checkpoint = None if self._folder is None else Checkpoint(self._folder, job)
        fragments = source.fragments if checkpoint is None else checkpoint.remaining(source.fragments)
        if self._engine in ("auto", "threads"):
            return count_files(job, fragments, checkpoint, None)
        count_on_workers: Callable[..., Partial] = _load(self._engine).count_files
        if checkpoint is None:
            return count_on_workers(job.ship(), bundles(fragments), self._session)
        for wave in waves(fragments):
            partial = count_on_workers(job.ship(), bundles(wave), self._session)
            verify(partial, [fragment.digest for fragment in wave])
            checkpoint.add(partial, [fragment.digest for fragment in wave])
        return checkpoint.partial

    def _job(self, plan: CountPlan, sample_weight: Any, by: Any) -> Job:
        """Return what is counted of which columns."""
        schema = plan.ensemble.schema
        by = () if by is None else (by,) if isinstance(by, str) else by
        further = [*by, *([] if sample_weight is None else [sample_weight])]
        for name in further:
            if self.names is None or not isinstance(name, str) or name not in self.names:
                message = f"by= and sample_weight= name columns of a source; it has no column {name!r}"
                raise TableError(message)
        names = None
        if self.names is not None:
            own = self.names if schema.named else [name for name in self.names if name not in further]
            found = column_names(own, schema)
            names = {int(index): found[index] for index in plan.ensemble.used_features}
        unit = 1.0
        weighted = sample_weight is not None and self.head is not None
        if weighted and row_weights(self.head, sample_weight).dtype.kind == "f":
            unit = FINEST
        return Job(plan.ensemble, plan.order, plan.groups, names, tuple(by), sample_weight, unit)


ROWS_PER_TASK = 2**21
WAVE = 2**27  # rows, about, between two saves of a checkpoint


def bundles(fragments: Iterable[Any], most: int = ROWS_PER_TASK) -> list[list[Any]]:
    """Return fragments in bundles of moderate numbers of rows: a task costs an engine up to 50 milliseconds."""
    found: list[list[Any]] = []
    room = 0
    for fragment in fragments:
        size = most if fragment.n_rows is None else fragment.n_rows
        if not found or size > room:
            found.append([])
            room = most
        found[-1].append(fragment)
        room -= size
    return found


def waves(fragments: Iterable[Any]) -> list[list[Any]]:
    """Return fragments in larger bundles, after each of which a checkpoint is saved."""
    return bundles(fragments, WAVE)


def verify(partial: Partial, expected: Sequence[bytes]) -> None:
    """Raise an error unless each fragment was counted, once."""
    if (partial.n_fragments, partial.ledger) != (len(expected), ledger_of(expected)):
        message = (
            f"of {len(expected)} parts of the data, {partial.n_fragments} were counted, and not each exactly once. "
            "Nothing is saved. Please report this with the versions of Glasswood and of the engine."
        )
        raise BackgroundError(message)


def finish(job: Job, partial: Partial, expected: Sequence[bytes]) -> Any:
    """Return the background that a partial is, or one per group, after proving that all rows are in it, once."""
    verify(partial, expected)
    plan = job.plan
    if any(tally.total >= 2**62 for tally in partial.tallies.values()):
        message = f"the weights in {job.weight!r} sum to more than {2**62 * job.unit:.3g}; scale them down"
        raise TooLargeError(message)
    tallies = partial.tallies if job.by or partial.tallies else {WHOLE: job.counter.start()}
    found = {key: background_of(job.counter, tally.writable(), job.unit) for key, tally in tallies.items()}
    first_leaf = np.searchsorted(plan.leaf_tree, np.arange(plan.ensemble.n_trees))
    for key, background in found.items():
        rows = np.add.reduceat(background.counts[plan.leaf_offset[:-1]], first_leaf)  # with nothing fixed
        if (rows != background.total).any():
            message = f"the counts of a tree do not sum to the number of rows (group {key!r}); nothing is saved"
            raise BackgroundError(message)
    return in_order(found) if job.by else found[WHOLE]


def _engine_of(engine: Any) -> tuple[str, Any]:
    """Return the name of an engine, and what the user holds of it."""
    if isinstance(engine, str):
        if engine not in ("auto", "threads", *ENGINES.values()):
            message = f'engine is "auto", "threads", "dask", "spark", "ray", a Client or a SparkSession, not {engine!r}'
            raise TableError(message)
        return engine, None
    package = type(engine).__module__.partition(".")[0]
    if package not in ENGINES:
        message = f"engine is a name, a Dask Client or a SparkSession, not {type(engine).__name__}"
        raise TableError(message)
    return ENGINES[package], engine


def _load(engine: str) -> Any:
    """Return the file of an engine, which imports its library."""
    try:
        return import_module(f"glasswood.engines._{engine}")
    except ImportError as error:
        message = f"{error}; install it with: pip install 'glasswood[{engine}]'"
        raise MissingExtraError(message) from error
