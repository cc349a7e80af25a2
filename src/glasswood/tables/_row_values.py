"""Values of rows beside the model's columns: what was observed, the exposure, predictions. Read by name, or given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.tables._columns import Dictionary, dictionary_of, numbers_of
from glasswood.tables._folds import Division, fold_of_keys, fold_of_positions, keys_of_column, keys_of_values
from glasswood.tables._tables import frame_of, frame_values
from glasswood.text._arguments import brief, whole_number
from glasswood.text._printable import how_many

__all__ = ["NO_COLUMNS", "NO_VALUES", "RowColumns", "RowValues", "n_folds", "names_of_values"]

Floats = NDArray[np.float64]
ROLES = ("target", "exposure", "offset", "prediction")
NEUTRAL = {"exposure": 1.0, "offset": 0.0}


@dataclass(frozen=True, eq=False)
class RowValues:
    """Values of some rows, by role, each of shape (n_rows, n_columns), float64.

    Parameters
    ----------
    by_role : mapping from str to ndarray
        Those that were asked for: "target" (classes as one indicator per output), "exposure", "offset", "prediction".
    fold : ndarray of shape (n_rows,), optional
        The fold of each row.
    division : Division, optional
        How many folds there are, and by what.
    """

    by_role: Mapping[str, Floats] = field(default_factory=dict)
    fold: NDArray[np.intp] | None = None
    division: Division | None = None

    def __contains__(self, role: str) -> bool:
        return role in self.by_role

    def __getitem__(self, role: str) -> Floats:
        return self.by_role[role]

    def take(self, rows: slice | NDArray[np.intp]) -> RowValues:
        """Return those of some rows."""
        if not self.by_role and self.fold is None:
            return self
        fold = None if self.fold is None else self.fold[rows]
        return RowValues({role: values[rows] for role, values in self.by_role.items()}, fold, self.division)


NO_VALUES = RowValues()


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Which values of rows are wanted: each a column's name, names for several outputs, or an array with all rows.

    Parameters
    ----------
    target, exposure, offset, prediction : names or arrays, optional
    folds : int
        The number of folds that rows are divided into; 0 for none.
    fold_by : name of a column, array, or None
        What folds are made by; None for the numbers of the rows in the source.
    classes : tuple, optional
        The labels that the target may have; None if it is a number.
    n_outputs : int
        The number of outputs that have a target. A model of two classes and one output has the target of the second.
    least : float
        The smallest target that the model can predict the mean of.
    targets : tuple of tuples
        The labels that each of several targets may have; none for one target, or numbers.
    """

    target: object = None
    exposure: object = None
    offset: object = None
    prediction: object = None
    folds: int = 0
    fold_by: object = None
    classes: tuple[Any, ...] | None = None
    n_outputs: int = 1
    least: float = -np.inf
    targets: tuple[tuple[Any, ...], ...] = ()

    def __bool__(self) -> bool:
        return self.observes or self.folds > 0

    @property
    def observes(self) -> bool:
        """Whether any value of rows is wanted, and not just their folds."""
        return any(given is not None for _, given in self._given())

    @property
    def offset_description(self) -> str:
        """The offset in words, and the exposure beside it; nothing, if there is no offset."""
        roles = [] if self.offset is None else ["offset"] if self.exposure is None else ["offset", "exposure"]
        return ", ".join(map(self.description, roles))

    @property
    def division(self) -> Division | None:
        """How many folds there are, and by what; None if there are none."""
        if not self.folds:
            return None
        named = isinstance(self.fold_by, str)
        return Division(self.folds, str(self.fold_by) if named else None, self.fold_by is not None and not named)

    @property
    def without_folds(self) -> RowColumns:
        """The same without folds."""
        return replace(self, folds=0, fold_by=None)

    @property
    def by_position(self) -> bool:
        """Whether folds are made by the numbers of rows in the source."""
        return self.folds > 0 and self.fold_by is None

    def _given(self) -> Iterator[tuple[str, Any]]:
        return ((role, getattr(self, role)) for role in ROLES)

    def of_model(
        self,
        classes: tuple[Any, ...] | None,
        n_outputs: int,
        least: float,
        targets: tuple[tuple[Any, ...], ...] = (),
    ) -> RowColumns:
        """Return the same, for what a model predicts."""
        return replace(self, classes=classes, n_outputs=n_outputs, least=least, targets=targets)

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read."""
        names = [name for role, given in self._given() for name in self._names(role, given)]
        return [*names, *([self.fold_by] if self.folds and isinstance(self.fold_by, str) else [])]

    def _names(self, role: str, given: object) -> list[str]:
        """Return the columns of a role; none if its values are given. A list of labels is not one of columns."""
        labels = role == "target" and self.classes is not None
        return [] if labels and not isinstance(given, str) else names_of_values(given)

    @property
    def key(self) -> str:
        """What the values are, in words: columns by their names, arrays as such."""
        return ", ".join(self.description(role) for role, given in self._given() if given is not None)

    def description(self, role: str) -> str:
        """Return the values of a role in words."""
        return f"{role} {', '.join(map(repr, self._names(role, getattr(self, role)))) or 'given'}"

    @property
    def whole_key(self) -> str:
        """The same, and what folds are made by."""
        return f"{self.key} {self.division}"

    def refuse_absent(self, columns: Sequence[Any] | None) -> None:
        """Refuse what a source that is no table in memory does not have: its columns are known by their names only."""
        for role, given in self._given():
            if given is not None and not self._names(role, given):
                message = f"{role}= names a column of a source; an array is for a table in memory, not {brief(given)}"
                raise TableError(message)
            for name in self._names(role, given):
                if columns is None or name not in columns:
                    message = f"{role}= names the column {name!r}, which the source does not have"
                    raise TableError(message)
        if self.folds and self.fold_by is not None:
            if not isinstance(self.fold_by, str):
                message = f"fold_by= names a column of a source; an array is for a table, not {brief(self.fold_by)}"
                raise TableError(message)
            if columns is None or self.fold_by not in columns:
                message = f"fold_by= names the column {self.fold_by!r}, which the source does not have"
                raise TableError(message)

    def folds_of(self, table: object, n_rows: int, first: int = 0) -> NDArray[np.intp]:
        """Return the folds of a table's rows, given the number of the first one in the source."""
        if self.fold_by is None:
            return fold_of_positions(first, n_rows, self.folds)
        if isinstance(self.fold_by, str):
            return fold_of_keys(keys_of_column(table, self.fold_by), self.folds)
        given = _columns_of(self.fold_by, "fold_by=", n_rows)
        return fold_of_keys(keys_of_values(given[0]), self.folds)

    def read(self, table: object, n_rows: int, weight: NDArray[Any] | None = None) -> RowValues:
        """Return the values of a table's rows. Those of weight 0 count for nothing, so that they may be missing."""
        if not self.observes:
            return NO_VALUES
        counts = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
        result = {role: self._values(role, given, table, counts) for role, given in self._given() if given is not None}
        return RowValues(result)

    def _values(self, role: str, given: Any, table: object, counts: NDArray[np.bool_]) -> Floats:
        names = self._names(role, given)
        name = f"{role}= ({', '.join(map(repr, names))})" if names else f"{role}="
        columns = [_column(role, name, table) for name in names] or _columns_of(given, name, counts.size)
        if role == "target" and self.targets:
            return _indicators_of_targets(columns, name, self.targets, self.n_outputs, counts)
        if role == "target" and self.classes is not None:
            return _indicators(columns, name, self.classes, self.n_outputs, counts)
        values = np.column_stack([_numbers(name, column) for column in columns])
        self._check(role, name, values[counts])
        n_columns = 1 if role == "exposure" else self.n_outputs
        values = _for_outputs(values, n_columns) if role == "prediction" and self.classes is not None else values
        if values.shape[1] != n_columns:
            message = (
                f"{name} needs {how_many(n_columns, 'column')}, one for each output, but there are {values.shape[1]}"
            )
            raise TableError(message)
        # Rows of weight 0 may have any; what is computed of it must be a number.
        return values if role not in NEUTRAL else np.where(counts[:, None], values, NEUTRAL[role])

    def _check(self, role: str, name: str, values: Floats) -> None:
        """Refuse values that are missing, infinite, or that the model cannot have."""
        _refuse(name, ~np.isfinite(values), "are missing or infinite")
        if role == "exposure":
            _refuse(name, values <= 0, "are not positive")
        if role == "target" and self.least > -np.inf:
            _refuse(name, values < self.least, f"are below {self.least:g}, which the model cannot predict")


NO_COLUMNS = RowColumns()
MAX_FOLDS = 1000


def n_folds(folds: object, fold_by: object) -> int:
    """Return the number of folds, 0 for none."""
    if folds is None:
        if fold_by is not None:
            message = "fold_by= says by what rows are divided into folds; pass their number, too: folds=20"
            raise ArgumentError(message)
        return 0
    result = whole_number(folds, "folds is a number of parts of the rows", 2)
    if result > MAX_FOLDS:
        message = f"folds must be at most {MAX_FOLDS:,}, not {result:,}; 20 are enough"
        raise ArgumentError(message)
    return result


def names_of_values(given: object) -> list[str]:
    """Return the names of columns, if a name or a list of names is given."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        return list(given) if len(set(given)) == len(given) else []  # labels of rows are equal now and then
    return []


def _column(role: str, name: str, table: object) -> Any:
    frame = frame_of(table)
    if frame is None or name not in frame.columns:
        message = f"{role}= names the column {name!r}, which the table does not have"
        raise TableError(message)
    return frame_values(frame, name)


def _columns_of(given: Any, name: str, n_rows: int) -> list[Any]:
    """Return the columns of an array or frame, if it has as many rows as the table."""
    frame = frame_of(given)
    columns = None if frame is None else [frame_values(frame, name) for name in frame.columns]
    if columns is None:
        array = np.asarray(given.tolist() if hasattr(given, "tolist") and not hasattr(given, "dtype") else given)
        columns = [array] if array.ndim == 1 else list(array.T) if array.ndim == 2 else []
    sizes = {len(column.positions if isinstance(column, Dictionary) else column) for column in columns}
    if sizes != {n_rows}:
        size = f"has {how_many(max(sizes), 'value')}" if sizes else f"is {brief(given)}"
        message = f"{name} is one value per row, and the table has {how_many(n_rows, 'row')}, but this {size}"
        raise TableError(message)
    return columns


def _numbers(name: str, column: Any) -> Floats:
    try:
        if not isinstance(column, Dictionary) and column.dtype.kind == "O":
            return np.array([np.nan if value is None else value for value in column.tolist()], dtype=np.float64)
        return np.asarray(numbers_of(name, column), dtype=np.float64)
    except (TableError, TypeError, ValueError) as error:
        message = f"{name} must be numbers ({error})"
        raise TableError(message) from error


def _indicators(
    columns: Sequence[Any], name: str, classes: Sequence[Any], n_outputs: int, counts: NDArray[np.bool_]
) -> Floats:
    """Return an indicator per class; that of the second one, if there is one output for two classes."""
    if len(columns) != 1:
        message = f"{name} is one label per row, but has {len(columns)} columns"
        raise TableError(message)
    dictionary = dictionary_of(columns[0])
    codes = dictionary.take(np.array([_code(label, classes) for label in dictionary.labels], dtype=np.float64))
    _refuse(name, np.isnan(codes)[counts], "are missing")
    unknown = np.unique(dictionary.positions[counts & (codes < 0)])
    if unknown.size:
        examples = ", ".join(repr(dictionary.labels[place]) for place in unknown[:3])
        message = f"{name} has labels that are no classes of the model: {examples}; its classes are {classes!r}"
        raise TableError(message)
    first = len(classes) - n_outputs  # 1 for the second of two classes
    found_there: Floats = (codes[:, None] == np.arange(first, len(classes))).astype(np.float64)
    return found_there


def _indicators_of_targets(
    columns: Sequence[Any],
    name: str,
    targets: Sequence[Sequence[Any]],
    n_outputs: int,
    counts: NDArray[np.bool_],
) -> Floats:
    """Return the indicators of each target, side by side: of every class, or of the second of two."""
    if len(columns) != len(targets):
        message = (
            f"the model predicts classes of {len(targets):,} targets, so {name} needs {len(targets):,} columns of "
            f"labels, one for each, but there {'is' if len(columns) == 1 else 'are'} {len(columns):,}"
        )
        raise TableError(message)
    sizes = [1 if n_outputs == len(targets) else len(classes) for classes in targets]
    parts = zip(columns, targets, sizes, strict=True)
    return np.hstack([_indicators([column], name, classes, size, counts) for column, classes, size in parts])


def _code(label: Any, classes: Sequence[Any]) -> float:
    """Return the place of a label among classes, -1 if it is none; texts also match a class of the same text."""
    label = label.item() if isinstance(label, np.generic) else label
    for same in (lambda known: known == label, lambda known: str(known) == str(label)):
        places = [place for place, known in enumerate(classes) if same(known)]
        if len(places) == 1:
            return float(places[0])
    return -1.0


def _for_outputs(values: Floats, n_columns: int) -> Floats:
    """Return probabilities of two classes as the model has them: of both, or of the second."""
    if values.shape[1] == 1 and n_columns == 2:
        return np.column_stack([1.0 - values, values])
    return values[:, 1:] if values.shape[1] == 2 and n_columns == 1 else values


def _refuse(name: str, wrong: NDArray[np.bool_], what: str) -> None:
    n_wrong = int(np.count_nonzero(wrong.any(axis=tuple(range(1, wrong.ndim)))))  # there may be no rows
    if n_wrong:
        message = (
            f"{name}: {how_many(n_wrong, 'value')} of {len(wrong):,} {what}; drop these rows, or give them weight 0"
        )
        raise TableError(message)
