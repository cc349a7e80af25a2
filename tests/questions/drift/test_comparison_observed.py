"""What was observed, in comparisons: carried over where cells are the model's own, refused where it is not known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw

N = 500


def rows(seed, factor=1.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})
    if seed > 1:
        X.loc[rng.random(N) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(list("xyz"), N), categories=list("xyz"))
    e = rng.uniform(0.2, 1.0, N)
    y = rng.poisson(factor * e * np.exp(0.5 * X["a"] + (X["kind"] == "x"))).astype(float)
    return X.assign(e=e, y=y)


FEATURES = ["a", "b", "kind"]
THEN, NOW = rows(1), rows(2, factor=1.3)


@pytest.fixture(scope="module")
def model():
    settings = {"loss": "poisson", "max_iter": 15, "categorical_features": "from_dtype"}
    return HistGradientBoostingRegressor(**settings).fit(THEN[FEATURES], THEN["y"] / THEN["e"])


@pytest.fixture(scope="module", params=["raw", "prediction"])
def explainers(model, request):
    return {
        name: gw.Explainer(model, frame, target="y", exposure="e", response=request.param)
        for name, frame in (("then", THEN), ("now", NOW))
    }


def test_what_was_observed_is_carried_over(explainers):
    compared = gw.compare(explainers)
    for feature in FEATURES:
        for name, curve in compared.curves(feature).items():
            own = explainers[name].partial_dependence(feature)
            np.testing.assert_array_equal(curve.observed, own.observed)
            np.testing.assert_array_equal(curve.actual_expected, own.actual_expected)
            pd.testing.assert_frame_equal(curve.to_frame(), own.to_frame())


def test_figures_show_both_groups(explainers):
    compared = gw.compare(explainers)
    names = [f"{name}: {what}" for name in ("then", "now") for what in ("observed", "predicted")]
    for feature in FEATURES:
        panel = compared.panel(feature, observed=True)
        assert [line.name for line in panel.lines] == names
        assert [line.colour for line in panel.lines] == [0, 0, 1, 1]
        assert [bool(line.support) for line in panel.lines] == [True, False, True, False]
        assert panel.y_label == "average target, observed and predicted"
    for backend in ("matplotlib", "plotly"):
        assert compared.plot(observed=True, backend=backend) is not None
    panel = compared.panel("b", observed=True)  # only the second has missing values
    gone = NOW["b"].isna()
    assert [line.missing for line in panel.lines[:2]] == [None, None]
    assert panel.lines[2].missing == pytest.approx(NOW["y"][gone].sum() / NOW["e"][gone].sum(), rel=1e-9)


def test_pools_are_common_and_ratios_of_sums(model, explainers):
    panel = gw.compare(explainers).panel("a", observed=True)
    edges = np.array(panel.x.cuts)
    steps = np.array([line.heights for line in panel.lines])
    starts = np.flatnonzero(np.append(True, (np.diff(steps, axis=1) != 0).any(axis=0)))
    assert 5 <= starts.size <= 20
    for frame, observed, predicted in ((THEN, *steps[:2]), (NOW, *steps[2:])):
        pool = np.searchsorted(starts, np.searchsorted(edges, frame["a"]), side="right") - 1
        exposure = np.bincount(pool, frame["e"])
        expected = frame["e"] * model.predict(frame[FEATURES])
        np.testing.assert_allclose(observed[starts], np.bincount(pool, frame["y"]) / exposure, rtol=1e-9)
        np.testing.assert_allclose(predicted[starts], np.bincount(pool, expected) / exposure, rtol=1e-9)


def test_groups_of_one_explainer(model):
    frame = pd.concat([THEN, NOW], ignore_index=True).assign(year=np.repeat([2025, 2026], N))
    grouped = gw.Explainer(model, frame, target="y", exposure="e").partial_dependence("kind", by="year")
    names = [line.name for line in grouped._drawers(observed=True)[0]().lines]
    assert names == [
        "year = 2025: observed",
        "year = 2025: predicted",
        "year = 2026: observed",
        "year = 2026: predicted",
    ]
    assert grouped.plot(observed=True) is not None


def test_classes(model):
    label = np.where(THEN["y"] > 1, "many", "few")
    fitted = HistGradientBoostingClassifier(max_iter=5).fit(THEN[["a", "b"]], label)
    halves = {
        name: gw.Explainer(fitted, THEN[part], target=label[part])
        for name, part in (("x", slice(250)), ("y", slice(250, N)))
    }
    panel = gw.compare(halves).panel("a", observed=True)
    assert panel.y_label == "average probability of many, observed and predicted"
    assert all(0 <= height <= 1 for line in panel.lines for height in line.heights)


def test_what_is_not_known_is_refused(model, explainers):
    without = {"then": gw.Explainer(model, THEN), "now": gw.Explainer(model, NOW, target="y")}
    with pytest.raises(gw.errors.BackgroundError, match=r"'then': no target given: .*target="):
        gw.compare(without).plot("a", observed=True)
    other = HistGradientBoostingRegressor(loss="poisson", max_iter=4).fit(THEN[["a"]], THEN["y"])
    models = {"one": gw.Explainer(model, THEN, target="y"), "other": gw.Explainer(other, THEN, target="y")}
    with pytest.raises(gw.errors.BackgroundError, match="whose cells are not the model's own have none"):
        gw.compare(models).plot("a", observed=True)
    with pytest.raises(gw.errors.ArgumentError, match="std= is about curves"):
        gw.compare(explainers).plot("a", observed=True, std=True)
