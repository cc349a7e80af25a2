"""The gate's measure `observed`: actual/expected over all rows, against the library's own predictions."""

from __future__ import annotations

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw

N = 400


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
    exposure = rng.uniform(0.1, 1.0, N)
    claims = rng.poisson(exposure * np.exp(X["a"])).astype(float)
    return X.assign(claims=claims, e=exposure, w=rng.integers(0, 3, N), kind=np.minimum(claims, 2).astype(int))


@pytest.fixture(scope="module")
def model():
    frame = rows()
    fitted = HistGradientBoostingRegressor(loss="poisson", max_iter=10)
    return fitted.fit(frame[["a", "b"]], frame["claims"] / frame["e"], sample_weight=frame["e"])


def judged(explainers, limit=9.0, **asked):
    return {one.output: one.value for one in gw.compare(explainers, limits={"observed": limit}, **asked).measures}


@pytest.mark.parametrize("response", ["raw", "prediction"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_observed_is_its_definition_on_any_scale(model, response, weight):
    then, now = rows(1), rows(2)
    asked = {"target": "claims", "exposure": "e", "sample_weight": weight, "response": response}
    explainers = {"then": gw.Explainer(model, then), "now": gw.Explainer(model, now, **asked)}
    w = np.ones(N) if weight is None else now[weight]
    expected = (w * now["e"] * model.predict(now[["a", "b"]])).sum()
    selected = abs((w * now["claims"]).sum() / expected - 1)
    if response == "raw":
        assert judged(explainers) == {None: pytest.approx(selected, rel=1e-9)}
    both = {"then": gw.Explainer(model, then, response=response), "now": explainers["now"]}
    assert judged(both) == {None: pytest.approx(selected, rel=1e-9)}
    found = gw.summarize(model, now, response=response, target="claims", exposure="e", sample_weight=weight)
    both["now"] = gw.Explainer(model, found, response=response)
    assert judged(both) == {None: pytest.approx(selected, rel=1e-9)}


@pytest.mark.parametrize(
    "classifier",
    [
        lgb.LGBMClassifier(n_estimators=5, num_leaves=5, verbose=-1),
        HistGradientBoostingClassifier(max_iter=3),
        RandomForestClassifier(5, max_depth=3, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_class_has_its_own_ratio(classifier, n_classes):
    then, now = rows(1), rows(2)
    labels = [np.array(["no", "one", "more"])[np.minimum(frame["kind"], n_classes - 1)] for frame in (then, now)]
    fitted = classifier.fit(then[["a", "b"]], labels[0])
    explainers = {"then": gw.Explainer(fitted, then), "now": gw.Explainer(fitted, now, target=labels[1])}
    share = fitted.predict_proba(now[["a", "b"]]).mean(axis=0)
    selected = {
        label: pytest.approx(abs((labels[1] == label).mean() / own - 1), rel=1e-7)
        for label, own in zip(fitted.classes_.tolist(), share, strict=True)
    }
    if n_classes == 3:
        assert judged(explainers) == selected
    for label, value in selected.items():
        assert judged(explainers, output=label) == {None: value}


def test_an_offset_is_part_of_the_prediction():
    frame = rows(1)
    fitted = xgb.XGBRegressor(objective="count:poisson", n_estimators=5, max_depth=3)
    fitted.fit(frame[["a", "b"]], frame["claims"], base_margin=np.log(frame["e"]))
    predicted = fitted.predict(frame[["a", "b"]], base_margin=np.log(frame["e"])).astype(float)
    explainer = gw.Explainer(fitted, frame, target="claims", exposure="e", offset=np.log(frame["e"]))
    selected = abs(frame["claims"].sum() / predicted.sum() - 1)
    found = judged({"then": gw.Explainer(fitted, rows(2)), "now": explainer})
    assert found == {None: pytest.approx(selected, rel=1e-5, abs=1e-7)}


def test_a_level_that_is_wrong_is_a_violation(model):
    frame = rows(2)
    fair = gw.Explainer(model, rows(1), target="claims", exposure="e")
    right = frame["e"] * model.predict(frame[["a", "b"]])
    for factor, broken in ((1.0, False), (1.04, False), (0.96, False), (1.06, True), (0.94, True)):
        now = gw.Explainer(model, frame, target=factor * right, exposure="e")
        found = gw.compare({"then": fair, "now": now}, limits=["observed > 0.05"])
        assert bool(found.violations) == broken
        assert found.measures[0].value == pytest.approx(abs(factor - 1), abs=1e-9)
        assert (found.measures[0].feature, found.measures[0].rows) == (None, N)
        assert json.loads(json.dumps(found.measures.to_dicts()))[0]["rule"] == "observed > 0.05"
    assert found.measures.panel("observed").tracks[0].name == "model"


def test_it_is_judged_by_default_where_there_is_a_target(model):
    explainers = {
        "then": gw.Explainer(model, rows(1), target="claims", exposure="e"),
        "without": gw.Explainer(model, rows(2)),
        "now": gw.Explainer(model, rows(3), target="claims", exposure="e"),
    }
    with pytest.warns(UserWarning, match="psi may be large by chance"):
        found = gw.compare(explainers, reference="then").measures
    assert [(one.name, one.limit) for one in found if one.measure == "observed"] == [("now", 0.05)]


def test_different_models_have_it(model):
    frame = rows(1)
    other = HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(frame[["a", "b"]], frame["claims"] / 2)
    models = {"one": gw.Explainer(model, frame), "other": gw.Explainer(other, frame, target="claims")}
    selected = abs(frame["claims"].sum() / other.predict(frame[["a", "b"]]).sum() - 1)
    assert judged(models) == {None: pytest.approx(selected, rel=1e-9)}


def test_without_a_target_it_cannot_be_judged(model):
    frame = rows(1)
    known = gw.Explainer(model, frame, target="claims")
    counts = gw.Explainer(model, gw.summarize(model, frame))
    for name, other in (("rows", gw.Explainer(model, frame)), ("counts", counts)):
        with pytest.raises(gw.errors.BackgroundError, match=f"rows of '{name}'.*target="):
            gw.compare({"known": known, name: other}, limits={"observed": 1})
    nothing = gw.Explainer(model, frame, target="claims", prediction=np.zeros(N))
    with pytest.raises(gw.errors.BackgroundError, match="'nothing' is 0"):
        gw.compare({"known": known, "nothing": nothing}, limits={"observed": 1})
    with pytest.raises(gw.errors.ArgumentError, match="measure of the whole model"):
        gw.compare({"known": known, "now": known}, limits={"a: observed": 1})
