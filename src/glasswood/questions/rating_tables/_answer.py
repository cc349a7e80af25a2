"""Rating tables: a model as mains and pairs, and what they leave of the scores of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves import curve_of, surface_of
from glasswood.questions.interactions import interaction_strengths
from glasswood.questions.rating_tables._result import LeftByTable, RatingTable
from glasswood.questions.rating_tables._statistic import Remainder, RemainderSpec, Rest, Table
from glasswood.study._view import View
from glasswood.text._arguments import whole_number

__all__ = ["rating_table"]


MAX_ENTRIES = 2**24

BLOCK = 2**14  # rows at a time

NO_ROWS = (
    "a rating table is made in two passes over the rows: for its entries, and for what they leave. Pass a table, files "
    "or a frame as the background; a Background and a stream that is read once do not have the rows"
)


def rating_table(view: View, pairs: int | Sequence[Sequence[Any]] = 10) -> RatingTable:
    """Return mains of all features that the model uses, and the interactions of some pairs, or of the strongest."""
    study, e, chosen = view.study, view.ensemble, view.chosen
    max_, listed = 0, list[tuple[str, str]]()
    if isinstance(pairs, int | np.integer):
        max_ = whole_number(pairs, "pairs is the number of pairs, or a list of pairs", 0)
    else:
        listed = [_pair(view, pair) for pair in pairs]
    _refuse(view)
    names, used = e.feature_names, e.used_features.tolist()
    if max_:
        strengths = interaction_strengths(view)
        strong = zip(strengths.pairs, strengths.heights[:, 0].tolist(), strict=True)
        listed = [pair for pair, strength in strong if strength > 0][:max_]
    places = [(names.index(a), names.index(b)) for a, b in listed]
    cells = study.plan(1).cells.n_cells
    n_entries = sum(int(cells[a]) * int(cells[b]) for a, b in places) + int(cells[used].sum())
    if n_entries > MAX_ENTRIES:
        message = f"the table would have {n_entries:,} entries, at most {MAX_ENTRIES:,} are made; ask for fewer pairs"
        raise TooLargeError(message)
    curves = {f: curve_of(view, f) for f in used}
    base = float(view.level[0])
    mains = {f: own.heights[:, 0] - base for f, own in curves.items()}
    surfaces = {pair: surface_of(view, *pair).raw_interaction for pair in places}
    tables = {pair: one[:, :, 0] for pair, one in surfaces.items() if one is not None}
    table = Table(base, mains, tables, chosen.columns[0], -1.0 if chosen.total is not None else 1.0)
    left = _remainder(view, table)
    return RatingTable(
        base=base,
        axes={names[f]: own.axis for f, own in curves.items()},
        mains={names[f]: heights for f, heights in mains.items()},
        pairs={(names[a], names[b]): heights for (a, b), heights in tables.items()},
        exact=_is_exact(view, set(places)),
        left=LeftByTable(left.mean, left.share, *left.bounds),
        output=view.labels[0],
        link=e.score.link,
        units=view.units,
        schema=e.schema,
        find_worst=Deferred(lambda: _worst(view, table)) if study.over.in_memory else None,
    )


def _pair(view: View, pair: object) -> tuple[str, str]:
    """Return the names of two features."""
    names = view.players(pair if isinstance(pair, tuple | list) else (pair,))
    if len(names) != 2:
        message = f"a pair is two features, not {pair!r}"
        raise ArgumentError(message)
    return names[0], names[1]


def _refuse(view: View) -> None:
    study, chosen = view.study, view.chosen
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


def _is_exact(view: View, pairs: set[tuple[int, int]]) -> bool:
    """Return whether no path has more than two features, and all pairs that share a path are in the table."""
    study, plan = view.study, view.study.plan(1)
    if plan.max_players > 2:
        return False
    result = {(int(a), int(b)) for a, b in zip(*np.nonzero(study.pairs), strict=True) if a != b}
    known = {(min(pair), max(pair)) for pair in pairs}
    return {(min(pair), max(pair)) for pair in result} <= known


def _remainder(view: View, table: Table) -> Remainder:
    study, spec = view.study, RemainderSpec(table)
    result = study.one_pass(spec)
    limbs, sizes = result.vectors[spec.key], result.vectors[f"{spec.key} sizes"]
    return Remainder.of(study.ensemble, limbs, sizes, result.total)


def _worst(view: View, table: Table) -> tuple[int, float]:
    """Return the row of a table in memory with the largest remainder, and the remainder."""
    study, rest = view.study, Rest(view.ensemble, table)
    rows, weight = study.own_rows(rest.plan), study.over.weights
    best = (0, 0.0)
    for start in range(0, rows.n_rows, BLOCK):
        end = min(rows.n_rows, start + BLOCK)
        score, tabulated = rest.of_cells(rows.cells(start, end))
        left = score - tabulated if weight is None else np.where(weight[start:end] > 0, score - tabulated, 0.0)
        row = int(np.abs(left).argmax())
        if abs(left[row]) > abs(best[1]):
            best = (start + row, float(left[row]))
    return best
