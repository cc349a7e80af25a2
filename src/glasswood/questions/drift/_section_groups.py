"""Groups of rows: how many there are, what the model predicts for each, and how curves and columns differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.engines._local import count_groups
from glasswood.errors import GlasswoodError, TableError
from glasswood.models._combinations import linked
from glasswood.plots._spec import Steps
from glasswood.questions.curves._section import curves_of
from glasswood.questions.drift._answer import compare_views
from glasswood.questions.drift._panel import panel_of_comparison
from glasswood.questions.drift._result import Comparison
from glasswood.report._common import EACH, Item, Section, average_of, column, in_brackets, noun_of, section
from glasswood.report._panels import anchors, merged_steps, rounded, steps_json
from glasswood.report._subject import Subject
from glasswood.results.panels._layout import layout_of
from glasswood.study._build import study_of
from glasswood.study._view import View, view_of
from glasswood.tables._row_columns import places_of_groups, sorted_groups
from glasswood.text._arguments import brief
from glasswood.text._plain import number, percent, plain

__all__ = ["Groups", "findings_of_groups", "groups_of", "groups_section"]

MAX_FIGURES = 40
MAX_STEPS = 300
MAX_GROUPS = 24
MAX_LISTED = 200
MAX_VISITS = 10**9  # rows x trees that predictions of groups may cost: as much as counting, or so


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of rows.

    Parameters
    ----------
    backgrounds : dict from str to Background
        The counts of each group that has rows.
    columns : tuple of str
        The names of the columns that define the groups, if any.
    members : dict from str to ndarray, or None
        The rows of each group in the table; None without a table.
    """

    backgrounds: dict[str, Background]
    columns: tuple[str, ...] = ()
    members: dict[str, NDArray[np.intp]] | None = None


def groups_of(subject: Subject, by: object) -> Groups:
    """Return groups of rows after counting; `by` is a mapping of Backgrounds, or defines the group of each row."""
    if isinstance(by, Mapping):
        return Groups(_named(_checked(subject, by)))
    study = subject.study
    columns = _columns_in(by, study.over.n_rows if study.over.in_memory else None)
    # Raw scores of groups come from counts, or from sums if leaves are not counted.
    further = () if study.ensemble.derived is None else (study.responses_spec(study.scale("raw")),)
    if study.over.once_only:
        return Groups(_named(study.over.count_by(study.plan(1), by, further)), columns)
    if not study.over.in_memory:
        message = (
            "by= defines groups of rows, but the explainer has no rows; pass the dict of Backgrounds that "
            "summarize(model, rows, by=...) returns, or create the Explainer with the table"
        )
        raise TableError(message)
    try:
        keys, places = places_of_groups(study.user_table, by)
        used = study.columns(study.ensemble.used_features)
        result = sorted_groups(count_groups(study.plan(1), used, study.over.weight, keys, places, further))
    except GlasswoodError as error:
        message = f"by={brief(by)} does not define groups of rows: {error}"
        raise TableError(message) from error
    number = {key: k for k, key in enumerate(keys)}
    members = {name: np.flatnonzero(places == number[key]) for key, name in _names_of(result).items()}
    return Groups(_named(result), columns, members)


def _columns_in(by: object, n_rows: int | None) -> tuple[str, ...]:
    """Return the names of the columns that define the groups; none if `by` has one entry per row."""
    if isinstance(by, str):
        return (by,)
    if not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by):
        return ()
    return tuple(by) if len(by) != n_rows else ()


def _checked(subject: Subject, by: Mapping[Any, Any]) -> Mapping[Any, Background]:
    """Raise an error unless all values of a mapping are backgrounds of this model."""
    for key, value in by.items():
        if not isinstance(value, Background):
            message = f"by= is a dict of Backgrounds, as summarize(by=...) returns; {key!r} has something else"
            raise TableError(message)
        if value.fingerprint != subject.study.plan(value.order).fingerprint:
            message = f"by=: the background of {key!r} has a different model or different groups of columns"
            raise TableError(message)
    return by


def _named(result: Mapping[Any, Background]) -> dict[str, Background]:
    """Return the groups that have rows, by their names."""
    names = _names_of(result)
    return {names[key]: background for key, background in result.items() if background.total > 0}


def _names_of(keys: Iterable[Any]) -> dict[Any, str]:
    """Return a unique name for the key of each group."""
    names = {key: _group_name(key) for key in keys}
    alike = {name for name, many in Counter(names.values()).items() if many > 1}
    return {key: repr(key) if name in alike else name for key, name in names.items()}


def _group_name(key: object) -> str:
    if isinstance(key, tuple):
        return ", ".join(map(_group_name, key))
    return "(missing)" if key is None else str(key)


# ------------------------------------------------------------------------------------------------ the section


def groups_section(subject: Subject, groups: Groups) -> Section:
    """Return how groups of rows differ."""
    title = f"Groups by {', '.join(map(plain, groups.columns))}" if groups.columns else "Groups of rows"
    parts: dict[str, Any] = {"short": "Groups"}
    about, more = _predictions(subject, groups)
    if len(groups.backgrounds) < 2:
        text = "There is only one group of rows, so there is nothing to compare."
        return section("groups", title, text, about, more=[more], **parts)
    compared = dict(list(groups.backgrounds.items())[:MAX_GROUPS])
    comparison, why = _compared(subject, compared)
    if comparison is None:
        text = f"The curves of the groups are not compared: {why}."
        return section("groups", title, about, more=[more], after=[text], **parts)
    aliases = [name for name in comparison.features if name in subject.used and _tells(comparison, name, groups)]
    kept = [k for k, name in enumerate(comparison.features) if name in subject.used and name not in aliases]
    figures = _figures(subject, comparison, [comparison.features[k] for k in kept[:MAX_FIGURES]])
    rows = [[comparison.features[k], *(rounded(float(x)) for x in _numbers_of(comparison, k))] for k in kept]
    units = in_brackets(comparison.units)
    columns = [
        column("Feature", "name"),
        column(f"Difference{units}", "bar"),
        column(f"Largest{units}"),
        column("Shift (PSI)"),
    ]
    table = {
        "caption": "Differences between groups",
        "columns": columns,
        "rows": rows,
        "sort": 1,
        "figures": [k if k < len(figures) else None for k in range(len(rows))],
    }
    left = len(groups.backgrounds) - len(compared)
    notes = " ".join(_notes(subject, comparison, aliases, left))
    parts |= {"tools": True, "linked": True, "page": 6, "more": [more], "table": table, "figures": figures}
    parts["after"] = [text for text in (_about_difference(subject, comparison), notes) if text]
    return section("groups", title, about, **parts)


def _numbers_of(comparison: Comparison, k: int) -> tuple[Any, Any, Any]:
    return comparison.total[k], comparison.largest[k].max(), comparison.shift[k]


def _about_difference(subject: Subject, comparison: Comparison) -> str:
    two = len(comparison.names) == 2
    apart = (
        "the distance between the two centred curves"
        if two
        else "the distance between the highest and the lowest centred curve"
    )
    pairs = "" if two else " It is that of the two groups that differ most."
    over = " With several outputs, Difference is the root of the sum of squares; Largest and the figures are of the "
    over = f"{over}output with the largest difference." if subject.several else ""
    return (
        "Below, the curves of the same model are averaged over each group of rows. They differ because the groups "
        f"differ in their other features. Difference is {apart}, averaged over the rows with equal weight for each "
        "group; Largest is the largest such distance. Shift is the population stability index (PSI) of the feature "
        "itself. By convention, below 0.1 is no shift, 0.1 to 0.25 a moderate one, and above 0.25 a large one."
        f"{pairs}{over}"
    )


def _notes(subject: Subject, comparison: Comparison, aliases: list[str], left: int) -> Iterator[str]:
    if aliases:
        names = ", ".join(plain(name) for name in aliases[:5]) + (", ..." if len(aliases) > 5 else "")
        alone = "it alone" if len(aliases) == 1 else "each of these alone"
        yield f"Not listed, because {alone} identifies the groups: {names}."
    if not subject.view.scale.is_score:
        yield f"Curves of groups are compared on the raw score ({comparison.units}), which is a sum over trees."
    if left:
        yield f"Curves of the first {MAX_GROUPS} of {MAX_GROUPS + left:,} groups are compared."


def _compared(subject: Subject, groups: Mapping[str, Background]) -> tuple[Any, str]:
    """Return the comparison of groups of rows, or None and the reason."""
    if subject.study.combined:
        return None, "the model combines several models, which have no common score that is a sum over trees"
    views = {name: _score_from_counts(subject, background) for name, background in groups.items()}
    try:
        return compare_views(views), ""
    except TableError:  # nothing but groups of columns, or columns of a pipeline that have points only
        return None, "no feature has a curve"


def _score_from_counts(subject: Subject, background: Background) -> View:
    """Return the raw score of the model, averaged over the rows of a group."""
    return view_of(study_of(subject.study.ensemble, background), "raw")


def _tells(comparison: Comparison, name: str, groups: Groups) -> bool:
    """Return whether a feature identifies the groups: each has one value of it, and no two have the same."""
    if name in groups.columns:
        return True
    rows = [curve.axis.rows for curve in comparison.curves(name).values()]
    if not all(one.size for one in rows) or len({one.size for one in rows}) > 1:
        return False
    held = np.array(rows) > 0
    return bool((held.sum(axis=1) == 1).all() and (held.sum(axis=0) <= 1).all())


# ------------------------------------------------------------------------------------------------ predictions


def _predictions(subject: Subject, groups: Groups) -> tuple[str, dict[str, Any]]:
    """Return a sentence and a table about the predictions for each group."""
    names = list(groups.backgrounds)[:MAX_LISTED]
    result = _predictions_of_rows(subject, groups, names) or _averages_from_counts(subject, groups, names)
    several = len(result.labels) > 1
    head = [column("Group", "text"), *([column("Output", "text")] if several else [])]
    head.append(column("Weight") if subject.weighted else column("Rows", "count"))
    rows: list[list[Any]] = []
    for name, lines in zip(names, result.lines, strict=True):
        background = groups.backgrounds[name]
        count = rounded(background.weight, 9) if subject.weighted else background.n_rows
        for label, numbers in zip(result.labels, lines, strict=True):
            rows.append([name, *([str(label)] if several else []), count, *map(rounded, numbers)])
    n_groups = len(groups.backgrounds)
    text = result.about + (
        f" The first {len(names):,} of {n_groups:,} groups are listed." if n_groups > len(names) else ""
    )
    return text, {"caption": "Groups", "columns": [*head, *result.columns], "rows": rows}


class _Found(NamedTuple):
    """The predictions for groups: one number per group, label and column."""

    about: str
    columns: list[dict[str, str]]
    labels: tuple[Any, ...]
    lines: list[list[list[float]]]


def _predictions_of_rows(subject: Subject, groups: Groups, names: list[str]) -> _Found | None:
    """Return the predictions for the rows of each group; None if there are no rows, or too many."""
    study, members = subject.study, groups.members
    if members is None or study.over.n_rows * study.ensemble.n_trees > MAX_VISITS:
        return None
    all_given = subject.view.scored_anew({})
    given = subject.chosen(all_given)
    columns, shown = [column(average_of(subject.view.units))], [given]
    about = f"The average {subject.noun} of the rows of each group."
    if _is_classifier(subject):
        probability = given
        if subject.view.units != "probability":
            offset = 0.0 if study.over.offset is None else study.over.offset
            probability = subject.chosen(linked(study.ensemble.score, all_given + offset))
            columns.append(column("Average probability"))
            shown.append(probability)
        one = probability.shape[1] == 1
        chosen = probability > 0.5 if one else probability.argmax(axis=1)[:, None] == np.arange(probability.shape[1])
        columns.append(column("Selection rate", "share"))
        shown.append(chosen.astype(np.float64))
        which = f"of {plain(subject.labels[0])} is above 0.5" if one else "of the output is the highest"
        about += f" Selection rate is the share of rows whose probability {which}."
    weight = subject.view.row_weights
    lines = []
    for rows in (members[name] for name in names):
        own = None if weight is None else weight[rows]
        lines.append(np.transpose([np.average(values[rows], axis=0, weights=own) for values in shown]).tolist())
    return _Found(about, columns, subject.labels, lines)


def _is_classifier(subject: Subject) -> bool:
    """Return whether the model predicts probabilities, on this scale or behind its link."""
    scale = subject.view.scale
    return scale.units == "probability" or (scale.is_score and scale.score.link in ("logistic", "softmax"))


def _averages_from_counts(subject: Subject, groups: Groups, names: list[str]) -> _Found:
    """Return the average raw score of each group, computed from counts, if there is one."""
    if subject.study.combined:
        return _Found("", [], ("",), [[[]] for _ in names])
    result = [_score_from_counts(subject, groups.backgrounds[name]) for name in names]
    units = subject.study.ensemble.score.units
    about = f"The average {noun_of(units)} of the rows of each group, computed from counts."
    if _is_classifier(subject):
        about += " Average probabilities and selection rates cannot be computed from counts."
    lines = [[[value] for value in one.level.tolist()] for one in result]
    return _Found(about, [column(average_of(units))], result[0].labels, lines)


# ------------------------------------------------------------------------------------------------ figures


def _figures(subject: Subject, comparison: Comparison, names: list[str]) -> list[dict[str, Any]]:
    """Return the curves of the features that differ most, one line per group."""
    figures = []
    number = {name: k for k, name in enumerate(comparison.features)}
    for anchor, name in zip(anchors("group", names), names, strict=True):
        output = int(np.nan_to_num(comparison.largest[number[name]]).argmax())
        total, panel = _with_all_rows(comparison, name, output, _panel(subject, comparison, name, output))
        figures.append(
            {
                "id": anchor,
                "names": [name],
                "sub": "",
                "panels": [{"label": "", "panel": steps_json(merged_steps(panel, MAX_STEPS), total)}],
            }
        )
    return figures


def _panel(subject: Subject, comparison: Comparison, name: str, output: int) -> Steps:
    """Return the panel of a feature. Groups only have counts; the extent of their values is taken from the table."""
    known = curves_of(subject).get(name)
    if known is None:
        return panel_of_comparison(comparison, name, output, fit=False)
    curves = tuple(
        replace(curve, axis=replace(curve.axis, find_extent=known.axis.find_extent))
        for curve in comparison.curves(name).values()
    )
    return panel_of_comparison(replace(comparison, shared={**comparison.shared, name: curves}), name, output, fit=False)


def _with_all_rows(comparison: Comparison, name: str, output: int, panel: Steps) -> tuple[float, Steps]:
    """Return the number of rows of all groups, and a panel that shows where all of them are."""
    curves = list(comparison.curves(name).values())
    rows = [curve.axis.rows for curve in curves]
    if not all(one.size for one in rows) or len({one.size for one in rows}) > 1:
        return 0.0, replace(panel, support=(), missing_share=None, unseen_share=None)
    summed: NDArray[np.float64] = np.array(rows, dtype=np.float64).sum(axis=0)
    total = float(summed.sum())
    shares = summed / max(total, 1e-300)
    axis = curves[0].axis
    cells = layout_of(axis, curves[0].heights[:, output]).cells
    unseen = None if axis.categories is None else float(shares[axis.n_main : -1].sum())
    support, missing = tuple(shares[cells].tolist()), float(shares[-1])
    return total, replace(panel, support=support, missing_share=missing, unseen_share=unseen)


# ---------------------------------------------------------------------------------------------- findings


def findings_of_groups(subject: Subject, made: Section) -> Iterator[Item]:
    """Yield the range of the averages of groups, and the curves that differ most."""
    yield from _averages(subject, made["more"][0])
    units = made["table"]["columns"][1]["name"].removeprefix("Difference") if "table" in made else ""
    for name, difference, _, shift in made["table"]["rows"][:EACH] if "table" in made else ():
        moved = "" if shift is None else f"; shift (PSI) of the feature itself {number(shift)}"
        text = f"curves of the groups differ by {number(difference)}{units}{moved}."
        yield subject.item("Groups", [name], text)


def _averages(subject: Subject, table: dict[str, Any]) -> Iterator[Item]:
    """Yield the lowest and the highest average of groups in the last column."""
    heads = [head["name"] for head in table["columns"]]
    rows = table["rows"]
    if len(rows) < 2 or "Output" in heads or heads[-1] in ("Rows", "Weight"):
        return
    low, high = (choose(rows, key=lambda row: row[-1]) for choose in (min, max))
    show = percent if table["columns"][-1]["kind"] == "share" else number
    what = heads[-1][0].lower() + heads[-1][1:]
    text = f"{what} from {show(low[-1])} ({plain(low[0])}) to {show(high[-1])} ({plain(high[0])})."
    yield subject.item("Groups", [], text)
