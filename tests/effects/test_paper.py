"""What the Woodelf++ paper says of its values, and where it is wrong: docs/explanation/paper.md refers to these."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers.cube_metrics import PDIVMetric


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with threadpool_limits(1):  # for few rows, the threads of scikit-learn only wait for each other
        yield


def subsets(members):
    return [part for size in range(len(members) + 1) for part in combinations(members, size)]


def test_pdvs_and_shapley_values_are_sums_of_pdivs():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    model = ExtraTreesRegressor(5, max_depth=5, random_state=0).fit(X, X.a * X.b + X.c * X.d * X.a)
    background, row = X[10:], X[:1]
    ex = gw.Explainer(model, background)
    pdiv, shapley = ex.interaction_values(row), ex.shap_values(row)
    for members in subsets("abcd"):
        pdv = {part: pdv_of(model, background, row, part) for part in subsets(members)}
        assert sum(pdiv[part][0] for part in pdv) == pytest.approx(pdv[members], abs=1e-12)
        expected = sum((-1) ** (len(members) - len(part)) * value for part, value in pdv.items())
        assert pdiv[members][0] == pytest.approx(expected, abs=1e-12)
    for number, name in enumerate("abcd"):
        expected = sum(pdiv[part][0] / len(part) for part in subsets("abcd") if name in part)
        assert shapley.values[0, number] == pytest.approx(expected, abs=1e-12)
    surface, curves = ex.partial_dependence("a", "b"), ex.partial_dependence()
    point = row["a"].to_numpy(), row["b"].to_numpy()
    sides = curves["a"](point[0]) + curves["b"](point[1]) - model.predict(background).mean()
    np.testing.assert_allclose(surface(*point) - sides, pdiv["a", "b"], rtol=0, atol=1e-12)


def pdv_of(model, background, row, members):
    return model.predict(background.assign(**{name: row[name].item() for name in members})).mean()


@pytest.mark.parametrize("depth", range(1, 7))
def test_the_cubes_of_a_path_have_four_to_the_depth_values(depth):
    for metric in (PDIVMetric(), gw.metrics.PartialDependenceInteractions()):
        found = 0
        for sides in product((None, "plus", "minus"), repeat=depth):
            plus, minus = ({k for k, side in enumerate(sides) if side == name} for name in ("plus", "minus"))
            found += len(metric.calc_metric(plus, minus))
        without = sum(comb(depth, n) for n in range(depth + 1)) if not isinstance(metric, PDIVMetric) else 0
        assert found == 4**depth - without  # the index has no value for the empty set, which has one in 2^D cubes


def test_values_between_thresholds():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    for name in X:
        curve = gw.Explainer(model, X).partial_dependence(name)
        cuts = curve.cuts
        between = (cuts[1:] + cuts[:-1]) / 2
        assert np.array_equal(curve(between), curve(cuts[1:]))  # the paper has the lower threshold
        assert len(curve.values) == len(cuts) + 1
        assert curve(cuts[-1] + 1) == curve.values[-1] != curve(cuts[-1])  # no threshold has the value of the last cell
        for x in (*between[:1], cuts[0], cuts[-1] + 1):
            assert curve(x) == pytest.approx(model.predict(X.assign(**{name: x})).mean(), abs=1e-9)


def test_equivalent_trees_have_different_path_dependent_curves():
    cells = {(0, 0): 4, (0, 1): 1, (1, 0): 1, (1, 1): 4}
    rows = pd.DataFrame([ab for ab, n in cells.items() for _ in range(n)], columns=["a", "b"], dtype=float)
    trees = [DecisionTreeRegressor(random_state=seed).fit(rows, rows["a"] * rows["b"]) for seed in range(20)]
    first = {rows.columns[tree.tree_.feature[0]]: tree for tree in trees}
    assert np.array_equal(first["a"].predict(rows), first["b"].predict(rows))
    exact = [gw.Explainer(first[name], rows).partial_dependence("a").values.tolist() for name in "ab"]
    covers = [gw.Explainer(first[name]).partial_dependence("a").values.tolist() for name in "ab"]
    assert exact == [[0.0, 0.5]] * 2
    assert covers == [[0.0, 0.8], [0.0, 0.5]]
