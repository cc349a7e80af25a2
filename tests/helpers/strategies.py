"""Hypothesis strategies: ensembles of any shape, with ties, missing values, infinities and categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import CodeColumn, Column, NumberColumn
from glasswood.tables._tables import Schema

VALUES = (-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf)  # few, so that ties with cuts are common


@st.composite
def ensembles(draw: st.DrawFn, max_trees: int = 4, max_depth: int = 5) -> TreeEnsemble:
    """A TreeEnsemble of some trees, with one-leaf trees, repeated features and category splits among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = tuple(
        CodeColumn(f"c{j}", int(rng.integers(1, 130))) if rng.random() < 0.4 else NumberColumn(f"x{j}")
        for j in range(draw(st.integers(1, 5)))
    )
    n_outputs = draw(st.integers(1, 3))
    vector = n_outputs == 1 or draw(st.booleans())
    sets = CategorySets()
    trees = [
        _tree(rng, columns, sets, n_outputs if vector else 1, int(rng.integers(max_depth + 1)))._replace(
            output=-1 if vector else int(rng.integers(n_outputs))
        )
        for _ in range(draw(st.integers(1, max_trees)))
    ]
    score = Score(
        base=rng.normal(size=n_outputs),
        labels=("prediction",) if n_outputs == 1 else tuple(range(n_outputs)),
        units="value",
        scale=float(rng.choice([1.0, 0.3])),
        divisor=float(rng.choice([1.0, len(trees)])),
        base_first=bool(rng.random() < 0.5),
        dtype="float32" if rng.choice(["float64", "float32"]) == "float32" else "float64",
    )
    return TreeEnsemble(**stack(trees, sets), schema=Schema(columns), score=score, source="hypothesis")


def _tree(rng: np.random.Generator, columns: Sequence[Column], sets: CategorySets, n_values: int, depth: int) -> Tree:
    nodes: list[dict[str, Any]] = []

    def grow(level: int) -> int:
        at = len(nodes)
        j = int(rng.integers(len(columns)))
        node: dict[str, Any] = {
            "feature": j,
            "cut": float(rng.choice(VALUES)),
            "category_set": -1,
            "left": -1,
            "right": -1,
        }
        node |= {"missing_left": rng.random() < 0.5, "unseen_left": rng.random() < 0.5}
        node |= {"value": rng.normal(size=n_values), "cover": float(rng.integers(1, 100))}
        if columns[j].n_codes:
            node["category_set"] = sets.add(rng.random(columns[j].n_codes) < 0.5)
        nodes.append(node)
        if level < depth and rng.random() < 0.8:
            node["left"] = grow(level + 1)
            node["right"] = grow(level + 1)
        return at

    grow(0)
    arrays: dict[str, Any] = {name: np.array([node[name] for node in nodes]) for name in nodes[0]}
    return Tree(**arrays)


def tables(ensemble: TreeEnsemble, n_rows: int, seed: int) -> NDArray[np.float64]:
    """Rows for an ensemble: values at the cuts and beside them, missing ones, known and unknown categories."""
    rng = np.random.default_rng(seed)
    table = np.empty((n_rows, ensemble.n_features))
    for j, column in enumerate(ensemble.schema.columns):
        if column.n_codes:
            table[:, j] = rng.integers(-1, column.n_codes + 1, size=n_rows)
        else:
            table[:, j] = rng.choice(VALUES, size=n_rows)
            table[:, j] = np.where(rng.random(n_rows) < 0.3, np.nextafter(table[:, j], 0.0), table[:, j])
    table[rng.random(table.shape) < 0.15] = np.nan
    return table
