"""Metrics of one's own on paths of 12, 16 and 20 features, and each index beside shapiq's exact computation."""

from __future__ import annotations

import time
from functools import partial
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from measure import Figure, Report, race
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema

SPREAD = 8  # levels of a tree that are full; those above them are one path
N_FEATURES = 24
LENGTHS = (12, 16, 20)
INDICES = {
    "SII": gw.metrics.ShapleyInteractions,
    "BII": gw.metrics.BanzhafInteractions,
    "CHII": gw.metrics.ChainingInteractions,
    "Moebius": gw.metrics.PartialDependenceInteractions,
    "Co-Moebius": gw.metrics.ExternalInteractions,
    "STII": gw.metrics.ShapleyTaylor,
    "FSII": gw.metrics.FaithfulShapley,
    "FBII": gw.metrics.FaithfulBanzhaf,
    "k-SII": gw.metrics.KShapleyInteractions,
    "kADD-SHAP": gw.metrics.KAdditiveShapley,
}


class Shapley:
    """Shapley values as a user would write them."""

    def calc_metric(self, s_plus: set[int], s_minus: set[int]) -> dict[int, float]:
        """Return the values of a cube's features."""
        p, m = len(s_plus), len(s_minus)
        with_it = factorial(p - 1) * factorial(m) / factorial(p + m) if p else 0.0
        without = factorial(p) * factorial(m - 1) / factorial(p + m) if m else 0.0
        return dict.fromkeys(s_plus, with_it) | dict.fromkeys(s_minus, -without)


class Pairs:
    """Banzhaf's interactions of features and of pairs, written likewise."""

    def calc_metric(self, s_plus: set[int], s_minus: set[int]) -> dict[Any, float]:
        """Return the values of a cube's features and of its pairs."""
        features = [*s_plus, *s_minus]
        sign = {feature: -1 if feature in s_minus else 1 for feature in features}
        found: dict[Any, float] = {one: sign[one] / 2 ** (len(features) - 1) for one in features}
        for i, one in enumerate(features):
            found |= {(one, other): sign[one] * sign[other] / 2 ** (len(features) - 2) for other in features[:i]}
        return found


def long_tree(rng: np.random.Generator, length: int) -> Tree:
    """One path of ``length - SPREAD`` features, and below it 256 leaves, whose paths have all of the features."""
    stem, n_full = length - SPREAD, 2**SPREAD - 1
    n = 2 * stem + 2 * n_full + 1
    level = np.floor(np.log2(np.arange(n_full) + 1)).astype(np.int64)
    order = rng.permutation(N_FEATURES)[:length]
    feature, left, right = np.zeros(n, dtype=np.int64), *np.full((2, n), -1)
    inner = 2 * np.arange(stem)
    feature[inner], left[inner], right[inner] = order[:stem], inner + 1, inner + 2  # almost all rows go right
    full = 2 * stem + np.arange(n_full)
    feature[full] = order[stem:][level]
    left[full], right[full] = full + np.arange(n_full) + 1, full + np.arange(n_full) + 2
    cover = np.ones(n)
    for node in [*full[::-1], *inner[::-1]]:
        cover[node] = cover[left[node]] + cover[right[node]]
    cut = np.zeros(n)
    cut[inner] = -1.0  # one row in six is at most there
    return Tree(feature, cut, left, right, np.zeros(n, dtype=bool), rng.normal(size=(n, 1)), cover)


def of_own(report: Report, length: int) -> None:
    """Measure metrics of one's own on paths of a length: to ask them, and then per leaf, row and background row."""
    rng = np.random.default_rng(0)
    schema = Schema(tuple(NumberColumn(f"x{j}") for j in range(N_FEATURES)))
    score = Score(base=np.zeros(1), labels=("prediction",), units="value")
    trees = [long_tree(rng, length) for _ in range(4)]
    model = TreeEnsemble(**stack(trees, CategorySets()), schema=schema, score=score, source="made")
    n_rows = 50 if report.quick else 1000
    X = rng.normal(size=(2 * n_rows, N_FEATURES))
    rows, background = X[:n_rows], X[n_rows:]
    case = f"paths of {length} features"
    for name, metric in (("features", Shapley()), ("pairs, too", Pairs())):
        report.add(Figure(case, f"{name}: a metric is asked for its values", asked(metric, length), "s"))
        ask: dict[str, Any] = {
            "against rows": lambda metric=metric: gw.Explainer(model, background).evaluate(metric, rows).values,
            "path-dependent": lambda metric=metric: gw.Explainer(model).evaluate(metric, rows).values,
        }
        for way, laps in race(ask, report.rounds).items():
            report.add(Figure(case, f"{name}, {way}: {n_rows} rows", laps.best, "s", note=laps.error))
            per_leaf = 1e9 * laps.best / (model.n_leaves * n_rows)
            report.add(Figure(case, f"{name}, {way}: per leaf and row", per_leaf, "ns"))


def asked(metric: Any, length: int) -> float:
    """Return the seconds that a metric takes to tell the values of one cube for each number of features."""
    start = time.perf_counter()
    for n in range(length + 1):
        for n_plus in range(n + 1):
            metric.calc_metric(set(range(n_plus)), set(range(n_plus, n)))
    return time.perf_counter() - start


def of_indices(report: Report) -> None:
    """Measure each index of order 2, beside shapiq's exact computation of one row."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 10)), columns=[f"x{j}" for j in range(10)])
    y = X["x0"] * X["x1"] + X["x2"] * X["x3"] * X["x4"] + X["x5"]
    model = HistGradientBoostingRegressor(max_iter=10 if report.quick else 100, max_depth=6, random_state=0).fit(X, y)
    start = time.perf_counter()
    heights = coalitions_of(model, X)
    report.add(Figure("indices", "the scores of all 1,024 coalitions of one row", time.perf_counter() - start, "s"))

    def exact(index: str) -> Any:
        import shapiq

        def play(coalitions: Any) -> Any:
            return heights[np.asarray(coalitions, dtype=int) @ (1 << np.arange(10))]

        return shapiq.ExactComputer(play, n_players=10)(index, 2)

    for index, metric in INDICES.items():
        ours = partial(lambda metric: gw.Explainer(model, X).evaluate(metric, X).values, metric(2))
        laps = race({"glasswood": ours, "shapiq": partial(exact, index)}, report.rounds)
        note = "500 rows, the model is read and counted anew"
        report.add(Figure("indices", f"{index} of order 2: glasswood", laps["glasswood"].best, "s", note=note))
        note = laps["shapiq"].error or "one row, without the scores of the coalitions"
        report.add(Figure("indices", f"{index} of order 2: shapiq", laps["shapiq"].best, "s", note=note))


def coalitions_of(model: Any, X: pd.DataFrame) -> NDArray[np.float64]:
    """Return the mean score of every coalition for the first row."""
    found = []
    for first in range(0, 2**10, 64):
        mixed = np.tile(X.to_numpy(), (64, 1, 1))
        for number, mask in enumerate(range(first, first + 64)):
            inside = [j for j in range(10) if mask >> j & 1]
            mixed[number][:, inside] = X.to_numpy()[0, inside]
        scores = model.predict(pd.DataFrame(mixed.reshape(-1, 10), columns=X.columns))
        found.append(np.asarray(scores, dtype=np.float64).reshape(64, len(X)).mean(axis=1))
    heights: NDArray[np.float64] = np.concatenate(found)
    return heights


def main() -> None:
    """Measure the cases that are asked for."""
    lengths = {f"own-{length}": length for length in LENGTHS}
    report = Report(__doc__, [*lengths, "indices"])
    for case in report.cases:
        if case in lengths:
            of_own(report, lengths[case])
        else:
            of_indices(report)
    report.finish()


if __name__ == "__main__":
    main()
