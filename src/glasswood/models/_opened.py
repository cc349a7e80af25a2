"""Opening a model: read, and checked on the rows at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasswood.models._ensemble import TreeEnsemble
from glasswood.models.readers import Proof, prove, read_unproven, refuse_own_predictions
from glasswood.tables._row_columns import without_columns
from glasswood.tables._tables import n_rows

__all__ = ["read_for"]


def read_for(model: Any, table: Any, further: Sequence[str]) -> tuple[TreeEnsemble, Proof | None]:
    """Return a model, and the proof on a table that it was read right. Some of its columns may tell groups and weights.

    A model that knows no names counts columns through, without these.
    """
    if isinstance(model, TreeEnsemble):
        return model, None
    ensemble = read_unproven(model)
    if table is None or n_rows(table) == 0:
        refuse_own_predictions(model)
        return ensemble, None
    return ensemble, prove(ensemble, model, table if ensemble.schema.named else without_columns(table, further))
