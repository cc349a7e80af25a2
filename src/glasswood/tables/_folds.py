"""Folds of rows: which of a few parts a row belongs to, by a hash of a column's value or of the row's number.

The same value has the same fold in every library and on every machine: whole numbers and truth values count as 64-bit
integers, floats and decimals that are whole as that number, others by the bits of the float, dates and times as
microseconds since 1970 in UTC, durations as microseconds, texts by the FNV-1a hash of their UTF-8 bytes; missing values
are one value. Keys are mixed by the finaliser of SplitMix64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.tables._columns import Dictionary, dictionary_of
from glasswood.tables._tables import frame_of, frame_values

__all__ = ["Division", "draws_of_positions", "fold_of_keys", "fold_of_positions", "keys_of_column", "keys_of_values"]

Keys = NDArray[np.uint64]
MISSING = np.uint64(0x7FF8000000000000)
FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
MAX_EXACT = 2.0**53
MAX_OF_64_BITS = 2.0**64
NUMBERS = (bool, int, float, np.number, np.bool_, Decimal)
EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Division:
    """How rows are divided into folds: how many there are, and by what.

    Parameters
    ----------
    number : int
    column : str, optional
        The column whose values tell the fold; None for the number of the row in the source.
    given : bool, default False
        Whether the values were passed along with the rows, and are no column of theirs.

    Examples
    --------
    >>> print(Division(20, "id"), Division(20), Division(20, given=True), sep=", ")
    20 by 'id', 20 by position, 20 by given values
    """

    number: int
    column: str | None = None
    given: bool = False

    def __str__(self) -> str:
        by = "given values" if self.given else "position" if self.column is None else repr(self.column)
        return f"{self.number} by {by}"


def fold_of_keys(keys: Keys, n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each key.

    Examples
    --------
    >>> fold_of_keys(np.arange(6, dtype=np.uint64), 4)
    array([3, 2, 2, 0, 1, 1])
    """
    return ((_mixed(keys) >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


def fold_of_positions(first: int, n_rows: int, n_folds: int) -> NDArray[np.intp]:
    """Return the folds of rows, given the number of the first one in the whole source."""
    return fold_of_keys(np.arange(first, first + n_rows, dtype=np.uint64), n_folds)


def draws_of_positions(n_rows: int, seed: int) -> NDArray[np.float64]:
    """Return a random number between 0 and 1 for each row, given a seed: the same bits on every machine.

    Examples
    --------
    >>> draws_of_positions(3, seed=0).round(3)
    array([0.652, 0.701, 0.387])
    """
    start = _mixed(np.array([seed % 2**64], dtype=np.uint64))
    keys = _mixed(np.arange(n_rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start)
    return (keys >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mixed(keys: Keys) -> Keys:
    """Return keys of which every bit depends on all bits: the finaliser of SplitMix64."""
    x = keys + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def keys_of_column(table: object, name: str) -> Keys:
    """Return the keys of the values of a column of a data frame."""
    import narwhals as nw

    frame = frame_of(table)
    if frame is None or name not in frame.columns:
        message = f"fold_by= names the column {name!r}, which the table does not have"
        raise TableError(message)
    series, kind = frame.get_column(name), frame.get_column(name).dtype
    if isinstance(kind, nw.Duration):
        series, kind = series.dt.total_microseconds(), nw.Int64()
    if kind.is_integer():  # beside missing values, libraries would make float64 of them
        if not series.null_count():
            return keys_of_values(series.to_numpy())
        return np.where(series.is_null().to_numpy(), MISSING, keys_of_values(series.fill_null(0).to_numpy()))
    if kind.is_temporal() and not isinstance(kind, nw.Time):
        return _keys_of_times(series.cast(nw.Datetime("us")) if isinstance(kind, nw.Date) else series)
    if isinstance(kind, nw.Decimal | nw.Time):
        return keys_of_values(dictionary_of(np.array(series.to_list(), dtype=object)))
    return keys_of_values(frame_values(frame, name))


def _keys_of_times(series: Any) -> Keys:
    missing = series.is_null().to_numpy()
    stamps = series.dt.timestamp("us").fill_null(0).to_numpy().astype(np.int64)
    return np.where(missing, MISSING, stamps.view(np.uint64))


def keys_of_values(values: Any) -> Keys:
    """Return the keys of values: an array, or a dictionary of labels."""
    if isinstance(values, Dictionary):
        keys = np.append(_keys_of_labels(values.labels), MISSING)
        return keys[np.where(values.positions < 0, len(values.labels), values.positions)]
    if values.dtype.kind in "iub":
        return np.asarray(values.astype(np.int64).view(np.uint64))
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), MISSING, values.astype("datetime64[us]").astype(np.int64).view(np.uint64))
    if values.dtype.kind == "f":
        return _keys_of_floats(values.astype(np.float64))
    return keys_of_values(dictionary_of(values))


def _keys_of_floats(values: NDArray[np.float64]) -> Keys:
    values = values + 0.0  # -0.0 becomes 0.0
    size = np.abs(values)
    rounded = (size >= MAX_EXACT) & (size < MAX_OF_64_BITS)
    if rounded.any():
        message = (
            f"fold_by= has floats such as {values[rounded][0]:.17g}, which are too large to tell whole numbers apart: "
            "different ids may have become one; pass a column of integers (in pandas, Int64 if some are missing)"
        )
        raise TableError(message)
    whole = (values == np.floor(values)) & (size < MAX_EXACT)
    keys = np.where(
        whole, np.where(whole, values, 0.0).astype(np.int64).view(np.uint64), _mixed(values.view(np.uint64))
    )
    return np.where(np.isnan(values), MISSING, keys)


def _keys_of_labels(labels: Sequence[Any]) -> Keys:
    """Return the keys of labels: numbers and times as such, everything else as text."""
    keys = np.empty(len(labels), dtype=np.uint64)
    texts = []
    for place, label in enumerate(labels):
        known = _key_of_label(label)
        if known is None:
            texts.append(place)
        else:
            keys[place] = known
    keys[texts] = _hashes([str(labels[place]).encode("utf-8", "surrogatepass") for place in texts])
    return keys


def _key_of_label(label: Any) -> np.uint64 | None:
    """Return the key of a number, a date, a time or a duration; None for other labels."""
    if isinstance(label, date):
        moment = label if isinstance(label, datetime) else datetime(label.year, label.month, label.day)
        moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
        return np.uint64((moment - EPOCH) // timedelta(microseconds=1) % 2**64)
    if isinstance(label, timedelta):
        return np.uint64(label // timedelta(microseconds=1) % 2**64)
    if not isinstance(label, NUMBERS):
        return None
    exact = isinstance(label, bool | int | np.bool_ | np.integer)
    if (exact or (isinstance(label, Decimal) and label.is_finite() and label == label.to_integral_value())) and (
        -(2**63) <= label < 2**64
    ):
        return np.uint64(int(label) % 2**64)
    number = np.float64(label)
    if not isinstance(label, float | np.floating):  # decimals, and whole numbers of more than 64 bits
        return np.uint64(_mixed(np.array([number]).view(np.uint64))[0])
    return np.uint64(_keys_of_floats(np.array([number]))[0])


def _hashes(texts: Sequence[bytes]) -> Keys:
    """Return the FNV-1a hashes of texts of 64 bits, all texts at once."""
    result = np.full(len(texts), FNV_START, dtype=np.uint64)
    sizes = np.array([len(text) for text in texts], dtype=np.intp)
    joined = np.frombuffer(b"".join(texts) or b"\0", dtype=np.uint8)
    first = np.cumsum(sizes) - sizes
    for place in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > place)
        result[some] = (result[some] ^ joined[first[some] + place]) * FNV_PRIME
    return result
