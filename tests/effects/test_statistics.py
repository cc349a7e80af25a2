"""Importance, interaction strengths, monotonicity, spikes and comparisons, against brute force."""

from __future__ import annotations

from itertools import combinations

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.effects._statistics import standard_deviation
from glasswood.questions.drift._arithmetic import stability_index
from glasswood.questions.interactions import _answer as _strengths
from glasswood.questions.interactions._arithmetic import pair_strengths
from glasswood.questions.shapes._arithmetic import missed, trend
from zoo.store import fitted

N = 90


def table(seed=0, n=N):
    """Correlated numbers with missing values, and a category."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=n), "c": rng.normal(size=n).round(1)})
    frame["d"] = rng.integers(0, 3, size=n).astype(float)
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], size=n))
    y = a * frame["b"].fillna(0) + np.where(frame["kind"] == "x", frame["c"], 0) + frame["d"]
    return frame, y.to_numpy()


def boosted(**options):
    rows, y = table()
    model = HistGradientBoostingRegressor(max_iter=15, min_samples_leaf=5, categorical_features="from_dtype", **options)
    return model.fit(rows, y), rows


def classifier():
    rows, y = table()
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5, categorical_features="from_dtype")
    return model.fit(rows, labels), rows


def raw(model, rows):
    """The model's own score, with an axis of outputs."""
    scores = model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)
    return np.asarray(scores, dtype=float).reshape(len(rows), -1)


def brute(model, rows, columns, at=None, score=raw):
    """The scores of all rows with some columns as in each of some rows: (n_at, n_rows, n_outputs)."""
    at = rows if at is None else at
    tiled = rows.iloc[np.tile(np.arange(len(rows)), len(at))].reset_index(drop=True)
    for column in columns:
        tiled[column] = at[column].iloc[np.repeat(np.arange(len(at)), len(rows))].reset_index(drop=True)
    return score(model, tiled).reshape(len(at), len(rows), -1)


def curve_at_rows(model, rows, columns, weight=None, score=raw):
    return np.average(brute(model, rows, columns, score=score), axis=1, weights=weight)


def deviation(values, weight=None):
    mean = np.average(values, axis=0, weights=weight)
    return np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))


def by_pair(strengths):
    """From the set of a pair to its strength and H."""
    found = zip(strengths.pairs, strengths.heights, strengths.h, strict=True)
    return {frozenset(pair): (height, h) for pair, height, h in found}


def brute_strengths(model, rows, weight=None, columns=None):
    """The root mean square of each pair's interaction, and Friedman's H."""
    columns = {name: [name] for name in rows} if columns is None else columns
    mean = np.average(raw(model, rows), axis=0, weights=weight)
    single = {name: curve_at_rows(model, rows, own, weight) - mean for name, own in columns.items()}
    result = {}
    for a, b in combinations(columns, 2):
        joint = curve_at_rows(model, rows, [*columns[a], *columns[b]], weight) - mean
        alone = joint - single[a] - single[b]
        h = deviation(alone, weight) / deviation(joint, weight)
        result[frozenset((a, b))] = np.sqrt(np.average(alone**2, axis=0, weights=weight)), np.minimum(h, 1)
    return result


def assert_strengths(found, expected):
    found = by_pair(found)
    for pair, (height, h) in expected.items():
        if pair in found:
            np.testing.assert_allclose(found[pair][0], height, atol=1e-9)
            np.testing.assert_allclose(found[pair][1], np.where(found[pair][0] > 0, h, 0), atol=1e-6)
        else:
            np.testing.assert_allclose(height, 0, atol=1e-9)


@pytest.fixture(params=["cells", "lookups"])
def way(request, monkeypatch):
    """Both ways to take the moments of pairs."""
    monkeypatch.setattr(_strengths, "PER_LOOKUP", 1.0 if request.param == "cells" else 0.0)
    return request.param


class TestImportance:
    @pytest.mark.parametrize("make", [boosted, classifier])
    def test_is_the_standard_deviation_of_brute_force_curves(self, make):
        model, rows = make()
        found = gw.Explainer(model, rows, response="raw").importance(kind="main")
        assert sorted(found.names) == sorted(rows)
        for name, height in zip(found.names, found.heights, strict=True):
            np.testing.assert_allclose(height, deviation(curve_at_rows(model, rows, [name])), atol=1e-9)
        assert (np.diff(found.total) <= 0).all()
        assert found.values.shape == ((5,) if len(found.outputs) == 1 else (5, 3))

    def test_weights(self):
        model, rows = boosted()
        weight = np.random.default_rng(1).random(len(rows))
        found = gw.Explainer(model, rows, sample_weight=weight).importance(kind="main")
        np.testing.assert_allclose(found["b"], deviation(curve_at_rows(model, rows, ["b"], weight), weight), atol=1e-9)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_groups(self, weighted):
        model, rows = boosted()
        weight = np.random.default_rng(2).random(len(rows)) if weighted else None
        found = gw.Explainer(model, rows, groups={"g": ["a", "b"]}, sample_weight=weight).importance(kind="main")
        assert set(found.names) == {"g", "c", "d", "kind"}
        expected = deviation(curve_at_rows(model, rows, ["a", "b"], weight), weight)
        np.testing.assert_allclose(found["g"], expected, atol=1e-9)

    def test_groups_need_rows(self):
        model, rows = boosted()
        background = gw.summarize(model, rows, groups={"g": ["a", "b"]})
        with pytest.raises(gw.errors.BackgroundError, match="group 'g' needs the rows"):
            gw.Explainer(model, background).importance()

    def test_probabilities_and_one_output(self):
        model, rows = classifier()
        ex = gw.Explainer(model, rows, groups={"g": ["d", "kind"]}, response="probability")
        found = ex.importance(kind="main")
        for name, columns in {"a": ["a"], "g": ["d", "kind"]}.items():
            at_rows = curve_at_rows(model, rows, columns, score=lambda model, rows: model.predict_proba(rows))
            np.testing.assert_allclose(found[name], deviation(at_rows), atol=1e-9)
        assert found.units == "probability"
        one = ex.importance(kind="main", output="2")
        assert one["a"] == found["a"][2]
        assert one.values.ndim == 1

    def test_counts_are_enough(self, tmp_path):
        model, rows = boosted()
        expected = gw.Explainer(model, rows).importance(kind="main")
        rows.to_parquet(tmp_path / "rows.parquet")
        for background in (gw.summarize(model, rows), tmp_path / "rows.parquet"):
            found = gw.Explainer(model, background).importance(kind="main")
            assert found.names == expected.names
            np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-12)

    def test_path_dependent_explainers_have_no_rows(self):
        with pytest.raises(gw.errors.BackgroundError, match="there are none: pass them"):
            gw.Explainer(boosted()[0]).importance()

    def test_features_without_splits_have_none(self):
        rows = pd.DataFrame({"a": np.arange(20.0), "idle": 1.0})
        found = gw.Explainer(fitted(DecisionTreeRegressor(max_depth=2), rows, rows["a"]), rows).importance()
        assert found.names == ("a", "idle")
        assert found["idle"] == 0

    @pytest.mark.parametrize("response", ["raw", "prediction"])
    def test_columns_of_a_pipeline(self, response):
        model, rows = pipeline()
        found = gw.Explainer(model, rows, response=response).importance(kind="main")
        assert set(found.names) == set(rows)
        for name in rows:
            np.testing.assert_allclose(found[name], deviation(curve_at_rows(model, rows, [name])), atol=1e-9)

    def test_says_what_it_is(self):
        found = gw.Explainer(*classifier(), response="raw").importance()
        assert len(found.top(2)) == 2
        assert repr(found).startswith("Importance(total, 5 features x 3 outputs, softmax margin, total: ")
        assert found.to_frame().columns.tolist() == ["feature", "value_0", "value_1", "value_2", "total", "kind"]
        assert found._repr_html_().count("<tr>") == 6
        with pytest.raises(gw.errors.TableError, match="no feature 'q'"):
            found["q"]


def pipeline():
    rows, y = table()
    rows = rows.fillna({"b": 0.0})
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    return fitted(make_pipeline(encode, RandomForestRegressor(8, max_leaf_nodes=12, random_state=0)), rows, y), rows


class TestStrengths:
    @pytest.mark.parametrize("make", [boosted, classifier])
    def test_are_brute_force(self, make, way):
        model, rows = make()
        found = gw.Explainer(model, rows).interaction_strengths()
        assert found.basis == "rows"
        assert_strengths(found, brute_strengths(model, rows))
        assert (np.diff(found.total) <= 0).all()

    def test_weights(self, way):
        model, rows = boosted()
        weight = np.random.default_rng(1).random(len(rows))
        found = gw.Explainer(model, rows, sample_weight=weight).interaction_strengths()
        assert_strengths(found, brute_strengths(model, rows, weight))

    def test_other_rows_and_one_output(self, way):
        model, rows = classifier()
        ex = gw.Explainer(model, rows)
        other = table(seed=3, n=50)[0]
        found = by_pair(ex.interaction_strengths(other, output=1))
        values = ex.interaction_values(other, max_order=2, output=1)
        for pair, (height, _) in found.items():
            np.testing.assert_allclose(height, np.sqrt((values[tuple(pair)] ** 2).mean()), atol=1e-12)

    def test_path_dependent_explainers_take_rows(self, way):
        model, rows = boosted()
        ex = gw.Explainer(model)
        with pytest.raises(gw.errors.BackgroundError, match="pass rows="):
            ex.interaction_strengths()
        values = ex.interaction_values(rows, max_order=2)
        for pair, (height, _) in by_pair(ex.interaction_strengths(rows)).items():
            np.testing.assert_allclose(height, np.sqrt((values[tuple(pair)] ** 2).mean()), atol=1e-12)

    def test_groups_and_pipelines(self):
        model, rows = boosted()
        found = gw.Explainer(model, rows, groups={"g": ["a", "b"]}).interaction_strengths()
        columns = {"g": ["a", "b"], "c": ["c"], "d": ["d"], "kind": ["kind"]}
        assert_strengths(found, brute_strengths(model, rows, columns=columns))
        model, rows = pipeline()
        found = gw.Explainer(model, rows).interaction_strengths()
        assert_strengths(found, brute_strengths(model, rows))

    def test_counts_alone_take_features_as_independent(self):
        model, rows = boosted()
        ex = gw.Explainer(model, rows)
        for background in (gw.summarize(model, rows, order=2), iter([rows[:50], rows[50:]])):
            found = gw.Explainer(model, background).interaction_strengths()
            assert found.basis == "counts"
            assert "features taken as independent" in repr(found)
            for (a, b), height, h in list(zip(found.pairs, found.heights[:, 0], found.h[:, 0], strict=True))[:3]:
                i, j = np.indices((N, N)).reshape(2, -1)
                surface = ex.partial_dependence(a, b)
                joint = surface(rows[a].iloc[i].to_numpy(), rows[b].iloc[j].to_numpy())
                alone = joint - surface.first(rows[a])[i] - surface.second(rows[b])[j] + surface.first.mean[0]
                np.testing.assert_allclose(height, np.sqrt((alone**2).mean()), rtol=1e-9)
                np.testing.assert_allclose(h, min(1, alone.std() / joint.std()), rtol=1e-6)
        with pytest.raises(gw.errors.BackgroundError, match="order 2"):
            gw.Explainer(model, gw.summarize(model, rows)).interaction_strengths()
        grouped = gw.summarize(model, rows, order=2, groups={"g": ["a", "b"]})
        with pytest.raises(gw.errors.BackgroundError, match="groups need the rows"):
            gw.Explainer(model, grouped).interaction_strengths()

    def test_an_additive_model_has_none(self, way):
        rows, y = table()
        model = fitted(GradientBoostingRegressor(n_estimators=10, max_depth=1), rows[["a", "c"]], y)
        for background in (rows[["a", "c"]], gw.summarize(model, rows[["a", "c"]])):
            found = gw.Explainer(model, background).interaction_strengths()
            assert found.pairs == []
            assert found.heights.shape == found.h.shape == (0, 1)
            assert found.matrix()[1].shape == (0, 0)
            assert len(found.to_frame()) == 0
            note = "" if found.basis == "rows" else " taken as independent"
            assert repr(found) == f"Strengths(0 pairs of 2 features{note}, value)"

    def test_pairs_of_a_path_that_do_not_interact(self, way):
        grid = pd.DataFrame([(a, b) for a in (0.0, 1.0) for b in (0.0, 1.0)] * 4, columns=["a", "b"])
        model = fitted(DecisionTreeRegressor(random_state=0), grid, grid["a"] + 0.1 * grid["b"])
        found = gw.Explainer(model, grid).interaction_strengths()
        assert found.pairs == [("a", "b")]
        assert found.heights.tolist() == found.h.tolist() == [[0.0]]

    def test_h_exceeds_one_where_features_depend_on_each_other(self, way):
        rows = pd.DataFrame([(a, b) for a in (0.0, 1.0) for b in (0.0, 1.0)] * 5, columns=["a", "b"])
        model = fitted(DecisionTreeRegressor(random_state=0), rows, (rows["a"] != rows["b"]).astype(float))
        assert gw.Explainer(model, rows).interaction_strengths().h[0, 0] == pytest.approx(1)
        grid = pd.DataFrame([(a, b) for a in range(6) for b in range(6)], columns=["a", "b"], dtype=float)
        model = fitted(DecisionTreeRegressor(random_state=0), grid, (grid["a"] - grid["b"]) ** 2)
        near = grid[abs(grid["a"] - grid["b"]) <= 1]
        ex = gw.Explainer(model, near)
        surface = ex.partial_dependence("a", "b")
        joint = surface(near["a"], near["b"])
        alone = joint - surface.first(near["a"]) - surface.second(near["b"])
        assert ex.interaction_strengths().h[0, 0] == pytest.approx(alone.std() / joint.std())
        assert ex.interaction_strengths().h[0, 0] > 5

    def test_h_of_a_joint_effect_that_does_not_vary_is_not_a_number(self, way):
        moments = np.array([0.0, 1.0, 0.0, 0.0]).reshape(4, 1, 1)
        found = pair_strengths(moments, 1.0)
        strength, h = found.strength, found.h
        assert strength.tolist() == [[1.0]]
        assert np.isnan(h).all()

    def test_matrix_and_top(self):
        model, rows = classifier()
        found = gw.Explainer(model, rows).interaction_strengths()
        names, square = found.matrix()
        assert np.isnan(np.diag(square)).all()
        np.testing.assert_array_equal(square, square.T)
        a, b = found.pairs[0]
        assert names[:2] == (a, b)
        assert square[0, 1] == found.total[0] == np.nanmax(square)
        assert found.matrix(2)[1].shape == (2, 2)
        assert found.top(1).pairs == [(a, b)]
        frame = found.to_frame()
        assert frame.columns.tolist()[:3] == ["first", "second", "value_0"]
        assert frame.columns.tolist()[-2:] == ["h_2", "total"]
        assert "<table" in found._repr_html_()

    def test_only_raw_scores(self):
        model, rows = classifier()
        ex = gw.Explainer(model, rows, response="probability")
        assert ex.interaction_strengths().units == "softmax margin"
        with pytest.raises(gw.errors.UnsupportedModelError, match="computes interaction strengths of the raw score"):
            ex.interaction_strengths(response="probability")


class TestMonotonicity:
    def test_constrained_models(self):
        model, rows = boosted(monotonic_cst={"a": 1, "c": -1})
        found = gw.Explainer(model, rows).monotonicity()
        assert found.names == ("a", "b", "c", "d")
        assert found["a"] == "increasing"
        assert found["c"] == "decreasing"
        assert found.against[[0, 2]].tolist() == [[0.0], [0.0]]
        assert np.isnan(found.at[[0, 2]]).all()
        assert found.shares[[0, 2]].tolist() == [[0.0], [0.0]]

    def test_a_violated_one(self):
        rng = np.random.default_rng(0)
        rows = pd.DataFrame({"x": np.sort(rng.random(1000))})
        y = rows["x"].to_numpy() - 0.3 * ((rows["x"] > 0.9) & (rows["x"] <= 0.95))
        model = fitted(DecisionTreeRegressor(min_samples_leaf=5), rows, y)
        found = gw.Explainer(model, rows).monotonicity("x")
        curve = gw.Explainer(model, rows).partial_dependence("x")
        steps = np.diff(curve.values)
        assert found["x"] == "neither"
        assert found.mains[0, 0] == "increasing"
        assert found.against[0, 0] == pytest.approx(-steps.min())
        assert found.at[0, 0] == curve.cuts[steps.argmin()] == pytest.approx(0.9, abs=0.01)
        at_rows = curve(rows["x"])
        assert found.shares[0, 0] == (at_rows < np.maximum.accumulate(at_rows)).mean()
        assert found.to_frame()["direction"].tolist() == ["neither"]

    def test_constant_classes_and_counts_alone(self):
        rows, _ = table()
        rows = rows[["a", "c"]].assign(idle=0.0)
        model = fitted(
            RandomForestClassifier(5, max_leaf_nodes=4, random_state=0), rows, np.digitize(rows["a"], [-0.5, 0.5])
        )
        found = gw.Explainer(model, gw.summarize(model, rows)).monotonicity("idle", "a")
        assert found["idle"] == ["constant"] * 3
        assert found["a"][0] == "decreasing"
        assert found["a"][2] == "increasing"
        assert found.to_frame().columns.tolist()[:2] == ["feature", "output"]
        assert np.isnan(gw.Explainer(model).monotonicity("a").shares).all()
        assert "<table" in found._repr_html_()

    def test_rounding_is_no_violation(self):
        heights = np.cumsum(np.full((50, 1), 0.1), axis=0) + 1e6
        heights[20:] -= 1e-9 + 0.1  # a step that is only rounding
        heights[21:] += 0.1
        assert trend(heights, np.empty(0)).direction == ["increasing"]
        assert trend(np.full((3, 2), 5.0), np.ones(4)).direction == ["constant"] * 2
        assert trend(np.full((1, 1), 5.0), np.ones(2)).direction == ["constant"]

    def test_numbers_only(self):
        ex = gw.Explainer(*boosted(), groups={"g": ["a", "b"]})
        assert ex.monotonicity().names == ("c", "d")
        for name in ("kind", "g"):
            with pytest.raises(gw.errors.TableError, match=f"'{name}' is a"):
                ex.monotonicity(name)
        with pytest.raises(gw.errors.TableError, match="twice"):
            ex.monotonicity("c", "c")


class TestSpikes:
    def salary(self):
        """The paper's example: the default value of a form."""
        rng = np.random.default_rng(0)
        salary = rng.integers(10_000, 200_000, size=3000).astype(float)
        salary[rng.random(3000) < 0.1] = 60_000.0
        rows = pd.DataFrame({"salary": salary, "noise": rng.random(3000)})
        risk = (salary == 60_000) + 0.1 * (salary > 120_000)
        return fitted(GradientBoostingRegressor(n_estimators=30, max_leaf_nodes=4, random_state=0), rows, risk), rows

    @pytest.mark.parametrize("points", [100, 1000])
    def test_a_single_value(self, points):
        model, rows = self.salary()
        ex = gw.Explainer(model, rows)
        found = ex.spikes(points=points)
        spike = found[0]
        assert spike.feature == "salary"
        assert spike.above < 60_000 <= spike.to
        assert spike.to - spike.above < 200
        assert spike.by > 0.5
        inside = (rows["salary"] > spike.above) & (rows["salary"] <= spike.to)
        assert spike.rows == inside.sum()
        curve = ex.partial_dependence("salary")
        assert spike.height == pytest.approx(curve([60_000.0])[0])
        sampled = curve(np.linspace(rows["salary"].min(), rows["salary"].max(), points))
        assert sampled.max() < spike.height - 0.5  # what a sampled curve shows
        assert spike.share == spike.by / np.ptp(curve.values)
        assert found.names == ("salary", "noise")

    def test_lunch(self):
        hour = np.random.default_rng(0).uniform(6, 18, size=2000)
        hour[:2] = 6, 18
        rows = pd.DataFrame({"hour": hour})
        model = fitted(DecisionTreeRegressor(max_leaf_nodes=3), rows, (hour > 11.5) & (hour <= 13))
        ex = gw.Explainer(model, rows)
        (spike,) = ex.spikes("hour", points=4)  # 6, 10, 14 and 18 o'clock
        assert (spike.above, spike.to) == pytest.approx((11.5, 13), abs=0.02)
        assert spike.by == pytest.approx(1)
        assert spike.share == 1
        assert len(ex.spikes("hour", points=100)) == 0
        assert repr(ex.spikes("hour", points=4)).startswith(
            "Spikes(1 in 1 feature that 4 sample points would miss: hour"
        )

    def test_both_sides_and_neighbours(self):
        heights = np.array([0, 0, 5, 4, 0, -3, 0, 0, 0.1, 10.0])
        found = missed(heights, np.array([0, 7, 9]))
        assert [(spike.first, spike.last, spike.height, spike.by) for spike in found] == [(2, 4, 5, 5), (5, 6, -3, -3)]
        assert missed(np.full(4, 2.0), np.array([0, 3])) == []
        assert missed(heights, np.arange(10)) == []

    def test_classes_counts_and_missing(self):
        model, rows = classifier()
        for background in (rows, gw.summarize(model, rows), None):
            found = gw.Explainer(model, background).spikes(points=5)
            assert set(found.names) == {"a", "b", "c", "d"}
            assert {spike.output for spike in found} <= set(found.outputs)
            by = [abs(spike.by) for spike in found]
            assert by == sorted(by, reverse=True)
            assert all(np.isnan(spike.rows) == (background is None) for spike in found)
            assert found.to_frame().columns.tolist()[:2] == ["feature", "output"]
            assert len(found.top(1)) == 1
            assert "<table" in found._repr_html_()
        with pytest.raises(ValueError, match="at least 2"):
            gw.Explainer(model, rows).spikes(points=1)

    def test_infinite_and_absent_values(self):
        rows = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, np.inf] * 5, "b": np.tile([1.0, 2.0, np.nan, 4.0, 5.0], 5)})
        model = fitted(HistGradientBoostingRegressor(min_samples_leaf=1, max_iter=3), rows[["b"]], rows["b"].fillna(0))
        assert len(gw.Explainer(model, rows[["b"]]).spikes()) == 0
        assert len(gw.Explainer(model, rows[["b"]] * np.nan).spikes()) == 0


class TestComparison:
    def test_drift_of_groups(self):
        model, rows = boosted()
        first = rows["a"] < 0.3
        parts = {"low": rows[first], "high": rows[~first]}
        found = gw.compare({name: gw.Explainer(model, part) for name, part in parts.items()})
        assert sorted(found.features) == sorted(rows)
        assert found.names == ("low", "high")
        share = {name: np.repeat(0.5 / len(part), len(part)) for name, part in parts.items()}
        both, weight = pd.concat(parts.values()), np.concatenate(list(share.values()))
        for k, feature in enumerate(found.features):
            curves = np.array([brute(model, part, [feature], at=both).mean(axis=1) for part in parts.values()])
            centred = curves - np.average(curves, axis=1, weights=weight)[:, None]
            apart = np.abs(centred[0] - centred[1])
            np.testing.assert_allclose(found.difference[k], np.average(apart, axis=0, weights=weight), atol=1e-9)
            np.testing.assert_allclose(found.largest[k], apart.max(axis=0), atol=1e-9)
        assert found.features[int(found.shift.argmax())] == "a"
        assert found.shift.max() > 1
        assert (np.diff(found.total) <= 1e-12).all()

    def test_the_same_twice(self):
        model, rows = classifier()
        found = gw.compare({"one": gw.Explainer(model, rows), "two": gw.Explainer(model, gw.summarize(model, rows))})
        assert not found.difference.any()
        assert not found.largest.any()
        np.testing.assert_allclose(found.shift, 0, atol=1e-12)
        assert found.difference.shape == (5, 3)
        assert found.to_frame().columns.tolist() == ["feature", "output", "difference", "largest", "total", "shift"]
        assert gw.compare({"one": gw.Explainer(model, rows), "two": gw.Explainer(model, rows)}, output=1).outputs == (
            1,
        )

    @pytest.mark.parametrize("weighted", [False, True])
    def test_two_models_on_the_union_of_cuts(self, weighted):
        rows, y = table()
        numbers = rows[["a", "b", "c"]]
        weight = np.random.default_rng(5).random(N) if weighted else None
        models = {
            "one": fitted(HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5), numbers, y),
            "two": fitted(HistGradientBoostingRegressor(max_iter=9, min_samples_leaf=9), numbers[["b", "c"]], y),
        }
        columns = {"one": ["a", "b", "c"], "two": ["b", "c"]}
        explainers = {
            name: gw.Explainer(model, rows[columns[name]], sample_weight=weight) for name, model in models.items()
        }
        found = gw.compare(explainers)
        assert sorted(found.features) == ["b", "c"]
        for k, feature in enumerate(found.features):
            own = [explainer.partial_dependence(feature) for explainer in explainers.values()]
            curves = found.curves(feature)
            assert list(curves) == ["one", "two"]
            at = np.append(rows[feature], [np.nan, -1e9, 1e9])
            at = np.concatenate([at, own[0].cuts, own[1].cuts])
            for expected, curve in zip(own, curves.values(), strict=True):
                np.testing.assert_array_equal(curve(at), expected(at))
                np.testing.assert_array_equal(curve.cuts, np.union1d(own[0].cuts, own[1].cuts))
                assert curve.axis.rows.sum() == pytest.approx(N if weight is None else weight.sum())
            values = np.array([curve(rows[feature]) for curve in curves.values()])
            centred = values - np.average(values, axis=1, weights=weight)[:, None]
            apart = np.abs(centred[0] - centred[1])
            assert found.difference[k, 0] == pytest.approx(np.average(apart, weights=weight))
            assert found.largest[k, 0] == pytest.approx(apart.max())
            assert found.shift[k] == pytest.approx(0, abs=1e-12)

    def test_rows_of_other_cuts_are_not_guessed(self):
        rows, y = table()
        numbers = rows[["a", "c"]]
        models = [fitted(HistGradientBoostingRegressor(max_iter=n, min_samples_leaf=5), numbers, y) for n in (2, 9)]
        found = gw.compare({str(k): gw.Explainer(m, gw.summarize(m, numbers)) for k, m in enumerate(models)})
        assert np.isnan(found.difference).all()
        assert np.isnan(found.shift).all()
        assert (found.largest > 0).all()
        assert (found.total == found.largest[:, 0]).all()

    def test_categories_of_two_models(self):
        rng = np.random.default_rng(0)
        explainers = {}
        for name, labels in {"old": ["x", "y"], "new": ["y", "z", "x"]}.items():
            rows = pd.DataFrame({"kind": pd.Categorical(rng.choice(labels, size=100), categories=labels)})
            model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5, categorical_features="from_dtype")
            explainers[name] = gw.Explainer(model.fit(rows, rows["kind"].map(ord).astype(float)), rows)
        found = gw.compare(explainers)
        old, new = found.curves("kind").values()
        assert old.categories == new.categories
        assert set(old.categories) == {"x", "y", "z"}
        for curve, explainer in zip((old, new), explainers.values(), strict=True):
            own = explainer.partial_dependence("kind")
            np.testing.assert_array_equal(curve(["x", "y"]), own(["x", "y"]))
            assert curve.axis.rows.sum() == 100
        z = old.categories.index("z")
        assert old.values[z] == old.unseen
        assert old.rows[z] == 0
        assert found.shift[0] > 0.25
        np.testing.assert_array_equal(new(["z", "q"]), [new.values[z], new.unseen])
        assert np.isnan(new([None])) == np.isnan(new.missing)

    @pytest.mark.parametrize("codes", [False, True])
    def test_rows_of_categories_that_one_model_does_not_know(self, codes):
        rng = np.random.default_rng(0)
        kind = rng.choice(3, size=300)
        fitted = {"old": kind < 2, "new": kind < 3}
        explainers, backgrounds = {}, {}
        for name, known in fitted.items():
            labels = ["x", "y", "z"][: kind[known].max() + 1]
            rows = pd.DataFrame({"kind": pd.Categorical(np.array(["x", "y", "z"])[kind], categories=["x", "y", "z"])})
            if codes:
                rows["kind"] = kind
                model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=5, verbose=-1)
                model.fit(rows[known], kind[known].astype(float), categorical_feature=["kind"])
                model = model.booster_
            else:
                model = HistGradientBoostingRegressor(max_iter=3, categorical_features="from_dtype")
                model.fit(rows[known].astype(pd.CategoricalDtype(labels)), kind[known].astype(float))
            explainers[name] = gw.Explainer(model, rows)
            backgrounds[name] = gw.Explainer(model, gw.summarize(model, rows))
        found = gw.compare(explainers)
        for curve in found.curves("kind").values():
            assert list(curve.rows) == list(np.bincount(kind))
            assert curve.axis.rows.sum() == 300
        assert found.shift[0] == 0
        assert np.isnan(gw.compare(backgrounds).shift[0])  # counts do not say of which category the unseen rows are

    def test_what_cannot_be_compared(self):
        model, rows = boosted()
        ex = gw.Explainer(model, rows)
        for wrong in ({"one": ex}, [ex, ex], {"one": ex, "two": model}):
            with pytest.raises(gw.errors.TableError, match=r"mapping of at least two|not an Explainer"):
                gw.compare(wrong)
        with pytest.raises(gw.errors.TableError, match="outputs of 'one' and 'two' differ"):
            gw.compare({"one": ex, "two": gw.Explainer(*classifier())})
        plain = rows[["a", "b"]].fillna(0.0)
        piped = fitted(make_pipeline(FunctionTransformer(np.cos), RandomForestRegressor(3)), plain, np.cos(plain["a"]))
        with pytest.raises(gw.errors.TableError, match="no common feature with a curve"):
            gw.compare({"one": gw.Explainer(piped, plain), "two": gw.Explainer(piped, plain)})
        other = rows.assign(a=pd.Categorical(np.where(rows["a"] > 0, "p", "n")))
        swapped = fitted(HistGradientBoostingRegressor(max_iter=2, categorical_features="from_dtype"), other, rows["c"])
        with pytest.raises(gw.errors.TableError, match="'a' is categorical in one"):
            gw.compare({"one": ex, "two": gw.Explainer(swapped, other)})

    def test_says_what_it_is(self):
        model, rows = boosted()
        parts = {str(k): gw.Explainer(model, rows[k::4]) for k in range(4)}
        found = gw.compare(parts)
        assert repr(found).startswith("Comparison(0, 1, 2, ...: 5 features, value apart by ")
        assert len(found.top(2)) == 2
        assert found.top(2).difference.shape == (2, 1)
        assert found._repr_html_().count("<tr>") == 6
        with pytest.raises(gw.errors.TableError, match="no feature 'q'"):
            found.curves("q")

    def test_path_dependent(self):
        model, rows = boosted()
        found = gw.compare({"one": gw.Explainer(model), "two": gw.Explainer(model, rows)})
        assert np.isnan(found.shift).all()
        assert found.largest.any()


class TestArrays:
    def test_stability_index_of_small_cells(self):
        rng = np.random.default_rng(0)
        rows = np.array([np.bincount(rng.integers(0, 500, size=5000), minlength=501) for _ in range(2)], dtype=float)
        assert stability_index(rows, ordered=True) < 0.02  # chance alone
        rows[1, 300:500] *= 5
        assert stability_index(rows, ordered=True) > 0.25
        share = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
        expected = ((share[0] - share[1]) * np.log(share[0] / share[1])).sum()
        assert stability_index(share * 100, ordered=False) == pytest.approx(expected)
        three = np.array([[50, 30, 20], [50, 30, 20], [20, 30, 50.0]])
        assert stability_index(three, ordered=False) == pytest.approx(expected)

    def test_standard_deviation_of_a_flat_curve(self):
        assert standard_deviation(np.full((7, 2), 1 / 3), np.arange(7)).tolist() == [0, 0]


def test_names_are_text_in_html():
    evil = "<script>alert(1)</script>"
    rows = pd.DataFrame({evil: np.arange(30.0), "b": np.tile([0.0, 1.0], 15)})
    model = fitted(HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2), rows, rows[evil] * rows["b"])
    ex = gw.Explainer(model, rows)
    compared = gw.compare({"<b>one</b>": ex, "two": gw.Explainer(model, rows[:10])})
    for result in (ex.importance(), ex.interaction_strengths(), ex.monotonicity(), ex.spikes(points=3), compared):
        assert "<script>" not in result._repr_html_()
        assert "<b>" not in result._repr_html_()


@pytest.mark.parametrize("counted", [False, True])
def test_categories_that_a_group_lacks_are_the_same_categories(counted):
    # CatBoost keeps hashes; a category without rows in a group has no other name there.
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size=400), "f": rng.normal(size=400)})
    y = X["s"].map({"a": 0.0, "b": 5.0, "c": -5.0})
    options = {"iterations": 20, "depth": 3, "learning_rate": 0.5, "verbose": 0, "allow_writing_files": False}
    model = fitted(catboost.CatBoostRegressor(**options, cat_features=["s"], one_hot_max_size=10), X, y)
    groups = {"without c": X[X["s"] != "c"], "without a": X[X["s"] != "a"]}
    explainers = {name: gw.Explainer(model, rows) for name, rows in groups.items()}
    if counted:
        explainers["counted"] = gw.Explainer(model, gw.summarize(model, X))
    found = gw.compare(explainers)
    for name, curve in found.curves("s").items():
        assert set(curve.categories) == {"a", "b", "c"}
        labels = np.array(["a", "b", "c"], dtype=object)
        np.testing.assert_array_equal(curve(labels), explainers[name].partial_dependence("s")(labels))
    assert found.difference[found.features.index("s")] < 0.1
