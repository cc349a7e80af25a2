"""What sections are made of: their parts as plain data, and words for the heads of tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasswood.report._panels import rounded

__all__ = [
    "EACH",
    "FEW",
    "MAX_LINES",
    "ColumnOfFeatures",
    "Item",
    "Placed",
    "Section",
    "average_of",
    "column",
    "cut_off",
    "figure",
    "in_brackets",
    "noun_of",
    "section",
    "share_of_missing",
]

Section = dict[str, Any]
Item = dict[str, Any]

EACH = 3  # findings of a kind
FEW = 12  # lines of a table that needs no search
MAX_LINES = 2000  # of a table of shapes or spikes


class Placed(NamedTuple):
    """A section, or a finding, and where it stands: the smallest place comes first."""

    place: int
    made: dict[str, Any]


class ColumnOfFeatures(NamedTuple):
    """A column of the table of all features: its place, its head, the value of each feature, and what it means.

    Values may lack features. `text` explains the column below the figures; `about` is said of all figures.
    """

    place: int
    head: dict[str, str]
    values: dict[str, Any]
    about: str = ""
    text: str = ""


def section(name: str, title: str, *text: str, **parts: object) -> Section:
    """Return a section of the page: its anchor, its title, some sentences, and what else it has."""
    return {"id": name, "title": title, "text": [part for part in text if part], "figures": [], **parts}


def column(name: str, kind: str = "number") -> dict[str, str]:
    """Return a column of a table: "name", "text", "number", "edge", "count", "share" or "bar"."""
    return {"name": name, "kind": kind}


def figure(anchor: str, names: list[str], panels: list[tuple[str, dict[str, Any]]], sub: str = "") -> dict[str, Any]:
    """Return a figure of a section: its anchor, the features that it shows, and its panels with their labels."""
    return {
        "id": anchor,
        "names": names,
        "sub": sub,
        "panels": [{"label": label, "panel": panel} for label, panel in panels],
    }


def cut_off(rows: list[list[Any]]) -> str:
    """Return a sentence about a table of which not all lines are listed."""
    return f"The first {MAX_LINES:,} of {len(rows):,} lines are listed." if len(rows) > MAX_LINES else ""


def noun_of(units: str) -> str:
    """Return what the average of a score of some units is called."""
    return {"value": "prediction", "prediction": "prediction", "probability": "probability"}.get(units, "score")


def average_of(units: str) -> str:
    """Return the head of a column of averages of a score of some units."""
    return f"Average {noun_of(units)}{'' if noun_of(units) == units else in_brackets(units)}"


def in_brackets(units: str) -> str:
    """Return units for the head of a column; those of the target are not known."""
    return "" if units == "value" else f" ({units})"


def share_of_missing(axis: Any) -> float | int | None:
    """Return the share of rows in which a feature is missing, given its axis; None if it is not known."""
    rows = np.empty(0) if axis is None else axis.rows
    return rounded(float(rows[-1] / rows.sum())) if rows.size and rows.sum() > 0 else None
