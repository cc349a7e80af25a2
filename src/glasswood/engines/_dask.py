"""Dask: files are counted by tasks of a distributed cluster, frames by the tasks of their own graph."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from dask import delayed

from glasswood.counting._job import ShippedJob, count_fragments, count_tables
from glasswood.counting._partial import Partial, add_packed
from glasswood.engines._reduction import FAN_IN, sum_on_workers
from glasswood.parallel._interrupts import Abandoned, DistantWaiter, wanted_by
from glasswood.tables._parquet import Fragment
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from dask.dataframe import DataFrame
    from distributed import Client

__all__ = ["count_files", "count_frame", "dumps", "look"]

log = logging.getLogger(__name__)
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1TB"
}  # the model goes to the scheduler once, however large


def dumps(parts: object) -> bytes:
    """Return objects as bytes that workers unpickle, functions of a notebook included."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(parts, protocol=5)
    return packed


def look(frame: DataFrame, client: Client | None) -> tuple[list[Any], Any]:
    """Return the names of a frame's columns, and its first rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first partition may have fewer rows
        head = frame.head(HEAD, compute=False)
        return list(frame.columns), _compute(head, client)


def count_frame(shipped: ShippedJob, frame: DataFrame, client: Client | None) -> tuple[Partial, int]:
    """Return the counts of a Dask DataFrame, partition by partition, as one graph, and how many partitions it has."""
    parts = frame[shipped.open().columns].to_delayed()
    job = delayed(shipped, traverse=False)  # one node of the graph, which goes to each worker once
    count = delayed(_while_wanted)
    layer = [count(count_tables, job, [part], str(number)) for number, part in enumerate(parts)]
    while len(layer) > 1:
        layer = [delayed(add_packed)(*layer[at : at + FAN_IN]) for at in range(0, len(layer), FAN_IN)]
    with dask.config.set(QUIET):
        return Partial.unpack(_compute(layer[0], client))[0], len(parts)


def count_files(shipped: ShippedJob, bundles: Sequence[Sequence[Fragment]], client: Client | None) -> Partial:
    """Return the counts of bundles of fragments."""
    from distributed import as_completed, default_client

    if not bundles:
        return Partial()
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

    def count(numbered: tuple[int, Sequence[Fragment]]) -> Any:
        number, bundle = numbered
        return start(f"count-{number}", _while_wanted, count_fragments, job, bundle)

    def add(partials: list[Any]) -> Any:
        return start(f"add-{uuid4().hex}", add_packed, *partials)

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
        return Partial.unpack(sum_on_workers(list(enumerate(bundles)), n_cores, count, add, first).result())[0]
    except BaseException:  # Ctrl-C, or an error: the rest is not needed
        log.info("cancelling %d tasks", len(started))
        client.cancel(list(started.values()))
        raise


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


def _while_wanted(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do the work of a task, as long as it is not cancelled: Dask only drops tasks that have not begun."""
    from distributed import get_worker

    try:
        worker = get_worker()
        key = worker.get_current_task()
    except ValueError:  # not a task of a worker
        return work(*arguments)

    def is_gone() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    try:
        with wanted_by(DistantWaiter(is_gone)):
            return work(*arguments)
    except Abandoned:
        return None


def _same(shipped: ShippedJob) -> ShippedJob:
    return shipped
