"""Partial: the counts of some fragments of the data. Partials add up in any order, and know what they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasswood._arrow import pack, unpack
from glasswood._counts import Tally
from glasswood.errors import BackgroundError

__all__ = ["WHOLE", "Partial", "add_packed", "ledger_of"]

WHOLE = ()  # the key of all rows, where there are no groups

MODULUS = 1 << 128


@dataclass(frozen=True, eq=False)
class Partial:
    """The counts of some fragments, and a ledger of them.

    Every engine runs a task once more if it must. What a task returns is counted once nevertheless, if nobody writes
    into what he was given; the ledger, a sum of hashes of the fragments, proves that at the end.

    Parameters
    ----------
    tallies : mapping from keys to Tally
        One for each group of rows; `WHOLE` is the key of the only one, if there are no groups.
    n_fragments : int
    ledger : int
        The sum of the fragments' digests, modulo 2**128.
    """

    tallies: Mapping[Any, Tally] = field(default_factory=dict)
    n_fragments: int = 0
    ledger: int = 0

    @property
    def n_rows(self) -> int:
        """The number of rows of all groups."""
        return sum(tally.n_rows for tally in self.tallies.values())

    @classmethod
    def sum(cls, parts: Iterable[Partial]) -> Partial:
        """Return the sum of partials. None of them is written to."""
        tallies: dict[Any, Tally] = {}
        own: set[Any] = set()  # keys of tallies that were made here
        n_fragments = ledger = 0
        for part in parts:
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
        return cls(tallies, n_fragments, ledger)

    def slices(self, n: int) -> Iterator[Partial]:
        """Yield the partial in n parts that are added up apart: of each tally, a share of the counts."""
        empty = np.empty(0, dtype=np.int64)
        for index in range(n):
            tallies = {}
            for key, tally in self.tallies.items():
                first, last = (tally.counts.size * k // n for k in (index, index + 1))
                cells = empty if index else tally.cells
                tallies[key] = Tally(tally.counts[first:last], cells, tally.n_rows, tally.total)
            yield Partial(tallies, self.n_fragments, self.ledger)

    @classmethod
    def join(cls, slices: Sequence[Partial]) -> Partial:
        """Return the partial that has these slices, in order."""
        first = slices[0]
        if len({(part.n_fragments, part.ledger, part.n_rows) for part in slices}) != 1:
            message = "the slices of the counts are of different rows; nothing was saved, count again"
            raise BackgroundError(message)
        tallies = {
            key: Tally(
                np.concatenate([part.tallies[key].counts for part in slices]), tally.cells, tally.n_rows, tally.total
            )
            for key, tally in first.tallies.items()
        }
        return cls(tallies, first.n_fragments, first.ledger)

    def pack(self, **notes: bytes) -> bytes:
        """Return the partial as bytes."""
        keys, tallies = list(self.tallies), list(self.tallies.values())
        n_keys = len(keys[0]) if keys and isinstance(keys[0], tuple) else 1
        rows: dict[str, Sequence[Any]] = {
            f"key {index}": [key[index] if isinstance(key, tuple) else key for key in keys] for index in range(n_keys)
        }
        rows |= {name: [getattr(tally, name) for tally in tallies] for name in ("n_rows", "total", "counts", "cells")}
        notes |= {
            "tuples": b"yes" if keys and isinstance(keys[0], tuple) else b"no",
            "n_fragments": str(self.n_fragments).encode(),
            "ledger": str(self.ledger).encode(),
        }
        return pack(rows, notes)

    @classmethod
    def unpack(cls, packed: bytes) -> tuple[Partial, dict[str, bytes]]:
        """Return the partial that `pack` was given, and the notes."""
        rows, notes = unpack(packed)
        if "tuples" not in notes:
            message = "these are not the bytes of a sum of counts, or they are damaged"
            raise BackgroundError(message)
        n_keys = sum(name.startswith("key ") for name in rows)
        columns = [rows[f"key {index}"] for index in range(n_keys)]
        tuples = notes.pop("tuples") == b"yes"
        keys = list(zip(*columns, strict=True)) if tuples and columns else columns[0] if columns else []
        if tuples and not columns:
            keys = [WHOLE] * len(rows["counts"])
        values = (rows[name] for name in ("counts", "cells", "n_rows", "total"))
        tallies = {key: Tally(*tally) for key, *tally in zip(keys, *values, strict=True)}
        if len(tallies) != len(keys):
            message = "two groups have the same key after packing; pass a column of another type in by="
            raise BackgroundError(message)
        return cls(tallies, int(notes.pop("n_fragments")), int(notes.pop("ledger"))), notes


def add_packed(*parts: bytes) -> bytes:
    """Return the sum of partials, all as bytes. None of them is written to."""
    return Partial.sum(Partial.unpack(part)[0] for part in parts).pack()


def ledger_of(digests: Iterable[bytes]) -> int:
    """Return the ledger of fragments, given their digests."""
    return sum(int.from_bytes(digest, "little") for digest in digests) % MODULUS
