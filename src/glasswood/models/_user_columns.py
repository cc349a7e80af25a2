"""The user's columns of a pipeline: what they are called, and what becomes of them before they reach the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from glasswood.errors import GlasswoodError, TableError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._pipelines import Unwrapped
from glasswood.tables._given import given_table
from glasswood.tables._points import columns_of, distinct_points, rows_with, shown_values
from glasswood.tables._tables import n_rows
from glasswood.text._printable import how_many

__all__ = ["Originals"]


@dataclass(frozen=True, eq=False)
class Originals:
    """The user's columns, each of which is a group of the model's.

    Parameters
    ----------
    unwrapped : Unwrapped
        With transformers.
    table : table or None
        The user's rows.
    """

    unwrapped: Unwrapped
    table: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the user's columns."""
        return self.unwrapped.columns or tuple(f"x{column}" for column in range(self.unwrapped.n_columns))

    def transform(self, table: Any) -> Any:
        """Return the table that the model takes."""
        if self.unwrapped.transform is None:
            return table
        try:
            made = self.unwrapped.transform(table)
        except GlasswoodError:
            raise
        except Exception as error:
            told = " ".join(str(error).split())
            message = f"the steps of the pipeline reject these rows ({type(error).__name__}: {told})"
            raise TableError(message) from error
        if n_rows(made) != n_rows(table):
            message = (
                f"the steps of the pipeline make {how_many(n_rows(made), 'row')} of {n_rows(table)}. Steps that take "
                "texts or lists instead of tables do this. Explain the final estimator on the transformed table: "
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
        made: dict[str, list[str]] = {name: [] for name in self.names}
        for name, sources in zip(transformed, self.unwrapped.sources, strict=True):
            for source in sources:
                made[self.names[source]].append(name)
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

    def points(self, columns: Sequence[str], at: Any) -> tuple[Any, dict[str, list[Any]]]:
        """Return rows for the model with some of the user's columns at points, and the points as lists.

        The other columns are those of any row, for what they are worth: nothing, as columns do not mix. Without points,
        the distinct rows of the table.
        """
        if self.table is None:
            message = (
                "points of a pipeline's columns go through its transformers, which needs a table as the background"
            )
            raise TableError(message)
        positions = [self.names.index(column) for column in columns]
        if at is None:
            rows, points = distinct_points(self.table, columns, positions)
        else:
            points = columns_of(at if isinstance(at, Mapping) else given_table(at), columns)
            rows = rows_with(self.table, points, positions)
        return self.transform(rows), {name: shown_values(values) for name, values in points.items()}
