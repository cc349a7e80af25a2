"""Curves in the report: the figures and the table of all features, missing values, and where there are no rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.questions.curves._answer import curves, partial_dependence
from glasswood.questions.curves._answer_request import EVERYWHERE
from glasswood.questions.curves._panel import panel_of_curve
from glasswood.questions.curves._panel_points import steps_of_points
from glasswood.questions.curves._result import Curve
from glasswood.questions.curves._result_points import Points
from glasswood.report._common import (
    EACH,
    FEW,
    ColumnOfFeatures,
    Placed,
    Section,
    column,
    figure,
    section,
    share_of_missing,
)
from glasswood.report._model import missing_shares
from glasswood.report._panels import anchors, merged_steps, rounded, steps_json
from glasswood.report._subject import Subject
from glasswood.report._wording import NEARLY
from glasswood.results.panels._display import DRAWN
from glasswood.text._plain import number, percent, plain, share_of_rows

__all__ = ["columns", "curves_of", "findings", "number_of", "numbers_of", "results_of", "sections"]

NUMBERS_OF_CURVES = 300_000  # about 2.5 MB
MIN_STEPS, MAX_STEPS = 64, 2000


def curves_of(subject: Subject) -> Mapping[str, Any]:
    """Return the curve of every feature that is a player of its own."""
    return subject.cached("curves", lambda: _curves_of(subject))


def _curves_of(subject: Subject) -> Mapping[str, Any]:
    result, study = curves(subject.view), subject.study
    return result if study.originals is None else {k: result[k] for k in result if k not in study.groups}


def numbers_of(subject: Subject) -> list[str]:
    """Return the used features that are numbers."""
    return [name for name, curve in curves_of(subject).items() if curve.categories is None and curve.cuts.size]


def results_of(subject: Subject) -> dict[str, Any]:
    """Return the curve of each used player, or its points if it is a group or a pipeline's column; None without."""
    return subject.cached(
        "results", lambda: {name: _result(subject, name) for name in subject.names if name in subject.used}
    )


def _result(subject: Subject, name: str) -> Any:
    if name in curves_of(subject):
        return curves_of(subject)[name]
    try:
        return partial_dependence(subject.view, [name], EVERYWHERE)
    except GlasswoodError:  # a group without a table to take points from
        return None


def number_of(subject: Subject) -> dict[str, int]:
    """Return the number of the figure of each player that has one: they are in the order of the names."""
    return {
        name: k for k, name in enumerate(name for name, result in results_of(subject).items() if result is not None)
    }


def columns(subject: Subject) -> Iterator[ColumnOfFeatures]:
    """Yield the range and the number of steps of each curve, and the share of rows in which its feature is missing."""
    results = {name: results_of(subject).get(name) for name in subject.names}
    ranges = {name: _range(result) for name, result in results.items()}
    widths = {
        name: rounded(high - low) if results[name] is not None or name not in subject.used else None
        for name, (low, high) in ranges.items()
    }
    held = ", over the values that occur in the rows" if subject.rows != "none" else ""
    text = f"Range is the difference between the highest and the lowest point of the curve{held}"
    text += ", for the output with the widest range." if subject.several else "."
    yield ColumnOfFeatures(20, column(f"Range{subject.units}"), widths, text=text)
    steps = {name: None if result is None else len(result.values) for name, result in results.items()}
    yield ColumnOfFeatures(30, column("Steps", "count"), steps)
    missing = {name: share_of_missing(getattr(result, "axis", None)) for name, result in results.items()}
    yield ColumnOfFeatures(50, column("Missing", "share"), missing | missing_shares(subject))


def sections(subject: Subject) -> Iterator[Placed]:
    """Yield the curves of all features, and the values of curves where features are missing."""
    yield Placed(50, _features(subject))
    yield Placed(80, _missing(subject))


# ------------------------------------------------------------------------------------------------ features


def _features(subject: Subject) -> Section:
    """Return the curves of all features, the most important first, and a table of all of them."""
    max_ = _max_steps(subject)
    numbers: list[int | None] = []
    figures: list[dict[str, Any]] = []
    for name, anchor in zip(subject.names, anchors("feature", subject.names), strict=True):
        result = results_of(subject).get(name)
        if result is None:
            numbers.append(None)
            continue
        numbers.append(len(figures))
        sub = "".join(subtitle(subject, name) for subtitle in subject.functions("subtitle"))
        figures.append(figure(anchor, [name], [("", _panel(subject, result, max_))], sub))
    listed = subject.columns
    table = {
        "caption": "All features",
        "columns": [column("Feature", "name"), *(one.head for one in listed)],
        "rows": [[name, *(one.values.get(name) for one in listed)] for name in subject.names],
        "figures": numbers,
    }
    ranked = {"sort": 1, "down": True} if listed[0].values else {}
    parts = {"tools": True, "linked": True, "page": 12, "range": _common_range(figures)}
    about, texts = " ".join(_about_curves(subject, figures)), " ".join(one.text for one in listed if one.text)
    text = (about, _about_observations(subject), _about_bands(subject), texts)
    return section("features", "Features", *text, table=table | ranked, figures=figures, **parts)


def _about_curves(subject: Subject, figures: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences about the figures and the table that apply to this explainer."""
    noun, average = subject.noun, "weighted average" if subject.weighted else "average"
    if subject.rows == "none":
        yield (
            f"Each curve is the path-dependent average {noun}, with every step of the model. No rows were given: where "
            "the model splits on another feature, the two sides are weighted by the covers of training."
        )
    else:
        yield (
            f"Each curve is the {average} {noun} if all rows had the same value of the feature. It has every step of "
            "the model, and is computed from all rows."
        )
    yield from _about_columns(subject)
    if any(DRAWN in figure["panels"][0]["panel"]["note"] for figure in figures):
        yield "Figures with more steps than a screen can show are simplified for display; extremes are kept."
    yield from (one.about for one in subject.columns if one.about)
    if any(figure["panels"][0]["panel"]["rows"] for figure in figures):
        yield (
            "Grey bars show where the rows are, on a square-root scale; the rows of a step are spread evenly over it. "
            "Dotted steps have no rows, so no data supports them."
        )
    if any(figure["panels"][0]["panel"]["x"]["edges"] for figure in figures):
        if any(True in figure["panels"][0]["panel"]["x"]["open"] for figure in figures):
            yield "A curve that fades out continues, but there are no rows beyond, or their range is not known."
        yield "Drag across a figure to zoom in, and double-click to zoom out; the arrow keys move from step to step."


def _about_columns(subject: Subject) -> Iterator[str]:
    """Yield sentences about features that are not columns of the model."""
    if subject.pipeline:
        yield "Features are the columns before the pipeline, in their own units."
    if subject.without_curves:
        names = ", ".join(map(plain, subject.without_curves))
        yield f"These are shown at the values that occur, with steps midway between them: {names}."
    elif subject.study.groups:
        yield "Groups of columns are shown at the combinations of values that occur in the rows."


def _max_steps(subject: Subject) -> int:
    each = NUMBERS_OF_CURVES // max(1, len(subject.used)) // (min(8, len(subject.labels)) + 2)
    return min(MAX_STEPS, max(MIN_STEPS, each))


def _range(result: Curve | Points | None, output: int | None = None) -> tuple[float, float]:
    """Return the lowest and the highest point over values with rows, for an output or the one that varies most."""
    if result is None or not len(result.heights):
        return 0.0, 0.0
    heights = result.heights
    axis = getattr(result, "axis", None)
    if axis is not None:
        held = np.flatnonzero(axis.rows[: axis.n_main])
        heights = heights[held if held.size else np.arange(axis.n_main)]
    k = int(np.ptp(heights, axis=0).argmax()) if output is None else output
    return float(heights[:, k].min()), float(heights[:, k].max())


def _panel(subject: Subject, result: Curve | Points, max_: int) -> dict[str, Any]:
    if isinstance(result, Curve):
        error = result.find_folds is not None and len(result.outputs) == 1
        panel = panel_of_curve(result, fit=False, observed=_shows_observations(result), error=error)
        for overlay in subject.functions("overlay"):
            panel = overlay(subject, result, panel)
    else:
        panel = steps_of_points(result, fit=False)
    return steps_json(merged_steps(panel, max_), subject.total)


def _shows_observations(curve: Curve) -> bool:
    """Return whether what was observed can be drawn beside a curve: it is known, and on the same scale."""
    return curve.find_observations is not None and len(curve.outputs) == 1 and curve.observations.comparable


def _about_observations(subject: Subject) -> str:
    """Return what was observed and predicted over all rows, in a sentence."""
    curves = [curve for curve in curves_of(subject).values() if curve.find_observations is not None]
    if not curves or subject.several:
        return ""
    observations = curves[0].observations
    observed, predicted, ratio = (
        float(part[0]) for part in (observations.mean_observed, observations.mean_predicted, observations.ratio)
    )
    text = f"Over all rows, {observed:.6g} was observed and {predicted:.6g} predicted (actual/expected {ratio:.4g})."
    if not observations.comparable and subject.view.scale.same_as(subject.study.targets.scale):
        return f"{text} Predictions contain the offset of the rows, and curves do not."
    if not observations.comparable:
        return f'{text} Curves are on another scale; a report with response="prediction" shows both beside them.'
    return (
        f"{text} Observed and predicted are those of the rows in each step, so that they include the effects of other "
        f"features; narrow steps are drawn together until they have a twentieth of the {_measure(subject)} (of the "
        "rest, if one step has more than half)."
    )


def _measure(subject: Subject) -> str:
    """Return what steps are drawn together by: exposure, or what counts rows."""
    return "exposure" if subject.study.targets.exposed else "weight" if subject.weighted else "rows"


def _about_bands(subject: Subject) -> str:
    """Return what bands are, in a sentence."""
    if not subject.study.has_folds or subject.several:
        return ""
    return (
        "Bands hold 95 % of what other rows of the same kind would give, for the same model: they are found by leaving "
        "out one fold of the rows at a time. They say nothing about training the model again."
    )


def _common_range(figures: list[dict[str, Any]]) -> list[float] | None:
    """Return the lowest and the highest point of all figures."""
    lines = [line for figure in figures for line in figure["panels"][0]["panel"]["lines"]]
    heights = [height for line in lines for height in (*line["heights"], line["missing"]) if height is not None]
    return [min(heights), max(heights)] if heights else None


# ------------------------------------------------------------------------------------------------ missing values


def _missing(subject: Subject) -> Section:
    """Return the section on missing values: the value of each curve where the feature is missing."""
    title = "Missing values"
    rows: list[list[Any]] = []
    for name in subject.names:
        if name not in curves_of(subject) or name not in subject.used:
            continue
        curve = curves_of(subject)[name]
        off = curve.heights[-1] - curve.mean
        k = int(np.abs(off).argmax())
        low, high = _range(curve, k)
        inside = "inside" if low <= curve.heights[-1, k] <= high else "outside"
        rows.append([name, share_of_missing(curve.axis), rounded(curve.heights[-1, k]), rounded(off[k]), inside])
    if not rows:
        why = "the model has no splits" if not subject.used else f"all used features are {subject.what_has_no_order}"
        return section("missing", title, f"Not examined: {why}.", short="Missing")
    rows.sort(key=lambda row: -(row[1] or 0.0))
    columns = [
        column("Missing", "share"),
        column(f"Value if missing{subject.units}"),
        column("Difference from the average"),
        column("Range of the curve", "text"),
    ]
    table = subject.table_of_features(title, columns, rows, outputs=False) | {"sort": 1}
    text = f"{_how_many_missing(subject, rows)} {_about_missing(subject)}"
    return section("missing", title, text, table=table, short="Missing", tools=len(rows) > FEW)


def _how_many_missing(subject: Subject, rows: list[list[Any]]) -> str:
    if subject.rows == "none":
        return "Without rows, it is not known how many values are missing."
    some = [row[1] for row in rows if row[1]]
    if not some:
        return "None of the features below has missing values in these rows."
    have = "has" if len(some) == 1 else "have"
    return f"Of the features below, {len(some):,} {have} missing values in these rows: up to {percent(max(some))}."


def _about_missing(subject: Subject) -> str:
    held = " that occur in the rows" if subject.rows != "none" else ""
    output = " (for the output with the largest difference)" if subject.several else ""
    return (
        f"The table shows the value of each curve where the feature is missing, and its difference from the average "
        f"{subject.noun}{output}. If the model was trained without missing values, these values mean little, and some "
        "libraries refuse missing values altogether. Outside means higher or lower than the curve at all values of the "
        f"feature{held}."
    )


# ------------------------------------------------------------------------------------------------ findings


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:
    """Yield features whose curves are most extreme without rows, and those that are often missing."""
    yield from (Placed(80, item) for item in _beyond_rows(subject))
    yield from (Placed(90, item) for item in _often_missing(subject, made["missing"]))


def _beyond_rows(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield features whose curves are most extreme where there are no rows."""
    worst = []
    for name, curve in curves_of(subject).items():
        rows = curve.rows
        if not rows.size or not (rows == 0).any() or not (rows > 0).any() or name not in subject.used:
            continue
        main, held = curve.heights[curve.axis.ordinary], curve.heights[: curve.axis.n_main][rows > 0]
        beyond = np.maximum(held.min(axis=0) - main.min(axis=0), main.max(axis=0) - held.max(axis=0)).max()
        span = np.ptp(held, axis=0).max()
        if beyond > NEARLY * span:
            worst.append((float(beyond), name))
    for beyond, name in sorted(worst, reverse=True)[:EACH]:
        text = f"at values without rows, the curve exceeds its range at values with rows by {number(beyond)}."
        yield subject.item("Outside the data", [name], text)


def _often_missing(subject: Subject, made: Section) -> Iterator[dict[str, Any]]:
    rows = [row for row in made["table"]["rows"] if row[1]] if "table" in made else []
    for name, share, _, off, inside in sorted(rows, key=lambda row: -row[1] * abs(row[3]))[:EACH]:
        side = f"{number(abs(off))} {'above' if off > 0 else 'below'} the average {subject.noun}"
        text = f"{share_of_rows(share, weighted=subject.weighted)}; {side}"
        beyond = "" if inside == "inside" else ", outside the range of its curve"
        yield subject.item("Missing values", [name], f"{text}{beyond}.")
