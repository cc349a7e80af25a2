"""What is too large is refused within a second, before anything is counted, and the message says what to do."""

from __future__ import annotations

import time

import numpy as np
import pytest

import glasswood as gw
from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema
from helpers.cube_metrics import all_subsets
from helpers.deep_trees import chain

N_FEATURES, DEPTH, N_TREES = 40, 15, 40


def whole_tree(rng):
    """A tree with all leaves at the same depth, and a feature of its own for every level."""
    n_inner = 2**DEPTH - 1
    inner = np.arange(n_inner)
    level = np.floor(np.log2(inner + 1)).astype(np.int64)
    feature, left, right = np.zeros(2 * n_inner + 1, dtype=np.int64), *np.full((2, 2 * n_inner + 1), -1)
    feature[:n_inner] = rng.permutation(N_FEATURES)[:DEPTH][level]
    left[:n_inner], right[:n_inner] = 2 * inner + 1, 2 * inner + 2
    size = feature.size
    return Tree(
        feature,
        rng.normal(size=size),
        left,
        right,
        np.zeros(size, dtype=bool),
        rng.normal(size=(size, 1)),
        np.repeat(2.0 ** (DEPTH - np.arange(DEPTH + 1)), 2 ** np.arange(DEPTH + 1)),
    )


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    schema = Schema(tuple(NumberColumn(f"x{j}") for j in range(N_FEATURES)))
    score = Score(base=np.zeros(1), labels=("prediction",), units="value")
    trees = [whole_tree(rng) for _ in range(N_TREES)]
    return TreeEnsemble(**stack(trees, CategorySets()), schema=schema, score=score, source="made")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).normal(size=(100_000, N_FEATURES)).astype(np.float32)


@pytest.fixture(scope="module")
def explainer(model, rows):
    return gw.Explainer(model, rows)


class OfMyOwn(gw.metrics.CubeMetric):
    """Some metric of a user's."""

    def calc_metric(self, s_plus, s_minus):
        return dict.fromkeys([*s_plus, *s_minus], 1.0)


class AllSets(gw.metrics.CubeMetric):
    """One that has a value for every set."""

    def calc_metric(self, s_plus, s_minus):
        return {(*s_plus, *more): (-1) ** len(more) for more in all_subsets(s_minus)}


ASKED = {
    "shap_values": lambda ex, rows: ex.shap_values(rows),
    "banzhaf_values": lambda ex, rows: ex.banzhaf_values(rows),
    "shap_interaction_values": lambda ex, rows: ex.shap_interaction_values(rows),
    "pairs": lambda ex, rows: ex.evaluate(gw.metrics.BanzhafInteractions(2), rows),
    "triples": lambda ex, rows: ex.evaluate(gw.metrics.ShapleyInteractions(3), rows),
    "all sets": lambda ex, rows: ex.evaluate(gw.metrics.PartialDependenceInteractions(), rows[:10]),
    "a metric of a user's": lambda ex, rows: ex.evaluate(OfMyOwn(), rows),
    "all sets of a metric of a user's": lambda ex, rows: ex.evaluate(AllSets(), rows[:1]),
    "interaction_values": lambda ex, rows: ex.interaction_values(rows[:1]),
    "interaction_values of pairs": lambda ex, rows: ex.interaction_values(rows[:1], max_order=3),
    "interaction_strengths": lambda ex, rows: ex.interaction_strengths(),
    "points of three features": lambda ex, rows: ex.partial_dependence("x0", "x1", "x2", at=np.zeros((10, 3))),
    "interaction_values without a limit": lambda ex, rows: ex.interaction_values(rows[:1], features=range(30)),
}


@pytest.mark.parametrize("asked", ASKED)
def test_too_much_is_refused_within_a_second(asked, explainer, rows):
    start = time.thread_time()
    with pytest.raises(gw.errors.TooLargeError, match=r"fewer|ask for|Use|have no such limit|up to") as found:
        ASKED[asked](explainer, rows)
    assert time.thread_time() - start < 1
    assert len(str(found.value)) < 400


def test_what_is_refused_tells_how_long_it_would_take(model, rows):
    with pytest.raises(gw.errors.TooLargeError, match=r"100,000 rows, 100,000 background rows .* h\. Pass fewer rows"):
        gw.Explainer(model, rows).shap_values(rows)


def test_too_much_memory_is_refused_before_anything_is_computed(model, rows, monkeypatch):
    monkeypatch.setattr("glasswood.parallel._memory._memory", lambda: 10**6)
    ex = gw.Explainer(model, rows[:10])
    start = time.thread_time()
    for ask in (ex.shap_values, ex.banzhaf_values, ex.shap_interaction_values):
        with pytest.raises(gw.errors.TooLargeError, match="fewer rows"):
            ask(rows)
    with pytest.raises(gw.errors.TooLargeError, match="fewer rows"):
        ex.evaluate(gw.metrics.ShapleyValues(), rows)
    assert time.thread_time() - start < 1


def test_points_that_take_hours_are_refused(model, rows, monkeypatch):
    monkeypatch.setattr("glasswood.questions.curves._answer_points.MAX_HOURS", 1e-9)
    with pytest.raises(gw.errors.TooLargeError, match=r"10 points and 1,310,720 leaves .* h\. Ask for fewer points"):
        gw.Explainer(model, rows[:10]).partial_dependence("x0", at=np.arange(10.0)[:, None])


def test_interactions_are_refused_before_anything_is_counted(model, rows, monkeypatch):
    ex = gw.Explainer(model, rows[:10])
    monkeypatch.setattr("glasswood.engines._pass.count_table", lambda *_, **__: pytest.fail("rows are counted"))
    with pytest.raises(gw.errors.TooLargeError, match=r"ask for max_order=[12]"):
        ex.interaction_values(rows[:1], max_order=3)


def test_one_row_of_it_is_explained(model, rows):
    found = gw.Explainer(model, rows[:20]).shap_values(rows[50:51])
    np.testing.assert_allclose(found.values.sum() + found.base_values, model.predict(rows[50:51]), rtol=0, atol=1e-9)


def test_a_slow_metric_of_all_sets_is_refused(rows, monkeypatch):
    monkeypatch.setattr("glasswood.questions.rows._arithmetic_cube_values.MAX_ASKING", 5)
    rng = np.random.default_rng(0)
    schema = Schema(tuple(NumberColumn(f"x{j}") for j in range(22)))
    score = Score(base=np.zeros(1), labels=("prediction",), units="value")
    trees = [chain(rng, rng.permutation(22)[:20])]
    ex = gw.Explainer(
        TreeEnsemble(**stack(trees, CategorySets()), schema=schema, score=score, source="made"), rows[:9, :22]
    )
    start = time.thread_time()
    with pytest.raises(gw.errors.TooLargeError, match=r"20 features, .* h: the .* cubes of .* Use a metric of smaller"):
        ex.evaluate(AllSets(), rows[:2, :22])
    assert time.thread_time() - start < 2
    assert ex.evaluate(OfMyOwn(), rows[:2, :22]).values.shape == (2, 20)
