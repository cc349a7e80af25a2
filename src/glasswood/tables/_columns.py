"""What one column of a model's table holds, and how the user's values become the numbers that its nodes compare."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError

__all__ = [
    "NAN",
    "NONE",
    "UNSEEN",
    "CodeColumn",
    "Column",
    "Dictionary",
    "Extent",
    "LabelColumn",
    "NumberColumn",
    "Numbers",
    "dictionary_of",
    "extent_of",
    "is_missing",
]

Numbers = NDArray[Any]
"""A column of numbers: any real dtype; NaN is missing."""

UNSEEN = -1.0
"""The code of a category unknown to the model. A missing one is NaN."""

NAN, NONE = -2, -3
"""The positions of NaN and None in a dictionary of Python's objects. Elsewhere a missing value has the position -1."""


class Extent(NamedTuple):
    """Facts about a column of numbers that the counts of its cells do not contain.

    `least` and `greatest` are its smallest and largest value, possibly infinite; `whole` is whether all are integers.
    """

    least: float
    greatest: float
    whole: bool


def extent_of(values: NDArray[np.floating[Any]]) -> Extent | None:
    """Return the extent of numbers; None if all of them are missing."""
    least, greatest = (float(ufunc.reduce(values, initial=np.nan)) for ufunc in (np.fmin, np.fmax))
    if math.isnan(least):
        return None
    return Extent(least, greatest, all(_whole(part) for part in (values[:1000], values)))


def _whole(values: NDArray[np.floating[Any]]) -> bool:
    """Return whether all numbers are whole, or missing."""
    return bool(((np.rint(values) == values) & np.isfinite(values) | np.isnan(values)).all())


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A column of categories as few distinct `labels` and one position into them per row (negative: missing)."""

    labels: Sequence[Hashable]
    positions: NDArray[np.integer[Any]]

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Dictionary:
        return Dictionary(self.labels, self.positions[rows])

    def take(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the code of each row, given the code of each label; NaN where the row is missing."""
        return np.append(codes, np.nan)[np.where(self.positions < 0, len(codes), self.positions)]


@dataclass(frozen=True, slots=True)
class Column:
    """The name of a column; its kind is its type."""

    name: str

    @property
    def categories(self) -> tuple[Hashable, ...] | None:
        """The category of each code, as the user knows them; None for numbers."""
        return None

    @property
    def n_codes(self) -> int:
        """The number of category codes; 0 for numbers."""
        return 0

    @property
    def own_labels(self) -> tuple[Hashable, ...]:
        """The categories as far as the user's own values are known."""
        return self.categories or ()

    @property
    def wants_labels(self) -> bool:
        """Whether the model does not know its categories by the user's own values, so that these come from a table."""
        return False

    def encode(self, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
        """Return one number per row: the value itself, or the code of its category."""
        raise NotImplementedError

    def check_type(self, values: Numbers | Dictionary) -> None:
        """Raise an error if a table must not hold values of this type."""

    def of_any_type(self) -> Column:
        """Return the column for single values, whose type does not matter."""
        return self

    def labelled(self, values: Numbers | Dictionary) -> Column:  # noqa: ARG002 (most columns have no use for them)
        """Return the column with labels from the values of a table."""
        return self


@dataclass(frozen=True, slots=True)
class NumberColumn(Column):
    """Numbers, compared with cuts. Numbers in the closed interval `missing_between` are read as missing, like NaN.

    Behind a pipeline, numbers outside the closed interval `within`, and missing ones if `refuse_missing`, are what its
    transformers reject. Numbers in the closed interval `refuse_between` become zeros of a sparse matrix that the model
    takes for missing ones, while those that are missing are imputed. Numbers of `refuse_types`, such as "float32", are
    transformed differently, so that the cuts do not hold for tables of these types.
    """

    missing_between: tuple[float, float] | None = None
    within: tuple[float, float] | None = None
    refuse_between: tuple[float, float] | None = None
    refuse_missing: bool = False
    refuse_types: tuple[str, ...] = ()

    def check_type(self, values: Numbers | Dictionary) -> None:
        """Raise an error if the transformers of a pipeline treat numbers of this type differently."""
        if isinstance(values, Dictionary) or not self.refuse_types:
            return
        dtype = np.dtype(np.int64) if values.dtype.kind in "iu" and values.dtype.itemsize > 2 else values.dtype
        if dtype.name in self.refuse_types:
            right = "float32" if "float64" in self.refuse_types else "float64"
            message = (
                f"column {self.name!r} holds {values.dtype}, of which the steps of the pipeline make other numbers "
                f"than of {right}, for which its curves hold; convert the column: astype({right!r})"
            )
            raise TableError(message)

    def of_any_type(self) -> NumberColumn:
        """Return the column for single numbers, whose type does not matter."""
        return replace(self, refuse_types=())

    def encode(self, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
        """Return the values as float32 or float64: unchanged if they are, otherwise as float64."""
        numbers = numbers_of(self.name, values)
        if self.within is not None or self.refuse_between is not None or self.refuse_missing:
            self._refuse_rejected(numbers)
        if self.missing_between is None:
            return numbers
        low, high = self.missing_between
        return np.where((numbers >= low) & (numbers <= high), np.nan, numbers)

    def _refuse_rejected(self, numbers: NDArray[np.floating[Any]]) -> None:
        """Raise an error if the transformers of a pipeline would."""
        least, greatest = (float(ufunc.reduce(numbers, initial=np.nan)) for ufunc in (np.fmin, np.fmax))
        low, high = self.within or (-np.inf, np.inf)
        if least < low or greatest > high:
            wrong = least if least < low else greatest
            message = f"column {self.name!r} holds {wrong}, which the steps of the pipeline reject"
            raise TableError(message)
        if self.refuse_between is not None:
            first, last = self.refuse_between
            if ((numbers >= first) & (numbers <= last)).any():
                message = (
                    f"column {self.name!r} holds {first}, which the pipeline turns into a zero of a sparse matrix; the "
                    "model takes it for a missing value. Fit the pipeline with dense tables (sparse_output=False, "
                    "sparse_threshold=0)"
                )
                raise TableError(message)
        if self.refuse_missing:
            _refuse_missing(self.name, bool(np.isnan(numbers).any()))


def _refuse_missing(name: str, there: bool) -> None:  # noqa: FBT001 (whether there are any)
    if there:
        message = f"column {name!r} has missing values, which the steps of the pipeline reject; fill them first"
        raise TableError(message)


@dataclass(frozen=True, slots=True)
class LabelColumn(Column):
    """Categories known by their labels; the position of a label is its code.

    `refuse_unseen` is for libraries that raise on a category they were not trained with, `refuse_missing` for
    transformers of a pipeline that raise on missing ones. An encoder that knows one of NaN and None takes the other one
    for an unseen category, `unseen_missing`, among Python's objects; other tables have one kind of missing values only.
    """

    labels: tuple[Hashable, ...]
    refuse_unseen: bool = False
    refuse_missing: bool = False
    unseen_missing: int | None = None

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The labels."""
        return self.labels

    @property
    def n_codes(self) -> int:
        """The number of labels."""
        return len(self.labels)

    def encode(self, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
        """Return the code of each row's label, `UNSEEN` for others, NaN for missing ones."""
        dictionary = dictionary_of(values)
        self._refuse_other_kinds(dictionary.labels)
        code_of = {label: float(code) for code, label in enumerate(self.labels)}
        codes = np.array([code_of.get(label, UNSEEN) for label in dictionary.labels], dtype=np.float64)
        unknown = [label for label, code in zip(dictionary.labels, codes.tolist(), strict=True) if code == UNSEEN]
        unseen = (
            np.zeros((), dtype=bool) if self.unseen_missing is None else dictionary.positions == self.unseen_missing
        )
        if unseen.any():
            unknown.append(None if self.unseen_missing == NONE else float("nan"))
        if self.refuse_unseen and unknown:
            message = (
                f"column {self.name!r} holds categories that the model was not trained with: {unknown[:5]!r}; "
                "the model's own library refuses them too. Map them to known categories or to missing first."
            )
            raise TableError(message)
        if self.refuse_missing:
            _refuse_missing(self.name, bool((dictionary.positions < 0).any()))
        taken = dictionary.take(codes)
        return np.where(unseen, UNSEEN, taken) if unseen.any() else taken

    def _refuse_other_kinds(self, labels: Sequence[Hashable]) -> None:
        """Raise an error if all values are of the wrong type, such as numbers where categories are strings."""
        if labels and self.labels and {*map(_kind, labels)}.isdisjoint(map(_kind, self.labels)):
            message = (
                f"column {self.name!r} holds values like {labels[0]!r}, but the model knows its categories as "
                f"{list(self.labels[:3])!r}; pass the categories as they were in training"
            )
            raise TableError(message)


def _kind(label: Hashable) -> str:
    return "number" if isinstance(label, int | float | np.number | np.bool_) else type(label).__name__


@dataclass(frozen=True, slots=True)
class CodeColumn(Column):
    """Categories given as non-negative integer codes below `size`; every other number is unseen.

    A fraction is cut off: -0.5 is code 0 if `toward_zero` (LightGBM), otherwise negative and so unseen (XGBoost, which
    rounds to float32 first: 1.9999999999 is code 2).
    """

    size: int
    toward_zero: bool = False
    missing_between: tuple[float, float] | None = None

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The codes themselves."""
        return tuple(range(self.size))

    @property
    def n_codes(self) -> int:
        """The number of codes that some split of the model mentions, or could."""
        return self.size

    def encode(self, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
        """Return the whole part of each number, `UNSEEN` outside of 0 to size - 1, NaN for missing ones."""
        if isinstance(values, Dictionary) and list(values.labels) != list(range(len(values.labels))):
            message = (
                f"column {self.name!r} holds categories like {list(values.labels[:3])!r}, but the model keeps only the "
                "codes of its categories. Pass these as numbers (pandas: .cat.codes), with NaN for missing ones."
            )
            raise TableError(message)
        numbers = NumberColumn(self.name, self.missing_between).encode(values).astype(np.float64)
        with np.errstate(over="ignore"):  # beyond float32 is beyond all codes
            codes = np.trunc(numbers) if self.toward_zero else np.floor(numbers.astype(np.float32)).astype(np.float64)
        codes[(codes < 0) | (codes >= self.size)] = UNSEEN
        return codes + 0.0  # -0.0 becomes 0.0


def cells_of(encoded: NDArray[np.floating[Any]], cuts: NDArray[np.float64], n_codes: int) -> NDArray[np.int64]:
    """Return the number of the cell of each encoded value.

    Numbers: cell k holds the values above cut k - 1 and up to cut k. Categories (`n_codes` is not 0): one cell each,
    then one for unseen ones. The last cell holds the missing values.
    """
    missing = np.isnan(encoded)
    if n_codes:
        codes = np.where(missing, 0, encoded).astype(np.int64)
        return np.where(missing, n_codes + 1, np.where(codes < 0, n_codes, codes))
    return np.where(missing, cuts.size + 1, np.searchsorted(cuts, encoded, side="left"))


def numbers_of(name: str, values: Numbers | Dictionary) -> NDArray[np.floating[Any]]:
    """Return values as float32 or float64; categories that are numbers count as those numbers."""
    try:
        if isinstance(values, Dictionary):
            return values.take(np.array([float(label) for label in values.labels], dtype=np.float64))  # type: ignore[arg-type]
        if values.dtype in (np.float32, np.float64):
            return values
        if values.dtype.kind == "c":
            message = f"column {name!r} holds complex numbers, which no model splits on"
            raise TableError(message)
        small = values.dtype.kind in "biu" and values.dtype.itemsize <= 2  # exact in float32, and half the work
        return values.astype(np.float32 if small else np.float64)
    except TableError:
        raise
    except (TypeError, ValueError) as error:
        examples = list(values.labels[:3]) if isinstance(values, Dictionary) else values[:3].tolist()
        message = f"column {name!r} must hold numbers, as in training, but holds values like {examples!r}"
        raise TableError(message) from error


def dictionary_of(values: Numbers | Dictionary) -> Dictionary:
    """Return values as distinct labels and positions; None and NaN are missing."""
    if isinstance(values, Dictionary):
        return values
    if values.dtype.kind in "OUS":
        return index_labels(values.tolist(), objects=True)
    labels, positions = np.unique(values, return_inverse=True)
    if labels.dtype.kind == "f" and labels.size and np.isnan(labels[-1]):  # NaN sorts last, and once
        labels = labels[:-1]
        positions = np.where(positions == labels.size, -1, positions)
    return Dictionary(labels.tolist(), positions)


def index_labels(values: Sequence[Hashable], *, objects: bool = False) -> Dictionary:
    """Return the distinct labels of a sequence in order of appearance, and the position of each value.

    If `objects`, NaN and None are distinct, as libraries do in tables of Python's objects.
    """
    position_of: dict[Hashable, int] = {}
    try:
        positions = np.fromiter(
            (
                missing_position(value, objects)
                if is_missing(value)
                else position_of.setdefault(value, len(position_of))
                for value in values
            ),
            dtype=np.int64,
            count=len(values),
        )
    except TypeError as error:
        message = (
            f"a column holds values that are neither numbers nor labels ({error}); a model splits on one value per row"
        )
        raise TableError(message) from error
    return Dictionary(list(position_of), positions)


def missing_position(value: object, objects: bool = True) -> int:  # noqa: FBT001, FBT002 (called for each value)
    """Return the position of a missing value in a dictionary."""
    return (NONE if value is None else NAN) if objects else -1


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or one of pandas' missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)
