"""Questions about accumulated local effects, against the library's own scores at the edges of bins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fuzz.session import Session
from fuzz.streams import pick

__all__ = ["QUESTIONS"]


def ale(s: Session) -> None:
    """Heights at edges, rows per bin and missing values of numbers; and that all features have the same answer."""
    rows, shares = s.oracle.rows, s.oracle.shares
    numbers = [player for player in s.singles if rows[player.columns[0]].dtype == np.float64]
    for player in s.few(numbers, 2):
        (column,) = player.columns
        curve = s.ask("partial_dependence", player.name)
        if curve.categories is not None or not curve.cuts.size:
            continue
        found = s.ask("ale", player.name, bins=pick(s.rng, [None, 3, 8]))
        edges = found.edges
        if edges.size < 2:
            continue
        x = np.asarray(found.axis.column.of_any_type().encode(rows[column].to_numpy()), dtype=np.float64)
        bins = np.clip(np.searchsorted(edges, x), 1, edges.size - 1)
        known = ~np.isnan(x)
        each = s.oracle.each(pd.DataFrame({column: edges}))
        number = np.arange(len(x))
        change = (each[number, bins] - each[number, bins - 1])[known]
        weight = np.bincount(bins[known], shares[known], edges.size)[1:]
        sums = np.stack([np.bincount(bins[known], shares[known] * line, edges.size)[1:] for line in change.T], axis=1)
        steps = sums / np.where(weight > 0, weight, 1.0)[:, None]
        heights = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
        middle = (np.append(weight, 0.0) + np.append(0.0, weight)) / 2
        if middle.sum() > 0:
            heights = heights - middle @ heights / middle.sum()
        s.same("ALE at the edges", found.heights, heights, factor=edges.size)
        total = float(np.sum(found.rows)) + float(found.missing_rows)
        s.equal("rows per bin of an ALE", np.asarray(found.rows) / total, weight, within=1e-9)
        everything = s.ask("ale")
        if player.name in everything and s.rng.random() < 0.3:
            alone = s.ask("ale", player.name)
            s.true("ALE of all features", np.array_equal(everything[player.name].heights, alone.heights))


QUESTIONS = (ale,)
