"""Partial: the counts of some fragments of the data. Partials add up in any order, and know what they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._statistic import UFUNCS, Combine, Tally
from glasswood.counting._weights import KEPT, LARGEST, SMALLEST, WIDTH
from glasswood.errors import BackgroundError
from glasswood.tables._files import pack_arrays, unpack_arrays
from glasswood.tables._parquet import pack_keys, unpack_keys

__all__ = ["WHOLE", "Partial", "add_packed", "kept", "ledger_of"]

WHOLE = ()  # the key of all rows, where there are no groups

FORMAT = "glasswood counts 4"  # the kind of bytes, and their version

MODULUS = 1 << 128


@dataclass(frozen=True, eq=False)
class Partial:
    """The counts of some fragments, and a ledger of them.

    Every engine repeats a task if necessary. Each result is still counted only once, as long as no task modifies its
    inputs; the ledger, a sum of hashes of the fragments, proves this at the end.

    Parameters
    ----------
    tallies : mapping from pairs of a key and a plane to Tally
        The counts of a group of rows, by plane of their weights; rows without weights are in plane 0. `WHOLE` is the
        key of the only group, if there are no groups.
    rows : mapping from keys to int
        The number of rows of each group.
    n_fragments : int
    ledger : int
        The sum of the fragments' digests, modulo 2**128.
    """

    tallies: Mapping[tuple[Any, int], Tally] = field(default_factory=dict)
    rows: Mapping[Any, int] = field(default_factory=dict)
    n_fragments: int = 0
    ledger: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows of all groups."""
        return sum(self.rows.values())

    @classmethod
    def sum(cls, parts: Iterable[Partial]) -> Partial:
        """Return the sum of partials. None of them is written to."""
        tallies: dict[tuple[Any, int], Tally] = {}
        rows: dict[Any, int] = {}
        own: set[Any] = set()  # keys of tallies that were made here
        n_fragments = ledger = 0
        for part in parts:
            for key, n_rows in part.rows.items():
                rows[key] = rows.get(key, 0) + n_rows
            n_fragments += part.n_fragments
            ledger = (ledger + part.ledger) % MODULUS
            for key, tally in part.tallies.items():
                if key in own:
                    tallies[key] += tally
                elif key in tallies:
                    tallies[key] = tallies[key] + tally
                    own.add(key)
                else:
                    tallies[key] = tally
        return cls(kept(tallies), rows, n_fragments, ledger)

    def slices(self, n: int) -> Iterator[Partial]:
        """Yield the partial in n parts that are added up apart: of each vector, a share of the numbers."""
        for index in range(n):
            yield Partial(
                {key: _slice(tally, index, n) for key, tally in self.tallies.items()},
                self.rows,
                self.n_fragments,
                self.ledger,
            )

    @classmethod
    def join(cls, slices: Sequence[Partial]) -> Partial:
        """Return the partial that has these slices, in order."""
        first = slices[0]
        if len({(part.n_fragments, part.ledger, part.n_rows) for part in slices}) != 1:
            message = "the slices of the counts are of different rows; nothing was saved, count again"
            raise BackgroundError(message)
        tallies = {key: _joined_slices([part.tallies[key] for part in slices]) for key in first.tallies}
        return cls(tallies, first.rows, first.n_fragments, first.ledger)

    def pack(self, **notes: bytes) -> bytes:
        """Return the partial as bytes."""
        keys, tallies = list(self.rows), list(self.tallies.values())
        place = {key: number for number, key in enumerate(keys)}
        tuples = bool(keys) and isinstance(keys[0], tuple)
        columns = [list(column) for column in zip(*keys, strict=True)] if tuples else [keys]
        facts = {
            "n_fragments": self.n_fragments,
            "ledger": self.ledger,
            "tuples": tuples,
            "rows": [int(n_rows) for n_rows in self.rows.values()],
            "planes": [[place[key], plane] for key, plane in self.tallies],
            "n_rows": [int(tally.n_rows) for tally in tallies],
            "total": [int(tally.total) for tally in tallies],
            "sizes": [[part.size for part in tally.vectors.values()] for tally in tallies],
            "vectors": [list(kind) for kind in (tallies[0].combine.items() if tallies else ())],
        }
        arrays: dict[str, NDArray[Any]] = {"keys": np.frombuffer(pack_keys(columns), np.uint8)}
        names = tallies[0].combine if tallies else ()
        arrays |= {f"vector {name}": _joined([tally.vectors[name] for tally in tallies]) for name in names}
        arrays |= {f"note {name}": np.frombuffer(note, np.uint8) for name, note in notes.items()}
        return pack_arrays(FORMAT, facts, arrays)

    @classmethod
    def unpack(cls, packed: bytes) -> tuple[Partial, dict[str, bytes]]:
        """Return the partial that `pack` was given, and the notes."""
        try:
            facts, arrays = unpack_arrays(FORMAT, packed)
            keys = _keys(unpack_keys(arrays["keys"].tobytes()), len(facts["rows"]), tuples=facts["tuples"])
            rows = dict(zip(keys, map(int, facts["rows"]), strict=True))
            places = [(keys[number], _plane(plane)) for number, plane in facts["planes"]]
            tallies = dict(zip(places, _tallies(facts, arrays), strict=True))
            partial = cls(tallies, rows, int(facts["n_fragments"]), int(facts["ledger"]))
        except (BackgroundError, TypeError, ValueError, LookupError, OverflowError) as error:
            message = f"these are not the bytes of a sum of counts, or they are damaged ({error})"
            raise BackgroundError(message) from error
        if len(rows) != len(keys):
            message = "two groups have the same key after packing; pass a column of a different type in by="
            raise BackgroundError(message)
        notes = {name[5:]: note.tobytes() for name, note in arrays.items() if name.startswith("note ")}
        return partial, notes


def _plane(plane: object) -> int:
    """Return a plane of weights, if there may be one."""
    if not isinstance(plane, int) or not SMALLEST // WIDTH <= plane <= LARGEST // WIDTH:
        message = f"no float64 has digits in plane {plane!r}"
        raise ValueError(message)
    return plane


def _joined(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])


def _keys(columns: Sequence[Sequence[Any]], n_keys: int, *, tuples: bool) -> list[Any]:
    """Return the key of each group, given the columns of keys."""
    if not tuples:
        return list(*columns)
    return list(zip(*columns, strict=True)) if columns else [WHOLE] * n_keys


def _tallies(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[Tally]:
    """Yield the tally of each group: a view of its part of the arrays."""
    sizes, combine = facts["sizes"], _combine(facts["vectors"])
    whole = [arrays[f"vector {name}"] for name in combine]
    if len(sizes) != len(facts["planes"]):  # before allocating the number that a damaged file may claim
        message = "its number of groups differs from the header"
        raise ValueError(message)
    claimed = [sum(size) for size in zip(*sizes, strict=True)] if sizes else [0] * len(whole)
    if claimed != [array.size for array in whole] or any(min(size) < 0 for size in sizes):
        message = "its number of counts differs from the header"
        raise ValueError(message)
    if any(array.dtype != np.int64 for array in whole):
        message = "its counts are not whole numbers"
        raise ValueError(message)
    first = [0] * len(whole)
    for size, n_rows, total in zip(sizes, facts["n_rows"], facts["total"], strict=True):
        last = [start + n for start, n in zip(first, size, strict=True)]
        parts = (array[slice(*part)] for array, *part in zip(whole, first, last, strict=True))
        yield Tally(dict(zip(combine, parts, strict=True)), combine, int(n_rows), int(total))
        first = last


def _combine(vectors: Sequence[tuple[Any, Any]]) -> dict[str, Combine]:
    """Return how each vector combines, if the names are what they may be."""
    result = dict(vectors)
    if len(result) != len(vectors) or not all(isinstance(name, str) and how in UFUNCS for name, how in result.items()):
        message = f"its vectors are {vectors!r}"
        raise ValueError(message)
    return result


def _slice(tally: Tally, index: int, n: int) -> Tally:
    """Return one of n slices of a tally."""
    vectors = {
        name: part[part.size * index // n : part.size * (index + 1) // n] for name, part in tally.vectors.items()
    }
    return replace(tally, vectors=vectors)


def _joined_slices(slices: Sequence[Tally]) -> Tally:
    """Return the tally that has these slices."""
    names = slices[0].combine
    return replace(slices[0], vectors={name: np.concatenate([part.vectors[name] for part in slices]) for name in names})


def kept(tallies: Mapping[tuple[Any, int], Tally]) -> dict[tuple[Any, int], Tally]:
    """Return the tallies without those of planes that are too low to count, see `glasswood.counting._weights`."""
    highest: dict[Any, int] = {}
    for key, plane in tallies:
        highest[key] = max(plane, highest.get(key, plane))
    return {(key, plane): tally for (key, plane), tally in tallies.items() if plane > highest[key] - KEPT}


def add_packed(*parts: bytes) -> bytes:
    """Return the sum of partials, all as bytes. None of them is written to."""
    return Partial.sum(Partial.unpack(part)[0] for part in parts).pack()


def ledger_of(digests: Iterable[bytes]) -> int:
    """Return the ledger of fragments, given their digests."""
    return sum(int.from_bytes(digest, "little") for digest in digests) % MODULUS
