"""Rating tables: a model as mains and pairs, and what they leave of the scores of all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasswood.effects._table_remainder import Remainder, Rest, Table, WantedRemainder
from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError
from glasswood.models._outputs import Chosen
from glasswood.parallel._once import Deferred
from glasswood.results import LeftByTable, RatingTable, Strengths
from glasswood.study._answers import Answers
from glasswood.study._on_scale import OnScale

__all__ = ["rating_table"]

MOST_ENTRIES = 2**24
BLOCK = 2**14  # rows at a time
NO_ROWS = (
    "a rating table is made in two passes over the rows: for its entries, and for what they leave. Pass a table, files "
    "or a frame as the background; a Background and a stream that is read once do not have the rows"
)


def rating_table(
    values: OnScale, answers: Answers, chosen: Chosen, pairs: Sequence[tuple[str, str]] | Strengths, most: int
) -> RatingTable:
    """Return mains of all features that the model uses, and the interactions of some pairs, or of the strongest."""
    study, e = values.study, values.study.ensemble
    _refuse(values, chosen)
    names, used = e.feature_names, e.used_features.tolist()
    if isinstance(pairs, Strengths):
        strong = zip(pairs.pairs, pairs.heights[:, 0].tolist(), strict=True)
        listed = [pair for pair, strength in strong if strength > 0][:most]
    else:
        listed = list(pairs)
    places = [(names.index(a), names.index(b)) for a, b in listed]
    cells = study.plan(1).cells.n_cells
    n_entries = sum(int(cells[a]) * int(cells[b]) for a, b in places) + int(cells[used].sum())
    if n_entries > MOST_ENTRIES:
        message = f"the table would have {n_entries:,} entries, at most {MOST_ENTRIES:,} are made; ask for fewer pairs"
        raise TooLargeError(message)
    curves = {f: answers.curve(f, chosen) for f in used}
    base = float(chosen.levels(values.mean)[0])
    mains = {f: curve.heights[:, 0] - base for f, curve in curves.items()}
    surfaces = {pair: answers.surface(*pair, chosen).raw_interaction for pair in places}
    tables = {pair: one[:, :, 0] for pair, one in surfaces.items() if one is not None}
    table = Table(base, mains, tables, chosen.columns[0], -1.0 if chosen.total is not None else 1.0)
    found = _remainder(values, table)
    return RatingTable(
        base=base,
        axes={names[f]: curve.axis for f, curve in curves.items()},
        mains={names[f]: heights for f, heights in mains.items()},
        pairs={(names[a], names[b]): heights for (a, b), heights in tables.items()},
        exact=_is_exact(values, set(places)),
        left=LeftByTable(found.mean, found.share, *found.bounds),
        output=chosen.labels[0],
        link=e.score.link,
        units=values.scale.units,
        schema=e.schema,
        find_worst=Deferred(lambda: _worst(values, table)) if study.over.in_memory else None,
    )


def _refuse(values: OnScale, chosen: Chosen) -> None:
    study = values.study
    study.plan(1).refuse_derived()
    if not study.over.can_count:
        raise BackgroundError(NO_ROWS)
    if len(chosen.labels) > 1:
        message = f"a rating table is that of one output; pass output=, one of {list(chosen.labels[:20])!r}"
        raise TableError(message)
    if study.groups:
        message = (
            f"the entries of a rating table belong to single columns, and {next(iter(study.groups))!r} is a group of "
            "columns, or a column of a pipeline that cannot be folded into the trees"
        )
        raise ArgumentError(message)


def _is_exact(values: OnScale, pairs: set[tuple[int, int]]) -> bool:
    """Return whether no path has more than two features, and all pairs that share a path are in the table."""
    study, plan = values.study, values.study.plan(1)
    if plan.most_players > 2:
        return False
    found = {(int(a), int(b)) for a, b in zip(*np.nonzero(study.pairs), strict=True) if a != b}
    known = {(min(pair), max(pair)) for pair in pairs}
    return {(min(pair), max(pair)) for pair in found} <= known


def _remainder(values: OnScale, table: Table) -> Remainder:
    study, wanted = values.study, WantedRemainder(table)
    found = study.one_pass(wanted)
    limbs, sizes = found.vectors[wanted.key], found.vectors[f"{wanted.key} sizes"]
    return Remainder.of(study.ensemble, limbs, sizes, found.total)


def _worst(values: OnScale, table: Table) -> tuple[int, float]:
    """Return the row of a table in memory with the largest remainder, and the remainder."""
    study, rest = values.study, Rest(values.study.ensemble, table)
    rows, weight = study.own_rows(rest.plan), study.over.weights
    best = (0, 0.0)
    for start in range(0, rows.n_rows, BLOCK):
        end = min(rows.n_rows, start + BLOCK)
        score, told = rest.of_cells(rows.cells(start, end))
        left = score - told if weight is None else np.where(weight[start:end] > 0, score - told, 0.0)
        row = int(np.abs(left).argmax())
        if abs(left[row]) > abs(best[1]):
            best = (start + row, float(left[row]))
    return best
