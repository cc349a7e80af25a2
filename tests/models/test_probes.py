"""Functions in pipelines are tried on rows: each column of theirs is made of one column, or they are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from glasswood.errors import UnsupportedModelError
from glasswood.models._pipelines import unwrap
from helpers.pipelines import N_ROWS, check


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other are most of the time of models this small."""
    with threadpool_limits(1):
        yield


FUNCTIONS = {
    "log": np.log1p,
    "clip": lambda rows: rows.clip(0, 2),
    "row by row": lambda rows: np.asarray(rows) * np.array([1.0, 2.0]),
    "frame": lambda rows: rows + 1,
    "bend": lambda rows: rows * np.where(rows > 1, 2, 1),
}


@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("container", ["pandas", "numpy", "polars"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(function, container, with_rows, frame, target):
    table = frame[["number", "count"]].abs()
    table = {"pandas": table, "numpy": table.to_numpy(), "polars": pl.from_pandas(table)}[container]
    if container == "polars" and function in (FUNCTIONS["clip"], FUNCTIONS["bend"]):
        pytest.skip("not a function of Polars frames")
    model = make_pipeline(FunctionTransformer(function), DecisionTreeRegressor(max_depth=4)).fit(table, target)
    assert unwrap(model, table if with_rows else None).sources == [(0,), (1,)]
    check(model, table)


MIXING = {
    "sum": (lambda rows: np.column_stack([rows.iloc[:, 0], rows.sum(axis=1)]), "turn each column into one column"),
    "turned": (lambda rows: rows.iloc[:, ::-1].to_numpy(), "turn each column into one column"),
    "more": (lambda rows: np.hstack([rows, rows]), "turn each column into one column"),
    "rare": (
        lambda rows: rows.assign(number=rows["number"].where(rows["truth"], 0)),
        "turn each column into one column",
    ),
    "centred": (lambda rows: rows - rows.mean(), "different values depending on the other rows"),
    "filled": (lambda rows: rows.fillna(rows.median()), "different values depending on the other rows"),
    "dummies": (lambda rows: pd.get_dummies(rows, columns=["number"]), "different values depending on the other rows"),
    "ranks": (lambda rows: rows.rank(), "different values depending on the other rows"),
}


@pytest.mark.parametrize(("function", "message"), MIXING.values(), ids=MIXING)
def test_functions_that_mix(function, message, frame, target):
    table = frame[["number", "count"]].astype(float)
    table["truth"] = np.arange(N_ROWS) == 77  # hardly ever
    table.loc[78, "number"] = np.nan
    step = FunctionTransformer(function)
    step.fit(table)
    pipeline = Pipeline([("odd", step), ("tree", DecisionTreeRegressor())])
    pipeline.fit(table, target)
    with pytest.raises(UnsupportedModelError, match=rf"the step 'odd' \(FunctionTransformer\) .*{message}"):
        unwrap(pipeline, table)


def test_functions_are_tried_on_their_own_columns():
    # Found by fuzzing: a table with its columns in another order was tried on other columns than the function's.
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal([10, 10, 0, 0], size=(80, 4)), columns=list("abcd"))
    mixing = FunctionTransformer(lambda t: np.where(np.asarray(t) > 5, np.asarray(t)[:, ::-1], np.asarray(t)))
    columns = ColumnTransformer([("f", mixing, ["a", "b"]), ("rest", "passthrough", ["c", "d"])])
    pipeline = make_pipeline(columns, DecisionTreeRegressor(max_depth=3)).fit(table, table["a"] + table["c"])
    for given in (table, table[list("dcba")], table.assign(extra="text")[["extra", *"cdab"]]):
        with pytest.raises(UnsupportedModelError, match="does not turn each column into one column"):
            unwrap(pipeline, given)
    doubled = FunctionTransformer(lambda t: t * 2.0)
    columns = ColumnTransformer([("f", doubled, ["a", "b"]), ("rest", "passthrough", ["c", "d"])])
    pipeline = make_pipeline(columns, DecisionTreeRegressor(max_depth=3)).fit(table, table["a"] + table["c"])
    assert unwrap(pipeline, table.assign(extra="text")[["extra", *"cdab"]]).sources == [(0,), (1,), (2,), (3,)]


def test_functions_that_mix_in_few_rows():
    def capped(rows):
        return rows.assign(income=np.where(rows["age"] >= 90, 0.0, rows["income"]))  # the oldest have none

    def both(rows):
        return rows.assign(income=np.where((rows["age"] >= 90) & (rows["income"] < 1), 0.0, rows["income"]))

    for function, seed in [(function, seed) for function in (capped, both) for seed in range(4)]:
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"age": rng.integers(18, 80, size=5000) * 1.0, "income": rng.normal(3, 1, 5000).round(1)})
        X["income"] = np.abs(X["income"]) + 1.0
        X.loc[:15, "age"], X.loc[5000 - 15 :, "income"] = 90.0, 0.5  # never together
        pipeline = make_pipeline(FunctionTransformer(function), DecisionTreeRegressor(max_depth=3)).fit(X, X["age"])
        with pytest.raises(UnsupportedModelError, match="turn each column into one column"):
            unwrap(pipeline, X)


@pytest.mark.parametrize("container", ["pandas", "numpy", "polars", "sparse"])
def test_functions_are_tried_on_all_rows_of_all_kinds_of_tables(container, frame, target):
    table = frame[["number", "count"]]
    table = {"pandas": table, "numpy": table.to_numpy(), "polars": pl.from_pandas(table)}.get(container)
    table = scipy.sparse.csc_matrix(frame[["number", "count"]].to_numpy()) if table is None else table

    def mixes(rows):
        numbers = rows.toarray() if scipy.sparse.issparse(rows) else np.array(rows)
        numbers[:, 0] = np.where(numbers[:, 1] == 8, 0.0, numbers[:, 0])
        return numbers

    for function, apart in ((lambda rows: rows * 2.0, True), (mixes, False)):
        model = make_pipeline(FunctionTransformer(function, accept_sparse=True), DecisionTreeRegressor(max_depth=3))
        model.fit(table, target)
        if apart:
            assert unwrap(model, table).sources == [(0,), (1,)]
        else:
            with pytest.raises(UnsupportedModelError, match="turn each column into one column"):
                unwrap(model, table)


def test_functions_of_one_column(frame, target):
    table = frame[["number", "text"]].assign(day=pd.date_range("2020-01-01", periods=N_ROWS, freq="5D"))

    def parts(days):
        return np.column_stack([days["day"].dt.month, days["day"].dt.day_of_week])

    columns = make_column_transformer(
        (FunctionTransformer(parts), ["day"]),
        (FunctionTransformer(lambda text: (text == "a").to_numpy()[:, None]), "text"),
        remainder="passthrough",
    )
    model = make_pipeline(columns, DecisionTreeRegressor(max_depth=5)).fit(table, target)
    assert check(model, table).sources == [(2,), (2,), (1,), (0,)]
    assert unwrap(model).sources == [(2,), (2,), (1,), (0,)]  # a function of dates cannot be tried on numbers
    late = make_column_transformer((FunctionTransformer(lambda days: (days - days.min()) / days.max()), ["number"]))
    model = make_pipeline(late, DecisionTreeRegressor()).fit(table, target)
    for rows in (table, None):
        with pytest.raises(UnsupportedModelError, match="depending on the other rows"):
            unwrap(model, rows)


def test_functions_that_cannot_be_tried(frame, target):
    table = frame[["text", "city"]]

    def lengths(rows):
        return np.column_stack([rows["text"] == "a", rows["city"] == "x"]).astype(float)

    model = make_pipeline(FunctionTransformer(lengths), DecisionTreeRegressor(max_depth=4)).fit(table, target)
    check(model, table)
    with pytest.raises(UnsupportedModelError, match="pass rows, and it is tried on them"):
        unwrap(model)

    def is_a(rows):
        return np.isin(np.asarray(rows, dtype=object), ["a", "x"]).astype(float)  # runs, but numbers show nothing

    model = make_pipeline(FunctionTransformer(is_a), DecisionTreeRegressor(max_depth=4)).fit(table, target)
    check(model, table)
    with pytest.raises(UnsupportedModelError, match=r"other numbers make no difference.*pass rows"):
        unwrap(model)


def test_functions_of_texts(frame, target):
    table = frame[["text", "city"]].astype(object)
    upper, encode = FunctionTransformer(lambda rows: rows.map(str.upper)), OneHotEncoder()
    assert check(make_pipeline(upper, encode, DecisionTreeRegressor()).fit(table, target), table).sources[4] == (1,)
    joined = FunctionTransformer(lambda rows: rows.assign(city=rows["city"] + rows["text"]))
    with pytest.raises(UnsupportedModelError, match="turn each column into one column"):
        unwrap(make_pipeline(joined, encode, DecisionTreeRegressor()).fit(table, target), table)
