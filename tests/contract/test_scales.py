"""Which answers are on which scale: the table of the guide, compared with what Explainers answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import GlasswoodError, ScaleError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "probabilities.md"
ANSWERS = ["ale", "importance", "permutation_importance", "row_monotonicity"]
PAIR = ("a", "b")

QUESTIONS: dict[str, list[Callable[[Any, Any], str]]] = {
    '`partial_dependence("a")`, of all features, on a grid': [
        lambda ex, _: ex.partial_dependence("a").units,
        lambda ex, _: ex.partial_dependence()["a"].units,
        lambda ex, _: ex.partial_dependence(["a", "b"])["b"].units,
        lambda ex, _: ex.partial_dependence("a", grid=5).units,
        lambda ex, _: ex.partial_dependence("a", at=pd.DataFrame({"a": [0.0, 1.0]})).units,
    ],
    '`partial_dependence("a", "b")`, `joint_partial_dependence()`': [
        lambda ex, _: ex.partial_dependence(*PAIR).first.units,
        lambda ex, _: ex.partial_dependence([PAIR])[PAIR].first.units,
        lambda ex, rows: ex.partial_dependence(*PAIR, at=rows).units,
        lambda ex, rows: ex.partial_dependence(*PAIR, "c", at=rows).units,
        lambda ex, _: ex.joint_partial_dependence()[PAIR].first.units,
        lambda ex, _: ex.joint_partial_dependence(grid=3)[PAIR].units,
    ],
    '`ice("a", rows=table)`': [lambda ex, rows: ex.ice("a", rows=rows).units],
    '`ice("a")`': [lambda ex, _: ex.ice("a").units],
    '`importance(kind="main")`': [lambda ex, _: ex.importance(kind="main").units, lambda ex, _: ex.importance().units],
    '`importance(kind="total")`': [lambda ex, _: ex.importance(kind="total").units],
    '`ale("a")`': [lambda ex, _: ex.ale("a").units],
    '`ale("a", "b")`': [lambda ex, _: ex.ale(*PAIR).units],
    "`monotonicity()`, `spikes()`": [lambda ex, _: ex.monotonicity().units, lambda ex, _: ex.spikes().units],
    "`row_monotonicity()`": [lambda ex, _: ex.row_monotonicity().units],
    "`compare`": [lambda ex, _: gw.compare({"one": ex, "other": ex}).units],
    "`shap_values(rows)`, `interaction_values(rows)`": [
        lambda ex, rows: ex.shap_values(rows).units,
        lambda ex, rows: ex.interaction_values(rows).units,
    ],
    "`interaction_strengths()`": [lambda ex, _: ex.interaction_strengths().units],
    '`h_statistics()`, `purified_effects(("a", "b"))`, `rating_table()`': [
        lambda ex, _: ex.h_statistics().units,
        lambda ex, _: ex.purified_effects(PAIR).units,
        lambda ex, _: ex.rating_table().units,
    ],
    "`certificate()`": [lambda ex, _: ex.certificate().units],
}
WITHOUT_OFFSET = ("`ale(", "`ice(", '`partial_dependence("a", "b")`')  # on the scale of the response
SOURCES = ("table", "files", "stream", "cluster", "Background", "counts", "no rows")


def table_of_page() -> dict[tuple[str, str], str]:
    """Return the table of the guide: from questions and sources to "response", "score" or a dash."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    start = next(i for i, line in enumerate(lines) if line.startswith("| question | table |"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    sources, result = cells[0][1:], {}
    for question, *entries in cells[1:]:
        if len(entries) == len(sources) and question in QUESTIONS:
            result.update({(question, source): entry for source, entry in zip(sources, entries, strict=True)})
    return result


TABLE = table_of_page()


def explainer_of(source: str, model: Any, rows: Any, folder: Path, **values: Any) -> Any:
    """Return an Explainer of a kind of source."""
    if source == "no rows":
        return gw.Explainer(model)
    if source in ("Background", "counts"):
        answers = [name for name in ANSWERS if name != "ale" or "offset" not in values]
        asked = ["counts"] if source == "counts" else answers
        return gw.Explainer(model, gw.summarize(model, rows, order=None, answers=asked, **values))
    if source == "files":
        rows.to_parquet(folder / "rows.parquet")
        return gw.Explainer(model, folder / "rows.parquet", **values)
    if source == "stream":
        return gw.Explainer(model, iter([rows]), **values)
    if source == "cluster":
        frames = pytest.importorskip("dask.dataframe")
        return gw.Explainer(model, frames.from_pandas(rows, npartitions=2), **values)
    return gw.Explainer(model, rows, **values)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    return X.assign(y=(X["a"] * X["b"] + X["c"] > 0).astype(int), offset=0.1 * X["d"])


@pytest.fixture(scope="module")
def models(rows: pd.DataFrame) -> dict[str, Any]:
    X = rows[list("abcd")]
    classifier = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=6).fit(X, rows["y"])
    poisson = HistGradientBoostingRegressor(loss="poisson", max_iter=4, max_leaf_nodes=6).fit(X, rows["y"] + 0.1)
    return {"classifier": classifier, "poisson": poisson, "offset": poisson}


UNITS = {"classifier": ("probability", "log-odds"), "poisson": ("prediction", "log of the mean")}


def test_the_page_has_every_question_and_source():
    assert set(TABLE) == {(question, source) for question in QUESTIONS for source in SOURCES}


CASES = [
    *((kind, source) for kind in ("classifier", "offset") for source in SOURCES),
    ("poisson", "table"),
    ("poisson", "Background"),
]


@pytest.mark.parametrize(("kind", "source"), CASES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_scale_of_answers(question, source, kind, rows, models, tmp_path):
    values = {"target": "y"} | ({"offset": "offset"} if kind == "offset" else {})
    response, score = UNITS["classifier" if kind == "classifier" else "poisson"]
    expected = TABLE[question, source]
    if kind == "offset" and expected == "response" and question.startswith(WITHOUT_OFFSET):
        expected = "-" if question.startswith("`ale(") and source == "Background" else "score"
    for ask in QUESTIONS[question]:
        ex = explainer_of(source, models[kind], rows, tmp_path, **values)
        if expected == "-":
            with pytest.raises(GlasswoodError):
                ask(ex, rows.loc[:2, list("abcd")])
        else:
            assert ask(ex, rows.loc[:2, list("abcd")]) == (response if expected == "response" else score)


@pytest.mark.parametrize("source", ["stream", "Background"])
def test_a_scale_that_was_asked_for_is_not_replaced(source, rows, models, tmp_path):
    ex = explainer_of(source, models["classifier"], rows, tmp_path, target="y")
    with pytest.raises(ScaleError, match='response="raw"'):
        ex.partial_dependence("a", "b", response="probability")
    with pytest.raises(ScaleError, match='response="raw"'):
        gw.Explainer(models["classifier"], rows, response="probability").ale("a", "b")


def test_a_model_without_a_link_has_one_scale(rows):
    model = HistGradientBoostingRegressor(max_iter=5).fit(rows[list("abcd")], rows["y"])
    ex = gw.Explainer(model, rows)
    assert (ex.response, ex.units) == ("raw", "value")
    assert gw.summarize(model, rows).facts["sums of responses"] == "none"


def test_one_feature_has_the_same_bits_alone_and_among_all(rows, models):
    for model in models.values():
        every = gw.Explainer(model, rows, sample_weight=rows["y"] + 0.5).partial_dependence()
        for name, curve in every.items():
            ex = gw.Explainer(model, rows, sample_weight=rows["y"] + 0.5)
            for alone in (ex.partial_dependence(name), ex.partial_dependence(["d", name])[name]):
                assert np.array_equal(alone.heights, curve.heights)
                assert np.array_equal(alone.mean, curve.mean)
                assert np.array_equal(alone.std(), curve.std())


def test_backgrounds_of_which_one_has_sums(rows, models):
    model = models["classifier"]
    with_sums, counts = gw.summarize(model, rows[:200]), gw.summarize(model, rows[200:], answers=["counts"])
    with pytest.warns(UserWarning, match="only one of the backgrounds has sums of the probability"):
        total = with_sums + counts
    assert total == gw.summarize(model, rows, answers=["counts"])
    with pytest.warns(UserWarning, match="only one of the backgrounds"):
        assert total - with_sums == counts
    assert gw.Explainer(model, total).units == "log-odds"
    for further in ({"target": "y"}, {"answers": ["importance"]}, {"answers": ["row_monotonicity"]}):
        with pytest.raises(gw.errors.BackgroundError, match="only one of the backgrounds has"):
            _ = with_sums + gw.summarize(model, rows[200:], **further)


def test_a_checkpoint_without_sums_is_resumed_without(rows, models, tmp_path):
    model = models["classifier"]
    rows.to_parquet(tmp_path / "rows.parquet")
    asked = {"source": tmp_path / "rows.parquet", "checkpoint": tmp_path / "progress"}
    before = gw.summarize(model, answers=["counts"], **asked)
    with pytest.warns(UserWarning, match="begun without sums of the probability"):
        assert gw.summarize(model, **asked) == before
    assert gw.summarize(model, response="probability", **asked).facts["sums of responses"] == "probability"
    assert gw.summarize(model, **asked).facts["sums of responses"] == "probability"  # as there is one with sums now


def test_counts_alone_and_a_response_are_refused_together(rows, models):
    with pytest.raises(gw.errors.ArgumentError, match="pass one of both"):
        gw.summarize(models["classifier"], rows, answers=["counts"], response="probability")


def test_explainers_on_different_scales_are_compared_by_the_score(rows, models):
    model = models["classifier"]
    one, other = gw.Explainer(model, rows), gw.Explainer(model, gw.summarize(model, rows, answers=["counts"]))
    assert gw.compare({"one": one, "other": one}).units == "probability"
    assert gw.compare({"one": one, "other": other}).units == "log-odds"
