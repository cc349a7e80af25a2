"""The rows of a source, explained where they are: written to files, made a frame of their engine, or added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from posixpath import basename, commonpath, dirname, relpath, splitext
from typing import Any

from glasswood.counting._row_job import (
    Piece,
    Receipts,
    RowJob,
    explain_piece,
    explain_tables,
    part_name,
)
from glasswood.engines._engine import load_engine
from glasswood.engines._pass import Pass, bundles
from glasswood.errors import TableError
from glasswood.parallel._progress import bar
from glasswood.parallel._threads import in_order, n_threads, thread_limit, threads_limited_to
from glasswood.tables._parquet import Fragment, read_whole
from glasswood.tables._part_files import PartFiles
from glasswood.tables._places import Place
from glasswood.tables._sources import EngineFrame, Files, Stream
from glasswood.tables._tables import n_rows

__all__ = ["ExplainedRows"]

ROWS_PER_FILE = 2**21  # at most, of answers
ROWS_PER_TASK = 2**18  # at least, of small files


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """The rows of a source, and what is asked of each of them. Nothing is computed until it is asked for.

    Parameters
    ----------
    rows : Pass
    job : RowJob
    threads : int or None
        How many may be used, as given by the question; None for the default.
    """

    rows: Pass
    job: RowJob
    threads: int | None = field(default_factory=thread_limit)

    @property
    def engine(self) -> str:
        """The engine of a frame; "" for files and streams."""
        return self.rows.source.engine if isinstance(self.rows.source, EngineFrame) else ""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known."""
        return self.rows.n_rows

    def asking(self, question: Any) -> ExplainedRows:
        """Return the same rows with another question."""
        return replace(self, job=replace(self.job, question=question))

    def sums(self) -> Receipts:
        """Return the number of rows, and the exact sums of absolute values, of squares and of values."""
        with threads_limited_to(self.threads):
            return self._run(self.job, [Piece(f.name, [f]) for f in self._fragments])

    def write(self, place: Place) -> int:
        """Write the answers to a folder, one file per file or partition, and return the number of rows.

        If an interrupted call has written some of the files, only the others are written.
        """
        files = PartFiles(place.filesystem, place.path, self.job.key)
        files.begin()
        with threads_limited_to(self.threads):
            done = self._run(replace(self.job, files=files), pieces_of(self._fragments))
        files.end({name: n for name, n in done.rows.items() if n})
        return sum(done.rows.values())

    @property
    def _fragments(self) -> list[Fragment]:
        return self.rows.source.fragments if isinstance(self.rows.source, Files) else []

    def _run(self, job: RowJob, pieces: Sequence[Piece]) -> Receipts:
        """Return the receipts of all parts, after checking that each is there once."""
        source = self.rows.source
        if isinstance(source, Stream):
            return self._run_stream(job, source)
        if isinstance(source, Files):
            expected = [piece.name for piece in pieces]
            done = self._run_here(job, pieces) if self.rows.here else self._run_files(job, pieces)
        else:
            engine = load_engine(self.rows.engine)
            packed, n_parts = engine.run_frame(job.ship(engine.dumps), self._frame, self.rows.session)
            expected, done = [part_name(number) for number in range(n_parts)], Receipts.unpack(packed)
        if sorted(done.rows) != sorted(expected):
            message = (
                f"{len(expected)} parts of the rows were to be explained, but {len(done.rows)} reported; run it again. "
                "What has been written is kept"
            )
            raise TableError(message)
        return done

    @property
    def _frame(self) -> object:
        return self.rows.source.frame if isinstance(self.rows.source, EngineFrame) else None

    def _run_files(self, job: RowJob, pieces: Sequence[Piece]) -> Receipts:
        engine = load_engine(self.rows.engine)
        packed = engine.run_files(job.ship(engine.dumps), bundles(pieces, ROWS_PER_TASK), self.rows.session)
        return Receipts.unpack(packed)

    def _run_here(self, job: RowJob, pieces: Sequence[Piece]) -> Receipts:
        """Explain files in threads: each takes a piece, or all of them share one if there are few."""
        if len(pieces) >= n_threads() or job.files is None:
            with in_order(len(pieces), lambda k: explain_piece(job, pieces[k]), "rows") as result:
                return Receipts.sum(result)
        with bar(self.n_rows or 0, "rows", "rows") as progress:

            def explain(table: Any) -> Iterator[Any]:
                yield from in_blocks(job, table)
                progress.add(n_rows(table))

            return Receipts.sum([explain_piece(job, piece, explain) for piece in pieces])

    def _run_stream(self, job: RowJob, source: Stream) -> Receipts:
        """Explain the tables of a stream, of which a few are one part."""
        result: list[Receipts] = []
        for part in _tables_per_file(source.tables(job.columns)):
            result.append(explain_tables(job, part, len(result), lambda table: in_blocks(job, table)))
        return Receipts.sum(result or [Receipts({}, [0] * len(job.question.kinds))])

    def blocks(self) -> Iterator[Any]:
        """Yield Arrow tables of the answers, in the order of the rows."""
        for table in self._tables():
            yield from in_blocks(self.job, table, self.threads)

    def _tables(self) -> Iterator[Any]:
        source, columns = self.rows.source, self.job.columns
        if isinstance(source, Stream):
            return source.tables(columns)
        if isinstance(source, Files):
            return chain.from_iterable(read_whole(fragment, columns) for fragment in source.fragments)
        message = f"the rows are a frame of {self.engine} and stay there; use to_{self.engine}() or to_parquet(folder)"
        raise TableError(message)

    def frame(self, engine: str) -> Any:
        """Return the answers as a frame of the engine that the rows are a frame of, computed lazily."""
        if self.engine != engine:
            given = f"a frame of {self.engine}" if self.engine else "files or a stream"
            message = f"to_{engine}() is for rows that are a frame of {engine}, but these are {given}"
            raise TableError(message)
        module = load_engine(engine)
        return module.map_frame(self.job.ship(module.dumps), self._frame)


def in_blocks(job: RowJob, table: Any, limit: int | None = None) -> Iterator[Any]:
    """Yield Arrow tables of the answers about a table, one per block, computed in threads."""
    opened = job.reading.open(table)
    spans = job.blocks(opened.n_rows)
    with in_order(len(spans), lambda k: job.block(table, opened, spans[k]), limit=limit) as tables:
        yield from tables


def _tables_per_file(tables: Iterable[Any]) -> Iterator[Iterable[Any]]:
    """Yield tables, as many at a time as are written to one file. Those of one part are taken before the next."""
    waiting = iter(tables)
    for first in waiting:
        yield _up_to(first, waiting)


def _up_to(first: Any, waiting: Iterator[Any]) -> Iterator[Any]:
    yield first
    n_taken = n_rows(first)
    while n_taken < ROWS_PER_FILE:
        table = next(waiting, None)
        if table is None:
            return
        n_taken += n_rows(table)
        yield table


def pieces_of(fragments: Sequence[Fragment]) -> list[Piece]:
    """Return the fragments whose answers are written to each file: one per file, or several if it has many rows.

    The names of the files are those of the files that were read, in the same folders; but without their `=`, for which
    readers would add columns that may have the names of columns of values.
    """
    if not fragments:
        return []
    root = commonpath([dirname(fragment.path) for fragment in fragments])
    result: list[Piece] = []
    taken: set[str] = set()
    for path, several in groupby(fragments, key=lambda fragment: fragment.path):
        stem = splitext(relpath(path, root))[0].replace("=", "-")
        runs = list(_runs(list(several)))
        for number, run in enumerate(runs):
            name = stem if len(runs) == 1 else f"{stem}-{number:04d}"
            while name in taken or basename(name).startswith(("_", ".")):
                name = f"{dirname(name)}/x{basename(name)}".lstrip("/")
            taken.add(name)
            result.append(Piece(f"{name}.parquet", run))
    return result


def _runs(fragments: Sequence[Fragment]) -> Iterator[list[Fragment]]:
    """Yield the fragments of a file in runs of at most so many rows."""
    run: list[Fragment] = []
    for fragment in fragments:
        if run and sum(f.n_rows or 0 for f in [*run, fragment]) > ROWS_PER_FILE:
            yield run
            run = []
        run.append(fragment)
    yield run
