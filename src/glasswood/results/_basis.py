"""Basis: the data behind a result about rows. If it is not the rows themselves, every form of the result says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["BASES", "with_basis"]

BASES = ("rows", "counts", "covers")
"""The rows themselves (in memory, or in a source that can be read again); only their counts; covers from training."""


def with_basis(columns: Mapping[str, Any], basis: str) -> dict[str, Any]:
    """Return the columns of a frame, with an additional column for the basis if that is not the rows themselves."""
    n_rows = len(next(iter(columns.values()), ()))
    return dict(columns) if basis == "rows" else {**columns, "basis": [basis] * n_rows}
