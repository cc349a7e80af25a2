"""Panels of interactions: squares and networks of pairs, and bars of H."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._spec import Bars, Matrix, Network
from glasswood.questions.interactions._result import Strengths
from glasswood.questions.interactions._result_h import HStatistics
from glasswood.results._drawable import drawn
from glasswood.results._ranking import Ranking
from glasswood.results.panels._outputs import as_tuples, scale_label
from glasswood.results.panels._rankings import ranked_bars
from glasswood.text._arguments import whole_number
from glasswood.text._plain import number, plain

__all__ = ["panel_of_h_statistics", "panel_of_strengths"]


@drawn(HStatistics)
def panel_of_h_statistics(result: HStatistics, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of `HStatistics`: a bar per feature, the one that interacts most first."""
    return ranked_bars(result, output, top, "Interaction of each feature with all others", "H")


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
        return Matrix("Interactions", label, tuple(map(plain, names)), as_tuples(square), note)
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
    squares = np.nan_to_num(square)
    sizes = squares.sum(axis=1)
    if importance is not None:
        heights = np.asarray(importance.heights)
        of = heights.max(axis=1) if k is None else heights[:, k]
        size_of = dict(zip(importance.names, of.tolist(), strict=True))
        sizes = np.array([size_of.get(name, 0.0) for name in names])
    i, j = np.triu_indices(len(names), 1)
    strength = squares[i, j]
    order = [n for n in np.argsort(-strength, kind="stable") if strength[n] > 0]
    max_ = max(strength.max(initial=0.0), 1e-300)
    widest = f"widest link: {label} {number(max_)}" if order else "no links"
    return Network(
        title="Interactions",
        labels=tuple(map(plain, names)),
        sizes=tuple((sizes / max(sizes.max(initial=0.0), 1e-300)).tolist()),
        links=tuple((int(i[n]), int(j[n]), float(strength[n] / max_)) for n in order),
        z_label=label,
        note="; ".join(filter(None, (widest, note))),
    )
