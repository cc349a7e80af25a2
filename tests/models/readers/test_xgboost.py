"""XGBoost's models are read bit for bit in float32: boosters, wrappers and files."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xgboost as xgb

import glasswood as gw
from glasswood.errors import MissingExtraError, ModelMismatchError, TableError, UnsupportedModelError
from glasswood.models.readers._dispatch import check
from glasswood.tables._columns import CodeColumn, LabelColumn, NumberColumn
from helpers.adversarial import beside
from helpers.versions import installed, needs
from zoo.xgboost_models import (
    CONFIGURATIONS,
    REAL,
    SMALL,
    VERSION,
    WITH_LABELS,
    R,
    booster,
    categories,
    codes,
    frame,
    hostile,
    margin,
    numbers,
    wrapper,
)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_scores_are_the_same_in_every_bit(name, prove):
    if name.startswith("categories") and VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    model, table = CONFIGURATIONS[name]()
    ensemble = prove(model, margin, hostile(model, table), rows=table)
    assert ensemble.score.dtype == "float32"
    assert ensemble.cover is not None or (VERSION < (3, 2) and "vector" in name)


LINKS = {
    "identity": lambda score: score,
    "logistic": lambda score: 1 / (1 + np.exp(-score)),
    "softmax": lambda score: np.exp(score) / np.exp(score).sum(axis=1, keepdims=True),
    "exp": np.exp,
}

# configuration: units, link and names of the outputs
MEANINGS = {
    "regression": ("value", "identity", ("prediction",)),
    "regression, own objective": ("margin", "identity", ("prediction",)),
    "binary": ("log-odds", "logistic", (0, 1)),
    "3 classes": ("softmax margin", "softmax", (0, 1, 2)),
    "3 classes, softmax": ("softmax margin", "softmax", (0, 1, 2)),
    "3 labels": ("log-odds", "logistic", (0, 1, 2)),
    "2 targets": ("value", "identity", (0, 1)),
    "ranker": ("ranking score", "identity", ("prediction",)),
    "booster, 3 quantiles": ("value", "identity" if installed("xgboost") < (3, 4) else "unknown", (0, 1, 2)),
    "booster, shares": ("log-odds", "logistic", ("prediction",)),
    "booster, binary": ("log-odds", "logistic", (0, 1)),
    "booster, binary, raw": ("log-odds", "identity", (0, 1)),
    "booster, hinge": ("margin", "unknown", (0, 1)),
    "booster, counts": ("log of the mean", "exp", ("prediction",)),
    "booster, gamma": ("log of the mean", "exp", ("prediction",)),
    "booster, tweedie": ("log of the mean", "exp", ("prediction",)),
    "booster, Cox": ("log of the hazard ratio", "exp", ("prediction",)),
    "booster, survival times": ("log of the survival time", "exp", ("prediction",)),
    "booster, 3 classes": ("softmax margin", "softmax", (0, 1, 2)),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_what_the_raw_score_means(name):
    model, table = CONFIGURATIONS[name]()
    ensemble = gw.read_model(model)
    score = ensemble.score
    assert (score.units, score.link, score.labels) == MEANINGS[name]
    if score.link == "unknown":
        return
    if isinstance(model, xgb.Booster):
        predicted = model.predict(xgb.DMatrix(table))
    elif isinstance(model, xgb.XGBClassifier):
        predicted = model.predict_proba(table)
        predicted = predicted[:, 1] if ensemble.n_outputs == 1 else predicted
    else:
        predicted = model.predict(table)
    np.testing.assert_allclose(LINKS[score.link](ensemble.predict(table)), predicted, rtol=2e-6, atol=2e-6)


def test_covers_are_sums_of_hessians():
    model, table = CONFIGURATIONS["binary, base score 0.2"]()
    ensemble = gw.read_model(model)
    hessian = 0.2 * (1 - 0.2)
    np.testing.assert_allclose(ensemble.cover[0], len(table) * hessian, rtol=1e-5)
    sums = [ensemble.cover[child] if child >= 0 else ensemble.leaf_cover[~child] for child in ensemble.left]
    sums += np.array([ensemble.cover[child] if child >= 0 else ensemble.leaf_cover[~child] for child in ensemble.right])
    np.testing.assert_allclose(sums, ensemble.cover, rtol=1e-5)


@WITH_LABELS
def test_columns():
    table, _ = frame()
    model, _ = categories("city", "store", missing=-5.0)
    city, store, size, *_ = gw.read_model(model).schema.columns
    assert city == LabelColumn("city", ("Emden", "Dessau", "Celle", "Bonn", "Aachen"), refuse_unseen=True)
    assert store.labels == tuple(table["store"].cat.categories)
    assert size == NumberColumn("size", missing_between=size.missing_between)
    low, high = size.missing_between
    assert low < -5.0 < high
    assert np.float32(low) == np.float32(high) == -5.0
    model, X = codes()
    number, few, _, many, _ = gw.read_model(model).schema.columns
    assert number == NumberColumn("f0")
    assert few == CodeColumn("f1", int(X[:, 1].max()) + 1)
    assert many.size <= 70


def test_models_without_names_read_tables_by_position():
    for model, X in (CONFIGURATIONS["regression"](), CONFIGURATIONS["booster, squared error"]()):
        ensemble = gw.read_model(model, pd.DataFrame(X, columns=list("vwxyz")))
        assert not ensemble.schema.named
        assert ensemble.feature_names == ("f0", "f1", "f2", "f3", "f4")
        np.testing.assert_array_equal(ensemble.predict(pd.DataFrame(X, columns=list("vwxyz"))), margin(model, X))


def test_models_with_names_read_frames_by_name():
    model, X = CONFIGURATIONS["booster, names"]()
    ensemble = gw.read_model(model, X)
    assert ensemble.schema.named
    table = pd.DataFrame(X, columns=model.feature_names)[sorted(model.feature_names)]
    np.testing.assert_array_equal(ensemble.predict(table), margin(model, X))
    check(ensemble, model, table)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"])
@pytest.mark.parametrize("missing", [np.nan, 2.0])
def test_absent_entries_of_sparse_matrices_are_missing(form, missing):
    # 2.1: the same numbers give other scores as a dense array, in which zeros are zeros.
    X, y = numbers()
    X[np.abs(X) < 0.6] = 0.0
    matrix = getattr(scipy.sparse, form)(X)
    model = R(**SMALL, missing=missing).fit(matrix, y)
    for used, rows in ((model, matrix), (model, X), (model.get_booster(), matrix)):
        ensemble = gw.read_model(used, rows)
        theirs = used.predict(xgb.DMatrix(rows) if used is not model else rows, output_margin=True)
        np.testing.assert_array_equal(ensemble.predict(rows), theirs)
    assert (model.predict(X) != model.predict(matrix)).any()


@WITH_LABELS
@pytest.mark.parametrize("kind", ["pandas", "reordered", "polars categorical", "polars enum", "arrow"])
def test_categories_of_other_tables(kind):
    model, table = categories("city")
    cities = table["city"].astype(object).where(table["city"].notna(), None).tolist()
    plain = {name: table[name].to_numpy() for name in ("size", "rooms", "new")}
    makers = {
        "pandas": lambda: table,
        "reordered": lambda: table.assign(city=table["city"].cat.reorder_categories(sorted({*cities} - {None}))),
        "polars categorical": lambda: pl.DataFrame({"city": pl.Series(cities, dtype=pl.Categorical)} | plain),
        "polars enum": lambda: pl.DataFrame(
            {"city": pl.Series(cities, dtype=pl.Enum(sorted({*cities} - {None})))} | plain
        ),
        "arrow": lambda: pa.table({"city": pa.array(cities).dictionary_encode()} | plain),
    }
    rows = makers[kind]()
    ensemble = gw.read_model(model, rows)
    np.testing.assert_array_equal(ensemble.predict(rows), margin(model, table))
    if kind != "polars categorical" or installed("xgboost") < (3, 4):  # which refuses them since
        np.testing.assert_array_equal(ensemble.predict(rows), margin(model, rows))


def test_models_that_keep_codes_only_take_codes():
    # So are all models before 3.1, and those trained on arrays. XGBoost takes whatever codes a frame has.
    model, X = codes()
    table = pd.DataFrame(X, columns=list("vwxyz")).astype({"w": int, "y": "Int64"}).astype({"w": "category"})
    ensemble = gw.read_model(model)
    np.testing.assert_array_equal(ensemble.predict(table), margin(model, X))
    for labels in ([0, 1, 3, 2], [5, 6, 7, 8], list("abcd")):
        with pytest.raises(TableError, match=r"'f1' holds categories like .*\.cat\.codes"):
            ensemble.predict(table.assign(w=table["w"].cat.rename_categories(labels)))


@WITH_LABELS
@pytest.mark.parametrize("name", ["Aaaa", "Zzzz"])
def test_unseen_categories_are_refused(name):
    # dmlc/xgboost#12189: 3.2 raises for the last in the alphabet, and takes others for a category that it knows.
    model, table = categories("city")
    rows = table.assign(city=table["city"].cat.rename_categories({"Bonn": name}))
    with pytest.raises(TableError, match=f"'city' holds categories that the model was not trained with.*{name}"):
        gw.read_model(model).predict(rows)


@needs("xgboost", (3, 1), below=(3, 4))
def test_labels_that_xgboost_cuts_wrong_are_refused():
    # dmlc/xgboost#12360, #12371: offsets count characters, the text is bytes.
    table, y = frame()
    table = table.assign(city=table["city"].cat.rename_categories({"Celle": "Köln"}))[["city", "size"]]
    model = R(**SMALL, enable_categorical=True).fit(table, y)
    with pytest.raises(UnsupportedModelError, match=r"label is not ASCII.*12371.*Rename the categories"):
        gw.read_model(model)


@WITH_LABELS
def test_a_missing_value_that_hides_a_category_is_refused():
    # XGBoost 3.2 compares the code of a category with it, before and after its own recoding.
    model, _ = categories("city", missing=2.0)
    with pytest.raises(UnsupportedModelError, match=r"missing=2 hides category 'Celle' of column 'city'.*np\.nan"):
        gw.read_model(model)


WRONG = {
    "a cut moved": lambda e: {"cut": e.cut + (np.arange(e.n_nodes) == 0)},
    "a leaf value changed": lambda e: {"value": e.value + 0.01 * (e.leaf_cover == e.leaf_cover.max())[:, None]},
    "no base": lambda e: {"score": dataclasses.replace(e.score, base=np.zeros(1))},
    "missing values turned around": lambda e: {"missing_left": ~e.missing_left},
}


@pytest.mark.parametrize("name", ["regression, missing values", "booster, counts"])
@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_ensemble_is_refused(name, change):
    model, table = CONFIGURATIONS[name]()
    ensemble = gw.read_model(model, table)
    with pytest.raises(ModelMismatchError, match="do not reproduce the model"):
        check(dataclasses.replace(ensemble, **WRONG[change](ensemble)), model, table)


@pytest.fixture
def edited(tmp_path):
    """A function that writes a model as a .json file, after `change` has been at its document."""

    def edited(model, change):
        whole = json.loads(getattr(model, "get_booster", lambda: model)().save_raw("json"))
        change(whole)
        path = tmp_path / "model.json"
        path.write_text(json.dumps(whole, indent=1))
        return path

    return edited


def parts(whole):
    """The learner, the gradient booster, the forest and the first tree of a document."""
    learner = whole["learner"]
    booster = learner["gradient_booster"]
    forest = booster.get("gbtree", booster)["model"]
    return learner, booster, forest, forest["trees"][0]


FILES = [
    "2 targets, vector leaves",
    "booster, 3 classes",
    "booster, binary",
    "codes",
    "dart, booster",
    "booster, names",
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("form", ["json", "ubj"])
def test_files_are_read_as_the_model_itself(name, form, tmp_path, prove):
    model, X = CONFIGURATIONS[name]()
    model = getattr(model, "get_booster", lambda: model)()
    path = tmp_path / f"model.{form}"
    model.save_model(path)
    ensemble = prove(path, lambda _, rows: margin(model, rows), hostile(model, X), rows=X)
    same = gw.read_model(model)
    for field in dataclasses.fields(ensemble):
        ours, theirs = getattr(ensemble, field.name), getattr(same, field.name)
        if isinstance(ours, np.ndarray):
            np.testing.assert_array_equal(ours, theirs)
    assert ensemble.schema == same.schema
    assert ensemble.source == "xgboost model file"


def test_files_are_read_without_xgboost(tmp_path):
    path = tmp_path / "model.ubj"
    CONFIGURATIONS["binary"]()[0].save_model(path)
    script = f"import glasswood as gw, sys; gw.read_model({str(path)!r}); assert 'xgboost' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_comparing_a_file_needs_xgboost(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    model, X = CONFIGURATIONS["binary"]()
    model.save_model(path)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingExtraError, match=r"glasswood\[xgboost\]"):
        gw.read_model(path, X)


@pytest.mark.parametrize("form", ["json", "ubj"])
def test_a_file_that_is_too_new_for_the_installed_version_is_refused(form, tmp_path, monkeypatch):
    model, path, X = xgb.XGBRegressor(n_estimators=2), tmp_path / f"model.{form}", np.arange(20.0).reshape(10, 2)
    model.fit(X, X[:, 0]).save_model(path)
    monkeypatch.setattr(xgb, "__version__", "3.0.5")
    written = ".".join(map(str, json.loads(model.get_booster().save_raw("json"))["version"]))
    if written < "3.1":
        gw.Explainer(path, X)  # older files can be read
        return
    with pytest.raises(UnsupportedModelError, match=f"by XGBoost {written}, but 3.0.5 is installed.*newer"):
        gw.Explainer(path, X)
    assert gw.read_model(path).n_trees == 2  # which XGBoost is not asked for


def test_a_file_that_was_stopped_early_is_refused(tmp_path):
    model, X = CONFIGURATIONS["stopped early"]()
    path = tmp_path / "model.json"
    model.save_model(path)
    with pytest.raises(UnsupportedModelError, match=r"its best round is number \d+, .*XGBRegressor.*pass that object"):
        gw.read_model(path)
    for use in (xgb.XGBRegressor(), xgb.Booster()):
        use.load_model(path)
        np.testing.assert_array_equal(gw.read_model(use).predict(X), margin(use, X))


def test_a_file_whose_best_round_is_its_last_is_read(tmp_path):
    model, X = CONFIGURATIONS["stopped early"]()
    best = model.get_booster()[: model.best_iteration + 1]
    path = tmp_path / "model.json"
    best.set_attr(best_iteration=str(model.best_iteration))
    best.save_model(path)
    np.testing.assert_array_equal(gw.read_model(path).predict(X), margin(model, X))


# Layouts of other versions of XGBoost, made from the one of this version. Files written by 1.7.6, 2.0.3, 2.1.4, 3.0.5
# and 3.1.3 themselves were compared by hand when this was written.


def dart_of_3_3(whole):
    learner, booster, forest, _ = parts(whole)
    learner["gradient_booster"] = {"name": "gbtree", "model": forest, "weight_drop": booster["weight_drop"]}
    whole["version"] = [3, 3, 0]


def dart_of_3_4(whole):
    learner, booster, forest, _ = parts(whole)
    learner["gradient_booster"] = {"name": "gbtree", "model": forest | {"weight_drop": booster["weight_drop"]}}
    whole["version"] = [3, 4, 0]


def one_base_score(whole):
    """Before 3.1, a number instead of a list; before 2.0, nothing tells where rounds begin."""
    learner, _, forest, _ = parts(whole)
    param = learner["learner_model_param"]
    param["base_score"] = param["base_score"].strip("[]").split(",")[0]
    del forest["cats"], forest["iteration_indptr"], param["num_target"]
    learner["attributes"]["best_iteration"] = "7"
    for tree in forest["trees"]:
        tree["tree_param"]["size_leaf_vector"] = "0"
        tree["default_left"] = [bool(flag) for flag in tree["default_left"]]  # before 1.6


def vectors_of_2_0(whole):
    for tree in parts(whole)[2]["trees"]:
        vectors = np.reshape(tree.pop("leaf_weights"), (-1, 2))
        leaf = np.array(tree["left_children"]) < 0
        weights = np.reshape(tree["base_weights"], (-1, 2))
        weights[leaf] = vectors[np.array(tree["right_children"])[leaf]]
        tree["base_weights"] = weights.ravel().tolist()
        tree["right_children"] = np.where(leaf, -1, tree["right_children"]).tolist()
        del tree["sum_hessian"]


def trees_in_another_order(whole):
    parts(whole)[2]["trees"].reverse()


LAYOUTS = {
    "dart, 3.3": ("dart, booster", dart_of_3_3),
    "dart, 3.4": ("dart, booster", dart_of_3_4),
    "before 2.0, base score 0.3": ("booster, binary", one_base_score),
    "before 2.0, 3 classes with the same base": (
        lambda: booster("three classes", objective="multi:softprob", num_class=3, base_score=0.3),
        one_base_score,
    ),
    "2.0, vector leaves": ("2 targets, vector leaves", vectors_of_2_0),
    "trees by id": ("booster, 3 classes", trees_in_another_order),
}


@needs("xgboost", (3, 1), below=(3, 3))  # whose layout the others are made from
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_other_versions(name, edited):
    made, change = LAYOUTS[name]
    model, X = CONFIGURATIONS[made]() if isinstance(made, str) else made()
    ensemble = gw.read_model(edited(model, change))
    np.testing.assert_array_equal(ensemble.predict(X), margin(model, X))
    assert (ensemble.cover is None) == (change is vectors_of_2_0)


@WITH_LABELS
def test_labels_of_3_4_may_be_any_text(edited):
    model, table = categories("city")

    def rename(whole):
        whole["version"] = [3, 4, 1]
        encoder = parts(whole)[2]["cats"]["enc"][0]
        text = ["Emden", "Dessau", "Köln", "Bonn", "Aachen"]
        encoder["offsets"] = np.cumsum([0] + [len(label.encode()) for label in text]).tolist()
        encoder["values"] = np.frombuffer("".join(text).encode(), dtype=np.int8).tolist()

    ensemble = gw.read_model(edited(model, rename))
    rows = table.assign(city=table["city"].cat.rename_categories({"Celle": "Köln"}))
    np.testing.assert_array_equal(ensemble.predict(rows), margin(model, table))


def test_quantiles_of_3_4_are_sorted_by_predict(edited):
    model, _ = CONFIGURATIONS["booster, 3 quantiles"]()
    assert gw.read_model(edited(model, lambda whole: whole.update(version=[3, 4, 0]))).score.link == "unknown"
    model, _ = CONFIGURATIONS["booster, quantile"]()
    assert gw.read_model(edited(model, lambda whole: whole.update(version=[3, 4, 0]))).score.link == "identity"


def set_in(*path, to):
    """A change of a document: the value at `path`, counted from the learner (0) to the first tree (3)."""
    level, *names, last = path

    def change(whole):
        part = parts(whole)[level]
        for name in names:
            part = part[name]
        part[last] = to

    return change


def set_weights(level, name, weights, beside=None):
    """A change of the weights of a DART model: where they stand (1: up to XGBoost 3.3, 2: from 3.4 on)."""

    def change(whole):
        for place in (1, 2):
            parts(whole)[place].pop("weight_drop", None)
        parts(whole)[1]["name"] = name
        parts(whole)[level]["weight_drop"] = weights
        if beside is not None:
            parts(whole)[3 - level]["weight_drop"] = beside

    return change


def drop_trees(whole):
    forest = parts(whole)[2]
    forest["trees"], forest["tree_info"], forest["iteration_indptr"] = [], [], [0]


REFUSED = {
    "another booster": ("binary", set_in(1, "name", to="gbforest"), "booster 'gbforest' is not supported"),
    "unknown part of the document": ("binary", lambda whole: whole.update(extra=1), "the model has parts .*: extra"),
    "unknown part of the learner": ("binary", set_in(0, "scaler", to={"a": 1}), "the learner has parts .*: scaler"),
    "unknown part of the booster": ("binary", set_in(1, "linear", to=[1.0]), "gradient_booster has parts .*: linear"),
    "unknown part of the forest": ("binary", set_in(2, "bias", to=0.5), "model has parts .*: bias"),
    "unknown part of a tree": ("binary", set_in(3, "slopes", to=[1.0]), "the tree has parts .*: slopes"),
    "unknown objective": ("binary", set_in(0, "objective", "name", to="reg:expectileerror"), "'reg:expectileerror'"),
    "base score 0": ("binary", set_in(0, "learner_model_param", "base_score", to="[0E0]"), "base score '.0E0.'"),
    "base scores for other outputs": (
        "binary",
        set_in(0, "learner_model_param", "base_score", to="[5E-1,2E-1]"),
        "each of 1 output",
    ),
    "dart without weights": ("dart", set_weights(1, "dart", []), "8 trees without the weights"),
    "dart with too few weights": ("dart", set_weights(1, "dart", [1.0]), "8 trees without the weights"),
    "weights in two places": ("dart", set_weights(2, "gbtree", [1.0] * 8, beside=[1.0] * 8), "in two places"),
    "best round beyond the last": (
        "binary",
        set_in(0, "attributes", to={"best_iteration": "8"}),
        "best round is number 9",
    ),
    "too few names": ("booster, names", set_in(0, "feature_names", to=["a"]), "1 names, 5 types"),
    "too few categories": (
        "categories, strings",
        set_in(2, "cats", "enc", 0, "offsets", to=[0, 5]),
        "'city' has 1 category, but a split mentions number",
    ),
    "leaves of another size": ("3 classes", set_in(3, "tree_param", "size_leaf_vector", to="3"), r"\[1, 3\] values"),
    "vectors without weights": (
        "2 targets, vector leaves",
        lambda whole: parts(whole)[3].update(leaf_weights=[], base_weights=[1.0]),
        "neither leaf_weights nor base_weights",
    ),
    "no trees": ("binary", drop_trees, "no trees; train it first"),
    "too few outputs": ("binary", set_in(2, "tree_info", to=[0]), "8 trees, but its header does not agree"),
    "arrays of different length": ("binary", set_in(3, "default_left", to=[0]), "differ in length"),
    "a child outside": ("binary", set_in(3, "left_children", 0, to=1000), "a child is not one of its nodes"),
    "no right child": ("binary", set_in(3, "right_children", 0, to=-1), "a child is not one of its nodes"),
    "two parents": ("binary", set_in(3, "left_children", 0, to=2), "not well formed"),
    "a category split without a set": ("binary", set_in(3, "split_type", 0, to=1), "have no category set"),
    "a cut at minus infinity": ("binary", set_in(3, "split_conditions", 0, to=-np.inf), "some cut is NaN"),
    "an array is absent": ("binary", lambda whole: parts(whole)[3].pop("default_left"), "KeyError: 'default_left'"),
    "a text for a number": ("binary", set_in(3, "split_conditions", 0, to="x"), "split_conditions should be a list"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=WITH_LABELS if name == "too few categories" else ()) for name in REFUSED]
)
def test_what_is_not_known_is_refused(name, edited):
    configuration, change, message = REFUSED[name]
    model, _ = CONFIGURATIONS[configuration]()
    with pytest.raises(UnsupportedModelError, match=message):
        gw.read_model(edited(model, change))


@pytest.mark.parametrize(
    "content", [b"{", b"{}", b'{"a": 1}', b'{"learner": {}}', b'{"learner": ', b"{x", b"{i\x01aT}"]
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(UnsupportedModelError):
        gw.read_model(path)


def test_the_best_round_must_exist():
    model, _ = CONFIGURATIONS["regression"]()
    model.get_booster().set_attr(best_iteration="20")
    with pytest.raises(UnsupportedModelError, match="early stopping chose round 21, but the model has 8 rounds"):
        gw.read_model(model)


# gblinear is deprecated from 3.3 on, and says so.
@pytest.mark.filterwarnings("ignore:.*gblinear")
def test_linear_models_are_refused():
    model, _ = wrapper("value", R(booster="gblinear", n_jobs=1), missing=False)
    with pytest.raises(UnsupportedModelError, match=r"'gblinear' is not supported.*coefficients"):
        gw.read_model(model)


def test_models_that_are_not_fitted_are_refused():
    with pytest.raises(UnsupportedModelError, match="this XGBRegressor is not fitted"):
        gw.read_model(xgb.XGBRegressor())
    with pytest.raises(UnsupportedModelError, match="cannot save this Booster; train it first"):
        gw.read_model(xgb.Booster())


def test_other_objects_of_xgboost_are_refused():
    with pytest.raises(UnsupportedModelError, match=r"xgboost DMatrix is not supported.*get_booster"):
        gw.read_model(xgb.DMatrix(np.zeros((2, 2))))
    remote = type("DaskXGBRegressor", (type("DaskScikitLearnBase", (xgb.XGBModel,), {}),), {})
    with pytest.raises(UnsupportedModelError, match=r"xgboost DaskXGBRegressor is not supported.*get_booster"):
        gw.read_model(remote())


@pytest.mark.parametrize("name", REAL)
def test_real_models(name, shared, prove):
    path = shared / "models" / f"{name}.json"
    model = xgb.Booster(model_file=path)

    def rows(ensemble):
        """Values between, at and beside the model's own cuts; 40 % are missing."""
        rng = np.random.default_rng(0)
        table = np.zeros((2000, ensemble.n_features))
        for feature in ensemble.used_features:
            cuts = np.unique(ensemble.cut[ensemble.feature == feature])
            values = np.concatenate([beside(cuts), (cuts[1:] + cuts[:-1]) / 2, cuts[:1] - 1, cuts[-1:] + 1])
            table[:, feature] = rng.choice(values, size=len(table))
        table[rng.random(table.shape) < 0.4] = np.nan
        return table

    ensemble = prove(path, lambda _, table: margin(model, table), rows)
    check(ensemble, model, rows(ensemble))
    assert ensemble.schema.named


def test_reading_is_fast():
    if sys.gettrace() is not None:
        pytest.skip("the tracer of a coverage run takes most of the time")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    rows = xgb.DMatrix(X, X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=3000))
    model = xgb.train({"max_depth": 6, "nthread": 1}, rows, 100)
    times = []
    for _ in range(5):
        start = time.process_time()
        gw.read_model(model)
        times.append(time.process_time() - start)
    assert min(times) < 0.2  # of the processor, beside other tests; benchmarks/readers.py has the figure
