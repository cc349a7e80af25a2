"""The checks behind a report. A check that was not run says why."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from glasswood.report._common import Item, Section, section
from glasswood.report._subject import Subject
from glasswood.study._study import Study
from glasswood.text._printable import how_many

__all__ = ["checks_section"]

MAX_VISITS = 2 * 10**7  # rows x trees that scoring anew for a check may cost: a second or two
MIN_ROWS = 100  # of a sample
TRIED = 5  # features whose curves are computed again, at most
SECONDS = 1.0  # after which no further curve is
NEAR = 1e-9  # of the size of the score: rounding due to the order of summation
ROUNDING = 1e-12  # of the sum of weights that are not whole numbers
NEAR_SINGLE = 1e-5  # where the library itself adds up in float32


def checks_section(subject: Subject) -> Section:
    """Return the section on checks: one item per check with its result, or the reason why it was not run."""
    own = subject.study.model.own
    compared = [] if own is None else [_item("Same predictions", f"{own.text[:1].upper()}{own.text[1:]}.", good=None)]
    items = [_read_check(subject), *compared, _count_check(subject)]
    tried = _affordable(subject)
    if isinstance(tried, str):
        items += [_item(tag, f"Not run: {tried}.", good=None) for tag in ("Same average", "Same curves")]
    else:
        items += [_mean_check(tried), _curve_check(tried)]
    return section(
        "checks",
        "How it was checked",
        "These checks were run on this model and these rows when the report was made. A check mark means that a check "
        "passed, a cross that it failed; a line without a mark says why the check was not run.",
        short="Checks",
        list=items,
    )


def _item(tag: str, text: str, *, good: bool | None) -> Item:
    return {"tag": tag, "text": text, "state": "" if good is None else "good" if good else "bad"}


def _read_check(subject: Subject) -> Item:
    """Return the result of the comparison with the model's own library."""
    tag, study = "Same scores", subject.study
    proof = study.model.proof
    if proof is not None:
        text = (
            f"The raw scores of {how_many(proof.n_rows, 'row')}, computed from the trees, were compared with the "
            f"library's own: {proof.n_equal:,} of {proof.n_scores:,} are bit-identical, and the largest "
            f"difference is {proof.largest:.3g}."
        )
        return _item(tag, text, good=proof.passed)
    if study.combined and subject.rows == "table":
        text = (
            "The model combines several models. Its predictions, computed from all of their trees, agree with its own "
            "to 1e-6 on the first 100 rows (or all, if there are fewer); otherwise it would have been refused."
        )
        return _item(tag, text, good=True)
    why = {
        "none": "there are no rows",
        "counts": "there are only counts of rows",
        "table": "the model was given as trees that had already been read",
    }[subject.rows]
    return _item(tag, f"Not run: the scores were not compared with the model's own library, because {why}.", good=None)


def _count_check(subject: Subject) -> Item:
    """Return whether each row was counted exactly once in each tree."""
    background, tag = subject.background, "Each row counted once"
    if background is None:
        if subject.rows == "none":
            return _item(tag, "Not run: there are no rows.", good=None)
        return _item(tag, "Not run: the model is so large that its counts are not kept.", good=None)
    plan = subject.study.plan(background.order)
    if subject.study.ensemble.derived is not None:
        text = "Not run: leaves of models with statistics of combinations (CTRs) are not counted."
        return _item(tag, text, good=None)
    in_leaf = background.counts[plan.leaf_offset[:-1]]  # the first count of a leaf is that of the empty set
    per_tree = np.zeros(subject.study.ensemble.n_trees, dtype=np.int64)
    np.add.at(per_tree, plan.leaf_tree, in_leaf)
    rounding = 0 if background.unit == 1 else ROUNDING * abs(background.total)  # of weights that are not whole
    wrong = int((np.abs(per_tree - background.total) > rounding).sum())
    what = how_many(background.n_rows, "row") + (
        f" with a total weight of {background.weight:,.6g}" if subject.weighted else ""
    )
    if wrong:
        return _item(
            tag,
            f"In {wrong:,} of {how_many(per_tree.size, 'tree')}, the counts of the leaves do not add up to {what}.",
            good=False,
        )
    text = f"In each of {how_many(per_tree.size, 'tree')}, the counts of the leaves add up to all {what}."
    return _item(tag, text, good=True)


# ---------------------------------------------------------------------------------------------- scoring rows anew


class Tried:
    """The rows that are scored again (all, or a sample), and the results for these."""

    def __init__(self, subject: Subject, sample: NDArray[np.intp] | None) -> None:
        self.study: Study = subject.study if sample is None else subject.study.on_some_rows(sample)
        self.view = subject.view.of(self.study)
        self.subject = subject
        n = self.study.over.n_rows
        weighed = " with their weights" if self.study.over.weight is not None else ""
        self.rows = (
            f"all {how_many(n, 'row')}"
            if sample is None
            else f"a sample of {n:,} of {subject.study.over.n_rows:,} rows"
        ) + weighed

    def average(self, responses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted average over the rows."""
        return np.average(responses, axis=0, weights=self.view.row_weights)

    def near(self, size: float) -> float:
        """Return the largest difference that the order of summation can explain."""
        single = self.study.ensemble.score.dtype == "float32"
        return (NEAR_SINGLE if single else NEAR) * max(1.0, size)


def _affordable(subject: Subject) -> Tried | str:
    """Return the rows to score again, or why there are none."""
    study = subject.study
    if subject.rows == "none":
        return "there are no rows"
    if subject.rows == "counts":
        return "it needs the rows themselves, and only counts of them are available"
    n, max_ = study.over.n_rows, max(MIN_ROWS, MAX_VISITS // max(1, study.ensemble.n_trees))
    if n <= max_:
        return Tried(subject, None)
    weight = study.over.weights
    counted = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    chosen = np.unique(np.linspace(0, counted.size - 1, max_).astype(np.intp))
    return Tried(subject, counted[chosen])


def _mean_check(tried: Tried) -> Item:
    """Return whether the average equals that of the rows scored one by one."""
    view, noun = tried.view, tried.subject.noun
    ours, anew = (tried.subject.chosen(x) for x in (view.mean, tried.average(view.scored_anew({}))))
    off, size = float(np.abs(ours - anew).max()), float(np.abs(anew).max())
    first = " (first output)" if tried.subject.several else ""
    text = (
        f"The average {noun} of {tried.rows} is {ours[0]:.9g} in this report, and {anew[0]:.9g} if rows are scored "
        f"one by one{first}; the largest difference is {off:.2g}."
    )
    return _item("Same average", text, good=off <= tried.near(size))


def _curve_check(tried: Tried) -> Item:
    """Return whether curves are reproduced by setting the same value in every row and scoring it again."""
    subject, tag = tried.subject, "Same curves"
    names = [name for name in subject.names if name in subject.single and name in subject.used]
    if not names:
        why = "the features are columns of a pipeline, or groups" if subject.used else "the model has no splits"
        return _item(tag, f"Not run: {why}.", good=None)
    worst, size, start, done = 0.0, 0.0, perf_counter(), 0
    for name in names[:TRIED]:
        if done and perf_counter() - start > SECONDS:
            break
        done += 1
        feature = tried.study.ensemble.feature_names.index(name)
        heights = tried.view.curves[feature]
        cell = int(np.abs(heights - tried.view.mean).max(axis=1).argmax())
        anew = tried.average(tried.view.scored_anew({feature: _values_in(tried.study, feature, cell)}))
        worst = max(worst, float(np.abs(anew - heights[cell]).max()))
        size = max(size, float(np.abs(anew).max()))
    which = f"{done} curves" if done > 1 else "one curve"
    text = (
        f"The most extreme point of {which} was recomputed without counts, on {tried.rows}: each row was given that "
        f"value and scored; the largest difference is {worst:.2g}."
    )
    return _item(tag, text, good=worst <= tried.near(size))


def _values_in(study: Study, feature: int, cell: int) -> NDArray[np.float64]:
    """Return a column of a constant value from a cell of a feature."""
    cells = study.plan(1).cells
    n_codes, cuts = int(cells.n_codes[feature]), cells.cuts_of(feature)
    if cell == cells.n_cells[feature] - 1:
        value = np.nan
    elif n_codes:
        value = float(cell) if cell < n_codes else -1.0
    elif cell < cuts.size:
        value = float(cuts[cell])
    else:  # some nodes only ask whether a value is missing
        value = float(np.nextafter(cuts[-1], np.inf)) if cuts.size else 1.0
    return np.full(study.over.n_rows, value)
