"""The gate as a section of the report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.report import report_of, sections_of
from helpers.hostile_names import HOSTILE_NAMES
from helpers.reports import subject_of


def rows(seed, shift=0.0, n=600, names=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, len(names))), columns=list(names))
    return frame.assign(**{names[0]: frame[names[0]] + shift})


THEN, NOW = rows(0), rows(1, shift=1.5)


@pytest.fixture(scope="module")
def model():
    return HistGradientBoostingRegressor(max_iter=10).fit(THEN[["a", "b"]], THEN["a"] + THEN["b"] ** 2)


def by_anchor(explainer, **settings):
    return {part["id"]: part for part in sections_of(subject_of(explainer, **settings))}


def compared(model, **asked):
    return gw.compare(
        {"then": gw.Explainer(model, THEN, **asked), "now": gw.Explainer(model, NOW, **asked)},
        limits=["psi > 0.2", "level > 9"],
    )


def test_measures_and_limits_are_a_section(model):
    gate = compared(model)
    made = by_anchor(gw.Explainer(model, NOW), gate=gate)
    table = made["gate"]["table"]
    assert made["gate"]["text"][0] == "1 of 3 values beyond the limits. The reference is then."
    heads = [head["name"] for head in table["columns"]]
    assert heads == ["Feature", "Rows", "Measure", "Value", "By chance", "Not allowed", "Limit"]
    lines = [dict(zip(heads, line, strict=True)) for line in table["rows"]]
    assert [(line["Feature"], line["Limit"]) for line in lines] == [
        ("a", "exceeded"),
        ("b", "kept"),
        ("(model)", "kept"),
    ]
    assert lines[0]["Value"] == pytest.approx(gate.violations[0].value, rel=1e-4)
    item = next(item for item in made["summary"]["list"] if item["tag"] == "Limit exceeded")
    assert item["names"] == ["a"]
    assert item["feature"] is not None  # a link to its figure
    assert "not allowed: psi > 0.2" in item["text"]
    assert "gate" not in by_anchor(gw.Explainer(model, NOW))


def test_the_summary_says_how_many_more_limits_are_exceeded(model):
    own = {"then": gw.Explainer(model, THEN), "now": gw.Explainer(model, NOW)}
    rules = ["psi > 0", "level > 0", "difference > 0", "largest > 0"]
    gate = gw.compare(own, limits=rules)
    made = by_anchor(gw.Explainer(model, NOW), gate=gate)
    found = [item["text"] for item in made["summary"]["list"] if item["tag"] == "Limit exceeded"]
    assert found[-1] == f"{len(gate.violations) - 3} more values beyond the limits: see Gate."
    assert len(found) == 4


def test_errors_and_kept_limits(model):
    explainers = {"then": gw.Explainer(model, THEN, folds=5), "now": gw.Explainer(model, NOW, folds=5)}
    gate = gw.compare(explainers, limits=["level > 99", "largest > 99"], error=2)
    made = by_anchor(explainers["now"], gate=gate)
    assert made["gate"]["text"][0].startswith("None of 3 values beyond the limits")
    assert made["gate"]["text"][1].endswith(
        "standard errors; largest has no standard error and is judged by its value."
    )
    assert "Standard error" in [head["name"] for head in made["gate"]["table"]["columns"]]
    assert not [item for item in made["summary"]["list"] if item["tag"] == "Limit exceeded"]


def test_pipelines_and_pages(model, tmp_path):
    fitted = make_pipeline(StandardScaler(), model.__class__(max_iter=5)).fit(THEN[["a", "b"]], THEN["a"])
    page = gw.Explainer(fitted, NOW[["a", "b"]]).report(tmp_path / "page.html", gate=compared_of(fitted))
    assert "Measures and limits" in page.html


def compared_of(fitted):
    explainers = {name: gw.Explainer(fitted, frame[["a", "b"]]) for name, frame in (("then", THEN), ("now", NOW))}
    return gw.compare(explainers, reference="then")


def test_hostile_names():
    names = HOSTILE_NAMES[:6]
    frame = rows(0, names=names)
    fitted = RandomForestRegressor(3, max_depth=3, random_state=0).fit(frame, frame.sum(axis=1))
    groups = {name: gw.Explainer(fitted, rows(k, 1.0 * k, names=names)) for k, name in enumerate(names[:3])}
    html = report_of(subject_of(groups[names[0]], gate=gw.compare(groups, limits={"psi": 0.1}))).html
    assert "<script>alert" not in html


def test_what_is_no_gate_is_refused(model):
    explainer = gw.Explainer(model, NOW)
    both = {"then": gw.Explainer(model, THEN), "now": explainer}
    for wrong, word in ((gw.compare(both), "a Comparison that was not judged"), ("psi > 0.2", "psi > 0.2")):
        with pytest.raises(gw.errors.ArgumentError, match=f"gate= is a Comparison with limits.*{word}"):
            explainer.report(gate=wrong)
    other = HistGradientBoostingRegressor(max_iter=3).fit(THEN[["c"]], THEN["c"])
    gate = gw.compare({"x": gw.Explainer(other, THEN[["c"]]), "y": gw.Explainer(other, NOW[["c"]])}, limits={"psi": 1})
    with pytest.raises(gw.errors.ArgumentError, match="another model: 'c'"):
        explainer.report(gate=gate)
