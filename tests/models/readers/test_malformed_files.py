"""Damaged model files are refused in a sentence, at once, and without much memory; `fuzz.files` invents them.

First the files that once hung, crashed or exhausted memory; then mutants of every format.
"""

from __future__ import annotations

import copy
import io
import json
import os
import re
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, IsolationForest, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import glasswood as gw
from glasswood.errors import UnsupportedModelError
from glasswood.terminal._files import load_model
from helpers.versions import needs

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
catboost = pytest.importorskip("catboost")
skops_io = pytest.importorskip("skops.io")

ROOT = Path(__file__).parents[3]
PACKAGE = Path(gw.__file__).parents[1]  # in this checkout, or installed from a wheel
X = np.random.default_rng(0).normal(size=(300, 3)).round(2)
Y = X[:, 0] + X[:, 1] * X[:, 2]


@pytest.fixture(scope="module", autouse=True)
def _kernels():
    """Load the kernels before memory is measured."""
    gw.read_model(DecisionTreeRegressor(max_depth=2).fit(X, Y))


def refused(path, says, seconds=1.0):
    """Show that a file is refused in time, and in a small multiple of its size."""
    size = path.stat().st_size
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(UnsupportedModelError, match=says) as caught:
            gw.read_model(path)
        assert time.process_time() - start < seconds * 3  # tracing makes it slower
        assert tracemalloc.get_traced_memory()[1] < 50 * size + 2**23
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 1200


# ------------------------------------------------------------------------------------------------- LightGBM


@pytest.fixture(scope="module")
def lightgbm_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("lightgbm") / "model.txt"
    settings = {"verbose": -1, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}
    coded = np.column_stack([X[:, :2], np.arange(len(X)) % 20])
    data = lgb.Dataset(coded, Y + (coded[:, 2] % 3), categorical_feature=[2])
    lgb.train(settings | {"min_data_per_group": 1}, data, num_boost_round=2).save_model(path)
    return re.sub(r"tree_sizes=.*\n", "", path.read_text())  # without it, LightGBM reads line by line


@pytest.mark.parametrize(
    ("pattern", "new", "says"),
    [
        (r"left_child=.*\nright_child=.*", "left_child=-1 2 1\nright_child=-2 -3 -4", "below no root"),
        (r"left_child=.*\nright_child=.*", "left_child=1 2 0\nright_child=-2 -3 -4", "exactly one node"),
        (r"left_child=\S+", "left_child=7", "a child that is none"),
        (r"left_child=\S+", "left_child=4294967297", "a child that is none"),
        (r"right_child=\S+", "right_child=-9", "a child that is none"),
        (r"split_feature=\S+", "split_feature=4294967296", "a split on feature"),
        (r"split_feature=\S+", "split_feature=-1", "damaged"),
        (r"num_leaves=\d+", "num_leaves=1000000000", "numbers of"),
        (r"num_leaves=\d+", "num_leaves=" + "9" * 5000, "damaged"),
        (r"num_leaves=\d+", "num_leaves=0", "a tree of 0 leaves"),
        (r"(feature_infos=.*) \S+\n", r"\1 0:5:1000000000\n", "codes up to 1,000,000,000"),
        (r"(feature_infos=.*) \S+\n", r"\1 0:5:inf\n", "damaged"),
        (r"num_tree_per_iteration=1", "num_tree_per_iteration=0", "0 trees per iteration"),
        (r"num_tree_per_iteration=1", "num_tree_per_iteration=1_0", "whole number"),
        (r"num_class=1", "num_class=2", "1 tree per iteration for 2 classes"),
        (r"threshold=\S+", "threshold=nan", "could not convert"),
        (r"threshold=\S+", "threshold=0x10", "could not convert"),
        (r"leaf_value=\S+", "leaf_value=1e400", "not finite"),
        (r"leaf_value=\S+", "leaf_value=\uff11", "could not convert"),
        (r"\nsplit_gain=", "\n\nsplit_gain=", "blank"),
        (r"\nleaf_value=(.*)", r"\nleaf_value=\1\nleaf_value=\1", "twice"),
        (r"num_cat=\d+", "num_cat=1000000000", "cat_boundaries"),
        (r"cat_threshold=\S+", "cat_threshold=-1", "32 bits"),
        (r"cat_boundaries=0", "cat_boundaries=1", "ascend from 0"),
    ],
)
def test_lightgbm(lightgbm_text, pattern, new, says, tmp_path):
    text, n = re.subn(pattern, new, lightgbm_text, count=1)
    assert n == 1
    path = tmp_path / "model.txt"
    path.write_text(text)
    refused(path, says)


def test_lightgbm_bytes(lightgbm_text, tmp_path):
    path = tmp_path / "model.txt"
    for content, says in (
        (lightgbm_text.encode().replace(b"Column_0", b"Col\xe9mn_0"), "can't decode"),
        (lightgbm_text.encode().replace(b"Column_0", b"Col\0mn_0"), "bytes that are not text"),
        (lightgbm_text.encode()[:500], "truncated"),
    ):
        path.write_bytes(content)
        refused(path, says)


def test_numbers_may_not_move_to_the_next_tree(lightgbm_text, tmp_path):
    """One too many here and one too few there are still as many in all."""
    trees = re.findall(r"threshold=(.*)", lightgbm_text)
    first, second = (tree.split(" ") for tree in trees[:2])
    moved = lightgbm_text.replace(trees[0], " ".join([*first, second[0]]))
    moved = moved.replace(f"threshold={trees[1]}", "threshold=" + " ".join(second[1:]))
    path = tmp_path / "model.txt"
    path.write_text(moved)
    refused(path, "or in another tree")


def test_a_large_tree_with_an_island(tmp_path):
    """A cycle that no root leads to once sent a kernel past the end of its arrays."""
    n = 2**12 - 1
    at = np.arange(n)
    left, right = (np.where(child < n, child, n - child - 1) for child in (2 * at + 1, 2 * at + 2))
    left, right = np.append(left, [n + 1, n]), np.append(right, [-n - 2, -n - 3])
    fields = {
        "num_leaves": [n + 3],
        "num_cat": [0],
        "split_feature": np.append(at % 2, [2, 3]),
        "threshold": np.linspace(-1, 1, n + 2),
        "decision_type": np.full(n + 2, 2),
        "left_child": left,
        "right_child": right,
        "leaf_value": np.linspace(0, 1, n + 3),
        "leaf_count": np.ones(n + 3, dtype=int),
        "internal_count": np.full(n + 2, 2),
    }
    lines = [f"{key}={' '.join(str(number) for number in numbers)}" for key, numbers in fields.items()]
    header = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=3\n"
    header += "objective=regression\nfeature_names=a b c d\nfeature_infos=[0:1] [0:1] [0:1] [0:1]\n\nTree=0\n"
    path = tmp_path / "model.txt"
    path.write_text(header + "\n".join(lines) + "\n\n\nend of trees\n\npandas_categorical:null\n")
    refused(path, "below no root")


# ------------------------------------------------------------------------------------------------- XGBoost


@pytest.fixture(scope="module")
def xgboost_document():
    coded = np.column_stack([X[:, :2], np.arange(len(X)) % 20])
    data = xgb.DMatrix(coded, Y + (coded[:, 2] % 3), feature_types=["q", "q", "c"], enable_categorical=True)
    settings = {"max_depth": 3, "tree_method": "hist", "max_cat_to_onehot": 1, "nthread": 1}
    return json.loads(bytes(xgb.train(settings, data, num_boost_round=2).save_raw("json")))


def trees_of(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


def add_island(document):
    tree = trees_of(document)[0]
    n = len(tree["left_children"])
    new = {"left_children": [n, -1], "right_children": [n + 1, -1], "split_conditions": [0.5, 0.1]}
    for name, values in tree.items():
        if isinstance(values, list) and len(values) == n:
            values += new.get(name, [0, 0])
    tree["tree_param"]["num_nodes"] = str(n + 2)


def put(place, value):
    def change(document):
        *path, last = place
        for key in path:
            document = document[key]
        document[last] = value

    return change


def first_tree(name, at, value):
    def change(document):
        trees_of(document)[0][name][at] = value

    return change


def no_cut(document):
    tree = trees_of(document)[0]
    node = next(k for k, left in enumerate(tree["left_children"]) if left >= 0 and not tree["split_type"][k])
    tree["split_conditions"][node] = float("nan")


def huge_category(number):
    def change(document):
        next(tree for tree in trees_of(document) if tree["categories"])["categories"][0] = number

    return change


PARAM = ("learner", "learner_model_param")
DAMAGES = {
    "island": (add_island, "below no root"),
    "cycle": (first_tree("left_children", 1, 0), "broken|exactly one node"),
    "two parents": (first_tree("left_children", 0, 2), "exactly one node"),
    "child out of range": (first_tree("right_children", 0, 10**9), "a child is not one of its nodes"),
    "cut": (no_cut, "cut is NaN"),
    "feature": (first_tree("split_indices", 0, 2**32), "feature|split_indices"),
    "text": (first_tree("split_conditions", 0, "1"), "split_conditions should be a list of numbers"),
    "long text": (first_tree("split_conditions", 0, "A" * 10**6), "split_conditions should be a list of numbers"),
    "flag": (first_tree("split_conditions", 0, True), "split_conditions should be a list of numbers"),
    "fraction": (first_tree("left_children", 0, 1.5), "does not hold the expected numbers"),
    "categories": (huge_category(10**8), "categories of node"),
    "many categories": (huge_category(2**24 - 1), "sets of categories"),
    "features": (put((*PARAM, "num_feature"), "1000000000"), "claims 1,000,000,000 features"),
    "targets": (put((*PARAM, "num_target"), "300000000"), "claims 300,000,000 outputs"),
    "classes": (put((*PARAM, "num_class"), "10000000"), "claims 10,000,000 outputs"),
    "base score": (put((*PARAM, "base_score"), "1_0"), "neither a number"),
    "rounds": (put(("learner", "gradient_booster", "model", "iteration_indptr"), [0, 1]), "does not agree"),
    "outputs": (put(("learner", "gradient_booster", "model", "tree_info"), [0, 2**32]), "adds to output"),
    "null": (put(("learner",), None), "damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_xgboost(xgboost_document, name, tmp_path):
    change, says = DAMAGES[name]
    document = copy.deepcopy(xgboost_document)
    change(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    refused(path, says)


def test_json_and_ubjson(xgboost_document, tmp_path):
    text = json.dumps(xgboost_document)
    learner = b"{L" + struct.pack(">q", 7) + b"learner"
    for name, content, says in (
        ("deep.json", b'{"learner":' + b"[" * 100_000, "nested more deeply"),
        ("twice.json", text.replace('"learner"', '"version": [3, 2, 0], "learner"').encode(), "'version' twice"),
        ("latin.json", text.encode().replace(b'"learner"', b'"l\xe9arner"'), "can't decode"),
        ("digits.json", text.replace('"id": 0', '"id": ' + "9" * 5000).encode(), "not a whole JSON"),
        ("half.json", text[: len(text) // 2].encode(), "not a whole JSON"),
        ("deep.ubj", learner + b"[" * 100_000, "nested"),
        ("long.ubj", learner + b"[$d#L" + struct.pack(">q", 10**12), "length"),
        ("text.ubj", b"{L" + struct.pack(">q", 10**12), "length"),
        ("twice.ubj", learner + b"T" + learner[1:] + b"T}", "twice"),
        ("more.ubj", learner + b"T}}", "1 byte after its end"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        refused(path, says)


# ------------------------------------------------------------------------------------------------- CatBoost


@pytest.fixture(scope="module")
def catboost_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("catboost")
    settings = {"iterations": 3, "depth": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(**settings).fit(X, Y)
    model.save_model(str(folder / "model.json"), format="json")
    model.save_model(str(folder / "model.cbm"))
    return json.loads((folder / "model.json").read_text()), (folder / "model.cbm").read_bytes()


def no_weights(document):
    del document["oblivious_trees"][0]["leaf_weights"]


def many_values(document):
    tree = document["oblivious_trees"][1]
    tree["leaf_values"] = [float(k) for k in range(2000 * len(tree["leaf_values"]))]


def few_weights(document):
    tree = document["oblivious_trees"][1]
    tree["leaf_weights"] = tree["leaf_weights"][:2]


def many_splits(document):
    tree = document["oblivious_trees"][0]
    tree["splits"] = (tree["splits"] * 30)[:60]


def turned_borders(document):
    document["features_info"]["float_features"][0]["borders"].reverse()


def one_column_twice(document):
    document["features_info"]["float_features"][0]["flat_feature_index"] = 1


FIRST_COLUMN = ("features_info", "float_features", 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (no_weights, "tree 1 of the model is broken"),
        (many_values, "tree 1 of the model is broken"),
        (few_weights, "tree 1 of the model is broken"),
        (many_splits, "60 splits has 8 leaf values"),
        (turned_borders, "do not ascend"),
        (one_column_twice, "the same number"),
        (put((*FIRST_COLUMN, "flat_feature_index"), "A" * 10**6), "the same number, or one has none"),
        (put((*FIRST_COLUMN, "feature_index"), ""), "not numbered as they are listed"),
        (put((*FIRST_COLUMN, "feature_index"), 3), "not numbered as they are listed"),
        (put((*FIRST_COLUMN, "feature_index"), False), "not numbered as they are listed"),
        (put((*FIRST_COLUMN, "has_nans"), "x"), "missing values in an unknown way"),
        (put(("oblivious_trees", 0, "leaf_values", 1), True), "leaf_values should be a list of numbers"),
        (put(("oblivious_trees", 0, "leaf_values", 1), "A" * 10**6), "leaf_values should be a list of numbers"),
        (put(("oblivious_trees", 0, "splits", 0, "split_index"), True), "a tree splits on"),
        (put(("scale_and_bias",), [1, 2, 3]), "damaged"),
        (put(("scale_and_bias",), [2**62, [0.5]]), r"beyond 2\*\*53"),
        (put(("scale_and_bias",), [1, [-(2**62)]]), r"beyond 2\*\*53"),
        (put(("scale_and_bias",), [True, [0.5]]), "list of numbers"),
        (put(("oblivious_trees",), "x"), "damaged"),
    ],
)
def test_catboost(catboost_files, change, says, tmp_path):
    document = copy.deepcopy(catboost_files[0])
    change(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    refused(path, says)


@pytest.mark.parametrize("value", [True, "1", [1.0, 2.0], None])
def test_leaves_of_catboost_that_are_no_numbers(value, tmp_path):
    path = tmp_path / "model.json"
    settings = {"iterations": 1, "depth": 2, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(**settings, grow_policy="Depthwise").fit(X, Y)
    model.save_model(str(path), format="json")
    document = json.loads(path.read_text())
    leaf = document["trees"][0]
    while "value" not in leaf:
        leaf = leaf["left"]
    leaf["value"] = value  # CatBoost reads most of them as 0
    path.write_text(json.dumps(document))
    refused(path, r"the values of leaves should be a list of numbers|of different lengths")


def test_what_catboost_itself_refuses(catboost_files, tmp_path):
    path = tmp_path / "model.cbm"
    path.write_bytes(catboost_files[1][:-1000])
    refused(path, "CatBoost itself cannot read 'model.cbm'")


# ------------------------------------------------------------------------------------------------- scikit-learn


def broken_tree(**changes):
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    state = model.tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    for field, value in changes.items():
        state["nodes"][field][0] = value
    model.tree_.__setstate__(state)
    return model


@pytest.mark.parametrize(
    "changes", [{"left_child": 2**40}, {"left_child": 20}, {"right_child": -5}, {"feature": 2**40}, {"left_child": 0}]
)
def test_nodes_out_of_range(changes):
    with pytest.raises(UnsupportedModelError, match=r"broken|well formed"):
        gw.read_model(broken_tree(**changes))


def test_trees_of_another_width():
    model = RandomForestClassifier(2, max_depth=5, random_state=0).fit(X, Y > 0)
    model.estimators_[1] = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, np.arange(len(X)) % 100)
    with pytest.raises(UnsupportedModelError, match="tree 1 of the model is broken"):
        gw.read_model(model)


def test_an_encoder_of_other_columns():
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(c=pd.Categorical((X[:, 2] > 0).astype(str)))
    model = HistGradientBoostingRegressor(max_iter=2).fit(table, Y)
    name, function, columns = model._preprocessor.transformers_[1]
    for others in (columns[:0], ~columns):  # with fewer columns, scikit-learn reads memory that is not the table's
        model._preprocessor.transformers_[1] = (name, function, others)
        with pytest.raises(UnsupportedModelError, match="encoder takes other columns"):
            gw.read_model(model)


def test_an_isolation_forest_is_read_as_it_scores():
    model = IsolationForest(n_estimators=3, max_samples=32, random_state=0).fit(X)
    before = gw.read_model(model).predict(X)
    model._average_path_length_per_tree = tuple(length + 1.0 for length in model._average_path_length_per_tree)
    np.testing.assert_allclose(gw.read_model(model, X).predict(X), before + 1.0)


@pytest.mark.parametrize("damage", ["cut", "text", "bomb"])
def test_skops(damage, tmp_path):
    path = tmp_path / "model.skops"
    skops_io.dump(DecisionTreeRegressor(max_depth=2).fit(X, Y), path)
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-100])
    elif damage == "text":
        path.write_bytes(b"hello")
    else:
        packed = io.BytesIO(content)
        with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros.npy", bytes(2**27))
        path.write_bytes(packed.getvalue())
    with pytest.raises(UnsupportedModelError, match="unlike any model" if damage == "bomb" else "not a skops file"):
        load_model(path, trusted=["sklearn.tree._tree.Tree"])


# ------------------------------------------------------------------------------------------------- mutants


def run_fuzzer(*arguments):
    """Run the fuzzer of files in a process of its own, and return what it printed."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{PACKAGE}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "fuzz.files", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mutants_of(printed):
    """Return how many mutants of each format the table tells of."""
    lines = printed.rpartition("format ")[2].splitlines()[1:]
    return {line.split()[0]: int(line.split()[1].replace(",", "")) for line in lines}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are read in forks")
@needs("xgboost", (3, 1))  # among the seeds are models that keep the labels of their categories
def test_mutants_do_no_harm(tmp_path):
    found = mutants_of(run_fuzzer("--mutants", "6", "--seed", "1", "--keep", str(tmp_path)))
    assert len(found) == 10
    assert set(found.values()) == {6}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are read in forks")
@needs("xgboost", (3, 1))  # among the seeds are models that keep the labels of their categories
def test_many_mutants_do_no_harm(tmp_path):
    run_fuzzer("--mutants", "5000", "--seed", "2", "--keep", str(tmp_path))
