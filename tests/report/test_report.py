"""The report: what is in the file, and that nothing of the user's can break out of its place in it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.plots._spec import Cells, Line, Scale, Steps
from glasswood.report import _checks, _page, _panels, report_of
from helpers.hostile_names import HOSTILE_NAMES
from helpers.reports import subject_of


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)


class Scripts(HTMLParser):
    """The scripts of a page, and all elements."""

    def __init__(self, html):
        super().__init__()
        self.scripts, self.styles, self.tags, self.metas = [], [], [], {}
        self._open = None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        if tag in ("script", "style"):
            self._open = (attrs, [])
            (self.scripts if tag == "script" else self.styles).append(self._open)
        if tag == "meta" and "http-equiv" in attrs:
            self.metas[attrs["http-equiv"]] = attrs["content"]

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, text):
        if self._open is not None:
            self._open[1].append(text)


def data_of(html):
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def sections_of(explainer, **options):
    data = data_of(report_of(subject_of(explainer, **options)).html)
    return {part["id"]: part for part in data["sections"]}


# ---------------------------------------------------------------------------------------------------- the whole page


def test_the_report_is_one_file_that_may_load_nothing(diabetes, tmp_path):
    X, model = diabetes
    report = gw.Explainer(model, X).report(tmp_path / "model.html", title="A <b>title</b> & more")
    html = report.path.read_text(encoding="utf-8")
    assert html == report.html
    page = Scripts(html)
    policy = page.metas["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    for text, kind in ((page.scripts[1][1], "script-src"), (page.styles[0][1], "style-src")):
        digest = base64.b64encode(hashlib.sha256("".join(text).encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert len(page.scripts) == 2
    assert not re.search(r"(src|href)=[\"']?(http|//)", html)
    assert "unsafe" not in policy
    assert "<title>A &lt;b&gt;title&lt;/b&gt; &amp; more</title>" in html


def test_all_sections_are_there(diabetes):
    X, model = diabetes
    sections = sections_of(gw.Explainer(model, X.assign(unused=1.0)[list(X)]), by="sex", n_interactions=3)
    assert list(sections) == [
        "summary",
        "model",
        "rows",
        "checks",
        "features",
        "interactions",
        "monotonicity",
        "missing",
        "spikes",
        "groups",
        "signature",
    ]
    facts = dict(sections["model"]["facts"])
    assert facts["Trees"] == "20"
    assert facts["Averaged over"] == "442 rows"
    assert facts["Library and class"] == "sklearn HistGradientBoostingRegressor"
    assert len(sections["features"]["figures"]) == 10
    assert len(sections["interactions"]["figures"]) == 3
    assert len(sections["groups"]["more"][0]["rows"]) == 2
    assert [item["state"] for item in sections["checks"]["list"]] == ["good"] * 4


def test_curves_in_the_page_are_the_curves(diabetes):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    for figure in sections_of(explainer)["features"]["figures"]:
        panel = figure["panels"][0]["panel"]
        curve = explainer.partial_dependence(figure["names"][0])
        np.testing.assert_allclose(panel["lines"][0]["heights"], curve.values, rtol=1e-5)
        np.testing.assert_allclose(panel["x"]["edges"][1:-1], curve.cuts, rtol=1e-5)
        np.testing.assert_array_equal(panel["rows"], curve.rows)


def test_surfaces_have_the_rows_of_the_table(diabetes):
    X, model = diabetes
    figure = sections_of(gw.Explainer(model, X))["interactions"]["figures"][0]
    alone, together = (panel["panel"] for panel in figure["panels"])
    assert alone["diverging"]
    assert not together["diverging"]
    assert sum(map(sum, alone["rows"])) == len(X)


def test_a_model_that_splits_on_nothing():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 0.0]})
    model = GradientBoostingRegressor(n_estimators=1).fit(X, [1.0, 1.0])
    sections = sections_of(gw.Explainer(model, X))
    assert sections["features"]["figures"] == []
    assert [row[0] for row in sections["unused"]["table"]["rows"]] == ["a", "b"]


EXPLAINERS = {
    "table": lambda X, model: gw.Explainer(model, X),
    "weights": lambda X, model: gw.Explainer(model, X, sample_weight=np.linspace(0.1, 2, len(X))),
    "counts": lambda X, model: gw.Explainer(model, gw.summarize(model, X)),
    "counts of pairs": lambda X, model: gw.Explainer(model, gw.summarize(model, X, order=2)),
    "covers": lambda X, model: gw.Explainer(model),
    "groups": lambda X, model: gw.Explainer(model, X, groups={"blood": ["s1", "s2", "s3"]}),
}


@pytest.mark.parametrize("kind", EXPLAINERS)
def test_every_kind_of_explainer_has_a_report(diabetes, kind):
    sections = sections_of(EXPLAINERS[kind](*diabetes))
    assert sections["features"]["figures"]
    assert not any(item["state"] == "bad" for item in sections["checks"]["list"])


def test_several_outputs():
    X, y = load_iris(return_X_y=True, as_frame=True)
    sections = sections_of(gw.Explainer(RandomForestClassifier(10, random_state=0).fit(X, y), X))
    assert [line["name"] for line in sections["features"]["figures"][0]["panels"][0]["panel"]["lines"]] == [
        "0",
        "1",
        "2",
    ]
    assert "Output" in [column["name"] for column in sections["monotonicity"]["table"]["columns"]]


def test_missing_values_are_reported():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = np.where(rng.random(2000) < 0.2, 5.0, x)
    X = pd.DataFrame({"x": np.where(y == 5.0, np.nan, x), "z": x})
    sections = sections_of(gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X))
    row = next(row for row in sections["missing"]["table"]["rows"] if row[0] == "x")
    assert row[1] == pytest.approx(np.isnan(X["x"]).mean())
    assert row[4] == "outside"
    assert any(item["tag"] == "Missing values" and item["names"] == ["x"] for item in sections["summary"]["list"])


def test_spikes_are_reported():
    salary = np.random.default_rng(0).uniform(0, 100_000, size=2000)
    salary[:300] = 33_800  # midway between two of a hundred sample points
    X = pd.DataFrame({"salary": salary})
    sections = sections_of(gw.Explainer(GradientBoostingRegressor(n_estimators=5).fit(X, salary == 33_800), X))
    row = sections["spikes"]["table"]["rows"][0]
    assert row[1] < 33_800 <= row[2]
    reported = next(item["text"] for item in sections["summary"]["list"] if item["tag"] == "Missed by a grid")
    assert "A grid of 100 evenly spaced values between the smallest and the largest value misses it" in reported
    assert "One of them has a twentieth of the rows or more" in sections["spikes"]["text"][0]
    assert re.match(
        r"up by \S+ \(100 % of its range\) for values from 33,\S+, below 33,\S+, where there are 300 rows\.", reported
    )
    sections = sections_of(gw.Explainer(GradientBoostingRegressor(n_estimators=5).fit(X, salary != 33_800), X))
    reported = next(item["text"] for item in sections["summary"]["list"] if item["tag"] == "Missed by a grid")
    assert reported.startswith("down by ")


# ------------------------------------------------------------------------------------------------------ groups


def test_groups_may_be_backgrounds(diabetes):
    X, model = diabetes
    groups = gw.summarize(model, X, by=["old" if age > 0 else "young" for age in X["age"]])
    made = sections_of(gw.Explainer(model, X), by=groups)["groups"]
    table = made["more"][0]
    assert [row[0] for row in table["rows"]] == ["old", "young"]
    old = model.predict(X[X["age"] > 0]).mean()
    assert table["rows"][0][-1] == pytest.approx(old, rel=1e-5)
    panel = made["figures"][0]["panels"][0]["panel"]
    assert sum(panel["rows"]) == len(X)


def test_one_group_is_nothing_to_compare(diabetes):
    X, model = diabetes
    made = sections_of(gw.Explainer(model, X), by=np.zeros(len(X)))["groups"]
    assert "only one group" in made["text"][0]
    assert made["more"][0]["rows"] == [["0.0", 442, pytest.approx(model.predict(X).mean(), rel=1e-5)]]


def others():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    other = GradientBoostingRegressor(n_estimators=1).fit(X, y)
    return {"a": gw.summarize(other, X), "b": gw.summarize(other, X)}


OTHERS = others()


@pytest.mark.parametrize(
    ("background", "by", "message"),
    [
        (True, "nowhere", "by='nowhere' does not define groups"),
        (True, {"a": 1}, "'a' has something else"),
        (True, OTHERS, "'a' has a different model"),
        (False, "sex", "the explainer has no rows"),
    ],
    ids=["no column", "no background", "another model's", "no rows"],
)
def test_wrong_groups_are_refused(diabetes, tmp_path, background, by, message):
    X, model = diabetes
    explainer = gw.Explainer(model, X if background else None)
    explainer.partial_dependence = None  # groups are looked at before any work
    with pytest.raises(gw.errors.TableError, match=message):
        explainer.report(tmp_path / "never.html", by=by)
    assert not (tmp_path / "never.html").exists()


# ------------------------------------------------------------------------------------------------------ checks


def test_a_proof_is_reported(diabetes):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    item = _checks._read_check(subject_of(explainer))
    assert item["state"] == "good"
    assert "100 rows" in item["text"]
    assert "100 of 100 are bit-identical" in item["text"]


@pytest.mark.parametrize("off", [1, -1])
def test_counts_that_do_not_add_up_are_bad(diabetes, off):
    X, model = diabetes
    explainer = gw.Explainer(model, X)
    explainer.partial_dependence()
    study = explainer._study
    assert _checks._count_check(subject_of(explainer))["state"] == "good"
    background = study.counted(1)
    counts = background.counts.copy()
    counts[0] += off
    study._counted[1] = replace(background, vectors={**background.vectors, "counts": counts})
    item = _checks._count_check(subject_of(explainer))
    assert item["state"] == "bad"
    assert "In 1 of 20 trees, the counts of the leaves do not add up to 442 rows" in item["text"]


# ------------------------------------------------------------------------------------------------------ escaping


def test_hostile_names_stay_data():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, len(HOSTILE_NAMES))), columns=HOSTILE_NAMES)
    model = GradientBoostingRegressor(n_estimators=20).fit(X.to_numpy(), X.sum(axis=1))
    explainer = gw.Explainer(gw.read_model(model), X.to_numpy())
    harmless = Scripts(report_of(subject_of(explainer)).html)
    named = HistGradientBoostingRegressor(max_iter=20).fit(X, X.sum(axis=1))
    explainer = gw.Explainer(named, X)
    html = report_of(subject_of(explainer, title=HOSTILE_NAMES[0], notes=HOSTILE_NAMES)).html
    page = Scripts(html)
    assert page.tags == harmless.tags
    assert [script for script, _ in page.scripts] == [script for script, _ in harmless.scripts]
    assert page.scripts[1][1] == harmless.scripts[1][1]
    sections = {part["id"]: part for part in data_of(html)["sections"]}
    assert {row[0] for row in sections["features"]["table"]["rows"]} == set(HOSTILE_NAMES)
    assert sections["notes"]["said"]
    alike = [item["names"] for item in sections["summary"]["list"] if item["tag"] == "Similar names"]
    assert sorted(alike[0]) == sorted(["age", "age ", "\u0430ge", "a\u200bge"])


def test_json_in_html_is_json_and_ends_nothing():
    value = {"</script><!--&\u2028\u2029": ["<", ">", "\ud800", "\x00", 1e-7, None]}
    text = _page.json_in_html(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_a_title_with_half_a_character_is_written(diabetes, tmp_path):
    X, model = diabetes
    assert gw.Explainer(model, X).report(tmp_path / "half.html", title="a\ud800b").path.exists()


# ------------------------------------------------------------------------------------------------------ panels


def steps(heights, support=(), **more):
    edges = tuple(float(k) for k in range(len(heights) + 1))
    return Steps("x", Scale("x", edges, view=(0.0, 1.0)), "y", (Line("", tuple(heights)),), tuple(support), **more)


def test_few_steps_are_left_alone():
    panel = steps([1.0, 2.0, 3.0])
    assert _panels.merged_steps(panel, 3) is panel


def test_many_steps_are_merged_and_spikes_stay():
    heights = np.linspace(0, 1, 5000)
    heights[2500] = 9.0
    panel = _panels.merged_steps(steps(heights.tolist(), np.full(5000, 1 / 5000)), 200)
    merged = np.array(panel.lines[0].heights)
    assert len(merged) <= 200
    assert len(panel.x.edges) == len(merged) + 1
    assert merged.max() == 9.0
    assert sum(panel.support) == pytest.approx(1.0)
    shown = merged[np.searchsorted(panel.x.edges, np.arange(5000), side="right") - 1]
    off = float(re.search(r"further than (\S+) from", panel.note).group(1))
    assert np.abs(shown - heights).max() == pytest.approx(off, rel=0.01)
    assert off < 0.02


@pytest.mark.parametrize("n_lines", [2, 70])
def test_runs_of_cells_are_as_long_as_the_tolerance_allows(n_lines):
    rng = np.random.default_rng(0)
    heights = rng.normal(size=(200, n_lines)).cumsum(axis=0)
    starts = _panels.merge_runs(heights, 40)

    def spread(first, last):
        return np.ptp(heights[first:last], axis=0).max()

    ends = [*starts[1:].tolist(), 200]
    widest = max(spread(first, last) for first, last in zip(starts, ends, strict=True))
    assert 20 < len(starts) <= 40
    for first, last in zip(starts.tolist(), ends, strict=True):
        assert last == 200 or spread(first, last + 1) > widest * (1 - 1e-3)
    assert _panels.merge_runs(heights[:30], 40).tolist() == list(range(30))


def test_merged_steps_keep_their_cuts_and_points():
    heights = (0.0, 0.0, 1.0, 1.0, 2.0)
    cut = Scale("x", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0), view=(0.0, 5.0), cuts=(1.1, 2.1, 3.1, 4.1))
    merged = _panels.merged_steps(Steps("x", cut, "y", (Line("", heights),)), 3).x
    assert merged.edges == (0.0, 2.0, 4.0, 5.0)
    assert merged.cuts == (2.1, 4.1)
    points = Scale("x", cut.edges, view=cut.view, places=tuple((k + 0.5, k + 0.5) for k in range(5)))
    merged = _panels.merged_steps(Steps("x", points, "y", (Line("", heights),)), 3).x
    assert merged.places == ((0.5, 1.5), (2.5, 3.5), (4.5, 4.5))
    assert merged.cuts == ()


def test_several_lines_are_merged_together():
    lines = tuple(Line(str(k), tuple(np.sin(np.arange(500) / (30 + k)))) for k in range(3))
    panel = Steps("x", Scale("x", tuple(np.arange(501.0))), "y", lines)
    merged = _panels.merged_steps(panel, 50)
    assert {len(line.heights) for line in merged.lines} == {merged.x.n_cells}
    assert merged.x.n_cells <= 50


def test_merged_cells_are_means_by_rows():
    rng = np.random.default_rng(0)
    heights, x, y = rng.normal(size=(90, 70)), rng.random(70), rng.random(90)
    x, y = x / x.sum(), y / y.sum()
    panel = Cells(
        "t",
        Scale("x", tuple(np.arange(71.0))),
        Scale("y", tuple(np.arange(91.0))),
        "z",
        tuple(map(tuple, heights)),
        density=tuple(map(tuple, np.outer(y, x))),
        x_support=tuple(x),
        y_support=tuple(y),
    )
    (merged,) = _panels.merged_cells([panel], 60)
    assert merged.x.n_cells <= 60
    assert merged.y.n_cells <= 60
    weight = np.array(merged.density)
    assert weight.sum() == pytest.approx(1.0)
    assert (np.array(merged.heights) * weight).sum() == pytest.approx((heights * np.outer(y, x)).sum())
    assert "drawn as" in merged.note


def test_edges_stay_apart_and_numbers_are_short():
    assert _panels.distinct([1600000000.5, 1600000001.5]) == [1600000000.5, 1600000001.5]
    assert _panels.distinct([0.1 + 0.2, 0.7]) == [0.3, 0.7]
    assert _panels.distinct([0.0, 5e-324, 1e300]) == [0, 5e-324, 1e300]  # found by fuzzing: an OverflowError
    assert _panels.distinct([-1.7e308, 1.7e308]) == [-1.7e308, 1.7e308]
    assert _panels.rounded(1 / 3) == 0.333333
    assert _panels.rounded(float("nan")) is None
    assert _panels.rounded(None) is None
    assert json.dumps(_panels.rounded(442.0)) == "442"


def test_the_page_is_in_the_package():
    for name in ("report.html", "report.css", *_page.SCRIPTS):
        assert _page._file(name)


def test_a_report_without_a_path_is_saved_later(diabetes, tmp_path):
    X, model = diabetes
    report = gw.Explainer(model, X).report(title="Diabetes")
    assert report.path is None
    assert "not saved" in repr(report)
    with pytest.raises(gw.errors.FileError, match="save it first"):
        os.fspath(report)
    with pytest.raises(gw.errors.FileError, match="nowhere"):
        report.save(tmp_path / "nowhere" / "page.html")
    report.save(tmp_path / "page.html")
    assert os.fspath(report) == str(report.path) == str(tmp_path / "page.html")
    assert Path(report).read_text(encoding="utf-8") == report.html
    with open(report, encoding="utf-8") as file:  # noqa: PTH123 (wherever a path does)
        assert file.read() == report.html
    assert pickle.loads(pickle.dumps(report)) == report


def test_a_feature_of_which_only_missing_values_matter():
    """Its curve has no cuts: a node asks whether the value is missing, and nothing else."""
    rng = np.random.default_rng(0)
    only = np.where(rng.random(200) < 0.8, np.nan, 1.0)
    X = pd.DataFrame({"only": only, "x": rng.normal(size=200)})
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, np.where(np.isnan(only), 0.0, 5.0) + X["x"])
    explainer = gw.Explainer(model, X)
    assert not explainer.partial_dependence("only").cuts.size
    text = str(sections_of(explainer)["checks"])
    assert "Same curves" in text
    assert "'bad'" not in text
