"""Threads that share an Explainer, and the order of questions: neither changes an answer."""

import copy
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.engines import _pass
from glasswood.parallel._lazy import Deferred, Lock, cached_property
from glasswood.study import _study
from helpers.questions import ON_THE_RESPONSE, WITHOUT_ROWS, bits_of, questions_of

NAMES = list("abcd")


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(300, 4)), columns=NAMES)


@pytest.fixture(scope="module")
def model(frame):
    return HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=6, min_samples_leaf=3).fit(
        frame, frame.a * frame.b + frame.c
    )


def together(*functions):
    """Return what functions return that start at the same time, each in a thread of its own."""
    gate = threading.Barrier(len(functions))

    def run(function):
        gate.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, function) for function in functions]]


def test_a_surface_is_right_while_another_thread_counts_for_a_curve(model, frame, monkeypatch):
    # The kernels of the surface once got the counts of the curve: a wrong surface, or a segmentation fault.
    selected = gw.Explainer(model, frame).partial_dependence("a", "b").values
    plan, began = _study.Study.plan, threading.Event()

    def held(self, order):
        if threading.current_thread().name == "surface" and order == 2 and not began.is_set():
            began.set()
            time.sleep(0.2)
        return plan(self, order)

    monkeypatch.setattr(_study.Study, "plan", held)
    ex, found = gw.Explainer(model, frame), {}
    threads = [
        threading.Thread(target=lambda: found.update(surface=ex.partial_dependence("a", "b").values), name="surface"),
        threading.Thread(target=lambda: (began.wait(), found.update(curve=ex.partial_dependence("c").values))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    np.testing.assert_array_equal(found["surface"], selected)
    np.testing.assert_array_equal(ex.partial_dependence("a", "b").values, selected)
    effects = ex._study._effects[2]
    assert effects.counts.size == effects.plan.n_counts


def test_threads_that_ask_at_once_get_the_bits_of_one(model, frame):
    only = ("surface", "curve", "interactions", "shap", "ice of the background", "strengths", "importance", "surfaces")
    selected = {
        n: bits_of(ask()) for n, ask in questions_of(gw.Explainer(model, frame), frame, NAMES, only=only).items()
    }
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(15):
            asked = questions_of(gw.Explainer(model, frame), frame, NAMES, only=only)
            for name, found in zip(asked, together(*asked.values()), strict=True):
                assert bits_of(found) == selected[name], name
    finally:
        sys.setswitchinterval(before)


def test_threads_share_one_model_that_was_read(frame):
    # Plans, cells and boxes of one TreeEnsemble are found by whoever is first.
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(
        frame, np.digitize(frame.a * frame.b, [-0.5, 0.5])
    )
    selected = gw.Explainer(model, frame).shap_values(frame[:20]).values
    ensemble = gw.read_model(model)
    found = together(*[lambda: gw.Explainer(ensemble, frame).shap_values(frame[:20]).values] * 4)
    for values in found:
        np.testing.assert_array_equal(values, selected)


def test_rows_are_counted_once_for_all_threads(model, frame, monkeypatch):
    counted, count = [], _pass.count_table

    def slow(plan, *rest, **settings):
        counted.append(plan.order)
        time.sleep(0.05)
        return count(plan, *rest, **settings)

    monkeypatch.setattr(_pass, "count_table", slow)
    ex = gw.Explainer(model, frame)
    together(*[lambda: ex.partial_dependence("a")] * 4)
    assert counted == [1]
    together(*[lambda: ex.partial_dependence("a", "b"), lambda: ex.importance(kind="main")] * 2)
    assert counted == [1, 2]


def test_values_of_interactions_are_computed_once_for_all_threads(model, frame):
    values = gw.Explainer(model, frame).interaction_values(frame)
    found = together(*[lambda: values.values] * 4)
    assert all(other is found[0] for other in found)


def every_order(names):
    """Yield each question first, and the others behind it, forwards or backwards."""
    for shift in range(len(names)):
        yield names[shift::-1] + names[:shift:-1] if shift % 2 else names[shift:] + names[:shift]


@pytest.mark.parametrize("kind", ["table", "weights", "path-dependent", "background", "probability", "in parts"])
def test_the_order_of_questions_does_not_matter(kind, model, frame, monkeypatch):
    settings, only, background = {}, None, frame
    if kind == "weights":
        settings = {"sample_weight": np.random.default_rng(1).random(len(frame))}
    elif kind == "path-dependent":
        background, only = None, WITHOUT_ROWS
    elif kind == "background":
        background = gw.summarize(model, frame, order=None)
        only = [*WITHOUT_ROWS, "importance", "strengths", "comparison"]
    elif kind == "probability":
        model = HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=6).fit(frame, frame.a * frame.b > 0)
        settings, only = {"response": "probability"}, ON_THE_RESPONSE
    elif kind == "in parts":
        monkeypatch.setattr(_study, "MAX_COUNTS", 100)
        only = ["curve", "curves", "ice", "ice of the background", "importance", "monotonicity", "spikes", "comparison"]
    selected = None
    names = list(questions_of(None, frame, NAMES, only=only))
    for order in every_order(names):
        asked = questions_of(gw.Explainer(model, background, **settings), frame, NAMES, only=only)
        found = {name: bits_of(asked[name]()) for name in order}
        selected = selected or found
        assert all(found[name] == selected[name] for name in names), [n for n in names if found[n] != selected[n]]


class Answer:
    def __init__(self):
        self.asked = 0

    @cached_property
    def value(self):
        """The value."""
        self.asked += 1
        time.sleep(0.01)
        if self.asked == 1:
            message = "not yet"
            raise ValueError(message)
        return object()


def test_once_is_computed_by_one_thread_and_tried_again_after_an_error():
    answer = Answer()
    with pytest.raises(ValueError, match="not yet"):
        _ = answer.value
    found = together(*[lambda: answer.value] * 8)
    assert answer.asked == 2
    assert len(set(map(id, found))) == 1
    assert Answer.value.__doc__ == "The value."
    assert set(vars(answer)) == {"asked", "value"}  # no lock is left


def test_locks_and_deferred_values_are_pickled_and_copied():
    lock = Lock()
    with lock, lock, pickle.loads(pickle.dumps(lock)), copy.deepcopy(lock):
        pass
    asked = []
    deferred = Deferred(lambda: asked.append(1) or "found")
    assert pickle.loads(pickle.dumps(deferred))() == copy.deepcopy(deferred)() == deferred() == "found"
    assert asked == [1]
