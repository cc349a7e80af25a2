"""CatBoost's categories: columns known by the hashes of their categories, and statistics of categories (CTRs).

A CTR gives each category, or each combination of categories and conditions, a number made from counts of training
rows, ``((count + prior) / (total + denominator) + shift) * scale`` in float32; a row goes right iff its number is above
a border. For one column, a border is a set of categories. What has no counts, including categories unknown to the
model, has the number for counts of 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError, UnsupportedModelError
from glasswood.models.readers._catboost_combinations import ADVICE, Statistic, elements_of
from glasswood.models.readers._cityhash import cityhash64
from glasswood.models.readers._json import number_array
from glasswood.tables._columns import UNSEEN, Column, Dictionary, Numbers, dictionary_of

__all__ = ["HashColumn", "ascending", "floats", "goes_left", "read_ctr"]

EMPTY = np.uint64((1 << 64) - 1)  # an unused place of a table


@dataclass(frozen=True, slots=True)
class HashColumn(Column):
    """Categories known by the 32-bit hash of their text, in ascending order; the position of a hash is its code.

    A model keeps no texts, unless its file was saved with a pool. `labels` has the text or value of each code as far
    as it is known, and the hash where it is not.
    """

    hashes: tuple[int, ...]
    labels: tuple[Hashable, ...]

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The labels."""
        return self.labels

    @property
    def n_codes(self) -> int:
        """The number of hashes."""
        return len(self.hashes)

    @property
    def own_labels(self) -> tuple[Hashable, ...]:
        """The labels that are not only hashes."""
        return tuple(label for label, known in zip(self.labels, self.hashes, strict=True) if label != known)

    @property
    def wants_labels(self) -> bool:
        """A model keeps no texts."""
        return True

    def encode(self, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
        """Return the code of each row's category, `UNSEEN` if the model does not know it."""
        dictionary = dictionary_of(values)
        if np.any(dictionary.positions < 0):
            message = (
                f"column {self.name!r} has a missing category in row {int(np.argmax(dictionary.positions < 0))}, which "
                "CatBoost refuses; replace missing categories with a string, as in training"
            )
            raise TableError(message)
        return dictionary.take(self._codes(dictionary.labels))

    def labelled(self, values: Numbers | Dictionary) -> HashColumn:
        """Return the column with the values themselves as the labels of the categories that they hold."""
        listed = dictionary_of(values).labels
        labels = dict(zip(self._codes(listed).tolist(), listed, strict=True))
        return replace(self, labels=tuple(labels.get(code, label) for code, label in enumerate(self.labels)))

    def _codes(self, labels: Sequence[Hashable]) -> NDArray[np.float64]:
        known = np.array(self.hashes, dtype=np.uint32)
        hashes = cityhash64([self._text(label) for label in labels]).astype(np.uint32)
        place = np.searchsorted(known, hashes)
        is_known = np.append(known, 0)[place] == hashes
        return np.where(is_known & (place < known.size), place.astype(np.float64), UNSEEN)

    def _text(self, label: Hashable) -> bytes:
        """Return the text that CatBoost hashes: texts as they are, whole numbers in digits, True as 1."""
        if isinstance(label, str):
            return label.encode()
        if isinstance(label, bytes):
            return label
        if isinstance(label, int | np.integer | np.bool_):
            return str(int(label)).encode()
        message = (
            f"column {self.name!r} holds {label!r}, but CatBoost takes only texts and whole numbers as categories; "
            "convert the column to what it was when the model was trained"
        )
        raise TableError(message)


def floats(values: Iterable[object], name: str) -> NDArray[np.float64]:
    """Return a list of numbers as an array."""
    numbers = _floats(values, name)
    if np.abs(numbers).max(initial=0) > 2**53 and any(type(n) is int and abs(n) > 2**53 for n in values):
        message = (
            f"{name} has a whole number beyond 2**53, which CatBoost writes to JSON files but reads as 0. Pass the "
            "fitted model, or its .cbm file"
        )
        raise UnsupportedModelError(message)
    return numbers


def _floats(values: object, name: str) -> NDArray[np.float64]:
    array = number_array(values, name)
    if array.dtype.kind not in "iuf":
        message = f"{name} should be a list of numbers; the model is damaged"
        raise UnsupportedModelError(message)
    return array.astype(np.float64)


def ascending(values: object, name: str) -> NDArray[np.float32]:
    """Return borders, which CatBoost takes to be in ascending order."""
    with np.errstate(over="ignore"):
        borders = _floats(values, name).astype(np.float32)
    if not np.all(borders[1:] >= borders[:-1]):
        message = f"{name} do not ascend; the model is damaged"
        raise UnsupportedModelError(message)
    return borders


def goes_left(statistic: Statistic, of: NDArray[np.uint32], hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return for each border of a statistic of one column which hashes go left, and last whether an unseen one does.

    `of` has the hash of each key of the statistic's table.
    """
    value = np.full(hashes.size + 1, statistic.value_of_others)
    value[np.searchsorted(hashes, of)] = statistic.value
    return ~(value > statistic.border[:, None])


def read_ctr(ctr: Mapping[str, Any], tables: Mapping[str, Any]) -> Statistic:
    """Return one entry of a model's list of CTRs, with the counts of its table."""
    elements, target_border = elements_of(ctr), ctr["target_border_idx"]
    if type(target_border) is not int or target_border < 0:
        message = f"a statistic of categories is of target border {target_border!r}"
        raise UnsupportedModelError(message)
    table = tables.get(ctr["identifier"])
    if table is None:
        message = "the model has no counts for its category statistics; train with final_ctr_computation_mode='Default'"
        raise UnsupportedModelError(message)
    stride = table["hash_stride"]
    if type(stride) is not int or stride < 2 or len(table["hash_map"]) % stride:
        message = f"a table of category statistics has {len(table['hash_map'])} entries, of {stride!r} numbers each"
        raise UnsupportedModelError(message)
    keys = np.fromiter(map(int, table["hash_map"][::stride]), dtype=np.uint64)
    counts = np.array([floats(table["hash_map"][k::stride], "counts of categories") for k in range(1, stride)])
    rows = counts[1:] if "Mean" in str(ctr["ctr_type"]) else counts  # a mean has a sum of targets first
    if np.any((rows < 0) | (rows != np.floor(rows))) or np.any(rows.sum(axis=0) >= 2**31):
        message = "a table of category statistics has counts that are not valid numbers of rows; the model is damaged"
        raise UnsupportedModelError(message)
    used = keys != EMPTY
    known, first = np.unique(keys[used], return_index=True)
    # Last comes a category with counts of zero.
    counts = np.column_stack([counts[:, used][:, first], np.zeros(len(counts))])
    value = _values(ctr, *_count_and_total(ctr, counts, table["counter_denominator"]))
    border = ascending(ctr["borders"], "the borders of a statistic of categories")
    return Statistic(elements, known, value[:-1], value[-1], border)


def _count_and_total(
    ctr: Mapping[str, Any], counts: NDArray[np.float64], denominator: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a CTR divides: a count of rows (or a sum of targets) of each category by a total."""
    kind = ctr["ctr_type"]
    if kind == "Borders":  # rows with a target above a border, of all rows
        return counts[ctr["target_border_idx"] + 1 :].sum(axis=0), counts.sum(axis=0)
    if kind == "Buckets":  # rows with a target in a bucket, of all rows
        return counts[ctr["target_border_idx"]], counts.sum(axis=0)
    if kind in ("BinarizedTargetMeanValue", "FloatTargetMeanValue"):  # sum of targets, by rows
        return counts[0], counts[1]
    if kind in ("Counter", "FeatureFreq"):  # rows, by the rows of the largest category or of all
        return counts[0], np.repeat(floats([denominator], "counter_denominator"), counts.shape[1])
    message = f"the model has category statistics of the unknown type {kind!r}; {ADVICE}"
    raise UnsupportedModelError(message)


def _values(ctr: Mapping[str, Any], count: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float32]:
    names = ("prior_numerator", "prior_denomerator", "shift", "scale")
    numbers = floats([ctr[name] for name in names], ", ".join(names))
    with np.errstate(over="ignore"):
        prior, denominator, shift, scale = map(np.float32, numbers)
    ratio = (count.astype(np.float32) + prior) / (total.astype(np.float32) + denominator)
    return (ratio + shift) * scale
