"""The sections of a report: what the explainer answers, as sentences, tables and panels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glasswood._report._panels import cells_json, merged_cells, merged_steps, rounded, steps_json
from glasswood._report._subject import Section, Subject, column, section
from glasswood.errors import GlasswoodError
from glasswood.plots import _make
from glasswood.plots._text import percent

__all__ = ["features_section", "interactions_section", "missing_section", "shapes_section", "spikes_section"]

NUMBERS_OF_CURVES = 300_000  # about 2.5 MB
FEWEST_STEPS, MOST_STEPS = 64, 2000
MOST_CELLS = 60  # of a surface, along each axis
MOST_PAIRS = 300  # in the table of interactions
MOST_LINES = 2000  # in the tables of shapes and spikes
FEW = 12  # lines of a table that needs no search


# ------------------------------------------------------------------------------------------------ features


ABOUT_CURVES = (
    "Each curve is the average score if the feature had the same value in all rows: the whole curve with every step of "
    "the model, not a sample of it. Importance is the standard deviation of the curve over the rows. Grey bars show "
    "where the rows are (their heights are square roots); dotted steps have no rows at all: nobody knows whether they "
    "are right. Drag across a figure to zoom, double-click to go back; arrow keys move from step to step."
)
COLUMNS_OF_FEATURES = [
    column("Feature", "name"),
    column("Importance", "bar"),
    column("Range"),
    column("Steps", "count"),
    column("Shape", "text"),
    column("Missing", "share"),
    column("Spikes", "count"),
]


def features_section(subject: Subject, shapes: dict[str, str], spikes: dict[str, int]) -> Section:
    """Return the curves of all features, the most important first, and a table of all of them.

    `shapes` and `spikes` tell the direction and the number of spikes of each feature.
    """
    importance, most = _importance(subject), _most_steps(subject)
    rows: list[list[Any]] = []
    numbers: list[int | None] = []
    figures: list[dict[str, Any]] = []
    for name in subject.names:
        result = _result(subject, name) if name in subject.used else None
        low, high = _range(result)
        steps = None if result is None else len(result.values)
        spike = spikes.get(name, 0) if name in shapes else None
        shape = shapes.get(name, _kind(subject, result)) if name in subject.used else "not used"
        rows.append([name, importance.get(name), rounded(high - low), steps, shape, _missing_share(result), spike])
        if name not in subject.used or result is None:
            numbers.append(None)
            continue
        numbers.append(len(figures))
        sub = f"importance {importance[name]:.4g}" if importance.get(name) is not None else ""
        figures.append(_figure(f"feature-{len(figures)}", [name], [("", _panel(result, most, subject.total))], sub))
    table = {"caption": "All features", "columns": COLUMNS_OF_FEATURES, "rows": rows, "figures": numbers}
    parts = {"tools": True, "linked": True, "page": 12, "range": _common_range(figures)}
    ranked = {"sort": 1, "down": True} if importance else {}
    return section("features", "Features", ABOUT_CURVES, table=table | ranked, figures=figures, **parts)


def _importance(subject: Subject) -> dict[str, Any]:
    try:
        found = subject.importance
    except GlasswoodError:  # path-dependent explainers may have none
        return {}
    return {name: rounded(value) for name, value in zip(found.names, found.total.tolist(), strict=True)}


def _most_steps(subject: Subject) -> int:
    each = NUMBERS_OF_CURVES // max(1, len(subject.used)) // (min(8, len(subject.study.outputs.choose().labels)) + 2)
    return min(MOST_STEPS, max(FEWEST_STEPS, each))


def _result(subject: Subject, name: str) -> Any:
    """Return the curve of a player, or its points if it is a group; None if there are none."""
    if name in subject.curves:
        return subject.curves[name]
    try:
        return subject.explainer.partial_dependence(name)
    except GlasswoodError:  # a group without a table to take points from
        return None


def _kind(subject: Subject, result: Any) -> str:
    if subject.study.originals is not None:
        return "before the pipeline"
    return "categories" if getattr(result, "categories", None) is not None else "group"


def _range(result: Any, output: int | None = None) -> tuple[float, float]:
    """Return the lowest and the highest point of values that rows have, of an output or the one that varies most."""
    if result is None or not len(result.heights):
        return 0.0, 0.0
    heights = result.heights
    axis = getattr(result, "axis", None)
    if axis is not None:
        held = np.flatnonzero(axis.rows[: axis.n_main])
        heights = heights[held if held.size else np.arange(axis.n_main)]
    k = int(np.ptp(heights, axis=0).argmax()) if output is None else output
    return float(heights[:, k].min()), float(heights[:, k].max())


def _missing_share(result: Any) -> float | int | None:
    rows = getattr(getattr(result, "axis", None), "rows", np.empty(0))
    return rounded(float(rows[-1] / rows.sum())) if rows.size and rows.sum() > 0 else None


def _panel(result: Any, most: int, total: float) -> dict[str, Any]:
    make = _make.panel_of_curve if hasattr(result, "axis") else _make.panel_of_points
    return steps_json(merged_steps(make(result), most), total)


def _figure(anchor: str, names: list[str], panels: list[tuple[str, dict[str, Any]]], sub: str = "") -> dict[str, Any]:
    return {
        "id": anchor,
        "names": names,
        "sub": sub,
        "panels": [{"label": label, "panel": panel} for label, panel in panels],
    }


def _common_range(figures: list[dict[str, Any]]) -> list[float] | None:
    """Return the lowest and the highest point of all figures."""
    lines = [line for figure in figures for line in figure["panels"][0]["panel"]["lines"]]
    heights = [height for line in lines for height in (*line["heights"], line["missing"]) if height is not None]
    return [min(heights), max(heights)] if heights else None


# ------------------------------------------------------------------------------------------------ interactions


ABOUT_PAIRS = (
    "What two features do together, beyond the sum of their two curves. Strength is the root mean square of that over "
    "the rows; H is its share of all that the pair does (0: nothing, 1: all). Pairs that share no path of any tree do "
    "not interact at all and are not listed. Hatched cells have no rows."
)
COLUMNS_OF_PAIRS = [column("First", "name"), column("Second", "name"), column("Strength", "bar"), column("H")]


def interactions_section(subject: Subject, n_surfaces: int) -> Section:
    """Return the pairs that interact, and the surfaces of the strongest."""
    try:
        strengths = subject.explainer.interaction_strengths()
    except GlasswoodError as error:
        return section("interactions", "Interactions", f"Not available for this explainer: {error}.")
    if not len(strengths):
        text = "No two features share a path: the model is a sum of its curves."
        return section("interactions", "Interactions", text)
    top = strengths.top(MOST_PAIRS)
    figures = list(_surfaces(subject, top, n_surfaces))
    number_of = {tuple(figure["names"]): k for k, figure in enumerate(figures)}
    h = top.h[np.arange(len(top)), top.heights.argmax(axis=1)]
    rows = [
        [a, b, rounded(strength), rounded(share)]
        for (a, b), strength, share in zip(top.pairs, top.total.tolist(), h.tolist(), strict=True)
    ]
    notes = []
    if top.weights != "rows":
        notes.append("Only counts were at hand, so the two features of a pair are taken as independent.")
    if len(strengths) > len(top):
        notes.append(f"These are the {len(top):,} strongest of {len(strengths):,} pairs.")
    if subject.several:
        notes.append("Surfaces show the output in which the pair is strongest.")
    table = {
        "caption": "Interactions of pairs",
        "columns": COLUMNS_OF_PAIRS,
        "rows": rows,
        "sort": 2,
        "figures": [number_of.get(tuple(pair)) for pair in top.pairs],
    }
    parts = {"figures": figures, "tools": True, "linked": True, "page": 6}
    return section("interactions", "Interactions", ABOUT_PAIRS, " ".join(notes), table=table, **parts)


def _surfaces(subject: Subject, strengths: Any, n_surfaces: int) -> Iterator[dict[str, Any]]:
    """Yield the surfaces of the strongest pairs of single features, whole and without the sum of the curves."""
    chosen = [
        (pair, int(heights.argmax()))
        for pair, heights in zip(strengths.pairs, strengths.heights, strict=True)
        if pair[0] in subject.curves and pair[1] in subject.curves
    ][: max(0, n_surfaces)]
    for k, ((a, b), output) in enumerate(chosen):
        surface = subject.explainer.partial_dependence(a, b)
        panels = [_make.panel_of_surface(surface, output, interaction=alone) for alone in (True, False)]
        panels = merged_cells(panels, MOST_CELLS)
        shown = [cells_json(panel, subject.total) for panel in panels]
        yield _figure(f"pair-{k}", [a, b], [("Interaction alone", shown[0]), ("Together", shown[1])])


# ------------------------------------------------------------------------------------------------ shapes


ABOUT_SHAPES = (
    "Whether a curve rises or falls throughout, at full resolution: the model has no other steps than those looked at. "
    "Otherwise: the largest step against its main direction, where it is, and how many rows lie beyond such a step "
    "before the curve has made up for it. This is about averages; single rows may differ."
)


def shapes_section(subject: Subject) -> tuple[Section, dict[str, str]]:
    """Return whether curves rise or fall throughout, and the direction of each feature in a word."""
    if not subject.numbers:
        return section("monotonicity", "Monotonicity", "The model splits on no numbers."), {}
    found = subject.explainer.monotonicity(*subject.numbers)
    words = {
        name: str(kinds[0]) if len(set(kinds)) == 1 else "differs by output"
        for name, kinds in zip(found.names, found.directions.tolist(), strict=True)
    }
    rows: list[list[Any]] = []
    rank = {name: k for k, name in enumerate(subject.names)}
    for i in sorted(range(len(found.names)), key=lambda i: rank[found.names[i]]):
        for k, output in enumerate(found.outputs):
            of = [found.names[i], str(output)] if subject.several else [found.names[i]]
            kinds = [str(found.directions[i, k]), str(found.mains[i, k])]
            numbers = [rounded(float(array[i, k]), 9) for array in (found.against, found.at, found.shares)]
            rows.append([*of, *kinds, *numbers])
    columns = [
        column("Direction", "text"),
        column("Mainly", "text"),
        column("Largest step against"),
        column("At", "edge"),
        column("Rows affected", "share"),
    ]
    table = _table_of_features(subject, "Monotonicity", columns, rows)
    return section("monotonicity", "Monotonicity", ABOUT_SHAPES, table=table, tools=len(rows) > FEW), words


def _table_of_features(
    subject: Subject, caption: str, columns: list[dict[str, str]], rows: list[list[Any]], *, outputs: bool = True
) -> dict[str, Any]:
    """Return a table whose lines begin with a feature, and an output if there are several."""
    first = [column("Feature", "name"), *([column("Output", "text")] if subject.several and outputs else [])]
    rows = rows[:MOST_LINES]
    features = [subject.number_of.get(row[0]) for row in rows]
    return {"caption": caption, "columns": [*first, *columns], "rows": rows, "features": features}


def spikes_section(subject: Subject) -> tuple[Section, dict[str, int], list[Any]]:
    """Return what a sampled curve would miss, the number of spikes of each feature, and the spikes."""
    if not subject.numbers:
        return section("spikes", "Spikes", "The model splits on no numbers."), {}, []
    spikes = subject.explainer.spikes(*subject.numbers)
    found = list(spikes)
    count: dict[str, int] = {}
    for spike in found:
        count[spike.feature] = count.get(spike.feature, 0) + 1
    text = (
        f"Stretches that a curve sampled at {spikes.points} evenly spaced values would not show: between two sample "
        "points the exact curve leaves the range of both by more than 5 % of its whole range. They are often effects "
        "of a single value: a default, a limit, a code for something else."
    )
    if not found:
        return section("spikes", "Spikes", text, "None were found."), count, found
    rows = []
    for spike in found:
        of = [spike.feature, str(spike.output)] if subject.several else [spike.feature]
        heights = [rounded(x) for x in (spike.height, spike.by, spike.share)]
        rows.append([*of, rounded(spike.above, 9), rounded(spike.to, 9), *heights, rounded(spike.rows, 9)])
    columns = [
        column("Above", "edge"),
        column("Up to", "edge"),
        column("Height"),
        column("Beyond neighbours by"),
        column("Of the range", "share"),
        column("Weight") if subject.weighted else column("Rows", "count"),
    ]
    table = _table_of_features(subject, "Spikes that a sampled curve would miss", columns, rows)
    return section("spikes", "Spikes", text, table=table, tools=len(rows) > FEW), count, found


COLUMNS_OF_MISSING = [
    column("Missing", "share"),
    column("Height if missing"),
    column("Against the average"),
    column("Of the curve's range", "text"),
]


def missing_section(subject: Subject) -> Section:
    """Return where each curve is for missing values."""
    rows: list[list[Any]] = []
    for name in subject.names:
        if name not in subject.curves or name not in subject.used:
            continue
        curve = subject.curves[name]
        off = curve.heights[-1] - curve.mean
        k = int(np.abs(off).argmax())
        low, high = _range(curve, k)
        inside = "inside" if low <= curve.heights[-1, k] <= high else "outside"
        rows.append([name, _missing_share(curve), rounded(curve.heights[-1, k]), rounded(off[k]), inside])
    if not rows:
        return section("missing", "Missing values", "Not available: the model's columns are made by a pipeline.")
    some = [row[1] for row in rows if row[1]]
    which = f"{len(some):,} of {len(rows):,} used features have missing values in these rows"
    which += f", up to {percent(max(some))}." if some else "."
    text = (
        f"{which} The model has an answer for a missing value in every feature, tried or not: where it is, and how far "
        f"from the average score{' (of the output where that is most)' if subject.several else ''}. Outside means "
        "beyond all that the feature's own values do, where there are rows."
    )
    rows.sort(key=lambda row: -(row[1] or 0.0))
    table = _table_of_features(subject, "Missing values", COLUMNS_OF_MISSING, rows, outputs=False) | {"sort": 1}
    return section("missing", "Missing values", text, table=table, short="Missing", tools=len(rows) > FEW)
