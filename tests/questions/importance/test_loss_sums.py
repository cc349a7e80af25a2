"""Losses with a feature redrawn: against all n^2 pairs of predictions, and with the same bits from every source."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier, CatBoostRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError
from glasswood.questions.importance import _answer_losses as _losses
from glasswood.study import _group_values
from zoo.store import fitted

N = 60
SMALL = {"n_estimators": 12, "num_leaves": 6, "min_child_samples": 5, "verbose": -1}


def make_rows(n=N, seed=0):
    """Numbers, some missing, a category, and targets of every kind."""
    g = np.random.default_rng(seed)
    a = g.normal(size=n)
    X = pd.DataFrame({"a": a, "b": 0.8 * a + 0.6 * g.normal(size=n), "c": g.integers(0, 4, n) * 1.0})
    X.loc[g.random(n) < 0.15, "b"] = np.nan
    X["kind"] = pd.Categorical(g.choice(list("pqrs"), n))
    number = X.a + np.where(X.b.isna(), 0.3, X.b * (X.c > 1)) + (X.kind == "p") + 0.3 * g.normal(size=n)
    targets = {
        "number": number.to_numpy(),
        "two": (number > number.median()).to_numpy().astype(int),
        "three": np.digitize(number, np.quantile(number, [0.3, 0.7])),
        "count": g.poisson(np.exp(0.4 * number)).astype(float),
        "amount": np.exp(0.5 * number.to_numpy() + 0.2 * g.normal(size=n)),
    }
    return X, targets, g.integers(1, 5, n)


X, TARGETS, WEIGHT = make_rows()
NUMBERS = X.drop(columns="kind")


def deviance(t, p):
    return 2 * (np.where(t > 0, t * np.log(np.where(t > 0, t, 1) / p), 0) - t + p)


LOSSES = {
    "squared_error": lambda t, p: (t - p) ** 2,
    "absolute_error": lambda t, p: np.abs(t - p),
    "quantile:0.9": lambda t, p: np.maximum(0.9 * (t - p), -0.1 * (t - p)),
    "poisson": deviance,
    "gamma": lambda t, p: 2 * ((t - p) / p - np.log(t / p)),
    "log_loss": lambda t, p: -np.log(np.clip(p[np.arange(len(t)), t], 2.0**-52, 1)),
    "brier": lambda t, p: ((np.eye(p.shape[1])[t] - p) ** 2).sum(axis=1) / (2 if p.shape[1] == 2 else 1),
}


def redrawn(table, columns, k):
    """Return rows whose columns are those of row k."""
    changed = table.copy()
    for name in columns:
        changed[name] = pd.Series([table[name].iloc[k]] * len(table), index=table.index).astype(table[name].dtype)
    return changed


def pairs(predict, table, columns, loss, w):
    """The mean over all pairs of rows of a loss of predictions, given a function of these."""
    return over_pairs([predict(redrawn(table, columns, k)) for k in range(len(table))], loss, w)


def over_pairs(predictions, loss, w):
    return sum(w[k] * (w @ loss(found)) for k, found in enumerate(predictions)) / w.sum() ** 2


def check(model, table, target, names, predict=None, columns=("b",), w=WEIGHT):
    predict = predict or (model.predict_proba if hasattr(model, "predict_proba") else model.predict)
    ex = gw.Explainer(model, table, target=target, sample_weight=w)
    all_of = {name: [predict(redrawn(table, [name], k)) for k in range(len(table))] for name in columns}
    for name in names:

        def loss(p, name=name):
            return LOSSES[name](target, p)

        found = ex.permutation_importance(loss=name)
        base = w @ loss(predict(table)) / w.sum()
        assert found.base == pytest.approx(base, rel=1e-9)
        assert found.loss == name
        for column in columns:
            assert abs(found[column] - (over_pairs(all_of[column], loss, w) - base)) <= 1e-9 * base


REGRESSION = ["squared_error", "absolute_error", "quantile:0.9"]


def test_lightgbm():
    check(
        fitted(lgb.LGBMRegressor(**SMALL), X, TARGETS["number"]),
        X,
        TARGETS["number"],
        REGRESSION,
        columns=("b", "kind"),
    )
    poisson = fitted(lgb.LGBMRegressor(objective="poisson", **SMALL), X, TARGETS["count"])
    check(poisson, X, TARGETS["count"], ["poisson", "squared_error"], columns=("b", "kind"))
    check(fitted(lgb.LGBMRegressor(objective="gamma", **SMALL), X, TARGETS["amount"]), X, TARGETS["amount"], ["gamma"])
    for kind in ("two", "three"):
        model = fitted(lgb.LGBMClassifier(**SMALL), X, TARGETS[kind])
        check(model, X, TARGETS[kind], ["log_loss", "brier"], columns=("b", "kind"))


def test_xgboost_with_leaves_added_in_float64():
    model = fitted(xgb.XGBRegressor(n_estimators=8, max_depth=3, tree_method="hist"), NUMBERS, TARGETS["number"])
    ensemble = gw.read_model(model)
    exact = gw.Explainer(model, NUMBERS)
    base = float(np.asarray(ensemble.score.constant)[0])

    def predict(table):
        leaves = model.apply(table).astype(int)
        values = model.get_booster().trees_to_dataframe()
        gains = {(t, n): v for t, n, v in zip(values.Tree, values.Node, values.Gain, strict=True)}
        return base + np.array([sum(float(np.float32(gains[t, n])) for t, n in enumerate(row)) for row in leaves])

    assert exact.ensemble.n_trees == 8
    check(model, NUMBERS, TARGETS["number"], ["squared_error"], predict)


@pytest.mark.parametrize("kind", ["number", "two", "three"])
def test_scikit_learn(kind):
    target = TARGETS[kind]
    if kind == "number":
        check(fitted(HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5), X, target), X, target, REGRESSION)
        check(
            fitted(RandomForestRegressor(8, max_depth=4, random_state=0), NUMBERS, target), NUMBERS, target, REGRESSION
        )
        return
    boosted = fitted(HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5), X, target)
    check(boosted, X, target, ["log_loss", "brier"])
    forest = fitted(RandomForestClassifier(8, max_depth=4, random_state=0), NUMBERS, target)
    check(forest, NUMBERS, target, ["log_loss", "brier"])


def test_deviances_of_predictions_that_are_no_logarithms():
    forest = fitted(RandomForestRegressor(8, max_depth=4, random_state=0), NUMBERS, TARGETS["amount"])
    check(forest, NUMBERS, TARGETS["amount"], ["poisson", "gamma"])
    below = fitted(RandomForestRegressor(8, max_depth=4, random_state=0), NUMBERS, TARGETS["number"])
    with pytest.raises(TooLargeError, match="not positive"):
        gw.Explainer(below, NUMBERS, target=TARGETS["amount"]).permutation_importance(loss="gamma")


def test_catboost_and_combinations():
    text = X.assign(kind=X.kind.astype(str))
    settings = {"iterations": 8, "depth": 3, "verbose": 0, "cat_features": ["kind"], "one_hot_max_size": 10}
    check(fitted(CatBoostRegressor(**settings), text, TARGETS["number"]), text, TARGETS["number"], ["squared_error"])
    check(fitted(CatBoostClassifier(**settings), text, TARGETS["three"]), text, TARGETS["three"], ["log_loss"])
    forests = [(str(k), RandomForestClassifier(4, max_depth=3, random_state=k)) for k in range(2)]
    voting = fitted(VotingClassifier(forests, voting="soft"), NUMBERS, TARGETS["two"])
    check(voting, NUMBERS, TARGETS["two"], ["log_loss", "brier"])


def test_several_targets_count_equally():
    both = np.column_stack([TARGETS["number"], 10 * TARGETS["amount"]])
    forest = fitted(RandomForestRegressor(6, max_depth=4, random_state=0), NUMBERS, both)
    found = gw.Explainer(forest, NUMBERS, target=both).permutation_importance()
    w = np.ones(N)
    mean = pairs(forest.predict, NUMBERS, ["a"], lambda p: ((both - p) ** 2).mean(axis=1), w)
    assert found.base == pytest.approx(((both - forest.predict(NUMBERS)) ** 2).mean(), rel=1e-12)
    assert found["a"] + found.base == pytest.approx(mean, rel=1e-12)


def test_total_importance_is_what_it_is_defined_as():
    model = fitted(lgb.LGBMClassifier(**SMALL), X, TARGETS["three"])
    ex = gw.Explainer(model, X, sample_weight=WEIGHT)
    scales = {
        "raw": lambda rows: model.predict(rows, raw_score=True),
        "probability": model.predict_proba,
    }
    for response, predict in scales.items():
        found = ex.importance(response=response)
        assert (found.kind, found.n_rows, found.sampled) == ("total", N, False)
        before = predict(X)
        for name in ("b", "kind"):
            squares = [
                pairs(predict, X, [name], lambda p, k=k, before=before: ((p - before) ** 2)[:, k], WEIGHT)
                for k in range(3)
            ]
            np.testing.assert_allclose(found[name], np.sqrt(squares), rtol=1e-9)
    single = fitted(lgb.LGBMRegressor(objective="poisson", **SMALL), X, TARGETS["count"])
    before = single.predict(X)
    square = pairs(single.predict, X, ["a"], lambda p: (p - before) ** 2, WEIGHT)
    found = gw.Explainer(single, X, sample_weight=WEIGHT).importance(response="prediction")
    assert found["a"] == pytest.approx(np.sqrt(square), rel=1e-9)


def test_total_importance_sees_interactions():
    g = np.random.default_rng(0)
    rows = pd.DataFrame(g.uniform(-1, 1, (800, 3)), columns=list("abc"))
    y = 3 * np.sign(rows.a * rows.b) + rows.c
    model = fitted(HistGradientBoostingRegressor(max_iter=60), rows, y)
    ex = gw.Explainer(model, rows)
    total, main = ex.importance(), ex.importance(kind="main")
    assert set(total.names[:2]) == {"a", "b"}
    assert main.names[0] == "c"
    assert total["a"] > 4 * total["c"] > 4 * main["c"] > 10 * main["a"]
    assert main["c"] == pytest.approx(ex.partial_dependence("c")(rows.c).std(), rel=1e-9)
    stumps = fitted(HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=2), rows, y)
    ex = gw.Explainer(stumps, rows)  # without interactions, total is the root of 2 times main
    assert ex.importance()["c"] == pytest.approx(np.sqrt(2) * ex.importance(kind="main")["c"], rel=1e-9)


def test_groups_are_redrawn_together():
    model = fitted(lgb.LGBMRegressor(**SMALL), X, TARGETS["number"])
    target, w = TARGETS["number"], WEIGHT
    ex = gw.Explainer(model, X, groups={"ab": ["a", "b"]}, sample_weight=w, target=target, folds=4)
    before = model.predict(X)
    square = pairs(model.predict, X, ["a", "b"], lambda p: (p - before) ** 2, w)
    assert ex.importance()["ab"] == pytest.approx(np.sqrt(square), rel=1e-9)
    loss = pairs(model.predict, X, ["a", "b"], lambda p: (target - p) ** 2, w)
    found = ex.permutation_importance()
    assert found["ab"] + found.base == pytest.approx(loss, rel=1e-9)
    alone = gw.Explainer(model, X, sample_weight=w, target=target).permutation_importance()
    assert found["c"] == alone["c"]
    assert (found.error > 0).sum() >= 2
    counted = gw.summarize(
        model,
        X,
        groups={"ab": ["a", "b"]},
        target=target,
        answers={"permutation_importance": {"loss": "squared_error"}, "importance": {}},
    )
    for ask in ("importance", "permutation_importance"):
        with pytest.raises(BackgroundError, match="'ab' needs the rows"):
            getattr(gw.Explainer(model, counted), ask)()


def test_groups_of_too_many_values(monkeypatch):
    model = fitted(lgb.LGBMRegressor(**SMALL), X, TARGETS["number"])
    monkeypatch.setattr(_group_values, "MAX_RESPONSES", 100)
    ex = gw.Explainer(model, X, groups={"ac": ["a", "c"]})
    with pytest.raises(TooLargeError, match="leave out the column 'a'"):
        ex.importance(all_rows=True)


@pytest.fixture(scope="module")
def case():
    rows, targets, weight = make_rows(400)
    model = fitted(lgb.LGBMClassifier(**SMALL), rows, targets["two"])
    frame = rows.assign(y=targets["two"], w=weight, share=np.linspace(0.1, 1, 400) ** 3, day=np.arange(400) % 3)
    return model, frame


ASKED = {"target": "y", "answers": {"permutation_importance": {"loss": "log_loss"}, "importance": {}}}


@pytest.mark.parametrize("weight", [None, "w", "share"])
def test_the_same_bits_from_every_source(case, tmp_path, weight):
    model, frame = case
    expected = gw.summarize(model, frame, sample_weight=weight, **ASKED)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    sources = [str(tmp_path / "rows.parquet"), pl.from_pandas(frame), iter([frame[:9], frame[9:]])]
    for source in [*sources, frame.sample(frac=1.0, random_state=0)]:
        assert gw.summarize(model, source, sample_weight=weight, **ASKED) == expected
    expected.save(tmp_path / "all.gw")
    loaded = gw.Explainer(model, gw.Background.load(tmp_path / "all.gw"))
    ex = gw.Explainer(model, frame, sample_weight=weight, target="y")
    files = gw.Explainer(model, str(tmp_path / "rows.parquet"), sample_weight=weight, target="y")
    for other in (ex, files):
        assert (other.permutation_importance().values == loaded.permutation_importance().values).all()
        assert (other.importance().heights == loaded.importance().heights).all()


def test_groups_merge_and_subtract(case):
    model, frame = case
    whole = gw.summarize(model, frame, sample_weight="w", **ASKED)
    days = gw.summarize(model, frame, by="day", sample_weight="w", **ASKED)
    assert days[0] + days[1] + days[2] == whole
    assert whole - days[2] == days[0] + days[1]
    by = gw.Explainer(model, frame, sample_weight="w", target="y").permutation_importance(by="day")
    for day, found in by.items():
        counted = gw.Explainer(model, days[day])
        assert found.names == counted.permutation_importance().names
        assert (found.values == counted.permutation_importance().values).all()


def test_errors_are_those_of_the_rows_without_each_fold(case):
    model, frame = case
    ex = gw.Explainer(model, frame, target="y", folds=4, fold_by="day")
    with pytest.raises(BackgroundError, match="has no rows"):
        _ = ex.importance().error
    ex = gw.Explainer(model, frame, target="y", folds=3)
    counted = gw.Explainer(model, gw.summarize(model, frame, folds=3, **ASKED))
    for ask in ("importance", "permutation_importance"):
        found = getattr(ex, ask)()
        assert (found.error == getattr(counted, ask)().error).all()
        fold = ex._study.over.fold
        for k, line in enumerate(found.find_folds().heights):
            own = gw.Explainer(model, frame[fold != k], target="y")
            left = getattr(own, ask)()
            expected = [left[name] for name in found.names]
            np.testing.assert_allclose(line[:, 0], expected, rtol=1e-12)


def test_samples_of_tables_and_files(case, tmp_path, monkeypatch):
    model, frame = case
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    monkeypatch.setattr(_losses, "MAX_NUMBERS", 2**12)
    monkeypatch.setattr(_losses, "MIN_ROWS", 100)
    ex = gw.Explainer(model, frame, target="y", sample_weight="w", folds=3)
    assert ex.importance().kind == "main"  # a sample would take long, too
    found = ex.importance(kind="total")
    assert found.sampled
    assert 60 < found.n_rows < 140
    assert f"{found.n_rows} sampled rows" in repr(found)
    assert found.to_frame()["sampled_rows"].tolist() == [found.n_rows] * len(found)
    assert f"sample of {found.n_rows} rows" in found.panel().note
    assert (found.error[:2] > 0).all()
    part = _losses.fold_of_positions(_losses.SAMPLED, len(frame), 4) == 0
    monkeypatch.setattr(_losses, "MAX_NUMBERS", 2**40)
    same = gw.Explainer(model, frame[part], sample_weight="w").importance()
    assert (same.heights == found.heights).all()
    assert ex.permutation_importance(all_rows=True).n_rows == len(frame)
    assert not ex.importance(kind="total", all_rows=True).sampled
    monkeypatch.setattr(_losses, "MAX_NUMBERS", 2**12)
    files = gw.Explainer(model, str(tmp_path / "rows.parquet"), sample_weight="w", folds=3).importance(kind="total")
    assert (files.n_rows, files.sampled) == (found.n_rows, True)
    assert (files.heights == found.heights).all()
    with pytest.raises(BackgroundError, match="sample of a source is not in folds"):
        _ = files.error
    assert ex.permutation_importance().n_rows == found.n_rows


def weighted_error(y, p):
    return np.where(y > 0, 3.0, 1.0) * np.abs(y - p)


def test_losses_of_the_user(case, tmp_path):
    model, frame = case
    ex = gw.Explainer(model, frame, target="y")
    found = ex.permutation_importance(loss=weighted_error)
    assert found.loss == "weighted_error()"
    rows, y = frame[["a", "b", "c", "kind"]], frame.y.to_numpy()
    p = model.predict_proba(rows)[:, 1]
    assert found.base == pytest.approx(weighted_error(y, p).mean(), rel=1e-9)
    frame.to_parquet(tmp_path / "rows.parquet")
    counted = gw.summarize(
        model, str(tmp_path / "rows.parquet"), target="y", answers={"permutation_importance": {"loss": weighted_error}}
    )
    again = gw.Explainer(model, counted).permutation_importance(loss=weighted_error)
    assert (again.values == found.values).all()
    for loss, message in [
        (lambda y, p: y - p, "needs a name"),
        (lambda y, p: 1.0, "needs a name"),
        (mean_error, "one number per row"),
        (infinite, "missing or infinite"),
        (3, "name of a loss or a function"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            ex.permutation_importance(loss=loss)


def mean_error(y, p):
    return np.abs(y - p).mean()


def infinite(y, p):
    return np.where(y > 0, np.inf, p)


def test_offsets_are_part_of_predictions():
    target, offset = TARGETS["count"], np.linspace(-1, 1, N)
    model = fitted(lgb.LGBMRegressor(objective="poisson", **SMALL), X, target, init_score=offset)
    found = gw.Explainer(model, X, target=target, offset=offset).permutation_importance()

    def predict(rows):
        return np.exp(offset + model.predict(rows, raw_score=True))

    assert found.loss == "poisson"
    base = deviance(target, predict(X)).mean()
    assert found.base == pytest.approx(base, rel=1e-9)
    expected = pairs(predict, X, ["a"], lambda p: deviance(target, p), np.ones(N)) - base
    assert abs(found["a"] - expected) < 1e-9 * base


def test_what_is_not_known_is_refused(case):
    model, frame = case
    rows, y = frame[["a", "b", "c", "kind"]], frame.y
    with pytest.raises(BackgroundError, match="target="):
        gw.Explainer(model, rows).permutation_importance()
    counted = gw.Explainer(
        model, gw.summarize(model, frame, target="y", answers={"permutation_importance": {"loss": "brier"}})
    )
    assert counted.permutation_importance(loss="brier").loss == "brier"
    with pytest.raises(BackgroundError, match=r"'loss': 'log_loss'"):
        counted.permutation_importance()
    assert counted.importance().kind == "main"
    with pytest.raises(BackgroundError, match=r"answers=\['importance'\]"):
        counted.importance(kind="total")
    with pytest.raises(ArgumentError, match='"total" or "main"'):
        counted.importance(kind="both")
    with pytest.raises(ArgumentError, match="pass target="):
        gw.summarize(model, rows, answers={"permutation_importance": {"loss": "log_loss"}})
    ex = gw.Explainer(model, rows, target=y)
    for loss, message in [
        ("squared_error", "no loss 'squared_error' of classes"),
        ("log_loss:3", "takes no number"),
        ("roc_auc", "AUC is no mean"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            ex.permutation_importance(loss=loss)
    with pytest.raises(BackgroundError, match="needs rows"):
        gw.Explainer(model).importance()


def test_scores_that_are_no_probabilities_have_no_log_loss():
    model = fitted(xgb.XGBClassifier(n_estimators=3, objective="binary:logitraw"), NUMBERS, TARGETS["two"])
    ex = gw.Explainer(model, NUMBERS, target=TARGETS["two"])
    for loss in (None, "log_loss", "brier"):
        with pytest.raises(ArgumentError, match="no probabilities"):
            ex.permutation_importance(loss=loss)
    assert ex.permutation_importance(loss=weighted_error).base > 0


def test_models_without_splits():
    model = fitted(HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=1000), NUMBERS, TARGETS["number"])
    ex = gw.Explainer(model, NUMBERS, target=TARGETS["number"])
    assert (ex.importance().values == 0).all()
    assert (ex.permutation_importance().values == 0).all()
    assert ex.permutation_importance().base == pytest.approx(TARGETS["number"].var())


def test_targets_and_exposures_that_do_not_fit():
    model = fitted(lgb.LGBMRegressor(objective="poisson", **SMALL), X, TARGETS["count"])
    with pytest.raises(TableError, match="above 0"):
        gw.Explainer(model, X, target=TARGETS["count"]).permutation_importance(loss="gamma")
    exposed = gw.Explainer(model, X, target=TARGETS["count"], exposure=np.full(N, 0.5))
    with pytest.raises(ArgumentError, match="rate as target="):
        exposed.permutation_importance()
    plain = fitted(lgb.LGBMRegressor(**SMALL), X, TARGETS["number"])
    with pytest.raises(TableError, match="at least 0"):
        gw.Explainer(plain, X, target=TARGETS["number"]).permutation_importance(loss="poisson")
    for level in ("quantile", "quantile:1.5", "quantile:x"):
        with pytest.raises(ArgumentError, match="follows a colon"):
            gw.Explainer(plain, X, target=TARGETS["number"]).permutation_importance(loss=level)


def test_results_print_and_pickle(case):
    model, frame = case
    ex = gw.Explainer(model, frame, target="y", folds=3)
    found = ex.permutation_importance()
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.error == found.error).all()
    assert repr(copy) == repr(found)
    assert found.to_frame().columns.tolist() == ["feature", "value", "ratio", "error", "loss"]
    assert found.ratio[0] == pytest.approx(1 + found.values[0] / found.base)
    assert len(found.top(2)) == len(found.top(2).error) == 2
    assert "log_loss" in found._repr_html_()
    assert len(found.panel(top=2).reach) == 2
    with pytest.raises(TableError, match="no feature"):
        found["z"]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1.0


def test_two_functions_of_one_name_are_two_losses():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    model = fitted(lgb.LGBMRegressor(n_estimators=5, verbose=-1), X, X["a"])
    ex = gw.Explainer(model, X, target=X["a"], folds=3)

    def cost(y, prediction):
        return (y - prediction) ** 2

    first = ex.permutation_importance(loss=cost)

    def cost(y, prediction):
        return np.abs(y - prediction)

    second = ex.permutation_importance(loss=cost)
    for found, name in ((first, "squared_error"), (second, "absolute_error")):
        known = ex.permutation_importance(loss=name)
        np.testing.assert_allclose([found.base, *found.values], [known.base, *known.values], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.error, known.error, rtol=1e-6, atol=1e-9)
