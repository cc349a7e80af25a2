"""Dask: files are counted by tasks of a distributed cluster, frames by the tasks of their own graph."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from dask import delayed

from glasswood.counting._row_job import ShippedRows
from glasswood.engines._engine import ShippedWork
from glasswood.engines._reduction import FAN_IN, sum_on_workers
from glasswood.parallel._interrupts import Cancelled, RemoteCancellation, cancellable_by
from glasswood.tables._parquet import join
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from dask.dataframe import DataFrame
    from distributed import Client

__all__ = ["dumps", "map_frame", "names_and_head", "run_files", "run_frame"]

log = logging.getLogger(__name__)
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1TB"
}  # the model goes to the scheduler once, however large


def dumps(parts: object) -> bytes:
    """Return objects as bytes that workers unpickle, functions of a notebook included."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(parts, protocol=5)
    return packed


def names_and_head(frame: DataFrame, client: Client | None) -> tuple[list[Any], Any]:
    """Return the names of a frame's columns, and its first rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first partition may have fewer rows
        head = frame.head(HEAD, compute=False)
        return list(frame.columns), _compute(head, client)


def run_frame(shipped: ShippedWork, frame: DataFrame, client: Client | None) -> tuple[bytes, int]:
    """Return the result of a Dask DataFrame, partition by partition, as one graph, and how many partitions it has."""
    parts = frame[shipped.columns].to_delayed()
    job = delayed(shipped, traverse=False)  # one node of the graph, which goes to each worker once
    work = delayed(_until_stopped)
    layer = [work(_result_of_tables, job, [part], str(number)) for number, part in enumerate(parts)]
    while len(layer) > 1:
        layer = [delayed(_add)(shipped.add, *layer[at : at + FAN_IN]) for at in range(0, len(layer), FAN_IN)]
    with dask.config.set(QUIET):
        return _compute(layer[0], client), len(parts)


def run_files(shipped: ShippedWork, bundles: Sequence[Any], client: Client | None) -> bytes:
    """Return the result of bundles of files."""
    from distributed import as_completed, default_client

    if not bundles:
        return shipped.join([])
    client = client or default_client()
    run = f"glasswood-{uuid4().hex}"
    completed = as_completed(loop=client.loop)
    started: dict[str, Any] = {}  # and not yet finished
    # A task that returns the job instead of scattering it: if its only holder dies, it is computed again.
    with dask.config.set(QUIET):
        job = client.submit(_same, shipped, key=f"{run}-job", pure=False)

    def start(name: str, function: Callable[..., Any], *arguments: object) -> Any:
        future = client.submit(function, *arguments, key=f"{run}-{name}", pure=False)
        completed.add(future)
        started[future.key] = future
        return future

    def work(numbered: tuple[int, Any]) -> Any:
        number, bundle = numbered
        return start(f"part-{number}", _until_stopped, _result_of_bundle, job, bundle)

    def add(parts: list[Any]) -> Any:
        return start(f"add-{uuid4().hex}", _add, shipped.add, *parts)

    def first(_: list[Any]) -> Any:
        finished = next(completed)
        if finished.status in ("error", "cancelled"):
            finished.result()  # raises
        if finished.status != "finished":
            log.info("%s is %s: it is computed again", finished.key, finished.status)
        started.pop(finished.key, None)
        return finished

    n_cores = sum(client.nthreads().values()) or 1
    try:
        result: bytes = sum_on_workers(list(enumerate(bundles)), n_cores, work, add, first).result()
    except BaseException:  # Ctrl-C, or an error: the rest is not needed
        log.info("cancelling %d tasks", len(started))
        client.cancel(list(started.values()))
        raise
    return result


def map_frame(shipped: ShippedRows, frame: DataFrame) -> DataFrame:
    """Return a frame with the answers of a RowJob about each row, computed lazily."""
    job = shipped.open()
    kept = frame._meta[list(job.keep)].rename(columns=dict(job.keep))
    kinds = {"number": "float64"}
    meta = kept.assign(**{name: [] for name in job.question.kinds})
    meta = meta.astype({name: kinds.get(kind, "object") for name, kind in job.question.kinds.items()})
    return frame[shipped.columns].map_partitions(_explained, shipped, meta, meta=meta, enforce_metadata=False)


def _explained(part: Any, shipped: ShippedRows, meta: Any) -> Any:
    """Return the answers about the rows of a partition, which keep their index."""
    job = shipped.open()
    tables = list(shipped.explain(part))
    if not tables:
        return meta
    result = join(tables).to_pandas().set_index(part.index)
    for name, new in job.keep.items():  # as they were: Arrow has other types for some
        result[new] = part[name]
    return result


def _result_of_tables(shipped: ShippedWork, tables: Sequence[Any], name: str) -> bytes:
    return shipped.of_tables(tables, name)


def _add(add: Callable[..., bytes], *parts: bytes) -> bytes:
    return add(*parts)


def _result_of_bundle(shipped: ShippedWork, bundle: Any) -> bytes:
    return shipped.of_bundle(bundle)


def _compute(collection: object, client: Client | None) -> Any:
    """Return the result of a collection, computed by a client or by Dask's default scheduler."""
    if client is None:
        return dask.compute(collection)[0]
    future = client.compute(collection)
    try:
        return future.result()
    except BaseException:
        client.cancel(future)
        raise


def _until_stopped(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do the work of a task, as long as it is not cancelled: Dask only drops tasks that have not begun."""
    from distributed import get_worker

    try:
        worker = get_worker()
        key = worker.get_current_task()
    except ValueError:  # not a task of a worker
        return work(*arguments)

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    try:
        with cancellable_by(RemoteCancellation(is_cancelled)):
            return work(*arguments)
    except Cancelled:
        return None


def _same(shipped: ShippedWork) -> ShippedWork:
    return shipped
