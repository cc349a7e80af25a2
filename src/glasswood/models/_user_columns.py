"""The user's columns of a pipeline: what they are called, and what becomes of them before they reach the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from glasswood.errors import GlasswoodError, TableError
from glasswood.tables._columns import Column
from glasswood.tables._given import given_table
from glasswood.tables._points import columns_of, distinct_points, rows_with, shown_values, take
from glasswood.tables._tables import Schema, SideBySide, n_rows

__all__ = ["UserColumns", "transformed"]


@dataclass(frozen=True, eq=False)
class UserColumns:
    """The user's columns before transformers, some of which could not be folded into the trees.

    Such a column is a group of transformed ones, and its values go through the transformers.

    Parameters
    ----------
    steps : callable
        From the user's table to the one that the model takes.
    own_names : tuple of str or None
        The names of the user's columns; None if the transformers were fitted on an array.
    n_columns : int
        How many columns the user's table has.
    places : sequence of tuple of two ints
        For each column of the ensemble, the user's column that it is or is made of, and the number of the transformed
        one; the latter is negative if it is the user's own.
    table : table or None
        The user's rows.
    reasons : dict from str to str
        Why a column could not be folded.
    """

    steps: Callable[[Any], Any]
    own_names: tuple[str, ...] | None
    n_columns: int
    places: Sequence[tuple[int, int]]
    table: object
    reasons: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the user's columns."""
        return self.own_names or tuple(f"x{column}" for column in range(self.n_columns))

    @property
    def schema(self) -> Schema:
        """The user's columns as they are."""
        return Schema(tuple(Column(name) for name in self.names), named=self.own_names is not None)

    @property
    def reasons_text(self) -> str:
        """Why columns could not be folded, for messages."""
        return "; ".join(f"the column {name!r} {reason}" for name, reason in self.reasons.items())

    def snapshot(self) -> UserColumns:
        """Return the same with a copy of the rows: what the user writes into the table later is not seen."""
        return self if self.table is None else replace(self, table=take(self.table, list(range(n_rows(self.table)))))

    def transform(self, table: object) -> SideBySide:
        """Return the table that the trees take."""
        return SideBySide(table, transformed(self.steps, table), self.own_names, self.places)

    def groups(
        self, columns: Sequence[str], groups: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """Return the players that are groups of the ensemble's columns, and all players as groups of the user's.

        `groups` are groups of the user's columns; all others are players of their own.
        """
        parts = self._columns_by_source(columns)
        grouped = {column for group in groups.values() for column in group}
        unknown = grouped - set(self.names)
        if unknown:
            message = f"groups name the column {min(unknown)!r}, which is not an input of the pipeline"
            raise TableError(message)
        players = {name: tuple(group) for name, group in groups.items()}
        players |= {name: (name,) for name in self.names if name not in grouped}
        of_trees = {name: tuple(part for column in group for part in parts[column]) for name, group in players.items()}
        return {name: group for name, group in of_trees.items() if group != (name,)}, players

    def players_of(
        self, columns: Sequence[str], counted: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """Return the same for the groups that rows were counted with."""
        parts = self._columns_by_source(columns)
        groups = {name: tuple(group) for name, group in counted.items()}
        players = {
            name: tuple(column for column, own in parts.items() if set(own) <= set(group))
            for name, group in groups.items()
        }
        grouped = {column for group in players.values() for column in group}
        return groups, players | {name: (name,) for name in self.names if name not in grouped}

    def _columns_by_source(self, columns: Sequence[str]) -> dict[str, list[str]]:
        """Return the ensemble's columns that each of the user's is, or that are made of it."""
        parts: dict[str, list[str]] = {name: [] for name in self.names}
        for name, (source, _) in zip(columns, self.places, strict=True):
            parts[self.names[source]].append(name)
        return parts

    def points(self, columns: Sequence[str], at: object) -> tuple[Any, dict[str, list[Any]]]:
        """Return rows for the trees with some of the user's columns at points, and the points as lists.

        The other columns are those of any row, for what they are worth: nothing, as columns do not mix. Without points,
        the distinct rows of the table.
        """
        if self.table is None:
            return self._points_in(at, columns)
        positions = [self.names.index(column) for column in columns]
        if at is None:
            rows, points = distinct_points(self.table, columns, positions)
        else:
            points = columns_of(at if isinstance(at, Mapping) else given_table(at), columns)
            rows = rows_with(self.table, points, positions)
        return self.transform(rows), {name: shown_values(values) for name, values in points.items()}

    def _points_in(self, at: object, columns: Sequence[str]) -> tuple[Any, dict[str, list[Any]]]:
        """Return the same without rows of the background: the points come with values of all other columns."""
        rows = None if at is None else given_table(at)
        positions = [self.names.index(column) for column in columns]
        if rows is None or rows.shape[1] < self.n_columns:
            message = (
                "points of a pipeline's columns go through its transformers, which need all columns: pass a table as "
                "the background, or in at= rows with all columns of the pipeline"
            )
            raise TableError(message)
        points = columns_of(rows, columns, positions)
        return self.transform(rows), {name: shown_values(values) for name, values in points.items()}


def transformed(steps: Callable[[Any], Any], table: object) -> Any:
    """Return what the steps of a pipeline make of a table."""
    try:
        made = steps(table)
    except GlasswoodError:
        raise
    except Exception as error:
        details = " ".join(str(error).split())
        message = f"the steps of the pipeline reject these rows ({type(error).__name__}: {details})"
        raise TableError(message) from error
    if n_rows(made) != n_rows(table):
        message = (
            f"the steps of the pipeline turn {n_rows(table)} rows into {n_rows(made)}. Steps that take "
            "strings or lists instead of tables do this. Explain the final estimator on the transformed table: "
            "Explainer(pipeline[-1], pipeline[:-1].transform(X))"
        )
        raise TableError(message)
    return made
