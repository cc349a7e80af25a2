"""Drift: how curves, and the rows under them, differ between groups of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._background import Background
from glasswood._compare import compare
from glasswood._report._panels import merged_steps, rounded, steps_json
from glasswood._report._subject import Section, Subject, column, section
from glasswood._summarize import summarize
from glasswood.errors import GlasswoodError, TableError
from glasswood.plots import _make

__all__ = ["drift_section"]

MOST_FIGURES = 40
MOST_STEPS = 300
MOST_GROUPS = 24


ABOUT = (
    "The same model, averaged over each group of rows. Difference is how far the centred curves are apart, on average "
    "over rows: the groups' other features differ, so the same value means something else. Shift is the population "
    "stability index of the feature itself; above 0.1 is customarily called small, above 0.25 large."
)
COLUMNS = [column("Feature", "name"), column("Difference", "bar"), column("Largest"), column("Shift")]


def drift_section(subject: Subject, by: Any) -> Section:
    """Return how groups of rows differ; `by` is Backgrounds of groups, or what tells the group of each row."""
    groups = {_group_name(key): background for key, background in _backgrounds(subject, by).items()}
    groups = {name: background for name, background in groups.items() if background.total > 0}
    if len(groups) < 2:
        return section("drift", "Drift by group", "There is only one group of rows, so there is nothing to compare.")
    compared = dict(list(groups.items())[:MOST_GROUPS])
    comparison = _compare(subject, compared)
    figures = _figures(comparison)
    rows = [
        [name, rounded(float(comparison.total[k])), rounded(float(comparison.largest[k].max())), rounded(float(shift))]
        for k, (name, shift) in enumerate(zip(comparison.features, comparison.shift, strict=True))
    ]
    table = {
        "caption": "Differences between groups",
        "columns": COLUMNS,
        "rows": rows,
        "sort": 1,
        "figures": [k if k < len(figures) else None for k in range(len(rows))],
    }
    left = len(groups) - len(compared)
    notes = [
        "" if subject.study.additive else f"Groups are compared on the raw score ({comparison.units}).",
        f"Only the first {MOST_GROUPS} groups are compared; {left:,} are left out." if left else "",
    ]
    facts = [[name, f"{background.n_rows:,} rows"] for name, background in compared.items()]
    parts = {"short": "Drift", "facts": facts, "tools": True, "linked": True, "page": 6}
    return section("drift", "Drift by group", ABOUT, " ".join(notes).strip(), table=table, figures=figures, **parts)


def _compare(subject: Subject, groups: Mapping[str, Background]) -> Any:
    """Return the comparison of groups of rows."""
    explainer = type(subject.explainer)
    return compare({name: explainer(subject.study.ensemble, background) for name, background in groups.items()})


def _group_name(key: Any) -> str:
    if isinstance(key, tuple):
        return ", ".join(map(_group_name, key))
    return "(missing)" if key is None else str(key)


def _backgrounds(subject: Subject, by: Any) -> Mapping[Any, Background]:
    """Return the counts of each group, counting if need be."""
    study = subject.study
    if isinstance(by, Mapping):
        wrong = [key for key, value in by.items() if not isinstance(value, Background)]
        if wrong:
            message = f"by= is a dict of Backgrounds, as summarize(by=...) returns; {wrong[0]!r} has something else"
            raise TableError(message)
        return by
    if study.originals is not None or (study.table is None and study.source is None):
        message = (
            "by= needs the rows; pass the dict of Backgrounds that summarize(model, rows, by=...) returns, or make the "
            "Explainer with the table"
        )
        raise TableError(message)
    weight = study.weight
    if study.source is not None:
        found: Mapping[Any, Background] = study.source.count(study.plan(1), weight, by)
        return found
    try:
        grouped: Mapping[Any, Background] = summarize(
            study.ensemble, study.table, groups=study.groups or None, sample_weight=weight, by=by
        )
    except GlasswoodError as error:
        message = f"by={by!r} does not tell the groups of rows: {error}"
        raise TableError(message) from error
    return grouped


def _figures(comparison: Any) -> list[dict[str, Any]]:
    """Return the curves of the features that differ most, one line per group."""
    figures = []
    for k, name in enumerate(comparison.features[:MOST_FIGURES]):
        output = int(np.nan_to_num(comparison.largest[k]).argmax())
        panel = _make.panel_of_comparison(comparison, name, output)
        total, panel = _with_all_rows(comparison, name, panel)
        figures.append(
            {
                "id": f"drift-{k}",
                "names": [name],
                "sub": "",
                "panels": [{"label": "", "panel": steps_json(merged_steps(panel, MOST_STEPS), total)}],
            }
        )
    return figures


def _with_all_rows(comparison: Any, name: str, panel: Any) -> tuple[float, Any]:
    """Return the number of rows of all groups, and a panel that shows where all of them are."""
    rows = [curve.axis.rows for curve in comparison.curves(name).values()]
    if not all(one.size for one in rows) or len({one.size for one in rows}) > 1:
        return 0.0, replace(panel, support=(), missing_share=None)
    summed: NDArray[np.float64] = np.array(rows, dtype=np.float64).sum(axis=0)
    total = float(summed.sum())
    if panel.x.edges and len(panel.support) == len(panel.x.edges) - 1:
        shares = summed / max(total, 1e-300)
        panel = replace(panel, support=tuple(shares[: len(panel.support)].tolist()), missing_share=float(shares[-1]))
    return total, panel
