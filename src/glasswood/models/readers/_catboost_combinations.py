"""CatBoost's statistics of combinations of columns, as derived columns.

A combination is a list of elements: the category of a column, whether it is a given one, or whether a number is above a
border. Its key is a chain of multiplicative hashes over the elements, ``h = M * (h + M * element)`` modulo 2**64, which
is a sum of one term per element; the statistics of all keys that training rows had are in a table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._derived import Derived, Key, Part

__all__ = [
    "ADVICE",
    "Columns",
    "IsAbove",
    "IsCategory",
    "Statistic",
    "derived_of",
    "elements_of",
    "hashes_of_keys",
    "hashes_of_tables",
]

MULTIPLIER = 0x4906BA494954CB65
WHOLE = 1 << 64
OTHERS = np.uint64(0x9E3779B97F4A7C15)  # stands for a category that the model does not know
MAX_SOLVED = 2**24  # keys times combinations of known elements

ADVICE = (
    "train with max_ctr_complexity=1, which keeps the statistics of single columns, or with a one_hot_max_size as "
    "large as the number of categories"
)


class Category(NamedTuple):
    """The category of a row, by the number of the column among those of categories."""

    column: int


class IsCategory(NamedTuple):
    """Whether a row has a category, given by its hash."""

    column: int
    hash: int


class IsAbove(NamedTuple):
    """Whether a row's number is above a border, by the number of the column among those of numbers."""

    column: int
    border: float


Element = Category | IsCategory | IsAbove


class Statistic(NamedTuple):
    """What a combination's statistic is at each key of its table, and for all other keys; and the borders on it."""

    elements: tuple[Element, ...]
    keys: NDArray[np.uint64]
    value: NDArray[np.float32]
    value_of_others: np.float32
    border: NDArray[np.float32]

    @property
    def column(self) -> int | None:
        """The number of the column of categories that this is a statistic of; None for a combination."""
        only = self.elements[0]
        return only.column if len(self.elements) == 1 and isinstance(only, Category) else None


def elements_of(ctr: Mapping[str, Any]) -> tuple[Element, ...]:
    """Return what a statistic is of, in the order in which keys are made."""
    result = tuple(_element(element) for element in ctr["elements"])
    order = {Category: 0, IsAbove: 1, IsCategory: 2}
    kinds = [order[type(element)] for element in result]
    if not result or kinds != sorted(kinds):
        names = [type(element).__name__ for element in result]
        message = f"a statistic of categories is of {names}; the model is damaged"
        raise UnsupportedModelError(message)
    return result


def _element(element: Mapping[str, Any]) -> Element:
    kind = element["combination_element"]
    result: Element | None = None
    if kind == "cat_feature_value":
        result = Category(element["cat_feature_index"])
    elif kind == "cat_feature_exact_value":
        result = IsCategory(element["cat_feature_index"], element["value"])
    elif kind == "float_feature":
        result = IsAbove(element["float_feature_index"], element["border"])
    if result is None:
        message = f"a statistic of categories is of {kind!r}, which Glasswood does not know; {ADVICE}"
        raise UnsupportedModelError(message)
    if type(result.column) is not int or (isinstance(result, IsCategory) and type(result.hash) is not int):
        message = f"a statistic of categories is of column {result.column!r}; the model is damaged"
        raise UnsupportedModelError(message)
    return result


def _factors(n: int) -> list[int]:
    """Return what each of n elements is multiplied by in the key."""
    return [pow(MULTIPLIER, n - k + 1, WHOLE) for k in range(n)]


def _signed(hashes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return hashes as keys take them: as signed numbers of 32 bits in 64."""
    return hashes.view(np.int32).astype(np.int64).view(np.uint64)


def hashes_of_tables(
    tables: Iterable[Statistic], one_hot: Mapping[int, NDArray[np.uint32]]
) -> dict[int, NDArray[np.uint32]]:
    """Return, for each column of categories, the hashes of all categories that tables and one-hot splits know.

    The tables of single columns contain them. If a column is in combinations only, they are solved for, given the
    values of all other elements.
    """
    result: dict[int, NDArray[np.uint32]] = dict(one_hot)
    whole: set[int] = set()  # columns whose categories are known, all that training rows had
    selected: dict[int, list[Statistic]] = defaultdict(list)
    for table in tables:
        columns = [element.column for element in table.elements if isinstance(element, Category)]
        if len(table.elements) == 1 and columns:
            result[columns[0]] = np.union1d(result.get(columns[0], _NONE), hashes_of_keys(table))
            whole.add(columns[0])
        else:
            for column in columns:
                selected[column].append(table)
    left, work = {column for column in selected if column not in whole}, 0
    while left:
        solvable: dict[int, list[Statistic]] = defaultdict(list)
        for column in left:
            for table in selected[column]:
                if all(e.column in {column, *whole} for e in table.elements if isinstance(e, Category)):
                    solvable[column].append(table)
                    work += _n_combinations(table, column, result) * table.keys.size
        if not solvable or work > MAX_SOLVED:
            message = (
                "the model has statistics of combinations of columns (CTRs) from which the categories of a column "
                f"cannot be recovered; {ADVICE}"
            )
            raise UnsupportedModelError(message)
        for column, own in solvable.items():
            parts = [_solved(table, _place(table, column), result) for table in own]
            result[column] = np.unique(np.concatenate([result.get(column, _NONE), *parts]))
        whole |= solvable.keys()
        left -= solvable.keys()
    return result


_NONE = np.empty(0, dtype=np.uint32)


def _place(table: Statistic, column: int) -> int:
    return next(k for k, e in enumerate(table.elements) if isinstance(e, Category) and e.column == column)


def _n_combinations(table: Statistic, column: int, known: Mapping[int, NDArray[np.uint32]]) -> int:
    n = 1
    for element in table.elements:
        if not isinstance(element, Category):
            n *= 2
        elif element.column != column:
            n *= known[element.column].size
    return n


def hashes_of_keys(table: Statistic) -> NDArray[np.uint32]:
    """Return the hash of the category of each key, for a table of one column."""
    signed = (table.keys * np.uint64(pow(_factors(1)[0], -1, WHOLE))).view(np.int64)
    if np.any(signed != signed.astype(np.int32)):
        message = f"a table of category statistics is keyed in an unknown way; {ADVICE}"
        raise UnsupportedModelError(message)
    return signed.astype(np.int32).view(np.uint32)


def _solved(table: Statistic, place: int, known: Mapping[int, NDArray[np.uint32]]) -> NDArray[np.uint32]:
    """Return the hashes that an element of a combination has in the keys of a table, given the others' values."""
    factors = _factors(len(table.elements))
    undo = np.uint64(pow(factors[place], -1, WHOLE))
    choices: list[NDArray[np.uint64]] = []
    for k, element in enumerate(table.elements):
        if k != place:
            is_category = isinstance(element, Category)
            values = _signed(known[element.column]) if is_category else np.arange(2, dtype=np.uint64)
            choices.append(values * np.uint64(factors[k]))
    parts = [_NONE]
    for chosen in product(*choices):
        rest = np.uint64(sum(map(int, chosen)) % WHOLE)
        signed = ((table.keys - rest) * undo).view(np.int64)
        parts.append(signed[signed == signed.astype(np.int32)].astype(np.int32).view(np.uint32))
    return np.unique(np.concatenate(parts))


class Columns(NamedTuple):
    """The columns of the table that elements name.

    Parameters
    ----------
    category : mapping of int to int
        The place in the table of each column of categories.
    number : mapping of int to int
        The same for columns of numbers.
    hashes : mapping of int to ndarray
        The hashes that each column of categories knows, in the order of their codes.
    missing_above : mapping of int to bool
        For each column of numbers, whether missing values are above all borders.
    """

    category: Mapping[int, int]
    number: Mapping[int, int]
    hashes: Mapping[int, NDArray[np.uint32]]
    missing_above: Mapping[int, bool]


def derived_of(
    statistics: Sequence[Statistic], columns: Columns, cut_of: Mapping[IsAbove, float]
) -> tuple[Derived, list[int]]:
    """Return statistics as derived columns, and the number of the derived column of each of them.

    `cut_of` has the border of each condition on a number as a cut of float64.
    """
    by_elements: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, statistic in enumerate(statistics):
        kinds = tuple(type(element) for element in statistic.elements)  # equal numbers may mean different conditions
        by_elements[kinds, statistic.elements, statistic.keys.tobytes()].append(number)
    keys, numbers = [], []
    for (_, elements, _), members in by_elements.items():
        known = statistics[members[0]].keys
        ranks = [_ranks(statistics[number]) for number in members]
        # Keys that no column tells from unknown ones are left out.
        differs = np.any([rank[1:] != rank[0] for rank in ranks], axis=0)
        keep = np.append(True, differs)
        keys.append(Key(_parts(elements, columns, cut_of), known[differs], [rank[keep] for rank in ranks]))
        numbers += members
    place = [0] * len(statistics)
    for at, number in enumerate(numbers):
        place[number] = at
    return Derived.of(keys), place


def _ranks(statistic: Statistic) -> NDArray[np.uint8]:
    """Return how many borders are below the value of unknown keys, and of each known one."""
    values = np.append(statistic.value_of_others, statistic.value)
    return np.searchsorted(statistic.border, values, side="left").astype(np.uint8)


def _parts(elements: Sequence[Element], columns: Columns, cut_of: Mapping[IsAbove, float]) -> list[Part]:
    result = []
    for element, factor in zip(elements, map(np.uint64, _factors(len(elements))), strict=True):
        if isinstance(element, IsAbove):
            missing = columns.missing_above[element.column]
            value = np.array([0, 1, int(missing)], dtype=np.uint64) * factor
            result.append(Part(columns.number[element.column], cut_of[element], value))
            continue
        hashes = columns.hashes[element.column]
        if isinstance(element, Category):
            value = np.append(_signed(hashes) * factor, OTHERS)
        else:
            is_one = hashes == np.int64(element.hash).astype(np.int32).view(np.uint32)
            value = np.append(is_one.astype(np.uint64) * factor, np.uint64(0))
        result.append(Part(columns.category[element.column], None, value))
    return result
