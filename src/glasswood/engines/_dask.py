"""Dask: files are counted by tasks of a distributed cluster, frames by the tasks of their own graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
from dask import delayed

from glasswood.counting._job import ShippedJob, count_fragments, count_tables
from glasswood.counting._partial import Partial, add_packed
from glasswood.engines._reduction import FAN_IN, sum_on_workers
from glasswood.tables._parquet import Fragment
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from dask.dataframe import DataFrame
    from distributed import Client

__all__ = ["count_files", "count_frame", "dumps", "look"]

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
    layer = [delayed(count_tables)(job, [part], str(number)) for number, part in enumerate(parts)]
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
    # A task that returns the job instead of scattering it: if its only holder dies, it is computed again.
    with dask.config.set(QUIET):
        job = client.submit(_same, shipped, key=f"{run}-job", pure=False)

    def start(name: str, function: Callable[..., Any], *arguments: object) -> Any:
        future = client.submit(function, *arguments, key=f"{run}-{name}", pure=False)
        completed.add(future)
        return future

    def count(numbered: tuple[int, Sequence[Fragment]]) -> Any:
        number, bundle = numbered
        return start(f"count-{number}", count_fragments, job, bundle)

    def add(partials: list[Any]) -> Any:
        return start(f"add-{uuid4().hex}", add_packed, *partials)

    def first(running: list[Any]) -> Any:
        finished = next(completed)
        if finished.status in ("error", "cancelled"):  # all others are ready, or lost and computed again
            try:
                finished.result()  # raises
            finally:
                client.cancel(running)
        return finished

    n_cores = sum(client.nthreads().values()) or 1
    return Partial.unpack(sum_on_workers(list(enumerate(bundles)), n_cores, count, add, first).result())[0]


def _compute(collection: object, client: Client | None) -> Any:
    """Return the result of a collection, computed by a client or by Dask's default scheduler."""
    return dask.compute(collection)[0] if client is None else client.compute(collection).result()


def _same(shipped: ShippedJob) -> ShippedJob:
    return shipped
