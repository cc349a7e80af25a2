"""SetValues: values of sets of players for rows, all at once or part by part of the sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.parallel._progress import bar
from glasswood.parallel._threads import in_order

__all__ = [
    "PartOfSets",
    "SetValues",
    "WholeSets",
    "largest",
    "largest_of_rows",
    "means_of_sets",
    "sums_of",
    "values_of_rows",
]


BATCH = 1024  # rows that a thread takes at a time, at least

MAX_BATCHES = 4096

ABOUT_ROWS = 2**22  # values of rows that are compared at a time


PartOfSets = tuple["NDArray[np.intp] | slice", "SetValues"]


class SetValues(Protocol):
    """The sets, and their values for rows."""

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The players of each set."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of a span of rows to the columns of `out`, (n_sets x n_outputs, ...), starting at `at`."""

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over a span of rows: (3, n_sets x n_outputs)."""

    def parts(self) -> Iterator[PartOfSets]:
        """Yield the numbers of some sets, and their values, until there was each set."""

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:
        """Yield the numbers of some sets, at most so many at a time if that needs less memory, and their values."""


class WholeSets:
    """Values of sets that are all computed together: one part."""

    def parts(self) -> Iterator[PartOfSets]:
        """Yield all sets at once."""
        yield slice(None), cast(SetValues, self)

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:  # noqa: ARG002 (known together)
        """Yield all sets at once."""
        result = cast(SetValues, self)
        yield np.arange(len(result.sets)), result


def sums_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of absolute values, squares and values of each line: (3, n_lines)."""
    return np.stack([np.abs(values).sum(axis=1), np.square(values).sum(axis=1), values.sum(axis=1)])


def _n_sets(numbers: NDArray[np.intp] | slice, part: SetValues) -> int:
    """Return the number of sets of a part, without making a list of their players if that is known."""
    return len(part.sets) if isinstance(numbers, slice) else numbers.size


def means_of_sets(source: SetValues, n_outputs: int, threads: int | None) -> NDArray[np.float64]:
    """Return the means of absolute values, squares and values, (3, n_sets, n_outputs), summed in the order of rows."""
    n_sets, n_rows = len(source.sets), source.n_rows
    batch = max(BATCH, -(-n_rows // MAX_BATCHES))
    n_batches = -(-n_rows // batch)
    means = np.zeros((3, n_sets, n_outputs))
    with bar(n_sets * n_rows, "interactions", "values") as progress:
        for numbers, part in source.parts():
            n_here = _n_sets(numbers, part)
            total = np.zeros((3, n_here * n_outputs))

            def sums_of(index: int, part: SetValues = part) -> NDArray[np.float64]:
                return part.moments((index * batch, min(n_rows, (index + 1) * batch)))

            with in_order(n_batches, sums_of, limit=threads) as batches:
                for index, sums in enumerate(batches):
                    total += sums
                    progress.add(n_here * (min(n_rows, (index + 1) * batch) - index * batch))
            total /= max(1, n_rows)
            means[:, numbers] = total.reshape(3, n_here, n_outputs)
    return means


def largest_of_rows(source: SetValues, k: int, threads: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for each row, the numbers and values of the k sets of one output whose values are largest in size.

    The empty set does not take part. Of values of the same size, those of the smallest numbers come first.
    """
    n_rows = source.n_rows
    best, values = np.zeros((n_rows, 0), dtype=np.int64), np.zeros((n_rows, 0))
    with bar(len(source.sets) * n_rows, "largest interactions", "values") as progress:
        for numbers, part in source.parts():
            n_here = _n_sets(numbers, part)
            all_numbers = np.arange(n_here) if isinstance(numbers, slice) else numbers
            skipped = int(n_here > 0 and not part.sets[0])
            step = max(1, ABOUT_ROWS // max(1, n_here))
            k_here = min(k, n_here - skipped)
            here_best = np.empty((n_rows, k_here), dtype=np.int64), np.empty((n_rows, k_here))

            def largest_of(
                index: int,
                part: SetValues = part,
                n_here: int = n_here,
                k_here: int = k_here,
                skipped: int = skipped,
                step: int = step,
            ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
                first, last = index * step, min(n_rows, (index + 1) * step)
                out = np.empty((n_here, last - first))
                part.write((first, last), out, 0)
                return largest(out.T, k_here, skipped)

            with in_order(-(-n_rows // step), largest_of, limit=threads) as parts:
                for index, (places, sizes) in enumerate(parts):
                    here = slice(index * step, min(n_rows, (index + 1) * step))
                    here_best[0][here], here_best[1][here] = all_numbers[places], sizes
                    progress.add(n_here * len(places))
            best, values = _merged(best, values, *here_best, k)
    return best, values


def _merged(
    best: NDArray[np.int64], values: NDArray[np.float64], more: NDArray[np.int64], sizes: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k largest of two lists for each row."""
    best, values = np.concatenate([best, more], axis=1), np.concatenate([values, sizes], axis=1)
    order = np.argsort(best, axis=1)
    best, values = np.take_along_axis(best, order, 1), np.take_along_axis(values, order, 1)
    places, result = largest(values, min(k, values.shape[1]), 0)
    return np.take_along_axis(best, places, 1), result


def values_of_rows(
    source: SetValues, span: tuple[int, int], n_outputs: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the values of some rows: (n_sets x n_outputs, n_rows)."""
    n_rows = span[1] - span[0]
    result = np.empty((len(source.sets) * n_outputs, n_rows)) if out is None else out
    for numbers, part in source.parts():
        if isinstance(numbers, slice):
            part.write(span, result, 0)
        else:
            held = np.empty((numbers.size * n_outputs, n_rows))
            part.write(span, held, 0)
            result.reshape(-1, n_outputs, n_rows)[numbers] = held.reshape(-1, n_outputs, n_rows)
    return result


def largest(values: NDArray[np.float64], k: int, skipped: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k values of each row, (n_rows, n_values), that are largest in size, and their numbers.

    The first `skipped` values do not take part. Of values of the same size, the first come first, on every machine.
    """
    sizes = -np.abs(values[:, skipped:])
    if 0 < k < sizes.shape[1]:
        best = np.sort(np.argpartition(sizes, k - 1, axis=1)[:, :k], axis=1)
        least = np.take_along_axis(sizes, best, 1).max(axis=1, keepdims=True)
        tied = np.count_nonzero(sizes <= least, axis=1) > k  # which of them argpartition takes depends on the processor
        best[tied] = np.argsort(sizes[tied], axis=1, kind="stable")[:, :k]
    else:
        best = np.broadcast_to(np.arange(k), (len(sizes), k))
    best = np.take_along_axis(best, np.argsort(np.take_along_axis(sizes, best, 1), axis=1, kind="stable"), 1) + skipped
    return best, np.take_along_axis(values, best, 1)
