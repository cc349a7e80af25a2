"""What the report says: each verdict in a case where it is one thing and in one where it is the other, each sentence in
the cases in which it is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.questions.curves import _section as of_curves
from glasswood.questions.drift import _section_groups
from glasswood.questions.importance import _section as of_importance
from glasswood.questions.shapes import _section as of_shapes
from glasswood.report import _checks, _model, report_of
from glasswood.study._view import View
from helpers.reports import subject_of


def sections_of(explainer, **options):
    html = report_of(subject_of(explainer, **options)).html
    data = json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])
    return {part["id"]: part for part in data["sections"]}


def text_of(section):
    return " ".join([*section["text"], *section.get("after", []), *(item["text"] for item in section.get("list", ()))])


def column_of(table, name):
    place = [head["name"] for head in table["columns"]].index(name)
    return [row[place] for row in table["rows"]]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def census():
    """A classifier of two kinds of people, with a column of categories, one of flags, and missing values."""
    rng = np.random.default_rng(0)
    n = 1500
    sex = np.where(rng.random(n) < 0.7, "male", "female")
    age = rng.integers(17, 91, n).astype(float)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < np.where(sex == "male", 0.1, 0.3), np.nan, age),
            "sex": pd.Categorical(sex),
            "is_female": (sex == "female").astype(int),
            "job": pd.Categorical(rng.choice(["clerk", "smith", "poet"], n)),
            "rate": rng.random(n),
        }
    )
    y = (age / 40 + (sex == "male") + (X["job"] == "poet") * X["rate"] + rng.normal(size=n) * 0.5) > 2.5
    model = HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype", random_state=0).fit(X, y)
    return X, y, model


# ------------------------------------------------------------------------------------------------------ checks


def states(explainer):
    return {item["tag"]: item["state"] for item in _checks.checks_section(subject_of(explainer))["list"]}


def text_of_check(explainer, tag):
    return next(item["text"] for item in _checks.checks_section(subject_of(explainer))["list"] if item["tag"] == tag)


def boosted(X):
    y = X["bmi"] * 100 + X["s5"]
    return {
        "float64": HistGradientBoostingRegressor(max_iter=5).fit(X, y),
        "float32": xgb.XGBRegressor(n_estimators=5, max_depth=2).fit(X, y),
    }


@pytest.mark.parametrize(("kind", "near"), [("float64", 1e-9), ("float32", 1e-5)])
@pytest.mark.parametrize(("times", "state"), [(0.8, "good"), (1.25, "bad"), (1e6, "bad")])
def test_another_average_than_that_of_the_rows_is_bad(diabetes, monkeypatch, kind, near, times, state):
    X, _ = diabetes
    explainer = gw.Explainer(boosted(X)[kind], X)
    anew = _checks._affordable(subject_of(explainer))
    mean = anew.average(explainer._view().scored_anew({}))
    size = max(1.0, float(np.abs(mean).max()))
    monkeypatch.setattr(View, "mean", property(lambda _: mean + times * near * size))
    assert _checks._mean_check(anew)["state"] == state


def test_a_large_average_may_be_off_by_more(diabetes, monkeypatch):
    X, _ = diabetes
    explainer = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, X["bmi"] * 10 + 1e6), X)
    mean = explainer._view().mean
    monkeypatch.setattr(View, "mean", property(lambda _: mean + 0.8e-3))
    assert states(explainer)["Same average"] == "good"
    monkeypatch.setattr(View, "mean", property(lambda _: mean + 1.25e-3))
    assert states(explainer)["Same average"] == "bad"


@pytest.mark.parametrize(("times", "state"), [(0.8, "good"), (1.25, "bad"), (1e6, "bad")])
def test_another_curve_than_that_of_rows_scored_anew_is_bad(diabetes, monkeypatch, times, state):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    subject = subject_of(explainer)
    first = explainer.ensemble.feature_names.index(subject.names[0])
    exact = explainer._view().curves
    size = max(np.abs(exact[explainer.ensemble.feature_names.index(n)]).max() for n in subject.names[:5])
    wrong = {**exact, first: exact[first] + times * 1e-9 * size}
    monkeypatch.setattr(View, "curves", property(lambda _: wrong))
    assert _checks._curve_check(_checks._affordable(subject))["state"] == state


@pytest.mark.parametrize("which", ["numbers", "categories", "missing", "probability", "several outputs"])
def test_curves_of_every_kind_are_checked(census, monkeypatch, which):
    X, y, model = census
    if which == "several outputs":
        X, y = load_iris(return_X_y=True, as_frame=True)
        model = RandomForestClassifier(5, random_state=0).fit(X, y)
    explainer = gw.Explainer(model, X, response="probability" if which == "probability" else "raw")
    assert states(explainer)["Same curves"] == "good"
    exact = explainer._view().curves
    wrong = {feature: heights + 1e-6 for feature, heights in exact.items()}
    monkeypatch.setattr(View, "curves", property(lambda _: wrong))
    assert states(explainer)["Same curves"] == "bad"


def test_how_many_curves_are_computed_again_is_limited_and_the_text_says_so(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setattr(_checks, "SECONDS", np.inf)  # however slow the machine is
    assert "of 5 curves" in text_of_check(gw.Explainer(model, X), "Same curves")
    monkeypatch.setattr(_checks, "SECONDS", -1.0)
    assert "of one curve" in text_of_check(gw.Explainer(model, X), "Same curves")


def test_costly_checks_are_run_on_a_sample(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setattr(_checks, "MAX_VISITS", 20 * 200)  # 20 trees
    weight = np.where(np.arange(len(X)) % 2, 0.0, np.linspace(1, 2, len(X)))
    for explainer in (gw.Explainer(model, X), gw.Explainer(model, X, sample_weight=weight)):
        assert set(states(explainer).values()) == {"good"}
        assert "of a sample of 200 of 442 rows" in text_of_check(explainer, "Same average")
        weighed = "rows with their weights" in text_of_check(explainer, "Same average")
        assert weighed == (explainer._study.over.weight is not None)
        assert "on a sample of 200 of 442 rows" in text_of_check(explainer, "Same curves")
    monkeypatch.setattr(_checks, "MAX_VISITS", 1)
    assert "a sample of 100 of 442" in text_of_check(gw.Explainer(model, X), "Same average")
    monkeypatch.setattr(_checks, "MAX_VISITS", 20 * 442)
    assert "of all 442 rows" in text_of_check(gw.Explainer(model, X), "Same average")


def test_a_sample_is_of_rows_that_have_a_weight(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setattr(_checks, "MAX_VISITS", 1)
    weight = np.zeros(len(X))
    weight[[2, 7, 11]] = 1.0  # few, so that hardly any sample of all rows has them
    explainer = gw.Explainer(model, X, sample_weight=weight)
    assert "of a sample of 3 of 442 rows" in text_of_check(explainer, "Same average")
    assert set(states(explainer).values()) == {"good"}


def test_values_that_are_scored_anew_are_in_the_cell_they_stand_for(census):
    X, _, model = census
    study = gw.Explainer(model, X)._study
    cells = study.plan(1).cells
    for feature in study.ensemble.used_features.tolist():
        for cell in range(int(cells.n_cells[feature])):
            found = cells.locate(feature, _checks._values_in(study, feature, cell))
            assert set(found.tolist()) == {cell}


def test_a_check_on_a_sample_can_fail(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setattr(_checks, "MAX_VISITS", 1)
    monkeypatch.setattr(View, "mean", property(lambda view: view.study.effects(1).mean + 1.0))
    assert states(gw.Explainer(model, X))["Same average"] == "bad"


@pytest.mark.parametrize(("largest", "state"), [(0.9, "good"), (1.1, "bad")])
def test_the_comparison_with_the_library_is_judged_by_its_margin(diabetes, largest, state):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    study = explainer._study
    study.model = replace(study.model, proof=study.model.proof._replace(largest=largest, margin=1.0))
    assert states(explainer)["Same scores"] == state


def test_a_check_that_failed_leads_the_summary(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setattr(View, "mean", property(lambda view: view.study.effects(1).mean + 1.0))
    first = sections_of(gw.Explainer(model, X))["summary"]["list"][0]
    assert first["tag"] == "Check failed"
    assert first["state"] == "bad"
    assert first["text"].startswith("Same average.")


def test_weights_of_a_column_are_counted_once_though_their_sums_are_rounded(diabetes):
    X, model = diabetes
    weight = 10 ** np.random.default_rng(0).uniform(-12, 0, len(X))
    background = gw.summarize(model, X.assign(w=weight), sample_weight="w")
    (item,) = _checks.checks_section(subject_of(gw.Explainer(model, background)))["list"][1:2]
    assert item["state"] == "good"
    assert "total weight" in item["text"]
    lost = gw.Explainer(model, replace(background, total=background.total + background.total // 10**9))
    assert _checks.checks_section(subject_of(lost))["list"][1]["state"] == "bad"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda X, model: gw.Explainer(model), ["there are no rows"] * 4),
        (
            lambda X, model: gw.Explainer(model, gw.summarize(model, X)),
            ["there are only counts of rows", None, *["only counts of them are available"] * 2],
        ),
        (
            lambda X, model: gw.Explainer(gw.read_model(model), X),
            ["the model was given as trees that had already been read", None, None, None],
        ),
    ],
    ids=["covers", "counts", "trees"],
)
def test_checks_that_were_not_run_say_why(diabetes, make, why):
    X, model = diabetes
    items = _checks.checks_section(subject_of(make(X, model)))["list"]
    assert [item["tag"] for item in items] == ["Same scores", "Each row counted once", "Same average", "Same curves"]
    for item, reason in zip(items, why, strict=True):
        if reason is None:
            assert item["state"] == "good", item
        else:
            assert item["state"] == ""
            assert item["text"].startswith("Not run: ")
            assert reason in item["text"]


# ------------------------------------------------------------------------------------------------------ findings


def by_heights(heights, rows=None):
    """Return an explainer of a tree whose curve has these heights between 0.5, 1.5, ...; rows are its background."""
    x = np.arange(len(heights), dtype=float)
    model = DecisionTreeRegressor().fit(pd.DataFrame({"x": x}), heights)
    rows = x if rows is None else np.array(rows, dtype=float)
    return gw.Explainer(model, pd.DataFrame({"x": rows}))


def findings(explainer, find):
    return [item["text"] for item in find(subject_of(explainer))]


def test_a_step_back_of_up_to_a_twentieth_of_the_range_is_a_blemish():
    rows = [0] * 9 + [1] * 9 + [2] + [3] * 9
    assert findings(by_heights([0.0, 10.0, 9.51, 10.0], rows), of_shapes._nearly_monotone) == [
        "increasing, except for small reversals; the largest is 0.49, at 1.5, and 3.6 % of rows are affected."
    ]
    assert findings(by_heights([0.0, 10.0, 9.49, 10.0], rows), of_shapes._nearly_monotone) == []
    assert findings(by_heights([0.0, 10.0], rows), of_shapes._nearly_monotone) == []
    assert findings(by_heights([10.0, 0.0, 0.49, 0.0], rows), of_shapes._nearly_monotone)[0].startswith("decreasing")


def test_a_step_back_of_many_rows_is_no_blemish():
    heights = [0.0, 10.0, 9.51, 10.0]
    for n, found in ((19, ["increasing"]), (18, [])):  # 1 of 20 rows, and of 19
        explainer = by_heights(heights, [0] * (n - 2) + [1, 2, 3])
        words = [item.partition(",")[0] for item in findings(explainer, of_shapes._nearly_monotone)]
        assert words == found
        table = sections_of(explainer)["monotonicity"]["table"]
        assert column_of(table, "Direction") == (["nearly increasing"] if found else ["not monotone"])
        shapes = column_of(sections_of(explainer)["features"]["table"], "Shape")
        assert shapes == column_of(table, "Direction")


def test_a_curve_that_goes_a_twentieth_further_where_no_rows_are_is_reported():
    rows = [0, 1, 2]
    assert findings(by_heights([0.0, 5.0, 10.0, 10.51], rows), of_curves._beyond_rows) == [
        "at values without rows, the curve exceeds its range at values with rows by 0.51."
    ]
    assert findings(by_heights([0.0, 5.0, 10.0, 10.49], rows), of_curves._beyond_rows) == []
    assert findings(by_heights([-0.51, 0.0, 5.0, 10.0], [1, 2, 3]), of_curves._beyond_rows)
    assert findings(by_heights([0.0, 5.0, 10.0, 20.0]), of_curves._beyond_rows) == []


def test_shares_of_variance_are_of_the_sum_of_all():
    X = pd.DataFrame([[a, b] for a in (0, 1) for b in (0, 1)], columns=["a", "b"], dtype=float)
    model = DecisionTreeRegressor().fit(X, 3 * X["a"] + 1 * X["b"])
    assert findings(gw.Explainer(model, X), of_importance._strongest) == [
        "if it is redrawn from the rows, the root mean squared change is 2.121, 90 % of the sum of squares of all "
        "features.",
        "if it is redrawn from the rows, the root mean squared change is 0.7071, 10 % of the sum of squares of all "
        "features.",
    ]
    assert findings(gw.Explainer(model, gw.summarize(model, X)), of_importance._strongest) == [
        "its curve has a standard deviation of 1.5, and 90 % of the sum of all curves' variances.",
        "its curve has a standard deviation of 0.5, and 10 % of the sum of all curves' variances.",
    ]


def test_at_most_three_findings_of_a_kind(census):
    X, _, model = census
    tags = [item["tag"] for item in sections_of(gw.Explainer(model, X))["summary"]["list"]]
    assert max(tags.count(tag) for tag in tags) == 3


def test_missing_values_inside_and_outside_of_the_curve():
    x = np.repeat([0.0, 1.0, np.nan], 20)
    for at_missing, inside in (
        (5.0, "inside"),
        (10.0, "inside"),
        (0.0, "inside"),
        (10.1, "outside"),
        (-0.1, "outside"),
    ):
        X = pd.DataFrame({"x": x})
        y = np.where(np.isnan(x), at_missing, 10 * x)
        model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, min_samples_leaf=1).fit(X, y)
        sections = sections_of(gw.Explainer(model, X))
        row = sections["missing"]["table"]["rows"][0]
        assert row[1] == pytest.approx(1 / 3, rel=1e-5)
        assert row[2] == pytest.approx(at_missing, abs=1e-6)
        assert row[3] == pytest.approx(at_missing - y.mean(), rel=1e-5)
        assert row[4] == inside
        reported = next(item["text"] for item in sections["summary"]["list"] if item["tag"] == "Missing values")
        side = "above" if at_missing > y.mean() else "below"
        assert reported.startswith("33 % of rows; ")
        assert f"{side} the average prediction" in reported
        assert ("outside the range of its curve" in reported) == (inside == "outside")


# ------------------------------------------------------------------------------------------------------ groups


def test_groups_show_averages_and_selection_rates(census):
    X, _, model = census
    made = sections_of(gw.Explainer(model, X, response="raw"), by="sex")["groups"]
    assert made["title"] == "Groups by sex"
    table = made["more"][0]
    chance = model.predict_proba(X)[:, 1]
    score = model.decision_function(X)
    for k, group in enumerate(["female", "male"]):
        here = (X["sex"] == group).to_numpy()
        assert column_of(table, "Group")[k] == group
        assert column_of(table, "Rows")[k] == here.sum()
        assert column_of(table, "Average score (log-odds)")[k] == pytest.approx(score[here].mean(), rel=1e-5)
        assert column_of(table, "Average probability")[k] == pytest.approx(chance[here].mean(), rel=1e-5)
        assert column_of(table, "Selection rate")[k] == pytest.approx(model.predict(X)[here].mean(), rel=1e-5)
    assert "probability of True is above 0.5" in text_of(made)
    reported = [item["text"] for item in sections_of(gw.Explainer(model, X), by="sex")["summary"]["list"]]
    assert any(re.match(r"selection rate from .* % \(female\) to .* % \(male\)\.", text) for text in reported)


def test_groups_on_the_scale_of_probabilities_and_with_weights(census):
    X, _, model = census
    weight = np.linspace(0, 1, len(X))
    explainer = gw.Explainer(model, X, response="probability", sample_weight=weight)
    made = sections_of(explainer, by="sex")["groups"]
    table = made["more"][0]
    chance = model.predict_proba(X)[:, 1]
    for k, group in enumerate(["female", "male"]):
        here = (X["sex"] == group).to_numpy()
        assert column_of(table, "Weight")[k] == pytest.approx(weight[here].sum(), rel=1e-6)
        average = np.average(chance[here], weights=weight[here])
        assert column_of(table, "Average probability")[k] == pytest.approx(average, rel=1e-5)
        rate = np.average(chance[here] > 0.5, weights=weight[here])
        assert column_of(table, "Selection rate")[k] == pytest.approx(rate, rel=1e-5)
    assert "compared on the raw score (log-odds)" in text_of(made)
    assert made["table"]["columns"][1]["name"] == "Difference (log-odds)"


def test_selection_rates_of_several_classes_are_those_of_the_highest():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model in (
        RandomForestClassifier(5, random_state=0).fit(X, y),
        HistGradientBoostingClassifier(max_iter=5).fit(X, y),
    ):
        half = np.where(np.arange(len(X)) % 2, "odd", "even")
        table = sections_of(gw.Explainer(model, X), by=half)["groups"]["more"][0]
        chosen = model.predict(X[half == "even"])
        assert column_of(table, "Selection rate")[:3] == pytest.approx(
            [np.mean(chosen == k) for k in range(3)], rel=1e-5
        )
        chance = model.predict_proba(X[half == "even"]).mean(axis=0)
        name = next(head["name"] for head in table["columns"] if head["name"].startswith("Average probability"))
        assert column_of(table, name)[:3] == pytest.approx(chance, rel=1e-5)


def test_regressions_have_no_selection_rates(diabetes):
    X, model = diabetes
    made = sections_of(gw.Explainer(model, X), by="sex")["groups"]
    assert [head["name"] for head in made["more"][0]["columns"]] == ["Group", "Rows", "Average prediction"]
    assert "selection" not in text_of(made)


def test_what_tells_the_groups_is_not_listed(census):
    X, y, model = census
    made = sections_of(gw.Explainer(model, X), by="sex")["groups"]
    assert sorted(column_of(made["table"], "Feature")) == ["age", "job", "rate"]
    assert "it alone identifies the groups: sex." in text_of(made)
    other = HistGradientBoostingClassifier(max_iter=15, random_state=0).fit(X[["age", "is_female", "rate"]], y)
    made = sections_of(gw.Explainer(other, X), by="sex")["groups"]
    assert sorted(column_of(made["table"], "Feature")) == ["age", "rate"]
    assert "it alone identifies the groups: is_female." in text_of(made)
    made = sections_of(gw.Explainer(other, X), by=np.where(X["rate"] > 0.5, "high", "low"))["groups"]
    assert len(made["table"]["rows"]) == 3  # a column of which a part tells the group is listed
    assert "by it alone" not in text_of(made)


def test_rows_of_groups_are_weighed_by_their_numbers(census):
    X, _, model = census
    made = sections_of(gw.Explainer(model, X), by="sex")["groups"]
    figures = {figure["names"][0]: figure["panels"][0]["panel"] for figure in made["figures"]}
    assert figures["age"]["missing_rows"] == X["age"].isna().sum()
    assert figures["age"]["total"] == len(X)
    assert sum(figures["age"]["rows"]) + figures["age"]["missing_rows"] == len(X)
    assert (
        dict(zip(figures["job"]["x"]["labels"], figures["job"]["rows"], strict=True))
        == X["job"].value_counts().to_dict()
    )


def test_differences_and_shifts_are_those_of_compare(census):
    X, _, model = census
    made = sections_of(gw.Explainer(model, X), by="sex")["groups"]
    halves = {sex: gw.Explainer(model, X[X["sex"] == sex], response="raw") for sex in ("female", "male")}
    found = gw.compare(halves)
    for name, difference, largest, shift in made["table"]["rows"]:
        k = found.features.index(name)
        assert difference == pytest.approx(found.total[k], rel=1e-4)
        assert largest == pytest.approx(found.largest[k].max(), rel=1e-4)
        assert shift == pytest.approx(found.shift[k], rel=1e-4)


def test_many_groups(diabetes):
    X, model = diabetes
    made = sections_of(gw.Explainer(model, X), by=np.arange(len(X)) % 30)["groups"]
    assert len(made["more"][0]["rows"]) == 30
    assert "first 24 of 30 groups are compared" in text_of(made)
    assert "of the two groups that differ most" in text_of(made)
    assert "between the highest and the lowest centred curve" in text_of(made)
    made = sections_of(gw.Explainer(model, X), by=np.arange(len(X)) % 24)["groups"]
    assert "groups are compared" not in text_of(made)


def test_groups_with_names_that_look_alike_stay_apart(diabetes):
    X, model = diabetes
    by = np.array([1, "1"], dtype=object)[np.arange(len(X)) % 2]
    table = sections_of(gw.Explainer(model, X), by=by)["groups"]["more"][0]
    assert sorted(column_of(table, "Group")) == ["'1'", "1"]


def test_predictions_of_very_many_rows_are_those_of_the_counts(census, monkeypatch):
    X, _, model = census
    monkeypatch.setattr(_section_groups, "MAX_VISITS", 15 * len(X) - 1)
    made = sections_of(gw.Explainer(model, X), by="sex")["groups"]
    assert [head["name"] for head in made["more"][0]["columns"]][-1] == "Average score (log-odds)"
    assert "selection rates cannot be computed from counts" in text_of(made)
    score = model.decision_function(X)[X["sex"] == "female"].mean()
    assert made["more"][0]["rows"][0][-1] == pytest.approx(score, rel=1e-5)


# ------------------------------------------------------------------------------------------------------ sentences


def pipeline_of(census):
    X, y, _ = census
    X = X.assign(sex=X["sex"].astype(str), job=X["job"].astype(str))
    encode = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer((encode, ["sex", "job"]), (StandardScaler(), ["age", "is_female", "rate"]))
    return X, make_pipeline(columns, HistGradientBoostingClassifier(max_iter=10, random_state=0)).fit(X, y)


def test_a_pipeline_is_looked_at_like_any_model(census):
    X, model = pipeline_of(census)
    sections = sections_of(gw.Explainer(model, X), by="sex")
    for name in ("monotonicity", "missing", "spikes"):
        assert "Not examined: " not in text_of(sections[name])
    assert "columns before the pipeline, in their own units" in text_of(sections["features"])
    facts = dict(sections["model"]["facts"])
    assert facts["Pipeline"] == "ColumnTransformer, then HistGradientBoostingClassifier"
    table = sections["features"]["table"]
    share = dict(zip(column_of(table, "Feature"), column_of(table, "Missing"), strict=True))
    assert share["age"] == pytest.approx(X["age"].isna().mean(), rel=1e-4)
    assert share["rate"] == 0
    assert "not examined" not in set(column_of(table, "Shape"))
    assert "no surfaces" not in text_of(sections["interactions"])
    assert "not compared" not in text_of(sections["groups"])
    chance = model.predict_proba(X)[X["sex"] == "female", 1].mean()
    assert column_of(sections["groups"]["more"][0], "Average probability")[0] == pytest.approx(chance, rel=1e-5)
    assert not any("splits on no numbers" in text_of(section) for section in sections.values())
    summary = [item["tag"] for item in sections["summary"]["list"]]
    assert "Groups" in summary
    kinds = {row[0]: row[1:5] for row in sections["rows"]["table"]["rows"]}
    assert kinds["sex"][0] == "2 categories"
    assert kinds["age"] == ["whole numbers", X["age"].min(), X["age"].max(), share["age"]]


def test_probabilities_have_interactions_of_the_raw_score(census):
    X, _, model = census
    made = sections_of(gw.Explainer(model, X, response="probability"))["interactions"]
    raw = sections_of(gw.Explainer(model, X, response="raw"))["interactions"]
    assert made["table"] == raw["table"]
    assert made["figures"] == raw["figures"]
    assert "about the raw score (log-odds)" in text_of(made)
    assert "raw score" not in text_of(raw)
    assert made["table"]["columns"][2]["name"] == "Strength (log-odds)"
    assert "log-odds" in made["figures"][0]["panels"][0]["panel"]["z_label"]


def test_several_models_have_no_raw_score(census):
    X, y, _ = census
    X = X[["age", "rate"]].fillna(0)
    members = [("a", RandomForestClassifier(3, random_state=0)), ("b", RandomForestClassifier(4, random_state=1))]
    explainer = gw.Explainer(VotingClassifier(members, voting="soft").fit(X, y), X, response="probability")
    sections = sections_of(explainer, by=np.where(X["rate"] > 0.5, "high", "low"))
    assert text_of(sections["interactions"]).startswith("Not examined: the model combines several")
    assert "not compared: the model combines several" in text_of(sections["groups"])
    assert [item["state"] for item in sections["checks"]["list"]] == ["good"] * 4


ROWS = ("Grey bars", "occur in the rows", "share of rows")


@pytest.mark.parametrize("kind", ["table", "weights", "counts", "difference", "pairs", "covers", "parquet"])
def test_sentences_hold_for_what_is_known_of_the_rows(diabetes, tmp_path, kind):
    X, model = diabetes
    X.to_parquet(tmp_path / "rows.parquet")
    explainer = {
        "table": lambda: gw.Explainer(model, X),
        "weights": lambda: gw.Explainer(model, X, sample_weight=np.linspace(0, 1, len(X))),
        "counts": lambda: gw.Explainer(model, gw.summarize(model, X)),
        "difference": lambda: gw.Explainer(model, gw.summarize(model, X) - gw.summarize(model, X[:9])),
        "pairs": lambda: gw.Explainer(model, gw.summarize(model, X, order=2)),
        "covers": lambda: gw.Explainer(model),
        "parquet": lambda: gw.Explainer(model, str(tmp_path / "rows.parquet")),
    }[kind]()
    sections = sections_of(explainer)
    whole = " ".join(text_of(section) for section in sections.values())
    for words in ROWS:
        assert (words in whole) == (kind != "covers"), words
    assert ("path-dependent" in text_of(sections["features"])) == (kind == "covers")
    assert ("Importance is not available" in whole) == (kind == "covers")
    assert ("No rows were given" in text_of(sections["rows"])) == (kind == "covers")
    assert ("total weight" in text_of(sections["rows"])) == (kind == "weights")
    assert ("Only counts are available" in text_of(sections["rows"])) == (kind in ("counts", "difference", "pairs"))
    assert ("made from counts" in text_of(sections["rows"])) == (kind == "parquet")
    assert ("fades out" in text_of(sections["features"])) == (kind in ("covers", "difference"))
    assert ("the minimum and the maximum" in text_of(sections["spikes"])) == (kind != "covers")
    assert ("the first and the last cut" in text_of(sections["spikes"])) == (kind in ("covers", "difference"))
    pairs = text_of(sections["interactions"])
    assert ("Hatched cells have no rows" in pairs) == (kind in ("table", "weights"))
    assert ("assumed to be independent" in pairs) == (kind == "pairs")
    assert ("only single features were counted" in pairs) == (kind in ("counts", "difference"))
    assert ("computed over rows, and there are none" in pairs) == (kind == "covers")
    missing = text_of(sections["missing"])
    assert ("not known how many values are missing" in missing) == (kind == "covers")
    assert ("None of the features below" in missing) == (kind != "covers")


def test_h_is_explained_as_the_root_of_a_ratio(diabetes):
    X, model = diabetes
    text = text_of(sections_of(gw.Explainer(model, X))["interactions"])
    assert "square root of the ratio of their variances" in text
    assert "its share" not in text


def test_groups_of_columns_are_not_looked_at(diabetes):
    X, model = diabetes
    explainer = gw.Explainer(model, X, groups={"blood": ["s1", "s2", "s3", "s4", "s5", "s6"], "rest": ["age", "sex"]})
    sections = sections_of(explainer)
    assert "2 used features are not examined: categories or groups" in text_of(sections["monotonicity"])
    shapes = dict(
        zip(
            column_of(sections["features"]["table"], "Feature"),
            column_of(sections["features"]["table"], "Shape"),
            strict=True,
        )
    )
    assert shapes["blood"] == "not examined"
    assert "no surfaces for groups of columns" in text_of(sections["interactions"])


def test_a_model_of_categories_only():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"job": pd.Categorical(rng.choice(["a", "b", "c"], 300))})
    model = HistGradientBoostingRegressor(max_iter=3, categorical_features="from_dtype").fit(X, X["job"].cat.codes)
    sections = sections_of(gw.Explainer(model, X))
    for name in ("monotonicity", "spikes"):
        assert text_of(sections[name]) == "Not examined: all used features are categories."
    assert "there are no interactions" in text_of(sections["interactions"])


def test_the_rows_are_described(census):
    X, _, model = census
    made = sections_of(gw.Explainer(model, X.assign(rate=X["rate"])))["rows"]
    kinds = {row[0]: row[1:] for row in made["table"]["rows"]}
    assert kinds["age"][:3] == ["whole numbers", X["age"].min(), X["age"].max()]
    assert kinds["age"][3] == pytest.approx(X["age"].isna().mean(), rel=1e-4)
    assert kinds["rate"][0] == "numbers"
    assert kinds["job"][0] == "3 categories"
    assert f"{len(X):,} rows, 5 input columns" in text_of(made)
    assert "missing values in 1 of them" in text_of(made)


def test_parameters_are_reported_if_the_model_has_them(diabetes):
    X, model = diabetes
    made = sections_of(gw.Explainer(model, X))["model"]
    assert ["max_iter", "20"] in made["table"]["rows"]
    assert not any(row[0] == "max_depth" for row in made["table"]["rows"])  # None
    made = sections_of(gw.Explainer(gw.read_model(model), X))["model"]
    assert "table" not in made
    assert "parameters are not known" in text_of(made)


def test_notes_and_a_place_to_sign(diabetes, tmp_path):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    sections = sections_of(explainer, notes=["First.\n\nSecond.", "Third."])
    assert sections["notes"]["said"] == ["First.", "Second.", "Third."]
    assert sections_of(explainer, notes="Only one.")["notes"]["said"] == ["Only one."]
    sections = sections_of(explainer)
    assert "notes" not in sections
    assert "Signature" in sections["signature"]["lines"]


def test_units_are_in_the_heads_of_columns(census, diabetes):
    X, _, model = census
    heads = [head["name"] for head in sections_of(gw.Explainer(model, X))["features"]["table"]["columns"]]
    assert "Importance (probability)" in heads
    X, model = diabetes
    heads = [head["name"] for head in sections_of(gw.Explainer(model, X))["features"]["table"]["columns"]]
    assert "Importance" in heads


def test_fingerprints_tell_models_apart(diabetes):
    X, model = diabetes
    other = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, 2 * load_diabetes(return_X_y=True)[1])
    one, two = (_model._fingerprint(subject_of(gw.Explainer(each, X))) for each in (model, other))
    assert one != two
    assert one == _model._fingerprint(subject_of(gw.Explainer(model, X[:10])))


def test_cuts_are_shown_as_the_library_has_them():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.integers(0, 9, 500), "x": rng.integers(0, 9, 500) / 2})
    model = xgb.XGBRegressor(n_estimators=5, max_depth=3).fit(X, X["n"] * X["x"])
    figures = {
        f["names"][0]: f["panels"][0]["panel"]["x"] for f in sections_of(gw.Explainer(model, X))["features"]["figures"]
    }
    assert figures["n"]["whole"]
    assert figures["n"]["edges"][0] == -0.5
    assert figures["n"]["edges"][-1] == 8.5
    assert set(np.array(figures["n"]["edges"]) % 1) == {0.5}
    assert set(np.array(figures["x"]["cuts"]) % 0.5) == {0.0}
    assert set(figures["x"]["strict"]) == {1}
    assert figures["x"]["open"] == [False, False]
    assert figures["x"]["edges"][0] == 0
    assert figures["x"]["edges"][-1] == 4


def test_the_same_feature_has_the_same_anchor_in_every_report(diabetes):
    X, model = diabetes
    one = {f["names"][0]: f["id"] for f in sections_of(gw.Explainer(model, X))["features"]["figures"]}
    two = {f["names"][0]: f["id"] for f in sections_of(gw.Explainer(model, X[:100]))["features"]["figures"]}
    assert one == two
    assert one["bmi"] == "feature-bmi"


@pytest.mark.parametrize("path", ["nowhere/model.html", "."])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(diabetes, tmp_path, monkeypatch, path):
    X, model = diabetes
    monkeypatch.chdir(tmp_path)
    explainer = gw.Explainer(model, X)
    explainer.partial_dependence = None
    with pytest.raises(gw.errors.GlasswoodError, match="folder"):
        explainer.report(path)


def test_values_of_a_pipelines_columns_are_reported_as_they_are(diabetes):
    X, _ = diabetes
    pipeline = make_pipeline(FunctionTransformer(np.square), HistGradientBoostingRegressor(max_iter=5)).fit(
        X, np.square(X["bmi"])
    )
    (figure, *_) = sections_of(gw.Explainer(pipeline, X[:40]))["features"]["figures"]
    scale = figure["panels"][0]["panel"]["x"]
    values = X[figure["names"][0]][:40]
    assert len(scale["from"]) == len(scale["edges"]) - 1
    assert scale["from"][0] == pytest.approx(values.min())
    assert scale["to"][-1] == pytest.approx(values.max())
