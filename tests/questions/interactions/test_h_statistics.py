"""H of features, of the whole and of sets of features, against its definition by the libraries' own predictions."""

from __future__ import annotations

import pickle
from itertools import combinations

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier, RandomForestClassifier

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from glasswood.tables._folds import fold_of_positions
from zoo.store import fitted

N, NAMES = 60, ["a", "b", "c", "kind"]


def table(*, missing=True, categories=True):
    generator = np.random.default_rng(3)
    X = pd.DataFrame(generator.normal(size=(N, 3)), columns=list("abc"))
    X["b"] = X.a + 0.3 * X.b
    if missing:
        X.loc[generator.random(N) < 0.15, "b"] = np.nan
    kind = generator.integers(0, 3, N)
    X["kind"] = pd.Categorical(np.array(list("xyz"))[kind]) if categories else kind
    y = X.a * X.b.fillna(1) + (kind == 1) * X.c + X.a * X.c * (kind == 2)
    return X, y.to_numpy(), generator.integers(0, 4, N)


def leaves_of_xgboost(model):
    """XGBoost adds in float32: its leaves are added in float64 here."""
    frame = model.get_booster().trees_to_dataframe()
    values = frame[frame.Feature == "Leaf"].set_index(["Tree", "Node"]).Gain.to_dict()
    return lambda X: np.array([sum(values[t, n] for t, n in enumerate(row)) for row in model.apply(X).astype(int)])


CASES = {
    "lightgbm": lambda: (lgb.LGBMRegressor(n_estimators=15, num_leaves=6, min_child_samples=3, verbose=-1), {}, None),
    "xgboost": lambda: (xgb.XGBRegressor(n_estimators=8, max_depth=3), {"categories": False}, leaves_of_xgboost),
    "catboost": lambda: (
        cb.CatBoostRegressor(iterations=8, depth=3, verbose=False),
        {"categories": False},
        lambda m: m.predict,
    ),
    "hist": lambda: (
        HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3, categorical_features="from_dtype"),
        {},
        lambda m: m.decision_function,
    ),
    "classes": lambda: (
        lgb.LGBMClassifier(n_estimators=4, num_leaves=5, min_child_samples=3, verbose=-1),
        {"classes": 3},
        lambda m: lambda X: m.predict(X, raw_score=True),
    ),
    "extra trees": lambda: (
        ExtraTreesRegressor(5, max_depth=4, random_state=0),
        {"categories": False, "missing": False},
        None,
    ),
    "forest": lambda: (
        RandomForestClassifier(5, max_depth=4, random_state=0),
        {"categories": False, "missing": False, "classes": 3},
        lambda m: m.predict_proba,
    ),
}


def case_of(name):
    model, options, predict = CASES[name]()
    classes = options.pop("classes", 2 if name == "hist" else 0)
    X, y, weight = table(**options)
    y = np.searchsorted(np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]), y) if classes else y
    model.fit(X, y)
    return model, X, weight, (predict or (lambda m: m.predict))(model)


def effect(predict, X, weight, names):
    """The partial dependence of some features at each row's own values, centred: (n_rows, n_outputs)."""
    n = len(X)
    changed = X.iloc[np.tile(np.arange(n), n)].reset_index(drop=True)
    for name in names:
        changed[name] = X[name].iloc[np.repeat(np.arange(n), n)].reset_index(drop=True)
    scores = np.asarray(predict(changed), dtype=float).reshape(n, n, -1)
    return centred(np.average(scores, axis=1, weights=weight), weight)


def centred(values, weight):
    return values - np.average(values, axis=0, weights=weight)


def expected(predict, X, weight, triple):
    mean = lambda values: np.average(values**2, axis=0, weights=weight)  # noqa: E731
    score = centred(np.asarray(predict(X), dtype=float).reshape(len(X), -1), weight)
    alone = {name: effect(predict, X, weight, [name]) for name in NAMES}
    pairs = {pair: effect(predict, X, weight, pair) for pair in combinations(NAMES, 2)}
    rest = {name: effect(predict, X, weight, [other for other in NAMES if other != name]) for name in NAMES}
    mains = score - sum(alone.values())
    both = mains - sum(own - alone[a] - alone[b] for (a, b), own in pairs.items())
    joint = effect(predict, X, weight, triple)
    inner = joint - sum(pairs[pair] for pair in combinations(triple, 2)) + sum(alone[name] for name in triple)
    return {
        "h": {name: np.sqrt(mean(score - alone[name] - rest[name]) / mean(score)) for name in NAMES},
        "numerator": {name: mean(score - alone[name] - rest[name]) for name in NAMES},
        "beyond_main_effects": mean(mains) / mean(score),
        "beyond_pairs": mean(both) / mean(score),
        "set_h": np.sqrt(mean(inner) / mean(joint)),
        "score": mean(score),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_by_definition(name, weighted):
    model, X, weight, predict = case_of(name)
    weight = weight if weighted else np.ones(N, dtype=int)
    triple = ("a", "c", "kind")
    found = gw.Explainer(model, X, sample_weight=weight if weighted else None).h_statistics(triple)
    known = expected(predict, X, weight, triple)
    for feature in NAMES:
        np.testing.assert_allclose(np.ravel(found[feature]), known["h"][feature], rtol=0, atol=1e-9)
        at = found.names.index(feature)
        np.testing.assert_allclose(found.variances["numerator"][at], known["numerator"][feature], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.ravel(found.beyond_main_effects), known["beyond_main_effects"], atol=1e-9)
    np.testing.assert_allclose(np.ravel(found.beyond_pairs), known["beyond_pairs"], atol=1e-9)
    np.testing.assert_allclose(np.ravel(found.set_h), known["set_h"], atol=1e-9)
    np.testing.assert_allclose(np.ravel(found.denominator), known["score"], rtol=1e-9)


@pytest.fixture(scope="module")
def made():
    generator = np.random.default_rng(7)
    X = pd.DataFrame(generator.normal(size=(700, 4)), columns=list("abcd"))
    X["b"] = X.a + 0.3 * X.b
    X.loc[generator.random(700) < 0.1, "c"] = np.nan
    y = X.a * X.b + X.c.fillna(1) * X.d * (X.a > 0)
    weight = generator.integers(0, 4, 700)
    model = fitted(lgb.LGBMRegressor(n_estimators=12, num_leaves=8, verbose=-1), X, y)
    return model, X.assign(w=weight, half=weight / 2, part=generator.choice(["u", "v"], 700))


def same(one, other):
    return one.names == other.names and all(
        np.array_equal(one.variances[name], other.variances[name]) for name in one.variances
    )


@pytest.mark.parametrize("weight", [None, "w", "half"])
def test_the_same_bits_from_files_streams_and_threads(made, weight, tmp_path, monkeypatch):
    model, frame = made
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    asked = {"sample_weight": weight}
    here = gw.Explainer(model, frame, **asked).h_statistics(("a", "b", "c"))
    assert same(here, gw.Explainer(model, tmp_path / "rows.parquet", **asked).h_statistics(("a", "b", "c")))
    parts = [frame[:1], frame[1:300], frame[300:]]
    assert same(here, gw.Explainer(model, parts, **asked).h_statistics(("a", "b", "c")))
    monkeypatch.setattr("glasswood.parallel._threads.n_threads", lambda: 1)
    assert same(here, gw.Explainer(model, frame, **asked).h_statistics(("a", "b", "c")))


def test_groups_of_rows(made):
    model, frame = made
    found = gw.Explainer(model, frame).h_statistics(by="part")
    for key in ("u", "v"):
        assert same(found[key], gw.Explainer(model, frame[frame.part == key]).h_statistics())


def test_errors_leave_out_folds_of_the_mean_over_rows(made):
    model, frame = made
    found = gw.Explainer(model, frame, sample_weight="w", folds=5).h_statistics(("a", "b"))
    fold, whole = fold_of_positions(0, len(frame), 5), found.variances
    assert set(found.error) == {"h", "beyond_main_effects", "beyond_pairs", "set_h"}
    score = centred(model.predict(frame[list("abcd")])[:, None], frame.w)[:, 0]
    curves = gw.Explainer(model, frame, sample_weight="w").partial_dependence()
    mains = sum(centred(curves[name](frame[name])[:, None], frame.w)[:, 0] for name in "abcd")

    def left(rows):
        weight = frame.w[rows]
        spread = [
            np.average(v[rows] ** 2, weights=weight) - np.average(v[rows], weights=weight) ** 2
            for v in (score - mains, score)
        ]
        return spread[0] / spread[1]

    h = [frame.w.sum() / frame.w[fold == k].sum() for k in range(5)]
    t, parts = left(fold >= 0), [left(fold != k) for k in range(5)]
    assert t == pytest.approx(found.beyond_main_effects, rel=1e-9)
    mean = 5 * t - sum((1 - 1 / h[k]) * parts[k] for k in range(5))
    error = np.sqrt(sum((h[k] * t - (h[k] - 1) * parts[k] - mean) ** 2 / (h[k] - 1) for k in range(5)) / 5)
    assert found.error["beyond_main_effects"] == pytest.approx(error, rel=1e-6)
    assert whole["score"].shape == (1,)
    with pytest.raises(BackgroundError, match="folds"):
        _ = gw.Explainer(model, frame).h_statistics().error


def test_pairs_by_hand_are_sets_of_two(made):
    model, frame = made
    ex = gw.Explainer(model, frame)
    strengths = ex.interaction_strengths()
    found = ex.h_statistics(*strengths.pairs)
    np.testing.assert_allclose(found.set_h, strengths.h[:, 0], rtol=1e-9)
    np.testing.assert_allclose(found.variances["of sets"], strengths.numerator, rtol=1e-9)
    np.testing.assert_allclose(found.variances["joint effects"], strengths.denominator, rtol=1e-9)
    np.testing.assert_array_equal(strengths.h, np.sqrt(strengths.numerator / strengths.denominator))


def test_groups_of_columns(made):
    model, frame = made
    X, group = frame[list("abcd")][:120], ["c", "d"]
    found = gw.Explainer(model, X, groups={"both": group}).h_statistics()
    ones, score = np.ones(120), centred(model.predict(X)[:, None], np.ones(120))
    rest = score - effect(model.predict, X, ones, group) - effect(model.predict, X, ones, ["a", "b"])
    assert found["both"] == pytest.approx(np.sqrt((rest**2).mean() / (score**2).mean()), rel=1e-9)
    assert set(found.names) == {"a", "b", "both"}


def test_models_without_interactions():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, 3)), columns=list("abc"))
    stumps = fitted(lgb.LGBMRegressor(n_estimators=20, num_leaves=2, verbose=-1), X, X.a + X.b)
    found = gw.Explainer(stumps, X).h_statistics(("a", "b", "c"))
    assert found.beyond_main_effects == found.beyond_pairs == 0.0
    assert not found.h.any()
    assert not found.set_h.any()
    constant = fitted(lgb.LGBMRegressor(n_estimators=2, verbose=-1), X, np.ones(200))
    assert gw.Explainer(constant, X).h_statistics().beyond_main_effects == 0.0
    deep = fitted(lgb.LGBMRegressor(n_estimators=20, max_depth=2, verbose=-1), X, X.a * X.b * X.c)
    assert gw.Explainer(deep, X).h_statistics().beyond_pairs == 0.0  # no path has three features


def test_result(made):
    model, frame = made
    found = gw.Explainer(model, frame).h_statistics()
    again = pickle.loads(pickle.dumps(found))
    assert same(found, again)
    assert repr(found) == repr(again)
    assert "left by mains" in repr(found)
    assert found._repr_html_().startswith("<")
    frame_of = found.to_frame()
    np.testing.assert_allclose(frame_of["h"] ** 2, frame_of["numerator"] / frame_of["denominator"])
    assert found.panel().labels == found.names
    with pytest.raises(TableError, match="no feature"):
        found["none"]
    with pytest.raises(ArgumentError, match="not asked for"):
        _ = gw.Explainer(model, frame).h_statistics(pairs=False).beyond_pairs


def test_refusals(made):
    model, frame = made
    with pytest.raises(BackgroundError, match="reads the rows twice"):
        gw.Explainer(model, gw.summarize(model, frame, order=2)).h_statistics()
    with pytest.raises(BackgroundError, match="reads the rows twice"):
        gw.Explainer(model, iter([frame])).h_statistics()
    with pytest.raises(BackgroundError, match="reads the rows twice"):
        gw.Explainer(model).h_statistics()
    with pytest.raises(UnsupportedModelError, match="raw score only"):
        gw.Explainer(model, frame).h_statistics(response="prediction")
    with pytest.raises(TableError, match="twice"):
        gw.Explainer(model, frame).h_statistics(("a", "a", "b"))
    with pytest.raises(ArgumentError, match="at least two"):
        gw.Explainer(model, frame).h_statistics(("a",))
