"""RowJob: what is asked of each row of a source, and what becomes of the answers. Workers get it as bytes, once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from glasswood.counting._exact import exact_sums
from glasswood.counting._reading import Reading
from glasswood.counting._shipped import Dumps, Shipped
from glasswood.errors import TableError
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property
from glasswood.parallel._threads import threads_limited_to
from glasswood.tables._parquet import Fragment, file_errors, read_whole
from glasswood.tables._part_files import PartFiles, arrow_table, digest_of
from glasswood.tables._tables import OpenColumns, n_rows

__all__ = [
    "N_SUMS",
    "Piece",
    "Receipts",
    "RowJob",
    "RowQuestion",
    "ShippedRows",
    "explain_piece",
    "explain_tables",
    "part_name",
]

Explain = Callable[[Any], Iterable[Any]]
N_SUMS = 3  # of a column: of absolute values, of squares and of values
MAX_HELD = 2**25  # values of a partition that are held to find out whether they were written before


class RowQuestion(Protocol):
    """What is asked of each row, see `glasswood.questions.rows._arithmetic_any_rows`."""

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the answers depend on."""

    @property
    def max_rows(self) -> int:
        """The number of rows of a block."""

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column: "number", or lists of "numbers" or "texts"."""

    def answer(self, columns: OpenColumns, first: int, last: int) -> dict[str, Any]:
        """Return columns of some rows: arrays; lists are lines of an array, with labels if they are texts."""


class Piece(NamedTuple):
    """Fragments of one file whose answers are written to one file, and its name."""

    name: str
    fragments: Sequence[Fragment]

    @property
    def digest(self) -> str:
        """A hash of the fragments' identities."""
        return blake2b(b"".join(fragment.digest for fragment in self.fragments), digest_size=16).hexdigest()

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known."""
        known = [fragment.n_rows for fragment in self.fragments if fragment.n_rows is not None]
        return sum(known) if len(known) == len(self.fragments) else None


@dataclass(frozen=True, eq=False)
class RowJob:
    """What is asked of each row.

    Parameters
    ----------
    question : RowQuestion
    reading : Reading
        How tables become columns of the model.
    keep : mapping of str to str
        Columns of the source that are passed through, and what they are called afterwards.
    files : PartFiles or None
        Where answers are written to; None if the sizes of values are added up.
    """

    question: RowQuestion
    reading: Reading
    keep: Mapping[str, str]
    files: PartFiles | None = None

    @property
    def columns(self) -> list[Any]:
        """The names of all columns that are read, each once."""
        return list(dict.fromkeys([*self.reading.columns, *self.keep]))

    @cached_property
    def key(self) -> str:
        """A hash of everything that the answers depend on, the data excepted."""
        parts = (self.question.cache_key, self.reading.names, self.reading.schema, dict(self.keep))
        return blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    def explain(self, table: object) -> Iterator[Any]:
        """Yield Arrow tables of the answers of a table's rows, one per block."""
        opened = self.reading.open(table)
        for span in self.blocks(opened.n_rows):
            yield self.block(table, opened, span)

    def block(self, table: object, opened: OpenColumns, span: tuple[int, int]) -> Any:
        """Return the answers about some rows of a table, whose columns are open."""
        check_cancelled()  # raises if nobody waits for it any more
        return arrow_table(table, self.keep, span, self.question.answer(opened, *span))

    def blocks(self, n: int) -> list[tuple[int, int]]:
        """Return the first row of each block and the one behind its last."""
        size = self.question.max_rows
        return [(first, min(n, first + size)) for first in range(0, n, size)]

    def sums(self, table: object) -> Iterator[list[int] | None]:
        """Yield the exact sums of absolute values, then those of squares and of values, of each block."""
        opened = self.reading.open(table)
        for first, last in self.blocks(opened.n_rows):
            check_cancelled()
            values = np.array(list(self.question.answer(opened, first, last).values()), dtype=np.float64)
            with np.errstate(over="ignore"):
                yield exact_sums(np.concatenate([np.abs(values), np.square(values), values]))

    def ship(self, dumps: Dumps | None = None) -> ShippedRows:
        """Return the job as bytes, made by an engine's own way to pickle."""
        before = None if self.reading.before is None else replace(self.reading.before, table=None)
        parts = (self.question, replace(self.reading, before=before), dict(self.keep), self.files)
        shipped: ShippedRows = ShippedRows.of(parts, dumps)
        return shipped


def added(one: list[int] | None, other: list[int] | None) -> list[int] | None:
    """Return the sum of exact sums; None if one of them has no value."""
    return None if one is None or other is None else [a + b for a, b in zip(one, other, strict=True)]


@dataclass(frozen=True)
class Receipts:
    """What was done: the number of rows of each part, by name; and sums of values, if they were asked for.

    Parameters
    ----------
    rows : mapping of str to int
    sums : list of int, or None
        Those of absolute values, of squares and of values, see `glasswood.counting._exact`.
    """

    rows: Mapping[str, int]
    sums: list[int] | None = None

    @classmethod
    def sum(cls, parts: Iterable[Receipts]) -> Receipts:
        """Return all receipts together. A part that is there twice is an error."""
        rows: dict[str, int] = {}
        parts = list(parts)
        for part in parts:
            twice = rows.keys() & part.rows.keys()
            if twice:
                message = f"part {min(twice)!r} of the rows was explained twice; please report this"
                raise TableError(message)
            rows |= part.rows
        sums = parts[0].sums if parts else None
        for part in parts[1:]:
            sums = added(sums, part.sums)
        return cls(rows, sums)

    def pack(self) -> bytes:
        """Return the receipts as bytes."""
        sums = None if self.sums is None else [hex(total) for total in self.sums]
        return json.dumps([dict(self.rows), sums]).encode()

    @classmethod
    def unpack(cls, packed: bytes) -> Receipts:
        """Return the receipts that `pack` made bytes of."""
        rows, sums = json.loads(packed)
        return cls(rows, None if sums is None else [int(total, 16) for total in sums])


class ShippedRows(Shipped):
    """A RowJob as bytes, and what workers do with it."""

    n_slices = 1  # receipts are small
    named_later = False  # a part has to know its name

    def open(self) -> RowJob:
        """Return the job, which is unpacked once in each process."""
        job: RowJob = self.made(lambda parts: RowJob(*parts))
        return job

    def of_bundle(self, bundle: Sequence[Piece]) -> bytes:
        """Explain the rows of some pieces of files."""
        with threads_limited_to(1):  # the engine runs as many tasks as it has cores
            job = self.open()
            return Receipts.sum([explain_piece(job, piece) for piece in bundle]).pack()

    def of_tables(self, tables: Iterable[Any], name: str) -> bytes:
        """Explain the tables of one partition of an engine's own frame, known by its number."""
        with threads_limited_to(1):
            return explain_tables(self.open(), tables, int(name)).pack()

    def explain(self, table: object) -> Iterator[Any]:
        """Yield Arrow tables of the answers of a table's rows."""
        with threads_limited_to(1):
            yield from self.open().explain(table)

    @staticmethod
    def add(*parts: bytes) -> bytes:
        """Return all receipts together."""
        return Receipts.sum(map(Receipts.unpack, parts)).pack()

    def cut(self, packed: bytes, _: int) -> list[bytes]:
        """Return receipts in slices: in one."""
        return [packed]

    def join(self, slices: Sequence[bytes]) -> bytes:
        """Return the receipts that have these slices."""
        return slices[0] if slices else Receipts({}).pack()


def explain_piece(job: RowJob, piece: Piece, explain: Explain | None = None) -> Receipts:
    """Explain the rows of a piece of a file, unless that has been done."""
    with file_errors(piece.fragments[0].path):
        tables = (table for fragment in piece.fragments for table in read_whole(fragment, job.columns))
        if job.files is None:
            return _sums(job, piece.name, tables)
        known = job.files.written(piece.name)
        if known is not None and known.digest == piece.digest:
            return Receipts({piece.name: known.n_rows})
        return _write(job, piece.name, tables, explain or job.explain, lambda: piece.digest)


def explain_tables(job: RowJob, tables: Iterable[Any], number: int, explain: Explain | None = None) -> Receipts:
    """Explain the rows of a partition, unless that has been done; its rows are read to find out."""
    name = part_name(number)
    if job.files is None:
        return _sums(job, name, tables)
    known = job.files.written(name)
    digest, held = Digest(), list[Any]()
    waiting = map(digest.noted, tables)
    if known is not None:
        n_held = 0
        for table in waiting:
            held.append(table)
            n_held += n_rows(table)
            if n_held * len(job.columns) > MAX_HELD:
                break
        else:
            if digest.text == known.digest:
                return Receipts({name: known.n_rows})
    return _write(job, name, chain(held, waiting), explain or job.explain, lambda: digest.text)


def _write(job: RowJob, name: str, tables: Iterable[Any], explain: Explain, digest: Callable[[], str]) -> Receipts:
    """Write the answers about tables to a file; to none if there are no rows, whose types are not known."""
    with_rows = (table for table in tables if n_rows(table))
    first = next(with_rows, None)
    if first is None or job.files is None:
        return Receipts({name: 0})
    with job.files.open(name) as file:
        n_read = 0
        for table in chain([first], with_rows):
            n_read += n_rows(table)
            for part in explain(table):
                file.write(part)
        if file.n_rows != n_read:
            message = f"{name}: {n_read:,} rows were read, but {file.n_rows:,} were written; please report this"
            raise TableError(message)
        file.finish(digest())
    return Receipts({name: file.n_rows})


class Digest:
    """A hash of tables, one after the other."""

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=16)

    def noted(self, table: Any) -> Any:
        """Return a table, after taking it in."""
        self._digest.update(digest_of(table))
        return table

    @property
    def text(self) -> str:
        """The hash so far."""
        return self._digest.hexdigest()


def part_name(number: int) -> str:
    """Return the name of the file of a partition."""
    return f"part-{number:05d}.parquet"


def _sums(job: RowJob, name: str, tables: Iterable[Any]) -> Receipts:
    """Add up the answers about tables."""
    sums: list[int] | None = [0] * (N_SUMS * len(job.question.kinds))
    n_read = 0
    for table in tables:
        n_read += n_rows(table)
        for more in job.sums(table):
            sums = added(sums, more)
    return Receipts({name: n_read}, sums)
