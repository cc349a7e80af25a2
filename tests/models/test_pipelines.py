"""Pipelines and wrappers are taken apart: the core gets what it got, and every column knows where it comes from."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from glasswood.errors import UnsupportedModelError
from glasswood.models._pipelines import unwrap
from helpers.pipelines import N_ROWS, check, columns_of
from helpers.versions import has, quantiles
from zoo.store import fitted


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other are most of the time of models this small."""
    with threadpool_limits(1):
        yield


SCALERS = [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), Binarizer(threshold=0.2)]
SCALERS += [QuantileTransformer(n_quantiles=20), PowerTransformer(), SimpleImputer(), FunctionTransformer()]
BINNERS = [
    KBinsDiscretizer(n_bins=[3, 4, 2], encode=encode, **quantiles("averaged_inverted_cdf"))
    for encode in ("ordinal", "onehot", "onehot-dense")
]
SPLINES = [
    SplineTransformer(degree=2, n_knots=3, include_bias=include_bias, sparse_output=sparse, extrapolation=beyond)
    for include_bias, sparse, beyond in [(True, False, "constant"), (False, True, "linear"), (False, False, "periodic")]
]


@pytest.mark.parametrize("container", ["numpy", "pandas", "polars", "pandas out", "polars out"])
@pytest.mark.parametrize("transformer", [*SCALERS, *BINNERS, *SPLINES], ids=repr)
def test_transformers_of_numbers(transformer, container, target):
    values = np.random.default_rng(3).normal(size=(N_ROWS, 3))
    values[:, 1] = np.round(values[:, 1] * 3)
    frame = pd.DataFrame(values, columns=["u", "v", "w"])
    table = {"numpy": values, "pandas": frame, "polars": pl.from_pandas(frame)}.get(container, frame)
    model = make_pipeline(transformer, DecisionTreeRegressor(max_depth=4))
    sparse = getattr(transformer, "sparse_output", False) or getattr(transformer, "encode", "") == "onehot"
    if "out" in container:
        if sparse or (container == "polars out" and isinstance(transformer, FunctionTransformer)):
            pytest.skip("scikit-learn makes no such frame")
        model.set_output(transform=container.split()[0])
    unwrapped = check(model.fit(table, target), table)
    if "out" in container:
        assert type(unwrapped.transform(table)).__module__.startswith(container.split()[0])
    assert scipy.sparse.issparse(unwrapped.transform(table)) == sparse


def binary(target):
    return np.where(target > target.median(), "yes", "no")


ENCODERS = {
    "plain": OneHotEncoder(),
    "dense": OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    "first": OneHotEncoder(drop="first"),
    "if_binary": OneHotEncoder(drop="if_binary"),
    "dropped": OneHotEncoder(drop=["d", "y", False]),
    "rare": OneHotEncoder(min_frequency=0.1, handle_unknown="infrequent_if_exist"),
    "rare dropped": OneHotEncoder(min_frequency=0.1, drop="first"),
    "rare one dropped": OneHotEncoder(min_frequency=0.2, drop=["a", "x", False], sparse_output=False),
    "few": OneHotEncoder(max_categories=3),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
}


@pytest.mark.parametrize("container", ["pandas", "numpy", "polars"])
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_encoders(encoder, container, frame, target):
    chosen = frame[["text", "city", "truth"]]
    table = {"pandas": chosen, "numpy": chosen.to_numpy(), "polars": pl.from_pandas(chosen)}[container]
    check(fitted(make_pipeline(encoder, DecisionTreeRegressor(max_depth=4)), table, target), table)


@pytest.mark.parametrize("kind", ["binary", "continuous", "multiclass"])
def test_target_encoder(kind, frame, target):
    table = frame[["text", "city", "count"]]
    labels = {"binary": binary(target), "continuous": target, "multiclass": pd.qcut(target, 3, labels=list("pqr"))}[
        kind
    ]
    tree = (DecisionTreeRegressor if kind == "continuous" else DecisionTreeClassifier)(max_depth=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(make_pipeline(TargetEncoder(random_state=0), tree), table, labels)
    unwrapped = check(model, table, proba=kind != "continuous")
    assert len(unwrapped.sources) == (9 if kind == "multiclass" else 3)


IMPUTERS = {
    "mean": (SimpleImputer(), 3),
    "indicator": (SimpleImputer(add_indicator=True), 5),
    "kept": (SimpleImputer(keep_empty_features=True, add_indicator=True), 6),
    "constant": (SimpleImputer(strategy="constant", fill_value=-1.0), 3 if has("scikit-learn", (1, 8)) else 4),
    "most_frequent": (SimpleImputer(strategy="most_frequent"), 3),
    "missing-only": (MissingIndicator(error_on_new=False), 2),
    "all": (MissingIndicator(features="all"), 4),
}


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
@pytest.mark.parametrize("container", ["pandas", "numpy"])
@pytest.mark.parametrize(("imputer", "width"), IMPUTERS.values(), ids=IMPUTERS)
def test_imputers(imputer, width, container, frame, target):
    table = frame[["empty", "number", "gap", "same"]]
    table = table if container == "pandas" else table.to_numpy()
    still = {"all": (0, 1, 3), "missing-only": (0,), "kept": (0, 4), "indicator": (3,)}
    if "indicator" not in repr(imputer).lower():
        still = {}
    model = fitted(make_pipeline(imputer, DecisionTreeRegressor(max_depth=4)), table, target)
    unwrapped = unwrap(model)
    assert len(unwrapped.sources) == width
    name = next(name for name, (known, _) in IMPUTERS.items() if known is imputer)
    check(model, table, still=still.get(name, ()))


def test_imputer_of_texts(frame, target):
    table = frame[["text"]].astype(object).assign(other=[np.nan, "u", "v"] * (N_ROWS // 3))
    imputer = SimpleImputer(strategy="most_frequent", add_indicator=True)
    model = fitted(make_pipeline(imputer, OneHotEncoder(), DecisionTreeRegressor()), table, target)
    assert check(model, table).sources == [(0,)] * 4 + [(1,)] * 2 + [(1,)] * 2


SELECTORS = [
    VarianceThreshold(0.01),
    SelectKBest(f_regression, k=2),
    SelectPercentile(f_regression, percentile=60),
    SelectFromModel(DecisionTreeRegressor(random_state=0), threshold=0.1),
    RFE(DecisionTreeRegressor(random_state=0), n_features_to_select=2),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_selectors(selector, frame, target):
    table = frame[["same", "number", "count", "truth"]].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(make_pipeline(selector, StandardScaler(), DecisionTreeRegressor(max_depth=4)), table, target)
    assert len(check(model, table).sources) < 4


def test_selector_as_the_model(frame, target):
    table = frame[["same", "number", "count"]]
    model = fitted(RFE(DecisionTreeRegressor(random_state=0), n_features_to_select=2), table, target)
    assert check(model, table).model is model.estimator_


def branches():
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return numbers, OneHotEncoder(sparse_output=False, handle_unknown="ignore")


SELECTIONS = {
    "names": (["number", "gap"], ["text", "city"]),
    "name": (["gap"], ["text"]),
    "positions": ([0, 1], [4, 5]),
    "from the end": ([1], [-4, -3]),
    "slices": (slice(0, 3), slice(4, 6)),
    "label slices": (slice("number", "count"), slice("text", "city")),
    "open slices": (slice(None, "gap"), slice("text", "city")),
    "masks": ([True] * 3 + [False] * 5, np.array([False] * 4 + [True] * 2 + [False] * 2)),
    "selectors": (lambda table: ["number", "gap"], make_column_selector(dtype_exclude="number", pattern="text|city")),
    "index": (pd.Index(["gap"]), np.array(["text"])),
}


@pytest.mark.parametrize(("remainder", "output"), [("drop", "default"), ("encoded", "pandas"), ("nested", "default")])
@pytest.mark.parametrize(("numbers", "texts"), SELECTIONS.values(), ids=SELECTIONS)
def test_column_selections(numbers, texts, remainder, output, frame, target):
    rest = {"encoded": OrdinalEncoder(), "nested": make_pipeline("passthrough", OneHotEncoder(sparse_output=False))}
    impute, encode = branches()
    parts = [("texts", encode, texts), ("numbers", impute, numbers)]
    columns = ColumnTransformer(parts, remainder=rest.get(remainder, remainder))
    model = fitted(
        make_pipeline(columns, DecisionTreeRegressor(max_depth=5)).set_output(transform=output), frame, target
    )
    check(model, frame)


def test_column_transformer_with_every_kind_of_part(frame, target):
    columns = ColumnTransformer(
        [
            ("gone", "drop", ["empty"]),
            ("as is", "passthrough", ["truth", "count"]),
            ("none", StandardScaler(), []),
            ("none mask", StandardScaler(), [False] * 8),
            ("words", CountVectorizer(token_pattern="."), "text"),
            ("again", FrozenEstimator(fitted(OneHotEncoder(), frame[["text"]])), ["text"]),
            ("inner", make_column_transformer((SimpleImputer(), ["gap"]), remainder="passthrough"), ["number", "gap"]),
            (
                "bins",
                make_union(KBinsDiscretizer(3, **quantiles("averaged_inverted_cdf")), "passthrough"),
                ["number"],
            ),
            ("alone", PolynomialFeatures(degree=3, include_bias=False), ["number"]),
        ],
        remainder=OneHotEncoder(),
    )
    model = fitted(make_pipeline(columns, RandomForestRegressor(5, random_state=0)), frame, target)
    unwrapped = check(model, frame)
    expected = [3, 2] + [4] * 4 + [4] * 4 + [1, 0] + [0] * 4 + [0] * 3 + [5] * 3 + [7]
    assert unwrapped.sources == [(position,) for position in expected]


@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
def test_column_transformer_of_arrays(remainder, target):
    values = np.random.default_rng(4).normal(size=(N_ROWS, 5))
    parts = [("a", StandardScaler(), slice(3, None)), ("b", MinMaxScaler(), [0, -4])]
    model = make_pipeline(ColumnTransformer(parts, remainder=remainder), RandomForestRegressor(5, random_state=0))
    unwrapped = check(model.fit(values, target), values)
    assert unwrapped.sources == [(3,), (4,), (0,), (1,)] + [(2,)] * (remainder == "passthrough")


def test_polars(frame, target):
    table = pl.from_pandas(frame.drop(columns="empty"))
    impute, encode = branches()
    columns = make_column_transformer((impute, ["gap"]), (encode, ["text", "city"]), remainder="passthrough")
    for output in ("default", "polars", "pandas"):
        model = make_pipeline(columns, DecisionTreeRegressor(max_depth=5)).set_output(transform=output)
        check(model.fit(table, target), table)


def test_arrow(frame, target):
    table = pa.Table.from_pandas(frame[["number", "count", "gap"]])
    model = fitted(make_pipeline(SimpleImputer(), StandardScaler(), DecisionTreeRegressor(max_depth=4)), table, target)
    unwrapped = unwrap(model, table)
    assert unwrapped.columns == ("number", "count", "gap")
    np.testing.assert_array_equal(unwrapped.model.predict(unwrapped.transform(table)), model.predict(table))


def test_categories_pass_through(frame, target):
    columns = make_column_transformer((SimpleImputer(), ["gap"]), ("drop", ["text", "empty"]), remainder="passthrough")
    model = make_pipeline(columns.set_output(transform="pandas"), HistGradientBoostingRegressor(max_iter=10))
    unwrapped = check(model.fit(frame, target), frame)
    assert unwrapped.transform(frame)["remainder__city"].dtype == "category"
    assert unwrapped.sources == [(1,), (0,), (2,), (3,), (5,), (7,)]


def test_sparse_tables(target):
    table = scipy.sparse.random(N_ROWS, 4, density=0.4, random_state=0, format="csr")
    model = make_pipeline(MaxAbsScaler(), FunctionTransformer(np.sqrt), DecisionTreeRegressor(max_depth=4))
    unwrapped = unwrap(model.fit(table, target), table)
    assert unwrapped.sources == [(0,), (1,), (2,), (3,)]
    np.testing.assert_array_equal(unwrapped.model.predict(unwrapped.transform(table)), model.predict(table))


def test_a_sparse_table_and_a_function(target):
    table = scipy.sparse.random(N_ROWS, 4, density=0.4, random_state=0, format="csr")
    twice = fitted(make_pipeline(FunctionTransformer(lambda rows: rows * 2), DecisionTreeRegressor()), table, target)
    assert unwrap(twice, table).sources == [(0,), (1,), (2,), (3,)]
    turned = fitted(
        make_pipeline(FunctionTransformer(lambda rows: rows[:, ::-1]), DecisionTreeRegressor()), table, target
    )
    with pytest.raises(UnsupportedModelError, match="turn each column into one column"):
        unwrap(turned, table)


def test_feature_union(frame, target):
    table = frame[["number", "count"]]
    union = FeatureUnion(
        [
            ("scaled", StandardScaler()),
            ("gone", "drop"),
            ("raw", "passthrough"),
            ("bins", make_pipeline(RobustScaler(), KBinsDiscretizer(3, **quantiles("averaged_inverted_cdf")))),
        ],
        transformer_weights={"scaled": 2.0},
    )
    model = fitted(make_pipeline(union, DecisionTreeRegressor(max_depth=4)), table, target)
    assert check(model, table).sources == [(0,), (1,)] * 2 + [(0,)] * 3 + [(1,)] * 3


def test_nested_pipelines(frame, target):
    table = frame[["number", "count"]]
    inner = make_pipeline(None, make_pipeline("passthrough", StandardScaler()), MinMaxScaler())
    model = make_pipeline(inner, make_pipeline(RobustScaler(), make_pipeline(DecisionTreeRegressor(max_depth=4))))
    unwrapped = check(model.fit(table, target), table)
    assert isinstance(unwrapped.model, DecisionTreeRegressor)
    assert [type(step).__name__ for step in unwrapped.transform.steps] == [
        "StandardScaler",
        "MinMaxScaler",
        "RobustScaler",
    ]


def test_what_is_no_wrapper(frame, target):
    tree = fitted(DecisionTreeRegressor(), frame[["number"]], target)
    for model in (
        tree,
        "a path",
        None,
        {"a": 1},
        object(),
        LinearRegression(),
        StandardScaler(),
        DecisionTreeRegressor,
    ):
        assert unwrap(model) is None


def test_a_pipeline_without_transformers(frame, target):
    table = frame[["number", "count"]]
    for model in (make_pipeline(DecisionTreeRegressor()), make_pipeline("passthrough", None, DecisionTreeRegressor())):
        unwrapped = check(model.fit(table, target), table)
        assert unwrapped.transform is None
        assert unwrapped.sources == [(0,), (1,)]


def test_searches(frame, target):
    table = frame[["number", "count", "text"]]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["text"]), remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeRegressor(random_state=0))
    grid = {"decisiontreeregressor__max_depth": [2, 3]}
    for search in (
        GridSearchCV(model, grid, cv=2),
        RandomizedSearchCV(model, grid, n_iter=2, cv=2, random_state=0),
        HalvingGridSearchCV(model, grid, cv=2, random_state=0),
        make_pipeline(GridSearchCV(model, grid, cv=2)),
        FrozenEstimator(fitted(GridSearchCV(model, grid, cv=2), table, target)),
    ):
        unwrapped = check(search.fit(table, target), table)
        assert unwrapped.sources == [(2,)] * 4 + [(0,), (1,)]
    bare = fitted(
        GridSearchCV(DecisionTreeRegressor(), {"max_depth": [2, 3]}, cv=2), table[["number", "count"]], target
    )
    assert check(bare, table[["number", "count"]]).model is bare.best_estimator_
    within = make_pipeline(columns, GridSearchCV(DecisionTreeRegressor(), {"max_depth": [2, 3]}, cv=2))
    assert check(within.fit(table, target), table).columns == ("number", "count", "text")


def test_searches_of_other_libraries(frame, target):
    class Search(BaseEstimator):
        def fit(self, table, target):
            self.best_params_ = {}
            self.best_estimator_ = fitted(make_pipeline(StandardScaler(), DecisionTreeRegressor()), table, target)
            return self

    table = frame[["number", "count"]]
    search = fitted(Search(), table, target)
    assert unwrap(search).model is search.best_estimator_[-1]


def test_thresholds_leave_the_probabilities(frame, target):
    table, labels = frame[["number", "count"]], target > target.median()
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))
    for model in (FixedThresholdClassifier(pipeline, threshold=0.3), TunedThresholdClassifierCV(pipeline, cv=2)):
        unwrapped = unwrap(model.fit(table, labels))
        ours = unwrapped.model.predict_proba(unwrapped.transform(table))
        np.testing.assert_array_equal(ours, model.predict_proba(table))


def test_transformed_targets(frame, target):
    table, positive = frame[["number", "count"]], np.exp(target / 3)
    pipeline = make_pipeline(StandardScaler(), GradientBoostingRegressorOfTen())
    for model in (
        TransformedTargetRegressor(pipeline, func=np.log, inverse_func=np.exp),
        TransformedTargetRegressor(pipeline, transformer=StandardScaler()),
        TransformedTargetRegressor(
            pipeline, transformer=make_pipeline(StandardScaler(), QuantileTransformer(n_quantiles=50))
        ),
        make_pipeline(
            MinMaxScaler(), TransformedTargetRegressor(DecisionTreeRegressor(), func=np.log, inverse_func=np.exp)
        ),
        TransformedTargetRegressor(
            TransformedTargetRegressor(pipeline, func=np.sqrt, inverse_func=np.square),
            func=np.log1p,
            inverse_func=np.expm1,
        ),
    ):
        unwrapped = check(model.fit(table, positive + 1), table)
        assert unwrapped.inverse is not None
        heights = unwrapped.model.predict(unwrapped.transform(table))
        cube = np.stack([heights, heights + 0.01])[..., None]
        np.testing.assert_array_equal(unwrapped.inverse(cube)[0, :, 0], model.predict(table))
    assert unwrap(fitted(TransformedTargetRegressor(pipeline), table, positive)).inverse is None


def test_transformed_targets_of_several_outputs(frame, target):
    table, several = frame[["number", "count"]], np.column_stack([target, target**2, frame["number"]])
    for transformer in (StandardScaler(), FunctionTransformer(np.cbrt, lambda values: values**3)):
        model = TransformedTargetRegressor(
            DecisionTreeRegressor(max_depth=4), transformer=transformer, check_inverse=False
        )
        check(model.fit(table, several), table)


class GradientBoostingRegressorOfTen(HistGradientBoostingRegressor):
    """A small model of a class of the user's."""

    def __init__(self):
        super().__init__(max_iter=10, min_samples_leaf=5)


def test_a_transformer_that_does_not_tell_its_width(frame, target):
    table = frame[["number", "count"]]
    columns = make_column_transformer((make_pipeline(StandardScaler(), Own()), ["number"]), remainder="passthrough")
    check(fitted(make_pipeline(columns, DecisionTreeRegressor()), table, target), table)  # the others tell it
    union = make_union(Own(), StandardScaler())
    model = fitted(make_pipeline(StandardScaler(), union, DecisionTreeRegressor()), table[["number"]], target)
    with pytest.raises(UnsupportedModelError, match=r"featureunion__own.*does not say how many columns"):
        unwrap(model)


def test_parts_that_do_not_fit_together(frame, target):
    one, two = frame[["number"]], frame[["number", "count"]]
    scaler, tree = fitted(StandardScaler(), one), fitted(DecisionTreeRegressor(), two, target)
    with pytest.raises(UnsupportedModelError, match="gives 1 column to a model of 2"):
        unwrap(make_pipeline(scaler, tree))
    with pytest.raises(UnsupportedModelError, match="was fitted on 2 columns, but gets 1"):
        unwrap(make_pipeline(scaler, fitted(MinMaxScaler(), two), tree))
    columns = fitted(make_column_transformer((OneHotEncoder(), ["text"])), frame)
    columns.named_transformers_["onehotencoder"].categories_[0] = np.array(["a"], dtype=object)
    with pytest.raises(UnsupportedModelError, match="makes 4 columns where 1 were expected"):
        unwrap(make_pipeline(columns, tree))


class Mixed(StandardScaler):
    """Inherits from a scaler, and is none."""

    def transform(self, rows, copy=None):
        return super().transform(rows, copy).sum(axis=1, keepdims=True)


class Renamed(StandardScaler):
    """A scaler with another name."""


class Own(BaseEstimator, TransformerMixin):
    """Somebody's transformer."""

    def fit(self, rows, target=None):
        self.fitted_ = True
        return self

    def transform(self, rows):
        return np.asarray(rows)


MIXERS = [PCA(2), PolynomialFeatures(), KNNImputer(), IterativeImputer(), Normalizer(), Mixed(), Own()]


@pytest.mark.parametrize("mixer", MIXERS, ids=lambda mixer: type(mixer).__name__)
def test_mixers_are_refused(mixer, frame, target):
    table = frame[["number", "count", "truth"]].astype(float)
    model = fitted(
        Pipeline([("scale", StandardScaler()), ("mix", mixer), ("tree", DecisionTreeRegressor())]), table, target
    )
    message = rf"the step 'mix' \({type(mixer).__name__}\) is not known to keep columns separate.*pipeline\[-1\]"
    with pytest.raises(UnsupportedModelError, match=message):
        unwrap(model, table)
    if isinstance(mixer, PCA):
        mixer.set_params(n_components=1)
    # Of one column, whatever it becomes, nothing is mixed.
    alone = fitted(Pipeline([("mix", mixer), ("tree", DecisionTreeRegressor())]), table[["number"]], target)
    check(alone, table[["number"]], still=[0] if isinstance(mixer, PolynomialFeatures) else ())


def test_a_scaler_of_the_users_own_name(frame, target):
    table = frame[["number", "count"]]
    check(fitted(make_pipeline(Renamed(), DecisionTreeRegressor()), table, target), table)


def test_mixers_deep_inside_are_named(frame, target):
    union = FeatureUnion([("raw", "passthrough"), ("pca", PCA(1))])
    columns = ColumnTransformer([("numbers", make_pipeline(StandardScaler(), union), ["number", "count"])])
    model = fitted(Pipeline([("prepare", columns), ("tree", DecisionTreeRegressor())]), frame, target)
    with pytest.raises(UnsupportedModelError, match="the step 'prepare__numbers__featureunion__pca' "):
        unwrap(model)


def test_combinations_are_taken_out_of_wrappers_as_a_whole(frame, target):
    table = frame[["number", "count"]]
    model = fitted(VotingRegressor([("a", DecisionTreeRegressor()), ("b", RandomForestRegressor(3))]), table, target)
    assert unwrap(model) is None
    wrapped = make_pipeline(StandardScaler(), model)
    assert unwrap(wrapped.fit(table, target)).model is wrapped[-1]


def test_what_is_not_fitted(frame, target):
    table = frame[["number", "count"]]
    tree = DecisionTreeRegressor()
    for model, message in (
        (GridSearchCV(tree, {"max_depth": [2]}), "is not fitted"),
        (GridSearchCV(tree, {"max_depth": [2]}, refit=False, cv=2).fit(table, target), "fit it with refit=True"),
        (make_pipeline(StandardScaler(), tree), "is not fitted"),
        (make_pipeline(make_column_transformer((StandardScaler(), ["number"])), tree), "is not fitted"),
        (TransformedTargetRegressor(tree), "is not fitted"),
        (Pipeline([("scale", StandardScaler()), ("end", "passthrough")]).fit(table), "there is no model to explain"),
    ):
        with pytest.raises(UnsupportedModelError, match=message):
            unwrap(model)


def test_tables_with_more_columns_in_another_order(frame, target):
    table = frame[["number", "count"]]
    model = fitted(make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4)), table, target)
    unwrapped = unwrap(model)
    mixed = frame[["count", "number", "text"]]
    for other in (frame[["truth", "count", "number"]], pl.from_pandas(mixed), pa.Table.from_pandas(mixed)):
        np.testing.assert_array_equal(unwrapped.model.predict(unwrapped.transform(other)), model.predict(table))
    with pytest.raises(ValueError, match="feature names"):
        unwrapped.transform(frame[["number"]])


def test_resampling_is_over_after_fit(frame, target):
    class Sampler(BaseEstimator):
        def fit_resample(self, rows, target):
            raise NotImplementedError

    table = frame[["number", "count"]]
    model = fitted(make_pipeline(StandardScaler(), DecisionTreeRegressor()), table, target)
    sampled = Pipeline([model.steps[0], ("sampler", Sampler()), model.steps[1]])
    assert len(unwrap(sampled).transform.steps) == 1


def test_parts_can_be_pickled(frame, target):
    table = frame[["number", "count"]]
    pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4))
    model = TransformedTargetRegressor(pipeline, func=np.cbrt, inverse_func=np.square).set_params(check_inverse=False)
    unwrapped = pickle.loads(pickle.dumps(unwrap(model.fit(table, target))))
    ours = unwrapped.inverse(unwrapped.model.predict(unwrapped.transform(table)))
    np.testing.assert_array_equal(ours, model.predict(table))


def test_scikit_learn_is_not_imported():
    code = "import sys; from glasswood.models._pipelines import unwrap; unwrap({}); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_more_refusals_of_the_users_own_classes(frame, target):
    class Function(FunctionTransformer):
        def transform(self, rows):
            return np.asarray(rows).sum(axis=1, keepdims=True)

    table = frame[["number", "count"]]
    with pytest.raises(UnsupportedModelError, match="not known to keep columns separate"):
        unwrap(fitted(make_pipeline(Function(), DecisionTreeRegressor()), table, target))


def cores(kind):
    from catboost import CatBoostClassifier, CatBoostRegressor
    from lightgbm import LGBMClassifier, LGBMRegressor
    from xgboost import XGBClassifier, XGBRegressor

    pick = 0 if kind == "classifier" else 1
    return {
        "hgb": (HistGradientBoostingClassifier, HistGradientBoostingRegressor)[pick](max_iter=10),
        "xgboost": (XGBClassifier, XGBRegressor)[pick](n_estimators=10, n_jobs=1),
        "lightgbm": (LGBMClassifier, LGBMRegressor)[pick](n_estimators=10, n_jobs=1, verbose=-1),
        "catboost": (CatBoostClassifier, CatBoostRegressor)[pick](
            iterations=10, thread_count=1, verbose=False, allow_writing_files=False
        ),
    }


def prepare(*, sparse):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    texts = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=sparse)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_include="category")),
        sparse_threshold=float(sparse),
    )


# scikit-learn's histograms take no sparse matrices.
KINDS = [("hgb", False), ("xgboost", False), ("xgboost", True), ("lightgbm", False), ("catboost", False)]


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize(("core", "sparse"), KINDS)
def test_adult_census(core, sparse, output, shared):
    if sparse and output == "pandas":
        pytest.skip("frames are not sparse")
    rows = pd.read_parquet(shared / "data" / "adult_census.parquet").sample(2000, random_state=0)
    labels, rows = (rows["income"].astype(str).str.contains(">50K")).to_numpy().astype(int), rows.iloc[:, :14]
    model = make_pipeline(prepare(sparse=sparse), cores("classifier")[core]).set_output(transform=output)
    unwrapped = check(model.fit(rows, labels), rows[:100], proba=True, still=absent(model, rows[:100]))
    assert scipy.sparse.issparse(unwrapped.transform(rows)) == sparse
    assert {source for (source,) in unwrapped.sources} == set(range(14))
    names = model[:-1].get_feature_names_out()
    assert all(unwrapped.columns[source] in name for name, (source,) in zip(names, unwrapped.sources, strict=True))
    ours = unwrapped.model.predict_proba(unwrapped.transform(rows))
    np.testing.assert_array_equal(ours, model.predict_proba(rows))


@pytest.mark.parametrize(("core", "sparse"), KINDS)
def test_nycflights13(core, sparse, shared):
    rows = pd.read_parquet(shared / "data" / "nycflights13.parquet").sample(3000, random_state=0)
    rows = rows.dropna(subset=["arr_delay"]).drop(columns=["time_hour", "speed"])
    delays, rows = rows["arr_delay"], rows.drop(columns=["arr_delay", "tailnum"])
    pipeline = make_pipeline(prepare(sparse=sparse), cores("regressor")[core])
    model = TransformedTargetRegressor(pipeline, transformer=StandardScaler())
    unwrapped = check(model.fit(rows, delays), rows[:100], still=absent(model.regressor_, rows[:100]))
    assert {source for (source,) in unwrapped.sources} == set(range(rows.shape[1]))
    np.testing.assert_array_equal(
        unwrapped.inverse(unwrapped.model.predict(unwrapped.transform(rows))), model.predict(rows)
    )


def absent(model, rows):
    """Transformed columns that do not vary within these few rows, such as rare categories."""
    columns = columns_of(model[:-1].transform(rows))
    return [index for index, column in enumerate(columns) if len(set(map(repr, column))) == 1]
