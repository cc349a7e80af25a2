"""Metrics of users on long paths, metrics of woodelf as they are, and objects that only look like them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.questions.rows import _arithmetic_cube_values as _cube_values
from helpers.cube_metrics import CPDVMetric, PDIVMetric, ShapleyMetric
from helpers.deep_trees import against_rows, by_cover, chains, leaves, same


class Halves(gw.metrics.CubeMetric):
    """A metric of cubes that does not add up: its values depend on the trees."""

    def calc_metric(self, s_plus, s_minus):
        return dict.fromkeys(s_plus, 0.5 / (1 + len(s_minus))) | dict.fromkeys(s_minus, -0.25)


class Pairs:
    """Banzhaf's interactions of pairs, as another package might have them: no class of ours, and names are compared."""

    INTERACTION_VALUE = True

    def calc_metric(self, s_plus, s_minus):
        if s_plus & s_minus:
            return {}
        found = {}
        for a in s_plus | s_minus:
            for b in s_plus | s_minus:
                if a < b:
                    sign = -1 if (a in s_plus) != (b in s_plus) else 1
                    found[a, b] = sign / 2 ** (len(s_plus) + len(s_minus) - 2)
        return found


def cube_by_cube(e, metric, background, rows):
    """The values of a metric by asking it for the cube of every row, background row and leaf."""
    found = np.zeros((len(rows), e.n_features))
    for value, players, _, met, other in leaves(e, rows, background):
        for k, own in enumerate(met):
            for theirs in other:
                if (own | theirs).all():
                    plus = {p for p, a, b in zip(players, own, theirs, strict=True) if a and not b}
                    minus = {p for p, a, b in zip(players, own, theirs, strict=True) if b and not a}
                    for player, worth in metric.calc_metric(plus, minus).items():
                        found[k, player] += value * worth / len(background)
    return found


def by_feature(e, found):
    values = np.zeros((found.n_rows, e.n_features))
    for (name,), column in zip(found.subsets, found.values.T, strict=True):
        values[:, e.feature_names.index(name)] = column
    return values


@pytest.mark.parametrize(
    ("n_players", "n_examples"), [(13, 2), (16, 1), (20, 1), pytest.param(40, 3, marks=pytest.mark.slow)]
)
def test_own_metrics_of_long_paths(n_players, n_examples):
    @given(chains(n_players=n_players))
    @settings(max_examples=n_examples)
    def proves(chain):
        e, background, rows = chain
        ex, shared = gw.Explainer(e, background), gw.Explainer(e)
        same(by_feature(e, ex.evaluate(ShapleyMetric(), rows)), against_rows(e, background, rows), e)
        same(by_feature(e, shared.evaluate(ShapleyMetric(), rows)), by_cover(e, rows), e)
        same(by_feature(e, ex.evaluate(Halves(), rows)), cube_by_cube(e, Halves(), background, rows), e)
        for explainer in (ex, shared):
            found, expected = explainer.evaluate(CPDVMetric(), rows), explainer.interaction_values(rows, max_order=1)
            for subset in expected.subsets[1:]:
                same(found[subset], expected[subset], e)
            found = explainer.evaluate(Pairs(), rows)
            expected = explainer.evaluate(gw.metrics.BanzhafInteractions(2, 2), rows)
            assert found.subsets == expected.subsets
            same(found.values, expected.values, e)

    proves()


def test_forests_of_several_classes_with_weights(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 18)), columns=[f"x{j}" for j in range(18)])
    y, weight = rng.integers(3, size=240), rng.integers(1, 4, size=240)
    model = ExtraTreesClassifier(2, max_features=1, random_state=0).fit(X, y)
    ex = gw.Explainer(model, X[:40], sample_weight=weight[:40])
    assert ex._study.plan(1).max_players > 13
    found, shap = ex.evaluate(ShapleyMetric(), X[40:44]), ex.shap_values(X[40:44])
    assert found.outputs == shap.outputs
    np.testing.assert_allclose(
        found.values, shap.values[:, [list(shap.names).index(n) for (n,) in found.subsets]], atol=1e-12
    )
    one = ex.evaluate(ShapleyMetric(), X[40:44], output=1)
    np.testing.assert_allclose(one.values, found.values[..., 1], rtol=0, atol=1e-12)
    assert pickle.loads(pickle.dumps(found)).base_values == pytest.approx(shap.base_values)

    X[40:44].to_parquet(tmp_path / "rows.parquet")
    streamed = ex.evaluate(ShapleyMetric(), tmp_path / "rows.parquet")
    assert "ShapleyMetric" in repr(streamed)
    streamed.to_parquet(tmp_path / "values")
    table = pd.read_parquet(tmp_path / "values")
    np.testing.assert_allclose(table.to_numpy(), found.to_frame()[list(table.columns)].to_numpy(), rtol=0, atol=1e-12)


def test_own_metrics_of_a_background_of_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 14))
    y = X @ rng.normal(size=14)
    shallow = ExtraTreesRegressor(5, max_depth=5, random_state=0).fit(X, y)
    background = gw.summarize(shallow, X, order=None)
    for metric in (ShapleyMetric(), Halves(), PDIVMetric(), Pairs(), gw.metrics.FaithfulShapley(2)):
        found, expected = (gw.Explainer(shallow, over).evaluate(metric, X[:5]) for over in (background, X))
        assert found.subsets == expected.subsets
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------------------------- what is refused


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    return gw.Explainer(RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0), X), X[:3]


def saying(answer):
    return type("Saying", (), {"calc_metric": lambda self, s_plus, s_minus: answer(s_plus, s_minus)})()


@pytest.mark.parametrize("metric", [Pairs, "shapley", object(), None, lambda s_plus, s_minus: {}])
def test_objects_without_the_method(small, metric):
    ex, rows = small
    remedy = r"make one: Pairs\(\)" if metric is Pairs else "those of glasswood.metrics"
    with pytest.raises(gw.errors.ArgumentError, match=rf"calc_metric\(s_plus, s_minus\).*{remedy}"):
        ex.evaluate(metric, rows)


def test_values_of_null_players_are_refused_with_their_reason(small):
    ex, rows = small
    pdv = saying(
        lambda s_plus, s_minus: {name: 1.0 for name in range(4) if not s_plus - {name} and name not in s_minus}
    )
    with pytest.raises(
        gw.errors.ArgumentError, match=r"null players: their value has to be 0.*CenteredPartialDependence"
    ):
        ex.evaluate(pdv, rows)


@pytest.mark.parametrize("value", [None, "a lot", float("nan"), float("inf"), 1j, [1.0, 2.0]])
def test_values_that_are_no_numbers(small, value):
    ex, rows = small
    with pytest.raises(gw.errors.ArgumentError, match="must return finite numbers"):
        ex.evaluate(saying(lambda s_plus, s_minus: dict.fromkeys(s_plus, value)), rows)


def test_metrics_that_go_by_names(small):
    ex, rows = small
    for answer in (
        lambda s_plus, s_minus: {min(s_plus): 1.0} if s_plus else {},
        lambda s_plus, s_minus: {name: float(name) for name in s_plus},
        lambda s_plus, s_minus: dict.fromkeys(zip(sorted(s_plus), sorted(s_minus), strict=False), 1.0),
    ):
        with pytest.raises(gw.errors.ArgumentError, match="names are arbitrary"):
            ex.evaluate(saying(answer), rows)


def test_rounding_is_no_difference(small):
    ex, rows = small
    rng = np.random.default_rng(0)
    noisy = saying(lambda s_plus, s_minus: {name: 1.0 + 1e-13 * rng.random() for name in s_plus})
    assert ex.evaluate(noisy, rows).values.shape[0] == 3


def test_how_often_a_metric_is_asked(small):
    ex, rows = small
    cubes = []

    def answer(s_plus, s_minus):
        cubes.append((len(s_plus), len(s_minus)))
        return dict.fromkeys(s_plus, 1.0)

    ex.evaluate(saying(answer), rows)
    max_ = ex._study.plan(1).max_players
    assert sorted(cubes) == [(p, m) for p in range(max_ + 1) for m in range(max_ + 1 - p)]


def test_too_many_sets_are_refused_before_large_cubes(monkeypatch):
    monkeypatch.setattr(_cube_values, "MAX_PLACES", 5000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 16))
    ex = gw.Explainer(ExtraTreesRegressor(2, max_features=1, random_state=0).fit(X, X[:, 0]), X[:20])
    asked = []

    class Counting(PDIVMetric):
        def calc_metric(self, s_plus, s_minus):
            asked.append(len(s_plus) + len(s_minus))
            return super().calc_metric(s_plus, s_minus)

    with pytest.raises(
        gw.errors.TooLargeError, match=r"leaves with up to \d+ features .* sets of .* Use a metric of smaller"
    ):
        ex.evaluate(Counting(), X[:2])
    assert max(asked) <= 6


# ------------------------------------------------------------------------------------------------------------ woodelf


def metrics_of_woodelf():
    metrics = pytest.importorskip("woodelf.core.cube_metric", reason="needs woodelf_explainer")
    ours = gw.metrics
    return {
        "ShapleyValues": (metrics.ShapleyValues(), ours.ShapleyValues(), 1),
        "ShapleyInteractionValues": (metrics.ShapleyInteractionValues(), ours.ShapleyInteractions(2, 2), 0.5),
        "BanzhafValues": (metrics.BanzhafValues(), ours.BanzhafValues(), 1),
        "BanzhafInteractionValues": (metrics.BanzhafInteractionValues(), ours.BanzhafInteractions(2, 2), 1),
        "GeneralShapley": (metrics.GeneralShapleyInteractionValues(1, 3), ours.ShapleyInteractions(3), 1),
        "GeneralBanzhaf": (metrics.GeneralBanzhafInteractionValues(1, 3), ours.BanzhafInteractions(3), 1),
        "MobiusCoefficients": (metrics.MobiusCoefficients(1, 3), ours.PartialDependenceInteractions(3), 1),
        "ArbitraryOrderPDIV": (metrics.ArbitraryOrderPDIV(), ours.PartialDependenceInteractions(), 1),
        "FaithfulShapley": (metrics.FaithfulShapleyInteractionValues(1, 3), ours.FaithfulShapley(3), 1),
        "FaithfulBanzhaf": (metrics.FaithfulBanzhafInteractionValues(1, 3), ours.FaithfulBanzhaf(3), 1),
        "ShapleyTaylor": (metrics.ShapleyTaylorInteractionValues(1, 3), ours.ShapleyTaylor(3), 1),
        "CPDVMetric": (metrics.CPDVMetric(), ours.CenteredPartialDependence(), 1),
        "PDIVOrder1Or2": (metrics.PDIVOrder1Or2(), ours.PartialDependenceInteractions(2), 1),
        "PDIVMetric": (metrics.PDIVMetric(), ours.PartialDependenceInteractions(), 1),
    }


NAMES = [
    *("ShapleyValues", "ShapleyInteractionValues", "BanzhafValues", "BanzhafInteractionValues", "GeneralShapley"),
    *("GeneralBanzhaf", "MobiusCoefficients", "ArbitraryOrderPDIV", "FaithfulShapley", "FaithfulBanzhaf"),
    *("ShapleyTaylor", "CPDVMetric", "PDIVOrder1Or2", "PDIVMetric"),
]


@pytest.mark.parametrize("name", NAMES)
def test_metrics_of_woodelf_run_as_they_are(name):
    theirs, ours, factor = metrics_of_woodelf()[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + X[:, 5]
    model = ExtraTreesRegressor(5, max_depth=6, random_state=0).fit(X, y)
    for ex in (gw.Explainer(model, X), gw.Explainer(model, X[:5]), gw.Explainer(model)):
        found, expected = ex.evaluate(theirs, X[:7]), ex.evaluate(ours, X[:7])
        for subset in {*found.subsets, *expected.subsets} - {()}:
            np.testing.assert_allclose(
                found[subset], factor * expected[subset], rtol=0, atol=1e-12, err_msg=str(subset)
            )


def test_every_metric_of_woodelf_is_tested():
    metrics = pytest.importorskip("woodelf.core.cube_metric", reason="needs woodelf_explainer")
    known = {type(theirs).__name__ for theirs, *_ in metrics_of_woodelf().values()}
    assert known | {"CubeMetric", "CardinalityInteractionIndicesMetric", "FaithfulInteractionIndicesMetric"} == {
        name for name, kind in vars(metrics).items() if isinstance(kind, type) and issubclass(kind, metrics.CubeMetric)
    }
    assert set(NAMES) == set(metrics_of_woodelf())


@pytest.mark.filterwarnings("ignore::pandas.errors.PerformanceWarning")  # of its own frames
def test_values_of_woodelf_itself():
    woodelf = pytest.importorskip("woodelf", reason="needs woodelf_explainer")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 5)).round(2), columns=[f"x{j}" for j in range(5)])
    model = ExtraTreesRegressor(4, max_depth=4, random_state=0).fit(X, X["x0"] * X["x1"] + X["x2"])
    explainer, ex = woodelf.WoodelfExplainer(model, X), gw.Explainer(model, X)
    for name in (
        "ShapleyValues",
        "ShapleyInteractionValues",
        "BanzhafValues",
        "BanzhafInteractionValues",
        "CPDVMetric",
    ):
        metric = metrics_of_woodelf()[name][0]
        theirs = explainer.calc_metric(X[:6], metric, as_df=True, verbose=False)
        found = ex.evaluate(metric, X[:6])
        for column, values in zip(theirs.columns.tolist(), theirs.to_numpy().T, strict=True):
            subset = column if isinstance(column, tuple) else (column,)
            if values.any():  # a frame of pairs has both orders, one of which may be empty, and a diagonal
                np.testing.assert_allclose(found[subset], values, rtol=0, atol=1e-5)
