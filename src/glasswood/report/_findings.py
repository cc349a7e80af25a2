"""What a reviewer should look at first: a short list of the main results of the other sections."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasswood.plots._cuts import cell_text, shown_cut, shown_cuts
from glasswood.report._local import items_apart
from glasswood.report._subject import Section, Subject, in_brackets, section, shapes_of
from glasswood.report._wording import NEARLY, is_spike, sample_note, text_of_grids, text_of_reversals
from glasswood.results import BrokenPromise, Measures, Spike, Spikes
from glasswood.study._shapes import monotonicity
from glasswood.text._plain import number, percent, plain, share_of_rows
from glasswood.text._printable import how_many

__all__ = ["findings_section"]

EACH = 3  # findings of a kind


def findings_section(
    subject: Subject, spikes: Spikes | None, sections: dict[str, Section], measures: Measures | None = None
) -> Section:
    """Return the list of findings; `sections` are those already made, by their anchors."""
    items = [
        *_promises(subject),
        *_failed(sections["checks"]),
        *_beyond_limits(subject, measures),
        *_strongest(subject),
        *_interactions(subject, sections["interactions"]),
        *(_item(subject, "Unlikely rows", [name], text) for name, text in items_apart(subject)),
        *_spikes(subject, spikes),
        *_nearly_monotone(subject),
        *_beyond_rows(subject),
        *_missing(subject, sections["missing"]),
        *_groups(subject, sections.get("groups")),
        *_unused(subject),
        *_alike(subject),
    ]
    return section(
        "summary",
        "What to look at",
        "The main findings of the sections below. A finding is not necessarily an error.",
        short="Summary",
        list=items,
    )


def _item(subject: Subject | None, tag: str, names: list[str], text: str) -> dict[str, Any]:
    feature = subject.number_of.get(names[0]) if subject is not None and names else None
    return {"tag": tag, "names": names, "text": text, "feature": feature, "state": ""}


def _promises(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield monotone constraints that the model declares and breaks, and those that are not proven."""
    found = subject.certificate
    if found is None:
        return
    for one in found.broken:
        of = f" (of {plain(one.output)})" if len(found.outputs) > 1 else ""
        moves = "falls" if one.declared == "increasing" else "rises"
        text = (
            f"the model declares that it is {one.declared}, but it is not: the score{of} {moves} by {number(one.by)}"
            f"{in_brackets(found.units)} if the value goes from {number(one.values[0])} to {number(one.values[1])} in "
            f"a row that was found from the trees{_rows_against(subject, one)}. See Monotonicity."
        )
        yield _item(subject, "Promise broken", [one.feature], text) | {"state": "bad"}
    for i, k in zip(*np.nonzero(found.verdicts == "open"), strict=True):
        bound = (found.falls if found.promised[i, k] > 0 else found.rises)[i, k]
        word = "increasing" if found.promised[i, k] > 0 else "decreasing"
        text = (
            f"the model declares that it is {word}. This is not proven from the trees, but no row was found that "
            f"breaks it; none moves against it by more than {number(bound)}."
        )
        yield _item(subject, "Promise not proven", [found.names[i]], text)


def _rows_against(subject: Subject, one: BrokenPromise) -> str:
    """Return how many rows break a promise, if they are at hand."""
    found = subject.rows_against
    if found is None or one.feature not in found.names:
        return ""
    k = found.outputs.index(one.output) if one.output in found.outputs else 0
    count = found.heights[found.names.index(one.feature), k]
    weight = f"a weight of {count:,.6g}" if subject.weighted else f"{round(count):,}"
    return f"; {weight} of {subject.rows_text} break it, too" if count else ""


def _failed(made: Section) -> Iterator[dict[str, Any]]:
    """Yield the checks that failed, which invalidate the rest of the report."""
    for item in made["list"]:
        if item["state"] == "bad":
            yield {"tag": "Check failed", "names": [], "text": f"{item['tag']}. {item['text']}", "state": "bad"}


def _beyond_limits(subject: Subject, measures: Measures | None) -> Iterator[dict[str, Any]]:
    """Yield measures of the gate that are beyond their limits."""
    if measures is None:
        return
    for one in list(measures.violations)[:EACH]:
        of = "" if one.output is None else f" of {plain(one.output)}"
        text = f"{plain(one.name)}: {one.measure}{of} {number(one.value)}, not allowed: {plain(one.rule)}."
        yield _item(subject, "Limit exceeded", [] if one.feature is None else [one.feature], text)
    more = len(measures.violations) - EACH
    if more > 0:
        yield _item(subject, "Limit exceeded", [], f"{how_many(more, 'more value')} beyond the limits: see Gate.")


def _strongest(subject: Subject) -> Iterator[dict[str, Any]]:
    found = subject.importance
    if found is None:
        return
    square = found.total**2
    for name, value, part in zip(found.names[:EACH], found.total, square, strict=False):
        if value > 0:
            share = percent(float(part / square.sum()))
            units = subject.units_of_importance
            sample = sample_note(found.n_rows, sampled=found.sampled)
            text = (
                f"if it is redrawn from the rows, the root mean squared change is {number(value)}{units}{sample}, "
                f"{share} of the sum of squares of all features."
                if found.kind == "total"
                else f"its curve has a standard deviation of {number(value)}{units}, and {share} of the sum of all "
                "curves' variances."
            )
            yield _item(subject, "Most important", [name], text)


def _interactions(subject: Subject, made: Section) -> Iterator[dict[str, Any]]:
    scale = "" if subject.view.scale.is_score else f" (of the raw score, {subject.study.ensemble.score.units})"
    for a, b, strength, h in made["table"]["rows"][:EACH] if "table" in made else ():
        yield _item(None, "Interaction", [a, b], f"strength {number(strength)}{scale}, H {number(h)}.")


def _spikes(subject: Subject, spikes: Spikes | None) -> Iterator[dict[str, Any]]:
    if spikes is None:
        return
    seen: set[str] = set()
    basis, points = spikes.basis, spikes.points
    for spike in spikes:
        if spike.feature in seen or len(seen) == EACH:
            continue
        seen.add(spike.feature)
        rows = "" if np.isnan(spike.rows) else f", where there {_rows_there(subject, spike.rows)}"
        ends = shown_cuts([spike.above, spike.to])
        where = cell_text(ends, 1, whole=subject.curves[spike.feature].axis.whole)
        text = (
            f"{'up' if spike.by > 0 else 'down'} by {number(abs(spike.by))} ({percent(spike.share)} of its range) for "
            f"values {where}{rows}. {_grids(subject, spike, basis, points)}"
        )
        tag = "Spike" if is_spike(spike.rows, subject.total) else "Missed by a grid"
        yield _item(subject, tag, [spike.feature], text)


def _grids(subject: Subject, spike: Spike, basis: str, points: int) -> str:
    """Return which grids would show a stretch of a curve: one between percentiles needs the rows."""
    study, values = subject.study, None
    if study.over.in_memory:
        feature = study.ensemble.feature_names.index(spike.feature)
        values, weight = np.asarray(study.columns([feature]).column(feature), dtype=np.float64), study.over.weights
        values = values if weight is None else values[weight > 0]
    return text_of_grids(points, basis, spike.above, spike.to, values)


def _rows_there(subject: Subject, rows: float) -> str:
    if subject.weighted:
        return f"is a weight of {rows:,.6g}"
    return f"{'is' if rows == 1 else 'are'} {how_many(round(rows), 'row')}"


def _nearly_monotone(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield features that are monotonic with small exceptions, where a constraint may have been intended."""
    if not subject.numbers:
        return
    found = monotonicity(subject.view, subject.numbers)
    told = 0
    for name in subject.names:
        if name not in found.names or told == EACH:
            continue
        i = found.names.index(name)
        k = int(found.against[i].argmax())
        if shapes_of(subject, found, i)[k].startswith("nearly"):
            told += 1
            against, share = float(found.against[i, k]), float(found.shares[i, k])
            at = shown_cut(float(found.at[i, k])).number
            text = text_of_reversals(str(found.mains[i, k]), against, at, share, weighted=subject.weighted)
            yield _item(subject, "Nearly monotone", [name], text)


def _beyond_rows(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield features whose curves are most extreme where there are no rows."""
    worst = []
    for name, curve in subject.curves.items():
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
        yield _item(subject, "Outside the data", [name], text)


def _missing(subject: Subject, made: Section) -> Iterator[dict[str, Any]]:
    rows = [row for row in made["table"]["rows"] if row[1]] if "table" in made else []
    for name, share, _, off, inside in sorted(rows, key=lambda row: -row[1] * abs(row[3]))[:EACH]:
        side = f"{number(abs(off))} {'above' if off > 0 else 'below'} the average {subject.noun}"
        text = f"{share_of_rows(share, weighted=subject.weighted)}; {side}"
        beyond = "" if inside == "inside" else ", outside the range of its curve"
        yield _item(subject, "Missing values", [name], f"{text}{beyond}.")


def _groups(subject: Subject, made: Section | None) -> Iterator[dict[str, Any]]:
    """Yield the range of the averages of groups, and the curves that differ most."""
    if made is None:
        return
    yield from _averages(made["more"][0])
    units = made["table"]["columns"][1]["name"].removeprefix("Difference") if "table" in made else ""
    for name, difference, _, shift in made["table"]["rows"][:EACH] if "table" in made else ():
        moved = "" if shift is None else f"; shift (PSI) of the feature itself {number(shift)}"
        text = f"curves of the groups differ by {number(difference)}{units}{moved}."
        yield _item(subject, "Groups", [name], text)


def _averages(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the lowest and the highest average of groups in the last column."""
    heads = [head["name"] for head in table["columns"]]
    rows = table["rows"]
    if len(rows) < 2 or "Output" in heads or heads[-1] in ("Rows", "Weight"):
        return
    low, high = (choose(rows, key=lambda row: row[-1]) for choose in (min, max))
    show = percent if table["columns"][-1]["kind"] == "share" else number
    what = heads[-1][0].lower() + heads[-1][1:]
    text = f"{what} from {show(low[-1])} ({plain(low[0])}) to {show(high[-1])} ({plain(high[0])})."
    yield _item(None, "Groups", [], text)


def _unused(subject: Subject) -> Iterator[dict[str, Any]]:
    unused = [name for name in subject.names if name not in subject.used]
    if unused:
        many = f"{how_many(len(unused), 'feature')} {'is' if len(unused) == 1 else 'are'}"
        yield _item(None, "Not used", [], f"{many} not used in any split; see the section below.")


def _alike(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield names that only differ in case, spaces, invisible characters or similar letters of other alphabets."""
    groups: dict[str, list[str]] = {}
    for name in subject.names:
        groups.setdefault(_skeleton(name), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield _item(None, "Similar names", names[:4], f"{len(names)} different columns.")


# Letters of other alphabets that look like Latin ones.
LOOKS_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u03bf\u03b1\u03bd\u03c1\u0410\u0412\u0415\u041a"
    "\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcyxijsoavpABEKMHOPCTXABEZHIKMNOPTX",
)


def _skeleton(name: str) -> str:
    """Return the part of a name that a hurried reader notices."""
    text = unicodedata.normalize("NFKC", name).translate(LOOKS_LIKE).casefold()
    return "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") and not c.isspace())
