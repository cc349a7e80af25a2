"""What is handed out cannot be written to, or is a copy: no answer changes another one, nor the user's own data."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from helpers.questions import ON_THE_RESPONSE, WITHOUT_ROWS, arrays_in, bits_of, questions_of

NAMES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=NAMES)
    frame["d"] = pd.Categorical(rng.choice(list("xyz"), len(frame)))
    frame.loc[::7, "b"] = np.nan
    return frame


@pytest.fixture(scope="module")
def target(frame):
    return (frame.a * frame.b.fillna(1) + frame.c).to_numpy() + (frame.d == "x")


def regressor(frame, target):
    model = HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=6, categorical_features="from_dtype")
    return model.fit(frame, target)


def scribble(answer):
    """Write into every array that can be reached, if it lets us, and return how many do not."""
    closed = 0
    for array in list(arrays_in(answer)):
        if not array.size:
            continue
        try:
            array[...] = array.flat[-1] if array.dtype.kind in "OU" else 7
        except ValueError:
            closed += 1
    return closed


KINDS = ["table", "weights", "path-dependent", "background", "probability", "classes"]


@pytest.mark.parametrize("kind", KINDS)
def test_writing_into_answers_changes_no_later_answer(kind, frame, target):
    settings, only, background = {}, None, frame
    model = regressor(frame, target)
    if kind == "weights":
        settings = {"sample_weight": np.random.default_rng(1).random(len(frame))}
    elif kind == "path-dependent":
        background, only = None, WITHOUT_ROWS
    elif kind == "background":
        background = gw.summarize(model, frame, order=None)
        only = [*WITHOUT_ROWS, "importance", "strengths", "comparison"]
    elif kind == "probability":
        model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")
        model.fit(frame, target > 0)
        settings, only = {"response": "probability"}, ON_THE_RESPONSE
    elif kind == "classes":
        frame = frame[["a", "b", "c"]].assign(d=target)
        background = frame
        model = RandomForestClassifier(4, max_depth=4, random_state=0).fit(frame, np.digitize(target, [-0.5, 0.5]))
    asked = questions_of(gw.Explainer(model, background, **settings), frame, NAMES, only=only)
    before = {name: bits_of(ask()) for name, ask in asked.items()}
    for name, ask in asked.items():
        answer = ask()
        assert scribble(answer) or name in ("grids", "spikes"), name  # which are copies, and have no arrays
        assert bits_of(answer) == before[name] or name == "grids", f"{name} itself has changed"
        assert bits_of(ask()) == before[name], f"{name} has changed what it is made from"
    assert not [name for name, ask in asked.items() if bits_of(ask()) != before[name]]


def test_centring_a_curve_in_place_is_refused_by_numpy(frame, target):
    ex = gw.Explainer(regressor(frame, target), frame)
    values = ex.partial_dependence("a").values
    with pytest.raises(ValueError, match="read-only"):
        values -= values.mean()
    centred = values - values.mean()
    assert centred.flags.writeable


def test_frames_are_copies(frame, target):
    for name, ask in questions_of(gw.Explainer(regressor(frame, target), frame), frame, NAMES).items():
        answer = ask()
        if not hasattr(answer, "to_frame"):
            continue
        before = bits_of(answer)
        shown = answer.to_frame()
        for column in shown.select_dtypes("number"):
            shown[column] *= 3
            if shown[column].to_numpy().flags.writeable:
                shown[column].to_numpy()[:] = 1
        assert bits_of(answer) == before, name


def test_models_and_backgrounds_are_read_only_also_after_pickling(frame, target):
    model = gw.read_model(regressor(frame, target))
    background = gw.summarize(model, frame, order=2)
    for thing in (model, background):
        for same in (thing, copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
            before = bits_of(same)
            assert scribble(same)
            assert bits_of(same) == before


def test_the_users_table_and_weights_stay_as_they_are(frame, target):
    model = regressor(frame, target)
    own, weight = frame.copy(), np.random.default_rng(0).random(len(frame))
    kept = weight.copy()
    questions = questions_of(gw.Explainer(model, own, sample_weight=weight), own, NAMES)
    for ask in questions.values():
        scribble(ask())
    gw.summarize(model, own.assign(w=weight), sample_weight="w", by="d")
    pd.testing.assert_frame_equal(own, frame)
    np.testing.assert_array_equal(weight, kept)
    assert weight.flags.writeable
    assert own["a"].to_numpy().flags.writeable == frame["a"].to_numpy().flags.writeable


def test_an_array_of_rows_stays_as_it_is(frame, target):
    array = frame[["a", "b", "c"]].to_numpy(copy=True)
    kept = array.copy()
    model = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=6).fit(array, target)
    ex = gw.Explainer(model, array)
    for answer in (ex.shap_values(array), ex.ice(0), ex.partial_dependence(0, 1), ex.interaction_values(array)):
        scribble(answer)
        scribble(getattr(answer, "columns", None))
    assert array.flags.writeable
    np.testing.assert_array_equal(array, kept)
