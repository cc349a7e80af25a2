"""Tables of leaves that wait for more rows: the same answers as from new ones, within a limit of memory."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.parallel._lru_cache import LRUCache
from glasswood.questions.rows._arithmetic_leaf_tables import LeafTables
from glasswood.study import _study
from helpers.resource_tasks import X, Y


@dataclass
class Block:
    n_bytes: int


def test_a_value_is_made_once():
    kept, made = LRUCache(100), []

    def make():
        made.append(1)
        time.sleep(0.05)
        return Block(10)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: kept.get("a", make), range(16)))
    assert made == [1]
    assert all(one is found[0] for one in found)


def test_the_least_recently_used_goes_first():
    kept = LRUCache(100)
    first, second = kept.get("a", lambda: Block(40)), kept.get("b", lambda: Block(40))
    assert kept.get("a", lambda: Block(0)) is first  # now "b" is the older one
    kept.get("c", lambda: Block(40))
    assert kept.n_bytes == 80
    assert kept.get("a", lambda: Block(0)) is first
    assert kept.get("b", lambda: Block(1)) is not second


def test_a_value_beyond_the_limit_is_not_kept():
    kept = LRUCache(100)
    small = kept.get("small", lambda: Block(60))
    assert kept.get("a", lambda: Block(101)) is not kept.get("a", lambda: Block(101))
    assert kept.n_bytes == 60
    assert kept.get("small", lambda: Block(0)) is small  # which need not go for it


def test_an_error_leaves_nothing_behind():
    kept = LRUCache(100)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: Block(1 // 0))
    assert kept.get("a", lambda: Block(10)).n_bytes == 10


def test_who_needs_another_value_does_not_wait():
    kept, goes_on = LRUCache(100), threading.Event()

    def slow():
        assert goes_on.wait(10)
        return Block(1)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.get, "slow", slow)
        assert kept.get("other", lambda: Block(2)).n_bytes == 2
        goes_on.set()
        assert waiting.result(timeout=10).n_bytes == 1


def test_a_copy_is_empty():
    kept = LRUCache(100)
    kept.get("a", lambda: Block(10))
    assert pickle.loads(pickle.dumps(kept)).n_bytes == 0


# ------------------------------------------------------------------------------------------------------ of an Explainer


@pytest.fixture(scope="module")
def regressor():
    return HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, Y)


QUESTIONS = {
    "Shapley values": lambda ex, rows: ex.shap_values(rows).values,
    "Banzhaf values": lambda ex, rows: ex.banzhaf_values(rows).values,
    "Shapley interactions": lambda ex, rows: ex.shap_interaction_values(rows).values,
    "interactions": lambda ex, rows: ex.interaction_values(rows, max_order=2).values,
    "interactions of two": lambda ex, rows: ex.interaction_values(rows, features=["x0", "x1"]).values,
    "Shapley-Taylor index": lambda ex, rows: ex.evaluate(gw.metrics.ShapleyTaylor(2), rows).values,
    "of pairs only": lambda ex, rows: ex.evaluate(gw.metrics.ShapleyInteractions(2, min_order=2), rows).values,
    "of single features": lambda ex, rows: ex.evaluate(gw.metrics.ShapleyInteractions(1), rows).values,
}


def test_what_is_asked_again_has_the_same_bits(regressor):
    ex = gw.Explainer(regressor, X)
    selected = {name: ask(gw.Explainer(regressor, X), X[:7]) for name, ask in QUESTIONS.items()}
    for _ in range(2):
        for name, ask in QUESTIONS.items():
            np.testing.assert_array_equal(ask(ex, X[:7]), selected[name], err_msg=name)
            np.testing.assert_array_equal(ask(ex, X[3:4]), selected[name][3:4], err_msg=name)


def test_tables_are_made_once_per_question_and_outputs(monkeypatch):
    made, init = [], LeafTables.__init__
    monkeypatch.setattr(LeafTables, "__init__", lambda self, *args: (made.append(args[2]), init(self, *args))[0])
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, np.digitize(Y, [-0.5, 0.5]))
    ex = gw.Explainer(model, X)
    for row in range(3):
        all_outputs = ex.shap_values(X[row : row + 1]).values
        np.testing.assert_array_equal(ex.shap_values(X[row : row + 1], output=1).values, all_outputs[..., 1])
    assert made == [[0, 1, 2], [1]]


def test_a_metric_that_changes_is_asked_anew(regressor):
    class Scaled(gw.metrics.ShapleyValues):
        factor = 1.0

        def moment(self, order, a, b):
            return self.factor * super().moment(order, a, b)

    ex, metric = gw.Explainer(regressor, X), Scaled()
    once = ex.evaluate(metric, X[:3]).values
    metric.factor = 2.0
    np.testing.assert_allclose(ex.evaluate(metric, X[:3]).values, 2 * once)
    ours = gw.metrics.ShapleyInteractions(2)
    assert {len(players) for players in ex.evaluate(ours, X[:3]).subsets} == {1, 2}
    ours.max_order = 1
    assert {len(players) for players in ex.evaluate(ours, X[:3]).subsets} == {1}
    ours.moment = lambda *_: 0.0
    assert not ex.evaluate(ours, X[:3]).values.any()


def test_a_model_beyond_the_limit_answers_all_the_same(regressor, monkeypatch):
    monkeypatch.setattr(_study, "MAX_KEPT", 1000)
    ex = gw.Explainer(regressor, X)
    selected = gw.Explainer(regressor, X).shap_values(X[:5]).values
    for _ in range(2):
        np.testing.assert_array_equal(ex.shap_values(X[:5]).values, selected)
    assert ex._study.kept.n_bytes == 0


def test_a_pickled_explainer_takes_no_tables_along(regressor):
    ex = gw.Explainer(regressor, X)
    ex.shap_values(X[:5])
    tables = ex._study.kept.n_bytes
    other = pickle.loads(pickle.dumps(ex))
    assert tables > 0
    assert other._study.kept.n_bytes == 0
    np.testing.assert_array_equal(other.shap_values(X[:5]).values, ex.shap_values(X[:5]).values)


@pytest.mark.parametrize("n_calls", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_threads_that_ask_for_single_rows(regressor, n_calls):
    ex = gw.Explainer(regressor, X)
    selected = {name: ask(gw.Explainer(regressor, X), X) for name, ask in QUESTIONS.items()}
    names = list(QUESTIONS)

    def call(number):
        row, name = number % len(X), names[number % 7 % 3]
        found = QUESTIONS[name](ex, X[row : row + 1])
        return np.array_equal(found, selected[name][row : row + 1])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(n_calls)))
