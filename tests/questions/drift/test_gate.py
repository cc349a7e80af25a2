"""The gate: every measure against its definition in plain NumPy, chance alarms, and what cannot be judged."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.questions.drift._arithmetic import index_and_chance, mean_and_largest, ndcg
from helpers.hostile_names import HOSTILE_NAMES

ALL = {"psi": 9.0, "difference": 9.0, "largest": 9.0, "level": 9.0, "ndcg": 0.0, "missing": 9.0, "unseen": 9.0}


def rows(seed, n=600, shift=0.0, missing=0.05, kinds="xyz"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(shift, 1, n), "b": rng.integers(0, 6, n).astype(float), "c": rng.normal(size=n)})
    X.loc[rng.random(n) < missing, "c"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(list(kinds), n))
    return X.assign(unused=1.0)


@pytest.fixture(scope="module")
def model():
    X = rows(0)
    y = X["a"] * X["b"] + X["c"].fillna(1) + 3 * (X["kind"] == "x")
    return HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=8, categorical_features="from_dtype").fit(X, y)


@pytest.fixture(scope="module")
def groups():
    """The reference, and rows that have drifted in every way."""
    return rows(1), rows(2, n=900, shift=0.7, missing=0.2, kinds="xxyzq")


def values(comparison):
    """The values of a comparison by measure, feature and output."""
    return {(one.measure, one.feature, one.output): one.value for one in comparison.measures}


# --------------------------------------------------------------------------------------- definitions in plain NumPy


def partial_dependence(model, frame, column, places):
    """The mean prediction with a column at each of some values."""
    return np.array([model.predict(frame.assign(**{column: value})).mean() for value in places])


def plain_psi(then, now):
    """The index of two groups of values, given the ten bins of the reference by cells of equal size."""
    edges = np.quantile(then, np.linspace(0, 1, 11)[1:-1], method="inverted_cdf")
    p, q = (np.bincount(np.searchsorted(edges, x), minlength=10) / len(x) for x in (then, now))
    p, q = np.maximum(p, 1e-4), np.maximum(q, 1e-4)
    return ((p - q) * np.log(p / q)).sum()


def test_psi_is_its_definition():
    rng = np.random.default_rng(0)
    then, now = rng.integers(0, 10, 500), rng.integers(2, 10, 700)  # ten cells that are the bins
    cells = np.array([np.append(np.bincount(x, minlength=10), 0.0) for x in (then, now)])
    p, q = (np.maximum(cell[:10] / cell.sum(), 1e-4) for cell in cells)
    found, chance = index_and_chance(cells, (500, 700), ordered=True)
    assert found == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)
    assert chance == pytest.approx(9 * (1 / 500 + 1 / 700), rel=1e-12)
    categories, chance = index_and_chance(cells[:, :4] + [[0.0, 0, 0, 5], [0.0, 0, 0, 0]], (500, 700), ordered=False)
    p, q = (np.maximum(x / x.sum(), 1e-4) for x in cells[:, :4] + [[0.0, 0, 0, 5], [0.0, 0, 0, 0]])
    assert categories == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)
    assert chance == pytest.approx(3 * (1 / 500 + 1 / 700), rel=1e-12)


def test_psi_has_the_bins_of_the_reference():
    """Bins of the other group, or of both, would give another number."""
    then, now = np.arange(1000.0), np.arange(1000.0) ** 2 / 1000
    cuts = np.arange(0, 1000, 2.0)
    cells = np.array([np.append(np.bincount(np.searchsorted(cuts, x), minlength=501), 0.0) for x in (then, now)])
    found, _ = index_and_chance(cells, (1000, 1000), ordered=True)
    assert found == pytest.approx(plain_psi(then, now), rel=0.03)
    assert index_and_chance(cells[::-1], (1000, 1000), ordered=True)[0] == pytest.approx(plain_psi(now, then), rel=0.03)
    assert plain_psi(now, then) > 1.2 * plain_psi(then, now)


def test_psi_of_rows_is_that_of_their_cells(model, groups):
    then, now = groups
    found = gw.compare({"then": gw.Explainer(model, then), "now": gw.Explainer(model, now)}, limits=ALL)
    shares = [frame["kind"].value_counts(normalize=True).reindex(list("xyzq")).fillna(0.0) for frame in groups]
    p, q = (np.maximum(share.to_numpy(), 1e-4) for share in shares)
    assert values(found)["psi", "kind", None] == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)
    shares = [frame["b"].value_counts(normalize=True).sort_index().to_numpy() for frame in groups]
    p, q = shares  # six values, each in a bin of its own
    assert values(found)["psi", "b", None] == pytest.approx(((p - q) * np.log(p / q)).sum(), rel=1e-12)
    chance = {one.feature: one.chance for one in found.measures if one.measure == "psi"}
    assert chance["b"] == pytest.approx(5 * (1 / 600 + 1 / 900), rel=1e-12)
    assert chance["kind"] == pytest.approx(3 * (1 / 600 + 1 / 900), rel=1e-12)


def test_missing_and_unseen_are_shares_of_rows(model, groups):
    then, now = groups
    found = values(gw.compare({"then": gw.Explainer(model, then), "now": gw.Explainer(model, now)}, limits=ALL))
    for name in "abc":
        share = now[name].isna().mean() - then[name].isna().mean()
        assert found["missing", name, None] == pytest.approx(share, abs=1e-15)
    assert found["unseen", "kind", None] == pytest.approx((now["kind"] == "q").mean(), abs=1e-15)
    assert ("unseen", "a", None) not in found


def test_difference_largest_and_level_are_their_definitions(model, groups):
    then, now = groups
    found = values(gw.compare({"then": gw.Explainer(model, then), "now": gw.Explainer(model, now)}, limits=ALL))
    scores = model.predict(then)
    assert found["level", None, None] == pytest.approx(
        abs(model.predict(now).mean() - scores.mean()) / scores.std(), rel=1e-9
    )
    both = [partial_dependence(model, frame, "b", range(6)) for frame in groups]
    share = np.mean([frame["b"].value_counts(normalize=True).sort_index().to_numpy() for frame in groups], axis=0)
    distance = np.abs(np.subtract(*(curve - share @ curve for curve in both)))
    assert found["difference", "b", None] == pytest.approx(share @ distance / scores.std(), rel=1e-9)
    assert found["largest", "b", None] == pytest.approx(distance.max() / scores.std(), rel=1e-9)  # of large cells


def plain_largest(distance, share, joined):
    """The largest of the mean distance, of cells with 0.5 % of both groups, and of runs of smaller ones."""
    total = share.mean(axis=0)
    found, run = [total @ distance], []
    for cell in range(len(distance)):
        if min(share[:, cell]) >= 0.005:
            found.append(distance[cell])
            run = []
        elif cell < joined:
            run.append(cell)
            if min(share[:, run].sum(axis=1)) >= 0.005:
                found.append(total[run] @ distance[run] / total[run].sum())
                run = []
    return max(found)


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_distance_is_of_cells_with_enough_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    cells = rng.integers(0, 2, (2, n)) * rng.integers(0, 40, (2, n)) * rng.choice([1, 1, 30], n) + 0.0
    cells[:, 0] += 1
    heights = rng.normal(size=(2, n, 1))
    mean, largest = mean_and_largest(heights, cells, n - 2)  # then unseen categories, and missing values
    share = cells / cells.sum(axis=1, keepdims=True)
    distance = np.abs(np.subtract(*(heights[:, :, 0] - (heights[:, :, 0] @ share.mean(axis=0))[:, None])))
    assert mean[0] == pytest.approx(share.mean(axis=0) @ distance, rel=1e-9)
    assert largest[0] == pytest.approx(plain_largest(distance, share, n - 2), rel=1e-9)
    assert largest[0] >= mean[0] * (1 - 1e-12)


def test_a_spike_of_few_rows_is_not_the_largest_distance():
    heights = np.zeros((2, 11, 1))
    heights[1, 4] = 100.0
    cells = np.full((2, 11), 1000.0)
    cells[:, 4] = 4.0
    assert mean_and_largest(heights, cells, 10)[1][0] < 1
    cells[:, 4] = 100.0
    assert mean_and_largest(heights, cells, 10)[1][0] > 98


def test_many_small_cells_are_joined():
    """With 1,000 cells of 0.1 % of the rows each, no cell alone has 0.5 %."""
    heights = np.zeros((2, 1001, 1))
    heights[1, 400:600] = 1.0
    cells = np.append(np.ones((2, 1000)), np.zeros((2, 1)), axis=1)
    assert mean_and_largest(heights, cells, 1000)[1][0] == pytest.approx(0.8, rel=1e-9)


def plain_ndcg(then, now):
    order = sorted(range(len(then)), key=lambda k: -now[k])
    gain = sum(then[k] / np.log2(r + 2) for r, k in enumerate(order))
    return gain / sum(a / np.log2(r + 2) for r, a in enumerate(sorted(then, reverse=True)))


@pytest.mark.parametrize("seed", range(10))
def test_ndcg_is_its_definition(seed):
    then, now = np.random.default_rng(seed).exponential(size=(2, 9))
    assert ndcg(then, now) == pytest.approx(plain_ndcg(then, now), rel=1e-12)
    assert ndcg(then, then) == 1.0


def test_ndcg_of_the_prototype():
    then = np.array([5.0, 3, 1, 0.5])
    assert ndcg(then, then[[1, 0, 2, 3]]) == pytest.approx(0.903, abs=1e-3)
    assert ndcg(then, then[::-1]) == pytest.approx(0.629, abs=1e-3)
    assert np.isnan(ndcg(np.zeros(3), then[:3]))


def test_ndcg_is_of_importances(model, groups):
    explainers = {name: gw.Explainer(model, frame) for name, frame in zip(("then", "now"), groups, strict=True)}
    found = values(gw.compare(explainers, limits=ALL))["ndcg", None, None]
    importances = [
        explainer.importance(kind="main").to_frame().set_index("feature") for explainer in explainers.values()
    ]
    then, now = (frame.iloc[:, 0].reindex(importances[0].index).to_numpy() for frame in importances)
    assert found == pytest.approx(plain_ndcg(then, now), rel=1e-12)


def test_groups_that_are_the_same_have_no_distance(model, groups):
    then = groups[0]
    found = values(gw.compare({"then": gw.Explainer(model, then), "now": gw.Explainer(model, then)}, limits=ALL))
    assert {key[0]: value for key, value in found.items() if value} == {"ndcg": 1.0}


def test_each_output_has_its_own_distance(groups):
    then, now = (frame[["a", "b"]] for frame in groups)
    target = np.digitize(then["a"] + then["b"], [1, 3])
    classifier = HistGradientBoostingClassifier(max_iter=5).fit(then, target)
    explainers = {n: gw.Explainer(classifier, X, response="probability") for n, X in (("then", then), ("now", now))}
    found = values(gw.compare(explainers, limits=ALL))
    scores, later = classifier.predict_proba(then), classifier.predict_proba(now)
    for k in range(3):
        selected = abs(later[:, k].mean() - scores[:, k].mean()) / scores[:, k].std()
        assert found["level", None, k] == pytest.approx(selected, rel=1e-6)
        assert ("difference", "a", k) in found
    one = gw.compare(explainers, output=1, limits=ALL)
    assert values(one)["level", None, None] == found["level", None, 1]
    assert json.loads(json.dumps(gw.compare(explainers, limits=ALL).measures.to_dicts()))[0]["name"] == "now"


KINDS = {
    "pipeline": lambda: make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=5)),
    "target": lambda: TransformedTargetRegressor(
        RandomForestRegressor(3, max_depth=3), func=np.log, inverse_func=np.exp
    ),
    "poisson": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=5),
    "voting": lambda: VotingRegressor(
        [("a", RandomForestRegressor(2)), ("b", HistGradientBoostingRegressor(max_iter=3))]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_level_is_on_the_scale_of_the_explainer(groups, kind):
    then, now = (frame[["a", "b"]] for frame in groups)
    fitted = KINDS[kind]().fit(then, np.exp(then["a"]) + then["b"] + 1)
    explainers = {n: gw.Explainer(fitted, X, response="prediction") for n, X in (("then", then), ("now", now))}
    scores = fitted.predict(then)
    selected = abs(fitted.predict(now).mean() - scores.mean()) / scores.std()
    assert values(gw.compare(explainers, limits={"level": 1}))["level", None, None] == pytest.approx(selected, rel=1e-6)
    counted = {
        n: gw.Explainer(fitted, gw.summarize(fitted, X, response="prediction"), response="prediction")
        for n, X in (("then", then), ("now", now))
    }
    assert values(gw.compare(counted, limits={"level": 1}))["level", None, None] == pytest.approx(selected, rel=1e-6)


def test_counts_files_and_weights_say_the_same(model, groups, tmp_path):
    def explained(make):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return values(
                gw.compare({name: make(frame, name) for name, frame in zip("ab", groups, strict=True)}, limits=ALL)
            )

    selected = explained(lambda frame, _: gw.Explainer(model, frame))
    counted = explained(lambda frame, _: gw.Explainer(model, gw.summarize(model, frame, response="raw")))
    assert counted == pytest.approx(selected, rel=1e-6, abs=1e-12)

    def on_disk(frame, name):
        frame.assign(kind=frame["kind"].astype(str)).to_parquet(tmp_path / f"{name}.parquet", row_group_size=250)
        return gw.Explainer(model, str(tmp_path / f"{name}.parquet"))

    assert explained(on_disk) == pytest.approx(selected, rel=1e-9, abs=1e-12)
    twice = explained(lambda frame, _: gw.Explainer(model, frame, sample_weight=np.full(len(frame), 2.0)))
    assert twice == pytest.approx(selected, rel=1e-9, abs=1e-12)
    half = explained(
        lambda frame, _: gw.Explainer(
            model, pd.concat([frame, frame[:100]]), sample_weight=[1] * len(frame) + [0] * 100
        )
    )
    assert half == pytest.approx(selected, rel=1e-9, abs=1e-12)


# -------------------------------------------------------------------------------------------------- alarms by chance


@pytest.mark.parametrize(("n", "mean", "highest"), [(200, 0.0924, 0.225), (2000, 0.00902, 0.0217)])
def test_alarms_by_chance(n, mean, highest):
    """Two samples of one distribution, ten bins: at 200 rows, 2.3 % are above 0.2; at 2,000 rows none."""
    rng = np.random.default_rng(0)
    draws = rng.multinomial(n, [0.1] * 10, size=(3000, 2)).astype(float)
    cells = np.concatenate([draws, np.zeros((3000, 2, 1))], axis=2)
    found = np.array([index_and_chance(pair, (n, n), ordered=False) for pair in cells])
    assert found[:, 0].mean() == pytest.approx(mean, rel=0.03)
    assert found[:, 0].mean() == pytest.approx(found[0, 1], rel=0.04)  # what is printed beside it
    assert np.quantile(found[:, 0], 0.99) == pytest.approx(highest, rel=0.1)
    alarms = (found[:, 0] > 0.2).mean()
    assert alarms == pytest.approx(0.023, abs=0.008) if n == 200 else alarms == 0


def test_few_rows_are_a_warning(model, groups):
    few = {"then": gw.Explainer(model, groups[0]), "now": gw.Explainer(model, groups[1][:499])}
    with pytest.warns(UserWarning, match="'now' has 499 rows: below 500 rows, psi may be large by chance"):
        found = gw.compare(few, limits={"psi": 9})
    assert "499 rows" in found.measures.caveat
    gw.compare(few, limits={"level": 9})  # no warning: it would be an error
    gw.compare(few | {"now": gw.Explainer(model, groups[1][:500])}, limits={"psi": 9})


# ------------------------------------------------------------------------------------------------------- judgements


@pytest.fixture(scope="module")
def explainers(model, groups):
    return {
        "then": gw.Explainer(model, groups[0]),
        "same": gw.Explainer(model, rows(3)),
        "now": gw.Explainer(model, groups[1]),
    }


def test_violations_are_what_is_beyond_the_limit(explainers):
    found = gw.compare(explainers, reference="then", limits={"psi": 0.2, "level": 50})
    assert found.violations
    assert {(one.name, one.feature) for one in found.violations} == {("now", "a"), ("now", "kind"), ("now", "c")}
    assert all(one.value > 0.2 == one.limit and one.rule == "psi > 0.2" for one in found.violations)
    assert [one.value for one in found.violations] == sorted((one.value for one in found.violations), reverse=True)
    assert (found.violations.n_judged, len(found.measures)) == (10, 10)
    assert found.top(1).violations[0] == found.violations[0]
    assert not gw.compare(explainers, limits={"psi": 99}).violations
    kept = gw.compare(explainers, limits=["psi > 0.2", "*: psi > 99"])
    assert not kept.violations
    assert repr(kept.violations) == "Violations(none of 8 values)"


def test_the_reference_is_the_first_one_by_default(explainers):
    assert gw.compare(explainers, limits={"psi": 1}).measures.reference == "then"
    found = gw.compare(explainers, reference="now", limits={"psi": 0.2})
    assert {one.name for one in found.measures} == {"then", "same"}
    with pytest.raises(gw.errors.ArgumentError, match="'then', 'same', 'now'"):
        gw.compare(explainers, reference="tehn")


def test_names_are_distinct(explainers):
    assert (
        gw.compare({1: explainers["then"], 2: explainers["now"]}, reference="2", limits="level > 9").measures[0].name
        == "1"
    )
    with pytest.raises(gw.errors.ArgumentError, match="different names"):
        gw.compare({1: explainers["then"], "1": explainers["now"]}, limits="level > 9")


def test_a_reference_alone_has_default_limits(explainers):
    found = gw.compare(explainers, reference="then")
    assert {one.measure for one in found.measures} == set(ALL)
    limits = {one.measure: one.limit for one in found.measures}
    assert limits == {
        "psi": 0.2,
        "difference": 0.1,
        "largest": 0.5,
        "level": 0.2,
        "ndcg": 0.9,
        "missing": 0.02,
        "unseen": 0.02,
    }


def test_without_a_reference_nothing_is_judged(explainers):
    found = gw.compare(explainers)
    assert found.measures is None
    with pytest.raises(gw.errors.ArgumentError, match="nothing was judged"):
        found.violations  # noqa: B018


def test_results_print_pickle_and_become_frames(explainers):
    found = gw.compare(explainers, limits={"psi": 0.2, "ndcg": 0.5})
    for result in (found.measures, found.violations):
        same = pickle.loads(pickle.dumps(result))
        assert (repr(same), same.to_dicts()) == (repr(result), result.to_dicts())
        frame = result.to_frame()
        assert len(frame) == len(result)
        assert list(frame)[:5] == ["name", "measure", "feature", "value", "limit"]
        assert "<table" in result._repr_html_()
        assert [one.value for one in result] == frame["value"].tolist()
    reported = json.loads(json.dumps(found.violations.to_dicts()))[0]
    assert reported == found.violations[0].as_dict()
    assert {"rule", "feature", "output", "value", "limit", "rows", "reference_rows", "chance"} <= reported.keys()
    assert (reported["rows"], reported["reference_rows"]) == (900, 600)


def refused(explainers, limits, error, word, **settings):
    with pytest.raises(error, match=word):
        gw.compare(explainers, limits=limits, **settings)


def test_what_cannot_be_judged_is_an_error(model, groups, explainers):
    refused(explainers, {"shift": 0.2}, gw.errors.ArgumentError, "no measure 'shift'")
    refused(explainers, {"aa: psi": 0.2}, gw.errors.TableError, "no feature 'aa'")
    refused(explainers, {"unused: psi": 0.2}, gw.errors.TableError, "does not use 'unused'")
    refused(explainers, ["unus*: psi > 1"], gw.errors.TableError, "uses no feature that it applies to")
    refused(explainers, {"a: unseen": 0.2}, gw.errors.TableError, "has no categories")
    counts = {name: gw.Explainer(model, gw.summarize(model, frame)) for name, frame in zip("ab", groups, strict=True)}
    for measure in ("difference", "largest", "level"):
        refused(counts, {measure: 1}, gw.errors.BackgroundError, 'response="raw"')
    assert len(gw.compare(counts, limits={"psi": 9, "missing": 9, "unseen": 9, "ndcg": 0}).measures) == 10
    refused({**counts, "none": gw.Explainer(model)}, {"psi": 1}, gw.errors.BackgroundError, "'none' has no rows")
    constant = HistGradientBoostingRegressor(max_iter=2).fit(groups[0][["a"]], np.ones(600))
    still = {name: gw.Explainer(constant, frame[["a"]]) for name, frame in zip("ab", groups, strict=True)}
    refused(still, {"level": 1}, gw.errors.BackgroundError, "all scores of 'a' are equal")
    refused(still, {"ndcg": 1}, gw.errors.BackgroundError, "all importances of 'a' are 0")
    refused(still, {"psi": 1}, gw.errors.TableError, "uses no feature that it applies to")


def test_a_model_without_categories_has_no_unseen_ones(groups):
    then, now = (frame[["a", "b"]] for frame in groups)
    fitted = HistGradientBoostingRegressor(max_iter=5).fit(then, then["a"])
    found = gw.compare({"then": gw.Explainer(fitted, then), "now": gw.Explainer(fitted, now)}, limits={"unseen": 0.0})
    assert (len(found.measures), bool(found.violations)) == (0, False)
    assert found.measures.to_dicts() == []
    assert list(found.measures.to_frame())[:2] == ["name", "measure"]
    with pytest.raises(gw.errors.ArgumentError, match="nothing to draw"):
        found.measures.plot()


def test_different_models_have_few_measures(model, groups):
    X = groups[0][["a", "b"]]
    y = X["a"] * X["b"]
    one = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    other = RandomForestRegressor(5, random_state=0).fit(X, y)
    models = {"one": gw.Explainer(one, X), "other": gw.Explainer(other, X)}
    found = gw.compare(models, reference="one")
    assert {one.measure for one in found.measures} == {"difference", "largest", "ndcg"}
    for measure in ("psi", "level", "missing", "unseen"):
        refused(
            models,
            {measure: 1},
            gw.errors.ArgumentError,
            "different models have these measures: difference, largest, ndcg, observed",
        )
    again = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    assert len(gw.compare({"a": models["one"], "b": gw.Explainer(again, X)}, limits={"psi": 1}).measures) == 2
    more = HistGradientBoostingRegressor(max_iter=20).fit(X, y + 1)  # the same splits, but another base
    refused({"a": models["one"], "b": gw.Explainer(more, X)}, {"psi": 1}, gw.errors.ArgumentError, "different models")


def test_features_without_importance_for_one_of_two_models_count_as_zero():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(600, 3)), columns=list("abc"))
    models = {name: RandomForestRegressor(3, random_state=0).fit(X, X[name]) for name in "ab"}
    found = gw.compare({name: gw.Explainer(model, X) for name, model in models.items()}, limits={"ndcg": 0.99})
    assert len(found.violations) == 1


# -------------------------------------------------------------------------------------------------- names and figures


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, len(HOSTILE_NAMES))), columns=HOSTILE_NAMES)
    model = RandomForestRegressor(20, max_depth=5, max_features=0.4, random_state=0).fit(X, X.sum(axis=1))
    later = {
        name: gw.Explainer(model, X[k * 500 : k * 500 + 500] + 0.3 * k) for k, name in enumerate(HOSTILE_NAMES[:3])
    }
    return gw.compare(later, limits={"psi": 0.2, "level": 0.1, f"{HOSTILE_NAMES[0]}: psi": 0.1})


def test_hostile_names_are_only_text(hostile):
    assert repr(hostile.violations).isprintable()
    assert repr(hostile.measures).isprintable()
    assert hostile.violations._repr_html_().replace("\n", "").isprintable()
    assert "<script>" not in hostile.violations._repr_html_()
    assert {one.feature for one in hostile.violations} - {None} <= set(HOSTILE_NAMES)
    assert json.loads(json.dumps(hostile.measures.to_dicts())) == hostile.measures.to_dicts()


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_hostile_names_are_drawn(hostile, backend, tmp_path):
    figure = hostile.measures.plot(backend=backend)
    if backend == "matplotlib":
        figure.savefig(tmp_path / "figure.svg")
    else:
        assert "<script>" not in json.dumps(figure.to_dict()["layout"], default=str)


def test_panels_show_the_worst_features_and_the_limits(explainers):
    found = gw.compare(explainers, reference="then", limits={"psi": 0.2, "kind: psi": 0.3, "level": 0.2}).measures
    panel = found.panel("psi")
    assert panel.labels == ("same", "now")
    by_name = {track.name: track for track in panel.tracks}
    assert set(by_name) == {"a", "b", "c", "kind"}
    assert by_name["a"].values == tuple(
        one.value
        for name in ("same", "now")
        for one in found
        if (one.name, one.measure, one.feature) == (name, "psi", "a")
    )
    assert by_name["a"].broken == (False, True)
    assert set(panel.limits) == {(0.2, "psi > 0.2"), (0.3, "kind: psi > 0.3")}
    assert panel.chance[0] == max(one.chance for one in found if one.name == "same" and one.measure == "psi")
    level = found.panel("level")
    assert [track.name for track in level.tracks] == ["model"]
    assert level.chance == ()
    assert [track.name for track in found.panel("psi", ["a"]).tracks] == ["a"]
    with pytest.raises(gw.errors.ArgumentError, match="'ndcg' was not judged; the measures are psi, level"):
        found.panel("ndcg")
    with pytest.raises(gw.errors.TableError, match="no feature 'aa'"):
        found.plot(features="aa")


def test_colours_are_the_same_in_all_panels(explainers):
    found = gw.compare(explainers, reference="then").measures
    colours = [{track.name: track.colour for track in found.panel(name).tracks} for name in ALL]
    every = {name: colour for own in colours for name, colour in own.items()}
    assert all(own.items() <= every.items() for own in colours)
    assert sorted(colour for colour in every.values() if colour is not None) == [0, 1, 2, 3]


def test_of_many_features_six_have_colours(hostile):
    panel = hostile.measures.panel("psi")
    assert (len(panel.tracks), len(panel.faint)) == (6, len(HOSTILE_NAMES) - 6)
    assert panel.note == f"{len(HOSTILE_NAMES) - 6} more in grey"
