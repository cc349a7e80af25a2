"""Panels of importance and of interaction strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._spec import Bars, Matrix, Network
from glasswood.results._certificate import Certificate
from glasswood.results._drawable import drawn
from glasswood.results._h_statistics import HStatistics
from glasswood.results._importance import Importance, Ranking, Strengths
from glasswood.results._permutation import PermutationImportance
from glasswood.results._rating_table import RatingTable
from glasswood.results._row_monotonicity import RowMonotonicity
from glasswood.results.panels._outputs import outputs_shown, scale_label
from glasswood.results.panels._surfaces import nested
from glasswood.text._arguments import whole_number
from glasswood.text._plain import number, plain

__all__ = [
    "panel_of_certificate",
    "panel_of_h_statistics",
    "panel_of_importance",
    "panel_of_permutation",
    "panel_of_rating_table",
    "panel_of_row_monotonicity",
    "panel_of_strengths",
]

KINDS = {"total": "root mean squared change if redrawn", "main": "standard deviation of the curve"}


@drawn(Importance)
def panel_of_importance(importance: Importance, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of an `Importance`: a bar per feature, the most important first."""
    title = "Importance" if importance.kind == "total" else "Importance of curves alone"
    shown, _ = outputs_shown(np.asarray(importance.heights), importance.outputs, output)
    units = scale_label(importance.units, importance.outputs, shown, average=False)
    found = ranked_bars(importance, output, top, title, f"{KINDS[importance.kind]} ({units})")
    return replace(found, note=joined(_sample(importance), found.note))


@drawn(HStatistics)
def panel_of_h_statistics(found: HStatistics, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of `HStatistics`: a bar per feature, the one that interacts most first."""
    return ranked_bars(found, output, top, "Interaction of each feature with all others", "H")


@drawn(RowMonotonicity)
def panel_of_row_monotonicity(found: RowMonotonicity, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of a `RowMonotonicity`: the share of rows that go against the direction of each feature."""
    order = np.argsort(-np.asarray(found.shares).max(axis=1, initial=0.0), kind="stable")
    ranked = Ranked(np.asarray(found.shares)[order], [found.names[i] for i in order], found.outputs, found.units)
    return ranked_bars(ranked, output, top, "Rows that go against the direction of a feature", "share of the rows")


@drawn(RatingTable)
def panel_of_rating_table(found: RatingTable, *, top: int = 20) -> Bars:
    """Return the panel of a `RatingTable`: how far the entries of each feature and pair are apart."""
    spans = sorted(found.spans.items(), key=lambda item: -item[1])
    heights = np.array([span for _, span in spans]).reshape(-1, 1)
    ranked = Ranked(heights, [name for name, _ in spans], (found.output,), found.units)
    units = scale_label(found.units, ranked.outputs, [0], average=False)
    bars = ranked_bars(ranked, None, top, "Entries of the rating table", f"largest minus smallest entry ({units})")
    return replace(bars, note=joined(bars.note, found.told_left))


class Ranked(NamedTuple):
    """Heights of features in the order of the figure."""

    heights: NDArray[np.float64]
    names: Sequence[str]
    outputs: tuple[Any, ...]
    units: str


def ranked_bars(result: Ranking, output: int | None, top: int, title: str, label: str) -> Bars:
    """Return bars of the heights of features."""
    heights = np.asarray(result.heights)
    shown, note = outputs_shown(heights, result.outputs, output)
    order = np.arange(len(heights)) if output is None else np.argsort(-heights[:, shown[0]], kind="stable")
    order, some = first_of(order, top)
    several = len(shown) > 1
    return Bars(
        title=title,
        x_label=label,
        labels=tuple(plain(result.names[i]) for i in order),
        values=tuple(tuple(heights[order, k].tolist()) for k in shown),
        series=tuple(plain(result.outputs[k]) for k in shown) if several else ("",),
        note=joined(some, note),
    )


@drawn(PermutationImportance)
def panel_of_permutation(importance: PermutationImportance, *, top: int = 20) -> Bars:
    """Return the panel of a `PermutationImportance`: a bar per feature, with its band if it has one."""
    order, some = first_of(np.arange(len(importance.names)), top)
    reach = importance.reach
    return Bars(
        title="Permutation importance",
        x_label=f"increase of the mean {plain(importance.loss)}, which is {number(importance.base)}",
        labels=tuple(plain(importance.names[i]) for i in order),
        values=(tuple(np.asarray(importance.values)[order].tolist()),),
        reach=() if reach is None else tuple(np.asarray(reach)[order].tolist()),
        note=joined(some, _sample(importance), "lines: bands of 95 %" if reach is not None else ""),
    )


@drawn(Certificate)
def panel_of_certificate(found: Certificate, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of a `Certificate`: how far the score can fall and rise at most along each feature."""
    bounds = np.stack([found.falls, found.rises])
    heights = bounds.max(axis=2) if output is None else bounds[:, :, output]
    order, some = first_of(np.argsort(-heights.max(axis=0), kind="stable"), top)
    shown = range(len(found.outputs)) if output is None else [output]
    units = scale_label(found.units, found.outputs, list(shown), average=False)
    broken = {one.feature for one in found.broken}
    return Bars(
        title="How far the score can move along each feature",
        x_label=f"at most ({units})",
        labels=tuple(f"{plain(found.names[i])}{' (broken promise)' * (found.names[i] in broken)}" for i in order),
        values=tuple(tuple(side[order].tolist()) for side in heights),
        series=("falls", "rises"),
        note=joined(some, found.caveat, "no bar: proven for every row"),
    )


def first_of(order: NDArray[np.intp], top: int) -> tuple[NDArray[np.intp], str]:
    """Return the features that are shown, and a note if some are left out."""
    top = whole_number(top, "top is the number of bars")
    return order[:top], f"the first {top} of {len(order):,} features" if len(order) > top else ""


def _sample(result: Importance | PermutationImportance) -> str:
    """Return a note if only some rows were used."""
    return f"from a sample of {result.n_rows:,} rows" if result.sampled else ""


def joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


@drawn(Strengths)
def panel_of_strengths(
    strengths: Strengths,
    output: int | None = None,
    *,
    kind: str = "heatmap",
    top: int = 12,
    importance: Ranking | None = None,
) -> Matrix | Network:
    """Return the panel of interaction `Strengths`: a square of the features that interact most, or a network of them.

    `importance` sizes the nodes of the network; without it, the size of a node is the sum of its links.
    """
    if kind not in ("heatmap", "network"):
        message = f'kind must be "heatmap" or "network", not {kind!r}'
        raise ArgumentError(message)
    heights = np.asarray(strengths.heights, dtype=np.float64)
    strength = np.sqrt((heights**2).sum(axis=1)) if output is None else heights[:, output]
    top = whole_number(top, "top is the number of features")
    names, square = _square(strengths.pairs, strength, top)
    n_all = len({name for pair in strengths.pairs for name in pair})
    fewer = f"the {len(names)} of {n_all:,} features that interact most" if n_all > len(names) else ""
    note = "; ".join(filter(None, (fewer, strengths.caveat)))
    of = [output] if output is not None else list(range(len(strengths.outputs)))
    largest = ", all outputs" if len(of) > 1 else ""
    label = (
        f"interaction, root mean square ({scale_label(strengths.units, strengths.outputs, of, average=False)}{largest})"
    )
    if kind == "heatmap":
        return Matrix("Interactions", label, tuple(map(plain, names)), nested(square), note)
    return _network(names, square, (importance, output), label, note)


def _square(
    pairs: Sequence[tuple[str, str]], strength: NDArray[np.float64], top: int
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the features with the strongest interactions, and a square of these; NaN where a pair has none."""
    names: list[str] = []
    for i in np.argsort(-strength, kind="stable"):
        names += [name for name in pairs[i] if name not in names and len(names) < top]
    number_of = {name: i for i, name in enumerate(names)}
    square = np.full((len(names), len(names)), np.nan)
    for (a, b), height in zip(pairs, strength, strict=True):
        if a in number_of and b in number_of:
            i, j = number_of[a], number_of[b]
            square[i, j] = square[j, i] = height
    return names, square


def _network(
    names: list[str],
    square: NDArray[np.float64],
    sized: tuple[Ranking | None, int | None],
    label: str,
    note: str,
) -> Network:
    """Return the network of a square of strengths."""
    importance, k = sized
    found = np.nan_to_num(square)
    sizes = found.sum(axis=1)
    if importance is not None:
        heights = np.asarray(importance.heights)
        of = heights.max(axis=1) if k is None else heights[:, k]
        size_of = dict(zip(importance.names, of.tolist(), strict=True))
        sizes = np.array([size_of.get(name, 0.0) for name in names])
    i, j = np.triu_indices(len(names), 1)
    strength = found[i, j]
    order = [n for n in np.argsort(-strength, kind="stable") if strength[n] > 0]
    most = max(strength.max(initial=0.0), 1e-300)
    widest = f"widest link: {label} {number(most)}" if order else "no links"
    return Network(
        title="Interactions",
        labels=tuple(map(plain, names)),
        sizes=tuple((sizes / max(sizes.max(initial=0.0), 1e-300)).tolist()),
        links=tuple((int(i[n]), int(j[n]), float(strength[n] / most)) for n in order),
        z_label=label,
        note="; ".join(filter(None, (widest, note))),
    )
