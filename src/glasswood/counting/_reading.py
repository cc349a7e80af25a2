"""Reading: which columns of a source's tables are read, and how they become columns of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glasswood.models._user_columns import UserColumns
from glasswood.tables._given import as_pandas
from glasswood.tables._tables import OpenColumns, Schema, open_columns, open_named

__all__ = ["Reading"]


@dataclass(frozen=True, eq=False)
class Reading:
    """Which columns of a source's tables are read, and how they become columns of a model.

    Parameters
    ----------
    schema : Schema
        The columns of the model.
    features : sequence of int
        Those that are wanted.
    names : mapping from int to names, or None
        The tables' own name of each wanted column; of all columns before transformers, if there are any. None for
        tables without names.
    before : UserColumns or None
        The transformers that make some of the columns.
    """

    schema: Schema
    features: Sequence[int]
    names: Mapping[int, Any] | None
    before: UserColumns | None = None

    @property
    def columns(self) -> list[Any]:
        """The tables' names of all columns that are read, each once."""
        return list(dict.fromkeys((self.names or {}).values()))

    def open(self, table: object) -> OpenColumns:
        """Return the wanted columns of a table."""
        if self.before is not None:
            own = table if self.names is None else as_pandas(table, [self.names[k] for k in sorted(self.names)])
            return open_columns(self.before.transform(own), self.schema, self.features)
        if self.names is None:
            return open_columns(table, self.schema, self.features)
        return open_named(table, self.schema, self.names)
