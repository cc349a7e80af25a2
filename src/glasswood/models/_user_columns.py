"""The user's columns of a pipeline: what they are called, and what becomes of them before they reach the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from glasswood.errors import GlasswoodError, TableError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.tables._given import given_table
from glasswood.tables._points import columns_of, distinct_points, rows_with, shown_values, take
from glasswood.tables._tables import n_rows

__all__ = ["UserColumns"]


@dataclass(frozen=True, eq=False)
class UserColumns:
    """The user's columns, each of which is a group of the model's.

    Parameters
    ----------
    steps : callable
        From the user's table to the one that the model takes.
    own_names : tuple of str or None
        The names of the user's columns; None if the transformers were fitted on an array.
    n_columns : int
        How many columns the user's table has.
    sources : sequence of tuple of int
        For each column of the model, the positions of the user's columns that it is made of.
    table : table or None
        The user's rows.
    """

    steps: Callable[[Any], Any]
    own_names: tuple[str, ...] | None
    n_columns: int
    sources: Sequence[tuple[int, ...]]
    table: object

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the user's columns."""
        return self.own_names or tuple(f"x{column}" for column in range(self.n_columns))

    def snapshot(self) -> UserColumns:
        """Return the same with a copy of the rows: what the user writes into the table later is not seen."""
        return self if self.table is None else replace(self, table=take(self.table, list(range(n_rows(self.table)))))

    def transform(self, table: object) -> Any:
        """Return the table that the model takes."""
        try:
            made = self.steps(table)
        except GlasswoodError:
            raise
        except Exception as error:
            told = " ".join(str(error).split())
            message = f"the steps of the pipeline reject these rows ({type(error).__name__}: {told})"
            raise TableError(message) from error
        if n_rows(made) != n_rows(table):
            message = (
                f"the steps of the pipeline turn {n_rows(table)} rows into {n_rows(made)}. Steps that take "
                "strings or lists instead of tables do this. Explain the final estimator on the transformed table: "
                "Explainer(pipeline[-1], pipeline[:-1].transform(X))"
            )
            raise TableError(message)
        return made

    def rename(self, ensemble: TreeEnsemble) -> TreeEnsemble:
        """Return the ensemble with columns that are read by position, and have names that no user's column has."""
        schema = ensemble.schema
        columns = tuple(replace(column, name=f"{column.name} (transformed)") for column in schema.columns)
        return replace(ensemble, schema=replace(schema, columns=columns, named=False))

    def groups(
        self, transformed: Sequence[str], wanted: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """Return the players as groups of transformed columns, and as groups of the user's.

        `wanted` are groups of the user's columns; all others are players of their own.
        """
        made = self._made(transformed)
        grouped = {column for columns in wanted.values() for column in columns}
        unknown = grouped - set(self.names)
        if unknown:
            message = f"groups name the column {min(unknown)!r}, which is not an input of the pipeline"
            raise TableError(message)
        players = {name: tuple(columns) for name, columns in wanted.items()}
        players |= {name: (name,) for name in self.names if name not in grouped}
        return {
            name: tuple(c for column in columns for c in made[column]) for name, columns in players.items()
        }, players

    def players_of(
        self, transformed: Sequence[str], counted: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """Return the same for players that rows were counted with, given their groups of transformed columns.

        A column of which nothing is made is a player of its own name; in a group, it does not matter.
        """
        made = {name: columns for name, columns in self._made(transformed).items() if columns}
        players = {
            name: tuple(column for column, parts in made.items() if set(parts) <= set(columns)) or (name,)
            for name, columns in counted.items()
        }
        return {name: tuple(columns) for name, columns in counted.items()}, players

    def _made(self, transformed: Sequence[str]) -> dict[str, list[str]]:
        """Return the transformed columns that are made of each of the user's."""
        made: dict[str, list[str]] = {name: [] for name in self.names}
        for name, sources in zip(transformed, self.sources, strict=True):
            for source in sources:
                made[self.names[source]].append(name)
        return made

    def points(self, columns: Sequence[str], at: object) -> tuple[Any, dict[str, list[Any]]]:
        """Return rows for the model with some of the user's columns at points, and the points as lists.

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
