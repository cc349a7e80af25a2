"""Ray: tasks work on files; a Ray Dataset is counted by its own pipeline, whose partials are added up by tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import ray
from ray.experimental import internal_kv

from glasswood.counting._job import ShippedJob, Sums, partition_digest
from glasswood.counting._partial import Partial, ledger_of
from glasswood.counting._row_job import ShippedRows
from glasswood.engines._engine import ShippedWork
from glasswood.engines._reduction import own_errors, sum_on_workers
from glasswood.parallel._interrupts import Cancelled, RemoteCancellation, cancellable_by, check_cancelled
from glasswood.parallel._threads import threads_limited_to
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from ray.data import Dataset

__all__ = ["dumps", "map_frame", "names_and_head", "run_files", "run_frame"]

log = logging.getLogger(__name__)

Future = tuple[Any, Any]  # a small note that reports success, and the partial itself


def dumps(parts: object) -> bytes:
    """Return objects as bytes that workers unpickle, functions of a notebook included."""
    packed: bytes = ray.cloudpickle.dumps(parts, protocol=5)
    return packed


def names_and_head(frame: Dataset, _: object) -> tuple[list[Any], Any]:
    """Return the names of a dataset's columns, and its first rows."""
    with _quiet():
        blocks = [block for block in ray.get(frame.limit(HEAD).to_arrow_refs()) if block.num_columns]
        if not blocks:
            return list(frame.columns() or []), None
    head = pa.concat_tables(blocks)
    return head.column_names, head


def run_files(shipped: ShippedWork, bundles: Sequence[Any], _: object) -> bytes:
    """Return the result of bundles of files. Nodes read the files together: tasks are spread over all of them."""
    if not bundles:
        return shipped.join([])
    job = ray.put(shipped)  # once into the shared memory of each node
    options: dict[str, Any] = {"num_returns": 2, "scheduling_strategy": "SPREAD", "name": "glasswood"}
    task, stop = ray.remote(_until_stopped).options(**options), f"glasswood stops {uuid4().hex}"
    with _stopping(stop):
        return _sum(shipped, bundles, lambda bundle: tuple(task.remote(stop, _result_of_bundle, job, bundle)))


def run_frame(shipped: ShippedWork, frame: Dataset, _: object) -> tuple[bytes, int]:
    """Return the result of a Ray Dataset, and how many blocks it has."""
    chosen = frame.select_columns(shipped.columns)
    if shipped.named_later:  # each block becomes a partial where it is, and only these are moved
        chosen = chosen.map_batches(
            _count_block, fn_args=(shipped,), batch_format="pyarrow", batch_size=None, zero_copy_batch=True
        )
    with _quiet(), own_errors(Exception):
        refs = chosen.to_arrow_refs()
    if not refs:
        return shipped.join([]), 0
    job = ray.put(shipped)
    work = _name_block if shipped.named_later else _result_of_block
    task, stop = ray.remote(_until_stopped).options(num_returns=2), f"glasswood stops {uuid4().hex}"
    with _stopping(stop):
        numbered = list(enumerate(refs))
        return _sum(shipped, numbered, lambda one: tuple(task.remote(stop, work, job, *one))), len(refs)


def map_frame(shipped: ShippedRows, frame: Dataset) -> Dataset:
    """Return a dataset with the answers of a RowJob about each row, computed lazily."""
    return frame.select_columns(shipped.columns).map_batches(
        _explained, fn_args=(shipped,), batch_format="pyarrow", batch_size=None, zero_copy_batch=True
    )


def _explained(table: pa.Table, shipped: ShippedRows) -> Iterator[pa.Table]:
    yield from shipped.explain(table)


def _sum(shipped: ShippedWork, tasks: Sequence[Any], work: Callable[[Any], Future]) -> bytes:
    adding = ray.remote(_add).options(num_returns=2)
    add = shipped.add

    def first(running: list[Future]) -> Future:
        (finished,), _ = ray.wait([note for note, _ in running], num_returns=1, fetch_local=False)
        # Raises the worker's error, if there was one. The few remaining tasks end by themselves (`_stopping`); to
        # cancel one that ends at that moment ends this process (Ray 2.60, "Tried to complete task that was not
        # pending").
        ray.get(finished)
        return next(future for future in running if future[0] == finished)

    n_cores = int(ray.cluster_resources().get("CPU", 1))
    with own_errors(ray.exceptions.RayError):
        _, packed = sum_on_workers(
            tasks, n_cores, work, lambda parts: tuple(adding.remote(add, *(part for _, part in parts))), first
        )
        result: bytes = ray.get(packed)
        return result


@contextmanager
def _stopping(stop: str) -> Iterator[None]:
    """Leave a note for all tasks of a pass if the block fails or is interrupted: they end when they see it."""
    try:
        yield
    except BaseException:
        log.info("asking tasks to stop")
        with suppress(Exception):
            internal_kv._internal_kv_put(stop, b"1")
        raise


def _until_stopped(stop: str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Do the work of a task, unless or until there is a note that it is not needed any more."""

    def is_cancelled() -> bool:
        with suppress(Exception):
            return bool(internal_kv._internal_kv_exists(stop))
        return False

    try:
        with cancellable_by(RemoteCancellation(is_cancelled)):
            check_cancelled()
            return work(*arguments)
    except Cancelled:
        return None, b""


def _result_of_bundle(shipped: ShippedWork, bundle: Any) -> tuple[None, bytes]:
    return None, shipped.of_bundle(bundle)


def _result_of_block(shipped: ShippedWork, number: int, block: pa.Table) -> tuple[None, bytes]:
    return None, shipped.of_tables([block], str(number))


def _add(add: Callable[..., bytes], *parts: bytes) -> tuple[None, bytes]:
    return None, add(*parts)


def _count_block(table: pa.Table, shipped: ShippedJob) -> pa.Table:
    with threads_limited_to(1):
        sums = Sums(shipped.open())
        sums.add(table)
        return pa.table({"partial": pa.array([sums.partial().pack()], type=pa.large_binary())})


def _name_block(_: ShippedWork, number: int, block: pa.Table) -> tuple[None, bytes]:
    """Return the sum of the partials in a block, under the name that the driver gave it."""
    packed = block.column("partial").to_pylist() if block.num_rows else []  # Ray creates no batch if there are no rows
    parts = Partial.sum(Partial.unpack(part)[0] for part in packed)
    return None, Partial(parts.tallies, parts.rows, 1, ledger_of([partition_digest(str(number))])).pack()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Ray Data's log messages about execution plans."""
    logger = logging.getLogger("ray.data")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
