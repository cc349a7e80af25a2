"""What was observed of classes: several targets, one class only, unused features, and spreads that are rounding."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import glasswood as gw
from glasswood.errors import ArgumentError, TableError, UnsupportedModelError

N = 300


def make_rows():
    """Return numbers, and two flags that are not each other's opposite."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(N, 2)), columns=["a", "b"])
    return X, np.column_stack([X.a > 0, X.b > 1]).astype(int)


def xgboost(X, Y):
    return xgb.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1).fit(X, Y)


def booster(X, Y):
    return xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(X, Y), 4)


def catboost(X, Y):
    model = CatBoostClassifier(loss_function="MultiLogloss", iterations=9, depth=3, verbose=0, thread_count=1)
    return model.fit(X, Y)


def forest(X, Y):
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)


def tree(X, Y):
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, np.where(Y > 0, "yes", "no"))


def probabilities(model, X):
    """Return the library's own probabilities, one column per output of an Explainer."""
    if isinstance(model, xgb.Booster):
        return model.predict(xgb.DMatrix(X))
    found = model.predict_proba(X)
    return np.hstack(found) if isinstance(found, list) else found


@pytest.mark.parametrize("make", [xgboost, booster, catboost, forest, tree])
def test_models_of_several_targets(make):
    X, Y = make_rows()
    model = make(X, Y)
    labels = np.where(Y > 0, "yes", "no") if make is tree else Y
    ex = gw.Explainer(model, X, target=labels, response="probability")
    found = ex.partial_dependence("a").observations
    shares = probabilities(model, X)
    flags = Y if shares.shape[1] == 2 else np.column_stack([1 - Y[:, 0], Y[:, 0], 1 - Y[:, 1], Y[:, 1]])
    np.testing.assert_allclose(found.mean_observed, flags.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.mean_predicted, shares.mean(axis=0), rtol=1e-5)
    cell = found.axis.cell_of(X.a)
    own = cell == cell[0]
    np.testing.assert_allclose(found.observed[cell[0]], flags[own].mean(axis=0), rtol=1e-12)
    for wrong in (labels[:, 0], labels[:, :1], np.column_stack([labels, labels[:, 0]])):
        with pytest.raises(TableError, match="needs 2 columns of labels, one for each"):
            gw.Explainer(model, X, target=wrong)
    with pytest.raises(TableError, match="no classes of the model"):
        gw.Explainer(model, X, target=np.where(Y > 0, "perhaps", labels))


def test_names_files_and_groups_of_several_targets(tmp_path):
    X, Y = make_rows()
    model = xgboost(X, Y)
    rows = X.assign(y=Y[:, 0], z=Y[:, 1], g=np.arange(N) % 2)
    rows.to_parquet(tmp_path / "rows.parquet")
    expected = gw.Explainer(model, X, target=Y, response="probability").partial_dependence("a").observations
    for source in (rows, str(tmp_path / "rows.parquet"), gw.summarize(model, rows, target=["y", "z"])):
        given = {} if isinstance(source, gw.Background) else {"target": ["y", "z"]}
        ex = gw.Explainer(model, source, **given, response=None if not given else "probability")
        found = ex.partial_dependence("a").observations
        np.testing.assert_array_equal(found.observed, expected.observed)
    grouped = gw.Explainer(model, rows, target=["y", "z"]).partial_dependence("a", by="g")
    np.testing.assert_allclose(grouped[1].observations.mean_observed, Y[1::2].mean(axis=0), rtol=1e-12)


def test_losses_of_several_targets_are_the_users_own():
    X, Y = make_rows()
    model = xgboost(X, Y)
    ex = gw.Explainer(model, X, target=Y, response="probability")
    for loss in (None, "log_loss", "brier", "squared_error"):
        with pytest.raises(ArgumentError, match="classes of 2 targets"):
            ex.permutation_importance(loss=loss)

    def brier(y, prediction):
        return ((y - prediction) ** 2).sum(axis=1)

    found = ex.permutation_importance(loss=brier)
    expected = ((Y - model.predict_proba(X)) ** 2).sum(axis=1).mean()
    np.testing.assert_allclose(found.base, expected, rtol=1e-5)
    with pytest.raises(ArgumentError, match="exposure= is for targets that are totals"):
        gw.Explainer(model, X, target=Y, exposure=np.ones(N))
    ex.report()


@pytest.mark.parametrize("label", [0, 1, 3, "no", True])
def test_classifiers_with_one_class(label):
    X, _ = make_rows()
    y = np.array([label] * N)
    forests = RandomForestClassifier(2, random_state=0), ExtraTreesClassifier(2), DecisionTreeClassifier()
    voting = VotingClassifier([("one", RandomForestClassifier(2)), ("two", DecisionTreeClassifier())], voting="soft")
    for unfitted in (*forests, voting):
        ex = gw.Explainer(unfitted.fit(X, y), X, target=y, response="probability")
        found = ex.partial_dependence("a")
        assert found.observed[0] == found.predicted[0] == 1
        assert ex.permutation_importance().base == 0
        with pytest.raises(TableError, match="no classes of the model"):
            gw.Explainer(unfitted, X, target=["another"] * N)
    with pytest.raises(UnsupportedModelError, match="was trained with one class"):
        gw.Explainer(lgb.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, y), X)


def test_an_unused_feature_has_what_was_observed_for_all_rows():
    X, Y = make_rows()
    X["unused"] = 1.0
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, Y[:, 0])
    for source in (X, gw.summarize(model, X.assign(y=Y[:, 0]), target="y")):
        given = {} if isinstance(source, gw.Background) else {"target": Y[:, 0]}
        found = gw.Explainer(model, source, **given).partial_dependence("unused")
        np.testing.assert_allclose(found.observed, [Y[:, 0].mean()], rtol=1e-12)
        np.testing.assert_allclose(found.predicted, [model.predict_proba(X)[:, 1].mean()], rtol=1e-9)
        assert np.isnan(found.observations.observed[1]).all()  # missing values are not looked for
        assert found.rows.tolist() == [N]
    weight = np.linspace(0.5, 1.5, N)
    weighted = gw.Explainer(model, X, sample_weight=weight).partial_dependence("unused")
    np.testing.assert_allclose(weighted.rows, [weight.sum()], rtol=1e-12)


@pytest.mark.parametrize("exposed", [True, False])
def test_the_spread_of_one_row_is_0(exposed):
    X, _ = make_rows()
    generator = np.random.default_rng(1)
    exposure = generator.uniform(0.02, 1.0, N)
    y = generator.uniform(0.0, 3.0, N)
    regressor = DecisionTreeRegressor().fit(X[["a"]], y / exposure)  # which cuts rows off one by one
    ex = gw.Explainer(regressor, X[["a"]], target=y, **({"exposure": exposure} if exposed else {}))
    found = ex.partial_dependence("a").observations
    rows = found.axis.rows
    assert (rows == 1).sum() > 5
    assert not found.spread[rows == 1].any()
    few = DecisionTreeRegressor(max_leaf_nodes=9).fit(X[["a"]], y / exposure)
    found = gw.Explainer(few, X[["a"]], target=y, **({"exposure": exposure} if exposed else {}))
    found = found.partial_dependence("a").observations
    cell, e = found.axis.cell_of(X.a), exposure if exposed else np.ones(N)
    for k in np.flatnonzero(found.axis.rows > 1):
        own = cell == k
        mean = y[own].sum() / e[own].sum()
        expected = np.sqrt(np.average((y / e)[own] ** 2, weights=e[own]) - mean**2)
        np.testing.assert_allclose(found.spread[k, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("n_labels", [0, 1, 2, N // 2, N - 1, N + 1, 2 * N])
def test_groups_need_one_label_per_row(n_labels):
    X, Y = make_rows()
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, Y[:, 0])
    ex, by = gw.Explainer(model, X, target=Y[:, 0]), np.where(np.arange(n_labels) % 2, "u", "v")
    for ask in (
        lambda: ex.partial_dependence("a", by=by),
        lambda: ex.partial_dependence("a", by=by.tolist()),
        lambda: ex.importance(by=pd.Series(by)),
        lambda: ex.interaction_strengths(by=by),
        lambda: ex.ale("a", by=by),
        lambda: ex.permutation_importance(by=by),
        lambda: gw.summarize(model, X, by=by),
        lambda: ex.report(by=by),
    ):
        with pytest.raises(TableError, match="by="):
            ask()
