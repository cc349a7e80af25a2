"""Streams of tables and fragments of files, counted by the threads of this process."""

from __future__ import annotations

from time import monotonic

from glasswood.counting._job import Job, Sums, add_fragment
from glasswood.counting._partial import Partial
from glasswood.engines import _checkpoint as _checkpoints
from glasswood.engines._checkpoint import Checkpoint
from glasswood.parallel._progress import bar
from glasswood.parallel._threads import sum_over
from glasswood.tables._parquet import Fragment
from glasswood.tables._sources import Stream

__all__ = ["count_files", "count_stream"]


def count_files(job: Job, fragments: list[Fragment], checkpoint: Checkpoint | None, threads: int | None) -> Partial:
    """Return the counts of fragments. Each thread reads and counts its own, so that both overlap.

    Memory use is one batch of rows per thread, and their compressed columns.
    """
    sizes = [fragment.n_rows for fragment in fragments]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    with bar(total, "counting", "rows") as progress:

        def add(sums: Sums, fragment: Fragment) -> None:
            progress.add(add_fragment(sums, fragment))
            if checkpoint is not None and monotonic() - sums.since > _checkpoints.INTERVAL:
                hand_over(sums, checkpoint)

        workers = min(threads, len(fragments)) if threads else None
        sums = sum_over(fragments, lambda: Sums(job), add, workers)
    if checkpoint is None:
        return Partial.sum(part.partial() for part in sums)
    for part in sums:
        hand_over(part, checkpoint)
    return checkpoint.partial


def hand_over(sums: Sums, checkpoint: Checkpoint) -> None:
    """Pass the counts of a thread to the checkpoint; the thread starts over."""
    digests = sums.digests
    if digests:
        checkpoint.add(sums.partial(), digests)


def count_stream(job: Job, stream: Stream, threads: int | None) -> Partial:
    """Return the counts of a stream: tables are read by one thread at a time and counted by all."""
    with bar(None, "counting", "rows") as progress:
        # A model without splits needs no columns, but a table without columns has no rows.
        tables = stream.tables(job.columns or (stream.names or [])[:1])
        sums = sum_over(tables, lambda: Sums(job), lambda part, table: progress.add(part.add(table)), threads)
    return Partial.sum(part.partial() for part in sums)
