"""The sections of a report: the results of the explainer as sentences, tables and panels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.parallel._threads import in_order
from glasswood.plots._cuts import shown_cut
from glasswood.report._local import beside_curve
from glasswood.report._model import share_of_missing
from glasswood.report._panels import anchors, cells_json, merged_cells, merged_steps, rounded, steps_json
from glasswood.report._proofs import about_promises, tables_of_promises
from glasswood.report._subject import Section, Subject, column, in_brackets, section, shapes_of
from glasswood.report._wording import is_spike, sample_note
from glasswood.results import panels
from glasswood.results._curves import Curve
from glasswood.results._importance import Strengths
from glasswood.results._points import Points
from glasswood.results._shapes import Spikes
from glasswood.results.panels._display import DRAWN
from glasswood.results.panels._surfaces import panels_of_surface
from glasswood.study._dependence import partial_dependence
from glasswood.study._h_statistics import h_statistics
from glasswood.study._request import EVERYWHERE
from glasswood.study._shapes import monotonicity, spikes
from glasswood.study._strengths import interaction_strengths
from glasswood.study._view import view_of
from glasswood.text._plain import number, percent, plain

__all__ = ["features_section", "interactions_section", "missing_section", "shapes_section", "spikes_section"]

NUMBERS_OF_CURVES = 300_000  # about 2.5 MB
FEWEST_STEPS, MOST_STEPS = 64, 2000
MOST_CELLS = 60  # of a surface, along each axis
MOST_ASKED = 2**28  # values of single rows: a few seconds
MOST_PAIRS = 300  # in the table of interactions
MOST_LINES = 2000  # in the tables of shapes and spikes
FEW = 12  # lines of a table that needs no search
ALL_IN_PAIRS = (
    "No path of any tree has more than two features: the raw score is the sum of all curves and of these pairs, and "
    "can be written as a rating table."
)


# ------------------------------------------------------------------------------------------------ features


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
    if subject.importance is None:
        yield f"Importance is not available: {subject.why_no_importance}."
    else:
        over = " (with several outputs, the root of the sum of squares)" if subject.several else ""
        if subject.importance.kind == "total":
            sample = sample_note(subject.importance.n_rows, sampled=subject.importance.sampled)
            yield (
                f"Importance is the root of the mean squared change of the {noun} if the feature is redrawn from the "
                f"rows{over}{sample}. It includes what a feature does together with others. Figures are sorted by it."
            )
        else:
            yield (
                f"Importance is the standard deviation of a feature's own curve over the rows{over}. Figures are "
                "sorted by it, so a feature that acts only together with others appears late here, and early under "
                "Interactions."
            )
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


def _columns_of_features(subject: Subject) -> list[dict[str, str]]:
    return [
        column("Feature", "name"),
        column(f"Importance{subject.units_of_importance}{_sample(subject)}", "bar"),
        column(f"Range{subject.units}"),
        column("Steps", "count"),
        column("Shape", "text"),
        column("Missing", "share"),
        column("Spikes", "count"),
        *([] if subject.permutation is None else [column("Permutation importance")]),
    ]


def features_section(
    subject: Subject, shapes: dict[str, str], spikes: dict[str, int], missing: dict[str, Any]
) -> Section:
    """Return the curves of all features, the most important first, and a table of all of them.

    `shapes`, `spikes` and `missing` have the direction, the number of spikes and the share of missing rows by feature.
    """
    importance, most, sample = _importance(subject), _most_steps(subject), _sample(subject)
    rows: list[list[Any]] = []
    numbers: list[int | None] = []
    figures: list[dict[str, Any]] = []
    ids = anchors("feature", subject.names)
    for name, anchor in zip(subject.names, ids, strict=True):
        result = subject.results.get(name)
        low, high = _range(result)
        steps = None if result is None else len(result.values)
        spike = spikes.get(name, 0) if name in shapes else None
        shape = shapes.get(name, _kind(result)) if name in subject.used else "not used"
        share = missing.get(name, share_of_missing(result))
        width = rounded(high - low) if result is not None or name not in subject.used else None
        permuted = [] if subject.permutation is None else [rounded(subject.permutation[name])]
        rows.append([name, importance.get(name), width, steps, shape, share, spike, *permuted])
        if result is None:
            numbers.append(None)
            continue
        numbers.append(len(figures))
        sub = f"importance {importance[name]:.4g}{subject.units}{sample}" if importance.get(name) is not None else ""
        figures.append(_figure(anchor, [name], [("", _panel(subject, result, most))], sub))
    about = " ".join(_about_curves(subject, figures))
    table = {
        "caption": "All features",
        "columns": _columns_of_features(subject),
        "rows": rows,
        "figures": numbers,
    }
    parts = {"tools": True, "linked": True, "page": 12, "range": _common_range(figures)}
    ranked = {"sort": 1, "down": True} if importance else {}
    text = (about, _about_observations(subject), _about_bands(subject), _about_table(subject))
    return section("features", "Features", *text, table=table | ranked, figures=figures, **parts)


def _about_table(subject: Subject) -> str:
    """Return a description of the columns of the table of features."""
    held = ", over the values that occur in the rows" if subject.rows != "none" else ""
    text = f"Range is the difference between the highest and the lowest point of the curve{held}"
    text += ", for the output with the widest range." if subject.several else "."
    if subject.permutation is not None:
        found = subject.permutation
        text += (
            f" Permutation importance is how much the mean {plain(found.loss)}, which is {number(found.base)}, "
            "increases if the feature is permuted, on average over all permutations"
            f"{sample_note(found.n_rows, sampled=found.sampled)}."
        )
    if subject.study.groups:
        text += f" Shape and spikes are not examined for {_what_has_no_order(subject)}."
    return text


def _sample(subject: Subject) -> str:
    found = subject.importance
    return "" if found is None else sample_note(found.n_rows, sampled=found.sampled)


def _what_has_no_order(subject: Subject) -> str:
    return "columns of a pipeline that have no curve" if subject.without_curves else "groups of columns"


def _importance(subject: Subject) -> dict[str, Any]:
    found = subject.importance
    if found is None:
        return {}
    return {name: rounded(value) for name, value in zip(found.names, found.total.tolist(), strict=True)}


def _most_steps(subject: Subject) -> int:
    each = NUMBERS_OF_CURVES // max(1, len(subject.used)) // (min(8, len(subject.labels)) + 2)
    return min(MOST_STEPS, max(FEWEST_STEPS, each))


def _kind(result: object) -> str:
    return "categories" if getattr(result, "categories", None) is not None else "not examined"


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


def _panel(subject: Subject, result: Curve | Points, most: int) -> dict[str, Any]:
    if isinstance(result, Curve):
        error = result.find_folds is not None and len(result.outputs) == 1
        panel = panels.panel_of_curve(result, fit=False, observed=shows_observations(result), error=error)
        panel = beside_curve(subject, result, panel)
    else:
        panel = panels.steps_of_points(result, fit=False)
    return steps_json(merged_steps(panel, most), subject.total)


def shows_observations(curve: Curve) -> bool:
    """Return whether what was observed can be drawn beside a curve: it is known, and on the same scale."""
    return curve.find_observations is not None and len(curve.outputs) == 1 and curve.observations.comparable


def _about_observations(subject: Subject) -> str:
    """Return what was observed and predicted over all rows, in a sentence."""
    curves = [curve for curve in subject.curves.values() if curve.find_observations is not None]
    if not curves or subject.several:
        return ""
    found = curves[0].observations
    observed, predicted, ratio = (float(part[0]) for part in (found.mean_observed, found.mean_predicted, found.ratio))
    text = f"Over all rows, {observed:.6g} was observed and {predicted:.6g} predicted (actual/expected {ratio:.4g})."
    if not found.comparable and subject.view.scale.same_as(subject.study.targets.scale):
        return f"{text} Predictions contain the offset of the rows, and curves do not."
    if not found.comparable:
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
    "The effect of two features together, beyond the sum of their two curves. Strength is its root mean square over "
    "the rows. H compares it with the whole effect of the pair: it is the square root of the ratio of their variances. "
    "An H of 0 means no interaction; if the features depend on each other, H can exceed 1. Pairs that share no path of "
    "any tree do not interact and are not listed."
)


def interactions_section(subject: Subject, n_surfaces: int) -> Section:
    """Return the interacting pairs and the surfaces of the strongest, on the scale of the raw score."""
    name, title = "interactions", "Interactions"
    raw = subject.raw
    if raw is None:
        why = "the model combines several models, which have no common score that is a sum over trees"
        return section(name, title, f"Not examined: {why}.")
    try:
        strengths = interaction_strengths(raw.view)
    except GlasswoodError as error:
        return section(name, title, f"Not examined: {_why_no_pairs(subject, error)}.")
    if not len(strengths):
        text = (
            "No two features share a path, so there are no interactions: the raw score is a sum of curves of single "
            "features."
        )
        return section(name, title, text)
    top = strengths.top(MOST_PAIRS)
    figures = list(_surfaces(raw, top, n_surfaces))
    number_of = {tuple(figure["names"]): k for k, figure in enumerate(figures)}
    h = top.h[np.arange(len(top)), top.heights.argmax(axis=1)]
    rows = [
        [a, b, rounded(strength), rounded(share)]
        for (a, b), strength, share in zip(top.pairs, top.total.tolist(), h.tolist(), strict=True)
    ]
    columns = [
        column("First", "name"),
        column("Second", "name"),
        column(f"Strength{in_brackets(top.units)}", "bar"),
        column("H"),
    ]
    table = {
        "caption": "Interactions of pairs",
        "columns": columns,
        "rows": rows,
        "sort": 2,
        "figures": [number_of.get(tuple(pair)) for pair in top.pairs],
    }
    notes = " ".join(_notes_on_pairs(subject, strengths, figures, n_surfaces))
    whole = ALL_IN_PAIRS if subject.study.plan(1).most_players == 2 else ""
    parts = {"figures": figures, "tools": True, "linked": True, "page": 6}
    return section(name, title, ABOUT_PAIRS, whole, notes, table=table, **parts)


def _why_no_pairs(subject: Subject, error: GlasswoodError) -> str:
    """Return why interaction strengths are not available."""
    if subject.rows == "none":
        return "the strength of interactions is computed over rows, and there are none"
    background = subject.study.over.counted
    if background is not None and subject.rows == "counts" and background.order < 2:
        return "only single features were counted; summarize(model, rows, order=2) counts pairs as well"
    if subject.study.groups and subject.study.over.basis == "counts":
        return "interactions of groups of columns need the rows themselves, and only counts of them are available"
    return str(error).rstrip(".")


def _notes_on_pairs(
    subject: Subject, strengths: Strengths, figures: list[dict[str, Any]], n_surfaces: int
) -> Iterator[str]:
    """Yield further notes on the table and its figures."""
    if not subject.view.scale.is_score:
        yield (
            f"This section is about the raw score ({strengths.units}), which is a sum over trees; the curves above are "
            f"on the scale of the {subject.noun}."
        )
    if strengths.basis != "rows":
        yield "Only counts were available, so the two features of a pair are assumed to be independent."
    yield from _left_over(subject)
    if len(strengths) > MOST_PAIRS:
        yield f"These are the {MOST_PAIRS:,} strongest of {len(strengths):,} pairs."
    if subject.several:
        yield (
            "Strength is the root of the sum of squares over the outputs; H and the surfaces are of the output in "
            "which the pair is strongest."
        )
    if any(panel["panel"]["rows"] for figure in figures for panel in figure["panels"]):
        yield "Hatched cells have no rows."
    if subject.study.groups and n_surfaces > 0:
        yield f"There are no surfaces for {_what_has_no_order(subject)}."


def _left_over(subject: Subject) -> Iterator[str]:
    """Yield what curves and pairs leave of the score's variance, unless that would take long or needs other rows."""
    raw, study = subject.raw, subject.study
    n_asked = study.n_rows * float(study.plan(1).cells.n_cells.sum()) if study.over.can_count else np.inf
    if raw is None or n_asked * study.ensemble.n_outputs > MOST_ASKED:
        return
    try:
        found = h_statistics(raw.view)
    except GlasswoodError:
        return
    shares = [np.ravel(part) for part in (found.left_by_mains, found.left_by_pairs)]
    output = int(shares[0].argmax())
    mains, pairs = (f"{share[output]:.1%}" for share in shares)
    of = f" (of output {found.outputs[output]}, where it is most)" if subject.several else ""
    yield f"After all curves are subtracted, {mains} of the score's variance is left{of}; after all pairs, {pairs}."
    if shares[0][output] > 1:
        yield "More than 100 % means that features depend on each other, and that a sum of curves is a poor picture."


def _surfaces(subject: Subject, strengths: Strengths, n_surfaces: int) -> Iterator[dict[str, Any]]:
    """Yield the surfaces of the strongest pairs of single features, with and without the sum of the curves."""
    chosen = [
        (pair, int(heights.argmax()))
        for pair, heights in zip(strengths.pairs, strengths.heights, strict=True)
        if pair[0] in subject.curves and pair[1] in subject.curves
    ][: max(0, n_surfaces)]
    ids = anchors("pair", [f"{a} x {b}" for (a, b), _ in chosen])

    def panels(number: int) -> list[Any]:
        pair, output = chosen[number]
        view = view_of(subject.study, subject.view.scale.response, None, output if subject.several else None)
        return panels_of_surface(partial_dependence(view, pair, EVERYWHERE), alone=(True, False))

    with in_order(len(chosen), panels, "surfaces") as found:
        for anchor, (pair, _), panel in zip(ids, chosen, found, strict=True):
            shown = [cells_json(one, subject.total) for one in merged_cells(panel, MOST_CELLS)]
            yield _figure(anchor, list(pair), [("Interaction alone", shown[0]), ("Together", shown[1])])


# ------------------------------------------------------------------------------------------------ shapes


def _about_shapes(subject: Subject) -> str:
    affected = ", and the share of rows between such a step and the point where the curve has recovered from it"
    return (
        "Whether each curve is increasing or decreasing throughout, checked at every step of the model. If it is "
        "not, the table shows the largest step against its main direction, where that step is"
        f"{affected if subject.rows != 'none' else ''}. This holds for averages; single rows may differ."
        f"{_left_out(subject)}"
    )


def _left_out(subject: Subject) -> str:
    """Return a sentence about used features without an order, if any."""
    left = [name for name in subject.used if name not in set(subject.numbers)]
    if not left:
        return ""
    what = "categories or groups" if subject.study.groups else "categories"
    return f" {len(left):,} used {'features are' if len(left) > 1 else 'feature is'} not examined: {what}."


def _why_no_numbers(subject: Subject) -> str:
    """Return why there are no numeric curves to examine."""
    if not subject.used:
        return "the model has no splits"
    if subject.study.groups:
        return "all used features are categories or groups of columns"
    return "all used features are categories"


def shapes_section(subject: Subject) -> tuple[Section, dict[str, str]]:
    """Return the section on monotonicity, and the direction of each feature in a word."""
    if not subject.numbers:
        text = f"Not examined: {_why_no_numbers(subject)}."
        return section("monotonicity", "Monotonicity", text), {}
    found = monotonicity(subject.view, subject.numbers)
    shapes = [shapes_of(subject, found, i) for i in range(len(found.names))]
    words = {
        name: kinds[0] if len(set(kinds)) == 1 else "differs by output"
        for name, kinds in zip(found.names, shapes, strict=True)
    }
    rows: list[list[Any]] = []
    rank = {name: k for k, name in enumerate(subject.names)}
    for i in sorted(range(len(found.names)), key=lambda i: rank[found.names[i]]):
        for k, output in enumerate(found.outputs):
            of = [found.names[i], str(output)] if subject.several else [found.names[i]]
            kinds = [shapes[i][k], str(found.mains[i, k])]
            at = rounded(shown_cut(float(found.at[i, k])).number, 9)
            numbers = [rounded(float(found.against[i, k]), 9), at, rounded(float(found.shares[i, k]), 9)]
            rows.append([*of, *kinds, *numbers])
    columns = [
        column("Direction", "text"),
        column("Main direction", "text"),
        column(f"Largest step against it{subject.units}"),
        column("At", "edge"),
        column("Weight affected" if subject.weighted else "Rows affected", "share"),
    ]
    table = _table_of_features(subject, "Monotonicity", columns, rows)
    more = tables_of_promises(subject)
    parts: dict[str, Any] = {"table": table, "tools": len(rows) > FEW} | ({"more": more} if more else {})
    about = (_about_shapes(subject), _cut_off(rows), about_promises(subject))
    return section("monotonicity", "Monotonicity", *about, **parts), words


def _table_of_features(
    subject: Subject, caption: str, columns: list[dict[str, str]], rows: list[list[Any]], *, outputs: bool = True
) -> dict[str, Any]:
    """Return a table whose lines start with a feature, and with an output if there are several."""
    first = [column("Feature", "name"), *([column("Output", "text")] if subject.several and outputs else [])]
    rows = rows[:MOST_LINES]
    features = [subject.number_of.get(row[0]) for row in rows]
    return {"caption": caption, "columns": [*first, *columns], "rows": rows, "features": features}


def _cut_off(rows: list[list[Any]]) -> str:
    return f"The first {MOST_LINES:,} of {len(rows):,} lines are listed." if len(rows) > MOST_LINES else ""


def spikes_section(subject: Subject) -> tuple[Section, dict[str, int], Spikes | None]:
    """Return the section on spikes, the number of spikes of each feature, and all stretches that a grid misses."""
    if not subject.numbers:
        return section("spikes", "Spikes", f"Not examined: {_why_no_numbers(subject)}."), {}, None
    missed = spikes(subject.view, subject.numbers)
    found = list(missed)
    count: dict[str, int] = {}
    for spike in found:
        count[spike.feature] = count.get(spike.feature, 0) + is_spike(spike.rows, subject.total)
    wide = len(found) - sum(count.values())
    between = "the first and the last cut" if missed.basis == "covers" else "the minimum and the maximum"
    if missed.basis == "counts":
        between += " (or the first and the last cut, where these are infinite or not known)"
    text = (
        f"Parts of a curve that would not show if it were sampled at {missed.points} evenly spaced values between "
        f"{between}: between two sample points, the exact curve leaves the range of both by more than 5 % of its whole "
        f"range. The cause may be a special value, such as a default, a limit or a code.{_left_out(subject)}"
        f"{_about_wide(wide)}"
    )
    if not found:
        return section("spikes", "Spikes", text, "None were found."), count, missed
    rows = []
    for spike in found:
        of = [spike.feature, str(spike.output)] if subject.several else [spike.feature]
        ends = [rounded(shown_cut(x).number, 9) for x in (spike.above, spike.to)]
        heights = [rounded(x) for x in (spike.height, spike.by, spike.share)]
        rows.append([*of, *ends, *heights, rounded(spike.rows, 9)])
    columns = [
        column("From", "edge"),
        column("To", "edge"),
        column(f"Height{subject.units}"),
        column("Distance from neighbours"),
        column("Share of the range", "share"),
        column("Weight") if subject.weighted else column("Rows", "count"),
    ]
    table = _table_of_features(subject, f"What {missed.points} evenly spaced values would miss", columns, rows)
    return section("spikes", "Spikes", text, _cut_off(rows), table=table, tools=len(rows) > FEW), count, missed


def _about_wide(n: int) -> str:
    """Return a sentence about the parts of curves that have many rows."""
    if not n:
        return ""
    what = "One of them has" if n == 1 else f"{n:,} of them have"
    return f" {what} a twentieth of the rows or more, and {'is' if n == 1 else 'are'} not counted as spikes."


# ------------------------------------------------------------------------------------------------ missing values


def missing_section(subject: Subject) -> Section:
    """Return the section on missing values: the value of each curve where the feature is missing."""
    title = "Missing values"
    rows: list[list[Any]] = []
    for name in subject.names:
        if name not in subject.curves or name not in subject.used:
            continue
        curve = subject.curves[name]
        off = curve.heights[-1] - curve.mean
        k = int(np.abs(off).argmax())
        low, high = _range(curve, k)
        inside = "inside" if low <= curve.heights[-1, k] <= high else "outside"
        rows.append([name, share_of_missing(curve), rounded(curve.heights[-1, k]), rounded(off[k]), inside])
    if not rows:
        why = "the model has no splits" if not subject.used else f"all used features are {_what_has_no_order(subject)}"
        return section("missing", title, f"Not examined: {why}.", short="Missing")
    rows.sort(key=lambda row: -(row[1] or 0.0))
    columns = [
        column("Missing", "share"),
        column(f"Value if missing{subject.units}"),
        column("Difference from the average"),
        column("Range of the curve", "text"),
    ]
    table = _table_of_features(subject, title, columns, rows, outputs=False) | {"sort": 1}
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
