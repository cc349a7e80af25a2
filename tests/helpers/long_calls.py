"""Calls that take long, in a process of their own, to be interrupted: `python long_calls.py FOLDER NAME...`.

Says "ready" before each, and afterwards what became of it: how many seconds it took, whether it was interrupted, and
which threads of Glasswood were still alive right behind it and a moment later.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier

import glasswood as gw

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
NAMES = [f"x{k}" for k in range(12)]


def rows(n: int, seed: int = 0) -> Any:
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 12)).astype(np.float32), columns=NAMES)


def target(X: Any) -> Any:
    return X["x0"] * X["x1"] + np.sin(3 * X["x2"]) + X.sum(axis=1) / 3


def trees(n_trees: int, **settings: Any) -> Any:
    X = rows(4000)
    return ExtraTreesRegressor(n_trees, random_state=0, **settings).fit(X, target(X))


def small() -> Any:
    """Trees that are counted with bitsets."""
    return trees(150, max_leaf_nodes=300)


def large() -> Any:
    """Trees that are counted with lists."""
    return trees(12)


def classifier() -> Any:
    X = rows(4000)
    return HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(X, target(X) > 0)


def curves() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(1_000_000))
    return ex.partial_dependence


def curves_of_weighted_rows() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(200_000), sample_weight=np.random.default_rng(0).random(200_000))
    return ex.partial_dependence


def curves_of_large_trees() -> Callable[[], object]:
    ex = gw.Explainer(large(), rows(1_000_000))
    return ex.partial_dependence


def pairs() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(200_000))
    return lambda: ex.partial_dependence("x0", "x1")


def pairs_of_large_trees() -> Callable[[], object]:
    ex = gw.Explainer(large(), rows(60_000))
    return lambda: ex.partial_dependence("x0", "x1")


def strengths() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(100_000))
    return ex.interaction_strengths


def grids() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(1000))
    ex.partial_dependence("x0", "x1")
    return lambda: dict(ex.joint_partial_dependence(grid={name: np.linspace(-2, 2, 100) for name in NAMES}).grid_values)


def points() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(1000))
    at = rows(100_000)
    return lambda: ex.partial_dependence("x0", "x1", "x2", at=at)


def tables_of_interactions() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(1000))
    return lambda: ex.interaction_values(rows(10), max_order=4)


def interactions() -> Callable[[], object]:
    ex = gw.Explainer(trees(100, max_leaf_nodes=100), rows(1000))
    return lambda: ex.interaction_values(rows(1_000_000), max_order=2).mean_abs()


def shapley_values() -> Callable[[], object]:
    ex = gw.Explainer(trees(100, max_leaf_nodes=60, max_depth=8), rows(1000))
    return lambda: ex.shap_values(rows(1_000_000))


def shapley_values_of_large_trees() -> Callable[[], object]:
    ex = gw.Explainer(large(), rows(3000))
    return lambda: ex.shap_values(rows(20_000))


def shapley_values_by_covers() -> Callable[[], object]:
    ex = gw.Explainer(large())
    return lambda: ex.shap_values(rows(100_000))


def shapley_interactions() -> Callable[[], object]:
    ex = gw.Explainer(large(), rows(2000))
    return lambda: ex.shap_interaction_values(rows(2000))


def probabilities() -> Callable[[], object]:
    ex = gw.Explainer(classifier(), rows(1_000_000), response="probability")
    return ex.partial_dependence


def ice() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(20_000))
    return lambda: ex.ice("x0")


def report() -> Callable[[], object]:
    ex = gw.Explainer(small(), rows(1_000_000))
    return lambda: ex.report(FOLDER / "report.html")


def groups_of_rows() -> Callable[[], object]:
    model, table, by = small(), rows(500_000), np.arange(500_000) % 5
    return lambda: gw.summarize(model, table, by=by)


def parquet() -> Callable[[], object]:
    model = small()
    rows(1_000_000).to_parquet(FOLDER / "rows.parquet", row_group_size=1_000_000)
    return lambda: gw.summarize(model, FOLDER / "rows.parquet", order=2)


def stream() -> Callable[[], object]:
    model, table = small(), rows(300_000)
    return lambda: gw.summarize(model, iter([table] * 20), order=2)


def predictions() -> Callable[[], object]:
    ensemble, table = gw.read_model(trees(300, max_leaf_nodes=300)), rows(1_000_000)
    return lambda: ensemble.predict(table)


CASES = {
    function.__name__: function
    for function in (
        curves,
        curves_of_weighted_rows,
        curves_of_large_trees,
        pairs,
        pairs_of_large_trees,
        strengths,
        grids,
        points,
        tables_of_interactions,
        interactions,
        shapley_values,
        shapley_values_of_large_trees,
        shapley_values_by_covers,
        shapley_interactions,
        probabilities,
        ice,
        report,
        groups_of_rows,
        parquet,
        stream,
        predictions,
    )
}


def alive() -> list[str]:
    """The threads of Glasswood's pools."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("glasswood")]


def main() -> None:
    for name in sys.argv[2:]:
        call = CASES[name]()
        start, interrupted = time.monotonic(), None
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        try:
            call()
        except KeyboardInterrupt:
            interrupted = time.monotonic()
        left = alive()
        note = {"name": name, "seconds": time.monotonic() - start, "interrupted": interrupted, "threads": left}
        time.sleep(0.2)
        sys.stdout.write(json.dumps(note | {"later": alive()}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
