"""An Explainer is a snapshot: a table or a model that is changed later never mixes old and new in its answers."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import glasswood as gw
from glasswood.errors import TableError
from helpers.questions import ON_THE_RESPONSE, bits_of, questions_of

NAMES = list("abc")
N = 1500  # more rows than are kept as they are


def frame(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=NAMES)
    X["d"] = pd.Categorical(rng.choice(["x", "y", "z"], n))
    return X


def target(X):
    return X["a"] * X["b"] + X["c"] + (X["d"] == "x")


@pytest.fixture(scope="module")
def model():
    X = frame()
    kind = HistGradientBoostingRegressor(max_iter=15, max_leaf_nodes=8, categorical_features="from_dtype")
    return kind.fit(X, target(X))


@pytest.fixture(scope="module")
def classifier():
    X = frame()
    kind = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, categorical_features="from_dtype")
    return kind.fit(X, target(X) > 0.5)


def one_value(X):
    X.loc[7, "b"] += 1e-9


def two_rows_swapped(X):
    X.loc[[3, 4], "a"] = X.loc[[4, 3], "a"].to_numpy()


def another_sign(X):
    X["c"] = -X["c"]


def another_category(X):
    X.loc[11, "d"] = "x" if X.loc[11, "d"] != "x" else "y"


def categories_renamed(X):
    X["d"] = X["d"].cat.rename_categories({"x": "y", "y": "x"})


def rows_added(X):
    X.loc[len(X)] = X.loc[0]


def shuffled(X):
    order = np.random.default_rng(1).permutation(len(X))
    for name in X:
        X[name] = X[name].to_numpy()[order] if name != "d" else X[name].array[order]


CHANGES = [one_value, two_rows_swapped, another_sign, another_category, categories_renamed, rows_added, shuffled]


def answers(ex, rows, **chosen):
    """What all questions answer, as bits, or "changed"; lazy results are looked at."""
    found = {}
    for name, ask in questions_of(ex, rows, [*NAMES, "d"], **chosen).items():
        try:
            found[name] = bits_of(ask())
        except TableError as error:
            found[name] = "changed" if "has changed since the Explainer was made" in str(error) else str(error)
    return found


@pytest.mark.parametrize("n", [N, 300], ids=["digests", "few rows"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_is_changed_is_not_mixed_with_the_old_one(model, change, n):
    rows, X = frame(20, seed=1), frame(n)
    selected = answers(gw.Explainer(model, X.copy()), rows)
    ex = gw.Explainer(model, X)
    ex.importance()  # all columns are counted
    curve = ex.partial_dependence("a").heights
    change(X)
    found = answers(ex, rows)
    assert all(found[name] in ("changed", selected[name]) for name in selected)
    np.testing.assert_array_equal(ex.partial_dependence("a").heights, curve)  # from counts
    assert found["ice of the background"] == "changed"


def test_on_the_scale_of_a_response(classifier):
    rows, X = frame(20, seed=1), frame()
    selected = answers(gw.Explainer(classifier, X.copy(), response="probability"), rows, only=ON_THE_RESPONSE)
    ex = gw.Explainer(classifier, X, response="probability")
    surface = ex.partial_dependence("a", "b")  # which is computed when it is looked at
    one_value(X)
    found = answers(ex, rows, only=ON_THE_RESPONSE)
    assert all(found[name] in ("changed", selected[name]) for name in selected)
    assert found["curve"] == selected["curve"]
    with pytest.raises(TableError, match="the column 'b' has other values"):
        surface.values  # noqa: B018


@pytest.mark.parametrize("n", [N, 300], ids=["digests", "few rows"])
def test_a_table_that_is_changed_before_the_first_question(model, n):
    rows, X = frame(20, seed=1), frame(n)
    selected = answers(gw.Explainer(model, X.copy()), rows)
    ex = gw.Explainer(model, X)
    one_value(X)
    found = answers(ex, rows)
    assert all(found[name] in ("changed", selected[name]) for name in selected)
    assert found["curve"] == "changed"


def test_targets_and_rows_are_of_one_moment(model):
    """Sorted in place together, after the Explainer was made: old targets would meet new rows."""
    X = frame()
    y = X["a"] * 2
    ex = gw.Explainer(model, X, target=y)
    order = np.argsort(X["a"].to_numpy())
    for name in X:
        X[name] = X[name].array[order]
    y[:] = y.to_numpy()[order]
    with pytest.raises(TableError, match="has changed since the Explainer was made"):
        ex.partial_dependence("a")


def test_lazy_answers_to_questions_before_a_change(model):
    X = frame()
    ex = gw.Explainer(model, X)
    surfaces = ex.joint_partial_dependence()
    X["b"] = X["b"] + 2
    with pytest.raises(TableError, match="has changed since the Explainer was made"):
        surfaces["a", "b"].density  # noqa: B018


def test_files_are_those_of_the_moment_when_the_explainer_was_made(model, tmp_path):
    X = frame()
    for name in ("a", "b"):
        X.to_parquet(tmp_path / f"{name}.parquet")
    ex = gw.Explainer(model, tmp_path)
    X.to_parquet(tmp_path / "c.parquet")  # no part of what was listed
    assert ex.partial_dependence("a").rows.sum() == 2 * len(X)
    surfaces = ex.joint_partial_dependence()
    X.assign(a=0.0).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"b\.parquet has changed"):
        surfaces["a", "b"].density  # noqa: B018
    ex = gw.Explainer(model, tmp_path)
    X.assign(a=0.0, b=0.0).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"a\.parquet has changed"):
        ex.partial_dependence("a")


def test_streams_and_lazy_frames_are_not_read_when_the_explainer_is_made(model):
    X, taken = frame(), []

    def parts():
        for part in range(3):
            taken.append(part)
            yield X

    ex = gw.Explainer(model, parts())
    assert taken == [0]  # the first table, with which the model is checked
    assert ex.partial_dependence("a").rows.sum() == 3 * len(X)


@pytest.mark.parametrize("kind", ["numpy C", "numpy F", "float32", "integers", "polars", "objects", "sparse"])
def test_tables_of_all_kinds(kind):
    from scipy import sparse

    rng = np.random.default_rng(0)
    array = rng.integers(0, 50, size=(N, 3)).astype(float)
    fitted = RandomForestRegressor(3, max_depth=4, random_state=0).fit(array, array[:, 0] * array[:, 1] - array[:, 2])
    made = {
        "numpy C": lambda: array.copy(),
        "numpy F": lambda: np.asfortranarray(array),
        "float32": lambda: array.astype(np.float32),
        "integers": lambda: array.astype(np.int16),
        "polars": lambda: pl.DataFrame(array, schema=["x0", "x1", "x2"]),
        "objects": lambda: array.astype(object),
        "sparse": lambda: sparse.csr_array(array),
    }[kind]()
    ex = gw.Explainer(fitted, made)
    selected = ex.partial_dependence(0).values.copy()
    again = ex.ice(0).values
    np.testing.assert_array_equal(ex.ice(0).values, again)  # the table is read once more, and is the same
    if kind == "sparse":
        made.data[4] += 1  # of a column that is used
    else:
        made[5, 1] = 99
    with pytest.raises(TableError, match="the table has changed since the Explainer was made"):
        ex.ice(0)
    np.testing.assert_array_equal(ex.partial_dependence(0).values, selected)


def test_columns_that_the_model_does_not_use_may_change(model):
    X = frame().assign(e=0.0)
    ex = gw.Explainer(model, X)
    before = ex.ice("a").values
    X["e"] = 1.0
    np.testing.assert_array_equal(ex.ice("a").values, before)


def test_weights_are_copied(model):
    X, weight = frame(), np.random.default_rng(0).integers(1, 4, N).astype(float)
    selected = answers(gw.Explainer(model, X, sample_weight=weight.copy()), X[:9])
    ex = gw.Explainer(model, X, sample_weight=weight)
    weight[:] = 1.0
    assert answers(ex, X[:9]) == selected


@pytest.mark.parametrize("n", [2000, 60], ids=["digests", "few rows"])
def test_results_refuse_rows_that_have_changed_since_the_question(model, n):
    X, rows = frame(), frame(n, seed=2)
    ex = gw.Explainer(model, X)
    selected = ex.interaction_values(rows.copy()).values
    seen, late = ex.interaction_values(rows), ex.interaction_values(rows)
    np.testing.assert_array_equal(seen.values, selected)
    shap = ex.shap_values(rows)
    values = shap.values.copy()
    one_value(rows)
    np.testing.assert_array_equal(seen.values, selected)
    np.testing.assert_array_equal(shap.values, values)
    for ask in (lambda: late.values, late.mean_square, lambda: shap.plot()):
        with pytest.raises(TableError, match="the rows have changed since the question"):
            ask()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda ex: pickle.loads(pickle.dumps(ex))])
def test_copies_have_a_table_of_their_own(model, again):
    X = frame()
    ex = gw.Explainer(model, X)
    selected = ex.ice("a").values
    same = again(ex)
    one_value(X)
    np.testing.assert_array_equal(same.ice("a").values, selected)
    with pytest.raises(TableError, match="has changed"):
        ex.ice("a")


# ---------------------------------------------------------------------------------------------- models fitted again


def pipelines():
    columns = make_column_transformer(
        (StandardScaler(), NAMES), (OneHotEncoder(sparse_output=False), ["d"]), verbose_feature_names_out=False
    )
    numbers = make_pipeline(SimpleImputer(), SplineTransformer())  # which is not folded into the trees
    mixed = make_column_transformer((numbers, NAMES), (OneHotEncoder(sparse_output=False), ["d"]))
    boosted = HistGradientBoostingRegressor(max_iter=4, max_leaf_nodes=5)
    members = [("one", boosted), ("two", RandomForestRegressor(3, max_depth=3, random_state=0))]
    return {
        "pipeline": make_pipeline(columns, boosted),
        "not folded": make_pipeline(mixed, boosted),
        "target": TransformedTargetRegressor(make_pipeline(columns, boosted), transformer=StandardScaler()),
        "voting": make_pipeline(columns, VotingRegressor(members, weights=[1, 2])),
        "stacking": make_pipeline(columns, StackingRegressor(members, Ridge(), cv=2)),
    }


@pytest.mark.parametrize("name", pipelines())
def test_a_pipeline_that_is_fitted_again_or_whose_table_is_changed(name):
    X, rows, pipeline = frame(), frame(20, seed=1), pipelines()[name]
    pipeline.fit(X, target(X))
    response = "raw" if name in ("pipeline", "not folded") else "prediction"

    def asked(ex):
        found = [ex.partial_dependence("a").heights, ex.partial_dependence("d").heights]
        found += [
            ex.partial_dependence("a", at={"a": [0.0, 1.0]}).heights,
            ex.ice("a", rows=rows, at=rows[["a"]]).heights,
        ]
        found += [ex.importance().heights] + ([ex.shap_values(rows).values] if response == "raw" else [])
        return found

    selected = asked(gw.Explainer(pipeline, X, response=response))
    unasked, half = (gw.Explainer(pipeline, X, response=response) for _ in range(2))
    half.partial_dependence("a")
    other = frame(seed=9).assign(d=pd.Categorical(["new"] * N))
    pipeline.fit(other, 3 * target(other) + 1)
    for ex in (unasked, half):
        for found, right in zip(asked(ex), selected, strict=True):
            np.testing.assert_array_equal(found, right)
    another_sign(X)
    for ex in (unasked, half):
        try:
            again = asked(ex)
        except TableError as error:
            assert "has changed" in str(error)  # noqa: PT017 (what was counted before the change is still right)
            continue
        for found, right in zip(again, selected, strict=True):
            np.testing.assert_array_equal(found, right)


def test_a_calibrated_model_that_is_fitted_again():
    X, rows = frame()[NAMES], frame(20, seed=1)[NAMES]
    y = target(frame()) > 0.5
    model = CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=3), cv=2).fit(X, y)
    ex = gw.Explainer(model, X, response="probability")
    selected = gw.Explainer(model, X, response="probability").ice("a", rows=rows).values
    model.fit(X, ~y)
    np.testing.assert_array_equal(ex.ice("a", rows=rows).values, selected)


def test_a_model_that_is_fitted_again_changes_nothing(classifier):
    X, rows = frame(), frame(20, seed=1)
    model = copy.deepcopy(classifier)
    selected = answers(gw.Explainer(classifier, X), rows)
    ex = gw.Explainer(model, X)
    model.fit(X, target(X) < 0)
    assert answers(ex, rows) == selected


@pytest.mark.parametrize("weight", [None, 3, 2.0**31], ids=["rows", "weights", "weights beyond 32 bits"])
def test_answers_do_not_depend_on_the_bits_of_counts(monkeypatch, model, weight):
    X = frame(300)
    weights = None if weight is None else np.full(len(X), weight)
    expected = {
        name: ask() for name, ask in questions_of(gw.Explainer(model, X, sample_weight=weights), X, NAMES).items()
    }
    monkeypatch.setattr("glasswood.study._averages.MANY_COUNTS", 0)
    ex = gw.Explainer(model, X, sample_weight=weights)
    for name, ask in questions_of(ex, X, NAMES).items():
        assert bits_of(ask()) == bits_of(expected[name]), name
    assert ex._study.counted(1).counts.dtype == (np.int64 if weight == 2.0**31 else np.int32)
