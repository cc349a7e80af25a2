"""What the model is, and how it was checked that the report is about this model and these rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import numpy as np

from glasswood._report._subject import Section, Subject, section
from glasswood._tables import n_rows

__all__ = ["checks_section", "model_section"]

MOST_VISITS = 2 * 10**7  # rows x trees that scoring anew for a check may cost: a second or two
TRIED = 5  # features whose curves are computed again, at most
SECONDS = 1.0  # after which no further curve is
NEAR = 1e-9  # of the size of the score: sums in another order
NEAR_SINGLE = 1e-5  # where the library itself adds up in float32


def model_section(subject: Subject, version: str) -> Section:
    """Return what the model is."""
    study, e = subject.study, subject.study.ensemble
    library, _, kind = e.source.partition(" ")
    plan = study.plan(1)
    facts = [
        ("Library and class", f"{library} {kind}".strip()),
        ("Trees", f"{e.n_trees:,}"),
        ("Leaves", f"{e.n_leaves:,} (up to {_most_leaves(subject):,} in a tree)"),
        ("Longest path", f"{plan.depth:,} splits, {plan.most_players:,} different features"),
        ("Features", f"{len(plan.players):,}, of which {len(subject.used):,} are used"),
        ("Outputs", _outputs(study.outputs.labels)),
        ("Scale of the curves", study.units if study.additive else f"{study.units} (average over rows)"),
        ("Averaged over", _rows_text(subject)),
        ("Fingerprint of the splits", plan.fingerprint),
        ("Fingerprint with leaf values", _fingerprint(subject)),
        ("Glasswood", version),
        ("Made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
    return section(
        "model",
        "The model",
        "The splits' fingerprint is the one that saved backgrounds carry; two models with the same fingerprint with "
        "leaf values have the same trees and the same predictions.",
        facts=[list(fact) for fact in facts],
    )


def _most_leaves(subject: Subject) -> int:
    return int(np.bincount(subject.study.plan(1).leaf_tree).max(initial=0))


def _outputs(names: tuple[Any, ...]) -> str:
    shown = ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "")
    return f"{len(names):,}: {shown}" if len(names) > 1 else shown


def _rows_text(subject: Subject) -> str:
    study = subject.study
    if study.table is None and subject.background is None:
        return "the covers kept from training (path-dependent), no rows"
    count = n_rows(study.table) if subject.background is None else subject.background.n_rows
    return f"{count:,} rows" + (f", weight {subject.total:,.6g}" if subject.weighted else "")


def _fingerprint(subject: Subject) -> str:
    """Return a hash of all that predictions depend on."""
    e = subject.study.ensemble
    digest = hashlib.blake2b(subject.study.plan(1).fingerprint.encode(), digest_size=16)
    for array in (e.value, e.tree_output, e.score.base, np.array([e.score.scale, e.score.divisor])):
        digest.update(np.ascontiguousarray(array).tobytes() + b"|")
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ checks


def checks_section(subject: Subject) -> Section:
    """Return how it was checked: each check is an item with what was found."""
    items = [_read_check(subject), *_count_checks(subject), *_mean_check(subject), *_curve_check(subject)]
    return section(
        "checks",
        "How it was checked",
        "Each line is a check that ran on this model and these rows when the report was made.",
        short="Checks",
        list=items,
    )


def _item(tag: str, text: str, good: bool | None) -> dict[str, Any]:  # noqa: FBT001 (the outcome is the content)
    return {"tag": tag, "text": text, "state": "" if good is None else "good" if good else "bad"}


def _read_check(subject: Subject) -> dict[str, Any]:
    """Return what is known of the comparison with the model's own library."""
    tag = "Same scores"
    proof = subject.study.proof
    if proof is not None:
        text = (
            f"The raw scores of {proof.n_rows:,} rows, rebuilt from the trees, were compared with the library's own: "
            f"{proof.n_equal:,} of {proof.n_scores:,} are equal in every bit, the largest difference is "
            f"{proof.largest:.3g}."
        )
        return _item(tag, text, good=True)
    if subject.study.table is None:
        return _item(tag, "Not compared with the model's own library here: there are no rows.", good=None)
    text = (
        "The scores rebuilt from the trees were compared with the library's own on up to 100 rows when the model was "
        "read (unless it was given as arrays already); a model that differs is refused."
    )
    return _item(tag, text, good=None)


def _count_checks(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield that each row was counted in each tree, once."""
    background, tag = subject.background, "Each row counted once"
    if background is None:
        return
    plan = subject.study.plan(background.order)
    in_leaf = background.counts[plan.leaf_offset[:-1]]  # the first count of a leaf is that of the empty set
    per_tree = np.zeros(subject.study.ensemble.n_trees, dtype=np.int64)
    np.add.at(per_tree, plan.leaf_tree, in_leaf)
    wrong = int((per_tree != background.total).sum())
    what = f"{background.n_rows:,} rows" + (f" of weight {background.weight:,.6g}" if subject.weighted else "")
    if wrong:
        yield _item(tag, f"The leaves of {wrong:,} trees do not add up to {what}.", good=False)
        return
    text = f"In each of {per_tree.size:,} trees, the counts of the leaves add up to all {what}."
    yield _item(tag, text, good=True)


def _affordable(subject: Subject) -> bool:
    study = subject.study
    return study.table is not None and n_rows(study.table) * study.ensemble.n_trees <= MOST_VISITS


def _mean_score(subject: Subject, table: Any) -> Any:
    """Return the mean score of all rows of a table, row by row, with the weights of the background."""
    scores = np.asarray(subject.study.ensemble.predict(table), dtype=np.float64)
    return np.average(scores.reshape(len(scores), -1), axis=0, weights=_weights(subject))


def _weights(subject: Subject) -> Any:
    weight = subject.study.weight
    return None if weight is None else np.asarray(weight, dtype=np.float64)


def _near(subject: Subject) -> float:
    return NEAR_SINGLE if subject.study.ensemble.score.dtype == "float32" else NEAR


def _mean_check(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield that the mean score of the counts is that of the rows."""
    if not subject.study.additive or not _affordable(subject):
        return
    chosen = subject.study.outputs.choose()
    ours, rows = chosen.levels(subject.study.mean), chosen.levels(_mean_score(subject, subject.study.table))
    off = float(np.abs(ours - rows).max())
    text = (
        f"The average score from the counts is {ours[0]:.9g}, and from all rows one by one {rows[0]:.9g}"
        f"{' (first output)' if subject.several else ''}; the largest difference is {off:.2g}."
    )
    yield _item("Same average", text, good=off <= _near(subject) * max(1.0, float(np.abs(rows).max())))


def _curve_check(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield that curves are what one gets by giving every row the same value and scoring it anew."""
    names = [name for name in subject.names if name in set(subject.numbers)][:TRIED]
    if not names or not _affordable(subject):
        return
    worst, size, start, tried = 0.0, 0.0, perf_counter(), 0
    for name in names:
        if tried and perf_counter() - start > SECONDS:
            break
        tried += 1
        curve = subject.curves[name]
        cell = int(np.abs(curve.heights[: curve.cuts.size] - curve.mean).max(axis=1).argmax())
        ice = subject.explainer.ice(name, at=np.array([[curve.cuts[cell]]]))
        brute = np.average(ice.heights[:, 0], axis=0, weights=_weights(subject))
        worst = max(worst, float(np.abs(brute - curve.heights[cell]).max()))
        size = max(size, float(np.abs(brute).max()))
    which = f"{tried} curves" if tried > 1 else "one curve"
    text = (
        f"The most extreme point of {which} was computed again without counts: every row was given that value, and "
        f"scored; the largest difference is {worst:.2g}."
    )
    yield _item("Same curves", text, good=worst <= _near(subject) * max(1.0, size))
