"""Errors of the gate's measures: against measures of rows without each fold, and what they change in judgements."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.effects._jackknife import jackknife
from glasswood.tables._folds import fold_of_positions

K = 5
LIMITS = {
    "psi": 9.0,
    "difference": 9.0,
    "largest": 9.0,
    "level": 9.0,
    "ndcg": 0.0,
    "observed": 9.0,
    "missing": 9.0,
    "unseen": 9.0,
}


def rows(seed, n=600, shift=0.0, missing=0.05, kinds="xyz"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(shift, 1, n), "b": rng.integers(0, 6, n).astype(float), "c": rng.normal(size=n)})
    X.loc[rng.random(n) < missing, "c"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(list(kinds), n))
    mean = np.exp(0.3 * X["a"] * X["b"] / 3 + 0.5 * (X["kind"] == "x"))
    return X.assign(y=rng.poisson(mean).astype(float), w=rng.integers(0, 4, n))


FEATURES = ["a", "b", "c", "kind"]
THEN, NOW = rows(1), rows(2, n=900, shift=0.7, missing=0.2, kinds="xxyzq")


@pytest.fixture(scope="module")
def model():
    frame = rows(0)
    settings = {"max_iter": 15, "max_leaf_nodes": 8, "categorical_features": "from_dtype"}
    return HistGradientBoostingRegressor(loss="poisson", **settings).fit(frame[FEATURES], frame["y"])


def explained(model, frame, **asked):
    return gw.Explainer(model, frame, target="y", **asked)


def compared(then, now, **asked):
    return gw.compare({"then": then, "now": now}, limits=LIMITS, **asked).measures


def by_key(measures, what="value"):
    return {(one.measure, one.feature): getattr(one, what) for one in measures}


def without_each_fold(frame, weight):
    """The frame without each fold, and the share of the fold."""
    fold = fold_of_positions(0, len(frame), K)
    w = np.ones(len(frame)) if weight is None else frame[weight].to_numpy(float)
    return [(w[fold == k].sum() / w.sum(), frame[fold != k]) for k in range(K)]


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("response", ["raw", "prediction"])
def test_errors_are_those_of_rows_without_each_fold(model, weight, response):
    asked = {"response": response, "sample_weight": weight}
    found = compared(*(explained(model, frame, folds=K, **asked) for frame in (THEN, NOW)))
    errors, whole = by_key(found, "error"), by_key(found)

    def score(frame):
        predicted = model.predict(frame[FEATURES])
        return np.log(predicted) if response == "raw" else predicted

    def deviation(frame):
        w = None if weight is None else frame[weight]
        mean = np.average(score(frame), weights=w)
        return np.sqrt(np.average((score(frame) - mean) ** 2, weights=w))

    def measured(then, now):
        """All measures in the unit of all rows of the reference; psi with the bins of the model's own cells."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            values = by_key(compared(explained(model, then, **asked), explained(model, now, **asked)))
        unit = deviation(then) / deviation(THEN)
        turned = {key: value * unit if key[0] in ("difference", "level") else value for key, value in values.items()}
        w = now[weight] if weight else 1.0
        turned["observed", None] = (w * now["y"]).sum() / (w * model.predict(now[FEATURES])).sum()  # with its sign
        means = [np.average(score(frame), weights=frame[weight] if weight else None) for frame in (then, now)]
        turned["level", None] = (means[1] - means[0]) / deviation(THEN)
        return turned

    start = measured(THEN, NOW)
    sides = [
        [(share, measured(rest, NOW)) for share, rest in without_each_fold(THEN, weight)],
        [(share, measured(THEN, rest)) for share, rest in without_each_fold(NOW, weight)],
    ]
    for key, error in errors.items():
        if key[0] in ("largest", "ndcg"):
            assert error is None
            continue
        parts = [jackknife(start[key], [own[key] for _, own in side], [share for share, _ in side]) for side in sides]
        if key[0] == "observed":
            assert parts[0] == pytest.approx(0, abs=1e-12)
        if key == ("psi", "a") or key == ("psi", "c"):  # their bins move with the reference
            continue
        assert error == pytest.approx(np.hypot(*parts), rel=1e-5, abs=1e-9), key
    assert whole["observed", None] == pytest.approx(abs(start["observed", None] - 1), rel=1e-7)


def test_bins_of_psi_are_those_of_all_rows(model):
    found = by_key(compared(explained(model, THEN, folds=K), explained(model, NOW, folds=K)), "error")
    for feature in ("a", "c"):
        axis = gw.Explainer(model, THEN).partial_dependence(feature).axis
        middle = (np.cumsum(axis.rows[:-1]) - axis.rows[:-1] / 2) / axis.rows[:-1].sum()
        bins = np.append(np.minimum((middle * 10).astype(int), 9), 10)

        def index(then, now, feature=feature, axis=axis, bins=bins):
            cells = [axis.cell_of(frame[feature].to_numpy()) for frame in (then, now)]
            p, q = (np.maximum(np.bincount(bins[own], minlength=11) / own.size, 1e-4) for own in cells)
            return ((p - q) * np.log(p / q)).sum()

        whole = index(THEN, NOW)
        left = [
            [(share, index(rest, NOW)) for share, rest in without_each_fold(THEN, None)],
            [(share, index(THEN, rest)) for share, rest in without_each_fold(NOW, None)],
        ]
        parts = [jackknife(whole, [value for _, value in side], [share for share, _ in side]) for side in left]
        assert found["psi", feature] == pytest.approx(np.hypot(*parts), rel=1e-9)


def test_the_error_of_level_is_that_of_means(model):
    """By a formula: the standard errors of both means, for many folds."""
    then, now = (gw.Explainer(model, frame, folds=50) for frame in (THEN, NOW))
    (found,) = gw.compare({"then": then, "now": now}, limits={"level": 0.0}).measures
    scores = [np.log(model.predict(frame[FEATURES])) for frame in (THEN, NOW)]
    selected = np.sqrt(sum(score.var(ddof=1) / score.size for score in scores)) / scores[0].std()
    assert found.error == pytest.approx(selected, rel=0.3)


def test_each_output_has_its_own_error():
    labels = np.minimum(THEN["y"], 2).astype(int)
    classifier = HistGradientBoostingClassifier(max_iter=3).fit(THEN[["a", "b"]], labels)
    later = np.minimum(NOW["y"], 2).astype(int)
    explainers = {
        "then": gw.Explainer(classifier, THEN, target=labels, folds=K),
        "now": gw.Explainer(classifier, NOW, target=later, folds=K),
    }
    found = gw.compare(explainers, limits={"observed": 9.0, "level": 9.0}).measures
    assert len({one.error for one in found}) == 6
    share = classifier.predict_proba(NOW[["a", "b"]])
    fold = fold_of_positions(0, len(NOW), K)
    for k in range(3):
        ratios = [
            (later[keep] == k).mean() / share[keep, k].mean() for keep in [fold >= 0, *(fold != f for f in range(K))]
        ]
        selected = jackknife(ratios[0], ratios[1:], [(fold == f).mean() for f in range(K)])
        (own,) = (one for one in found if (one.measure, one.output) == ("observed", k))
        assert own.error == pytest.approx(float(selected), rel=1e-6)
    one = gw.compare(explainers, output=1, limits={"observed": 9.0}).measures[0]
    assert one.error in [own.error for own in found]


def test_saved_counts_have_the_same_errors(model, tmp_path):
    asked = {"target": "y", "folds": K, "response": "raw"}
    for name, frame in (("then", THEN), ("now", NOW)):
        gw.summarize(model, frame, **asked).save(tmp_path / f"{name}.gw")
    counted = [gw.Explainer(model, gw.Background.load(tmp_path / f"{name}.gw")) for name in ("then", "now")]
    both = (explained(model, rows, folds=K, response="raw") for rows in (THEN, NOW))
    selected = compared(*both).to_frame()["error"]
    np.testing.assert_allclose(compared(*counted).to_frame()["error"], selected, rtol=1e-6, atol=1e-12)


def test_labels_that_only_rows_know(tmp_path):
    """CatBoost keeps hashes of labels; the cells of both explainers and of their folds are the same."""
    catboost = pytest.importorskip("catboost")
    texts = [frame.assign(kind=frame["kind"].astype(str))[["a", "kind"]] for frame in (THEN, NOW)]
    settings = {"iterations": 8, "depth": 3, "verbose": 0, "one_hot_max_size": 2, "train_dir": str(tmp_path)}
    fitted = catboost.CatBoostRegressor(**settings).fit(texts[0], THEN["y"], cat_features=["kind"])
    explainers = {name: gw.Explainer(fitted, frame, folds=K) for name, frame in zip("ab", texts, strict=True)}
    found = by_key(gw.compare(explainers, limits={"psi": 9.0, "difference": 9.0}).measures, "error")

    def index(then, now):
        p, q = (np.maximum([(frame["kind"] == kind).mean() for kind in "xyzq"], 1e-4) for frame in (then, now))
        return ((p - q) * np.log(p / q)).sum()

    left = [
        [(share, index(rest, texts[1])) for share, rest in without_each_fold(texts[0], None)],
        [(share, index(texts[0], rest)) for share, rest in without_each_fold(texts[1], None)],
    ]
    parts = [jackknife(index(*texts), [value for _, value in side], [share for share, _ in side]) for side in left]
    assert found["psi", "kind"] == pytest.approx(np.hypot(*parts), rel=1e-9)
    assert found["difference", "kind"] > 0


@pytest.mark.parametrize("rule", ["level > {}", "level >= {}", "level < {}", "level <= {}"])
def test_a_limit_is_exceeded_by_more_than_some_errors(model, rule):
    explainers = {"then": explained(model, THEN, folds=K), "now": explained(model, NOW, folds=K)}
    (plain,) = gw.compare(explainers, limits=["level > 0"]).measures
    away = -1 if ">" in rule else 1
    for n_errors, broken in ((2.1, True), (1.9, False), (-2.1, False)):
        limit = plain.value + away * n_errors * plain.error
        found = gw.compare(explainers, limits=[rule.format(limit)], error=2)
        assert bool(found.violations) == broken
        assert (found.measures[0].value, found.measures[0].error) == (plain.value, plain.error)
        assert bool(gw.compare(explainers, limits=[rule.format(limit)], error=0).violations) == (n_errors > 0)


def test_errors_are_reported(model):
    explainers = {"then": explained(model, THEN, folds=K), "now": explained(model, NOW, folds=K)}
    found = gw.compare(explainers, reference="then", error=2)
    assert repr(found.measures).endswith("beyond the limit by more than 2 standard errors)")
    assert " ± " in repr(found.violations)
    assert found.measures.allowance == (
        "a limit counts as exceeded if a value is beyond it by more than 2 standard errors; largest and ndcg have no "
        "standard errors and are judged by their values"
    )
    frame = found.measures.to_frame()
    assert frame["error"].isna().sum() == (frame["measure"].isin(["largest", "ndcg"])).sum() > 0
    reported = json.loads(json.dumps(found.measures.to_dicts()))
    assert reported[0]["error"] == found.measures[0].error > 0
    same = pickle.loads(pickle.dumps(found.measures))
    assert (same.margin, same.to_dicts(), same.violations.margin) == (2, found.measures.to_dicts(), 2)
    plain = gw.compare({name: explained(model, rows) for name, rows in (("a", THEN), ("b", NOW))}, limits={"level": 1})
    assert "error" not in plain.measures.to_frame()
    assert (plain.measures[0].error, plain.measures.allowance) == (None, "")


def test_errors_that_are_not_known_are_refused(model):
    folded, plain = explained(model, THEN, folds=K), explained(model, NOW)
    for names, whose in (({"one": folded, "two": plain}, "two"), ({"two": plain, "one": folded}, "two")):
        assert gw.compare(names, limits={"level": 9}).measures[0].error is None
        with pytest.raises(gw.errors.BackgroundError, match=f"error= needs the errors of '{whose}', .*folds=20"):
            gw.compare(names, limits={"level": 9}, error=2)
    assert gw.compare({"two": plain, "one": folded}, limits={"observed": 9}, error=2).measures[0].error > 0
    with pytest.raises(gw.errors.BackgroundError, match="errors of 'two'"):
        gw.compare({"one": folded, "two": plain}, limits={"observed": 9}, error=2)
    few = explained(model, NOW.assign(key=1), folds=K, fold_by="key")
    assert gw.compare({"one": folded, "few": few}, limits={"level": 9}).measures[0].error is None
    with pytest.raises(gw.errors.BackgroundError, match="has no rows, so there are no errors by folds"):
        gw.compare({"one": folded, "few": few}, limits={"level": 9}, error=2)
    for wrong in (-1, np.nan, np.inf, True, "2"):
        with pytest.raises(gw.errors.ArgumentError, match="error= is a number of standard errors"):
            gw.compare({"one": folded, "two": folded}, limits={"level": 9}, error=wrong)
    with pytest.raises(gw.errors.ArgumentError, match="error= is about limits"):
        gw.compare({"one": folded, "two": folded}, error=2)


def test_different_models_have_no_errors_but_of_what_was_observed(model):
    other = HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(THEN[["a", "b"]], THEN["y"])
    models = {"one": explained(model, THEN, folds=K), "other": explained(other, THEN, folds=K)}
    found = by_key(gw.compare(models, reference="one").measures, "error")
    assert found.pop(("observed", None)) > 0
    assert set(found.values()) == {None}
    assert gw.compare(models, limits={"observed": 9}, error=2).measures[0].error > 0
    with pytest.raises(gw.errors.ArgumentError, match="error= is for one model"):
        gw.compare(models, limits={"difference": 9}, error=2)


def test_predictions_of_rows_with_offsets_have_a_unit():
    """The unit of `level` is the standard deviation of rates, weighted by exposure."""
    rng = np.random.default_rng(0)
    then, now = (frame.assign(e=rng.uniform(0.2, 2, len(frame))) for frame in (THEN, NOW))
    fitted = HistGradientBoostingRegressor(loss="poisson", max_iter=5).fit(then[["a", "b"]], then["y"])
    asked = {"target": "y", "exposure": "e", "response": "prediction"}
    explainers = {
        name: gw.Explainer(fitted, frame, offset=np.log(frame["e"]), **asked)
        for name, frame in (("then", then), ("now", now))
    }
    totals = [frame["e"] * fitted.predict(frame[["a", "b"]]) for frame in (then, now)]
    means = [total.mean() / frame["e"].mean() for total, frame in zip(totals, (then, now), strict=True)]
    spread = np.average((totals[0] / then["e"] - means[0]) ** 2, weights=then["e"])
    selected = abs(means[1] - means[0]) / np.sqrt(spread)
    (found,) = gw.compare(explainers, limits={"level": 9}).measures
    assert found.value == pytest.approx(selected, rel=1e-6)


@pytest.mark.parametrize(("margin", "n_errors"), [(None, 1.0), (0, 1.0), (2, 2.0)])
def test_figures_show_errors(model, margin, n_errors):
    explainers = {"then": explained(model, THEN, folds=K), "now": explained(model, NOW, folds=K)}
    found = gw.compare(explainers, limits={"psi": 0.2, "ndcg": 0.5}, error=margin).measures
    panel = found.panel("psi")
    reported = {one.feature: one.error for one in found if one.measure == "psi"}
    assert {track.name: track.errors for track in panel.tracks} == {
        f: (n_errors * error,) for f, error in reported.items()
    }
    assert panel.note == f"bars: ± {n_errors:g} standard error{'s' if n_errors > 1 else ''}"
    assert all(track.errors == () for track in found.panel("ndcg").tracks)
    top = max(track.values[0] + track.errors[0] for track in panel.tracks)
    assert found.plot("psi").axes[0].get_ylim()[1] > top
    drawn = found.plot(backend="plotly").to_dict()["data"]
    assert sum("error_y" in trace for trace in drawn) == len(reported)
