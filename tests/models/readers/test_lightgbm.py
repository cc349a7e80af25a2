"""LightGBM models are read bit for bit, from boosters, wrappers and files."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.ensemble import HistGradientBoostingRegressor, VotingRegressor

import glasswood as gw
from glasswood.errors import MissingExtraError, ModelMismatchError, TableError, UnsupportedModelError
from glasswood.models.readers import _lightgbm
from glasswood.models.readers._dispatch import check
from glasswood.tables._columns import CodeColumn, LabelColumn, NumberColumn
from zoo.lightgbm_models import (
    CATEGORY,
    CONFIGURATIONS,
    PARAMETERS,
    ZERO,
    absent_class,
    binary,
    coded,
    codes,
    continued,
    frame,
    hostile,
    labelled,
    labels_as_numbers,
    numbers,
    plain,
    raw,
    three_classes,
    train,
    wrapper,
)


# The argument that all versions of LightGBM know is on its way out.
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_bit_for_bit(prove, name):
    model, table = CONFIGURATIONS[name]()
    prove(model, raw, hostile(table), rows=table)


LINKS = {
    "identity": lambda score: score,
    "exp": np.exp,
    "logistic": lambda score: 1 / (1 + np.exp(-score)),
    "softmax": lambda score: np.exp(score) / np.exp(score).sum(axis=1, keepdims=True),
}
SCORES = {
    "regression": ("value", "identity"),
    "quantile": ("value", "identity"),
    "poisson": ("log of the mean", "exp"),
    "gamma": ("log of the mean", "exp"),
    "tweedie": ("log of the mean", "exp"),
    "cross_entropy": ("log-odds", "logistic"),
    "binary": ("log-odds", "logistic"),
    "binary, sigmoid=1.7": ("log-odds / 1.7", "logistic"),
    "multiclass": ("softmax margin", "softmax"),
    "multiclassova": ("log-odds / 0.6", "logistic"),
    "lambdarank": ("ranking score", "identity"),
    "custom objective": ("score", "identity"),
    "random forest, binary": ("log-odds", "logistic"),
    "random forest, multiclass": ("softmax margin", "softmax"),
    "reg_sqrt": ("signed root of the value", "unknown"),
    "cross_entropy_lambda": ("score", "unknown"),
}


@pytest.mark.parametrize("name", SCORES)
def test_link_leads_to_predict(name):
    model, X = CONFIGURATIONS[name]()
    ensemble = gw.read_model(model)
    score = ensemble.score
    assert (score.units, score.link) == SCORES[name]
    if score.link != "unknown":
        ours = LINKS[score.link](score.link_scale * ensemble.predict(X))
        np.testing.assert_allclose(ours, model.predict(X), rtol=1e-12)


def test_output_names():
    assert gw.read_model(plain()[0]).score.labels == ("prediction",)
    assert gw.read_model(binary()[0]).score.labels == (0, 1)
    assert gw.read_model(three_classes(objective="multiclass")[0]).score.labels == (0, 1, 2)
    assert gw.read_model(CONFIGURATIONS["LGBMClassifier, 2 classes"]()[0]).score.labels == ("no", "yes")
    assert gw.read_model(CONFIGURATIONS["LGBMClassifier, 3 classes"]()[0]).score.labels == ("a", "b", "c")


def test_columns():
    ensemble = gw.read_model(coded()[0])
    assert not ensemble.schema.named
    assert ensemble.feature_names == tuple(f"Column_{j}" for j in range(5))
    assert ensemble.schema.columns[0] == NumberColumn("Column_0")
    # LightGBM forgets the rarest codes.
    assert ensemble.schema.columns[3] == CodeColumn("Column_3", 89, toward_zero=True)
    ensemble = gw.read_model(labelled()[0])
    assert ensemble.schema.named
    assert ensemble.schema.columns[1] == LabelColumn("city", ("Aachen", "Bonn", "Celle", "Dessau", "Emden"))
    assert ensemble.schema.columns[2] == LabelColumn("store", tuple(range(100, 300, 3)))
    zero = gw.read_model(plain(zeros=True, zero_as_missing=True)[0])
    assert zero.schema.columns[0] == NumberColumn("Column_0", (-ZERO, ZERO))


def test_unseen_and_reordered_labels():
    model, table = labelled()
    ensemble = gw.read_model(model)
    changed = table.assign(city=table["city"].cat.set_categories(["Emden", "Zwickau", "Bonn", "Aachen"]))
    changed["store"] = table["store"].cat.add_categories([1, 10_000])
    changed.loc[5:50, "store"] = 10_000
    changed.loc[50:90, "city"] = "Zwickau"
    np.testing.assert_array_equal(ensemble.predict(changed), raw(model, changed))


def test_labels_in_other_frames():
    model, table = labelled()
    table = table.assign(store=table["store"].astype(int))
    others = [table.assign(city=table["city"].astype(object)), pl.from_pandas(table)]
    for other in others:
        np.testing.assert_array_equal(gw.read_model(model).predict(other), raw(model, frame()[0]))


def test_mixed_missing_types_are_there():
    # The two configurations of continued training are only worth something if one feature has two missing types.
    for name, kinds in (("continued, None then NaN", {0, 2}), ("continued, Zero then None", {0, 1})):
        nodes = _lightgbm._nodes(_lightgbm.split(CONFIGURATIONS[name]()[0].model_to_string()).trees)
        assert set(nodes.missing_type[nodes.feature == 0]) == kinds


def test_one_leaf_trees_are_there():
    ensemble = gw.read_model(absent_class()[0])
    assert (ensemble.root[3::4] < 0).all()


def test_cuts_around_zero():
    X, y = numbers(zeros=True)
    model = train(X, y, num_leaves=31, min_data_in_leaf=2)
    thresholds = _lightgbm._nodes(_lightgbm.split(model.model_to_string()).trees).threshold
    assert {ZERO, -ZERO} & set(thresholds.tolist())
    cut = gw.read_model(model).cut
    assert not ((cut >= -ZERO) & (cut < ZERO)).any()


@pytest.mark.parametrize("name", ["regression, many zeros", "zero_as_missing", "codes, 90 levels"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_absent_entries_of_sparse_matrices_are_zero(name, kind):
    model, X = CONFIGURATIONS[name]()
    table = kind(X)
    ensemble = gw.read_model(model, table)
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))


# scikit-learn remarks that a wrapper fitted on a frame now gets an array.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_other_tables():
    model, table = wrapper(lgb.LGBMRegressor, named=True)
    ensemble = gw.read_model(model)
    single = table.astype(np.float32)
    for other in (single, single.to_numpy(), pl.from_pandas(table), pl.from_pandas(table).to_arrow()):
        check(ensemble, model, other)
        np.testing.assert_array_equal(ensemble.predict(other), raw(model, other))
    # By name, not by position as LightGBM would.
    moved = table.assign(extra=1.0)[[*"edcba", "extra"]]
    check(ensemble, model, moved)
    np.testing.assert_array_equal(ensemble.predict(moved), raw(model, table))
    with pytest.raises(TableError, match="'a'"):
        ensemble.predict(table.rename(columns={"a": "other"}))


def test_blanks_in_names():
    # LightGBM writes "number of rooms" as "number_of_rooms", and goes by position when it predicts.
    X, y = numbers()
    table = pd.DataFrame(X, columns=["number of rooms", "ü x", "c", "d", "e"])
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(table, y)
    ensemble = gw.read_model(model, table)
    assert ensemble.feature_names[:2] == ("number of rooms", "ü x")  # the user's own
    assert gw.read_model(model).feature_names[:2] == ("number_of_rooms", "ü_x")  # without a table
    np.testing.assert_array_equal(ensemble.predict(table), model.predict(table))
    moved = table.assign(extra=1.0)[["extra", "d", "ü x", "e", "number of rooms", "c"]]
    np.testing.assert_array_equal(ensemble.predict(moved), model.predict(table))
    with pytest.raises(TableError, match="several columns of the table could be the model's column 'ü_x'"):
        ensemble.predict(table.assign(ü_x=1.0))


@pytest.mark.parametrize("dtype", [np.int64, object, np.float32, ">f8", np.float64])
def test_numbers_of_every_type_are_rounded_as_lightgbm_does(dtype):
    # Found by fuzzing: a Booster rounds arrays of objects to float32, an estimator makes float64 of them.
    X = np.random.default_rng(0).integers(2**24, 2**24 + 50, size=(200, 2))
    model = lgb.LGBMRegressor(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1).fit(X, X[:, 0] % 7)
    rows = X.astype(dtype)
    for given in (model, model.booster_):
        np.testing.assert_array_equal(gw.read_model(given, rows).predict(rows), raw(given, rows))
    assert (raw(model, X.astype(float)) != raw(model, X)).any()
    beyond = np.array([[1e308, -1e308]], dtype=object)  # of float32
    ours = gw.read_model(model.booster_).predict(beyond)
    with np.errstate(over="ignore"):  # LightGBM's own cast warns
        np.testing.assert_array_equal(ours, raw(model.booster_, beyond))


def test_infinities_beside_categories():
    # Found by fuzzing: a warning about the remainder of infinity, while the columns of categories were looked for.
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "c": pd.Categorical(rng.choice(["a", "b"], size=60))})
    table.loc[:5, "x"] = np.inf
    model = lgb.LGBMRegressor(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1)
    model.fit(table, (table["c"] == "a") + np.isinf(table["x"]))
    np.testing.assert_array_equal(gw.read_model(model, table).predict(table), raw(model, table))


def test_blanks_in_names_of_features_groups_and_mappings():
    # Found by fuzzing: features could be asked for by their own names, but not groups and the columns of mappings.
    X, y = numbers()
    table = pd.DataFrame(X, columns=["number of rooms", "ü x", "c", "d", "e"])
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(table, y)
    curve = gw.Explainer(model, table).partial_dependence("ü x")
    points = {"ü x": [0.0, 1.0]}
    for at in (points, pd.DataFrame(points)):
        found = gw.Explainer(model, table).partial_dependence("ü x", at=at)
        np.testing.assert_allclose(found.values, curve([0.0, 1.0]), rtol=1e-12)
    ex = gw.Explainer(model, {name: table[name].to_numpy() for name in table}, groups={"the rest": ["ü x", "c"]})
    assert ex.partial_dependence("the rest", at=table[["ü x", "c"]][:3]).values.shape == (3,)
    assert ex.features == ex.shap_values(table).names == ("the rest", "number of rooms", "d", "e")
    counted = gw.Explainer(model, gw.summarize(model, table, groups={"the rest": ["ü x", "c"]}))
    assert counted.partial_dependence("the rest", at=table[["ü x", "c"]][:3]).values.shape == (3,)


def test_names_are_those_of_the_table(tmp_path):
    X, y = numbers()
    table = pd.DataFrame(X, columns=["number of rooms", "ü x", "c", "d", "e"])
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(table, y)
    table.to_parquet(tmp_path / "rows.parquet")
    voting = VotingRegressor([("one", model), ("two", HistGradientBoostingRegressor(max_iter=3))]).fit(table, y)
    for given, rows in ((model, table), (model, tmp_path / "rows.parquet"), (model.booster_, table), (voting, table)):
        ex = gw.Explainer(given, rows)
        assert ex.features == tuple(table.columns)
        assert list(ex.partial_dependence()) == list(table.columns)
        for name in ("ü x", "ü_x", 1):  # as the user and as LightGBM write it
            assert ex.partial_dependence(name).name == "ü x"
        with pytest.raises(TableError, match="did you mean 'number of rooms'"):
            ex.partial_dependence("number of room")
    written = table.rename(columns=lambda name: name.replace(" ", "_"))
    assert gw.Explainer(model, written).features == tuple(written.columns)
    assert gw.summarize(model, table) == gw.summarize(model, written)


def test_explainers_that_spell_names_otherwise_are_compared():
    X, y = numbers()
    table = pd.DataFrame(X, columns=["number of rooms", "ü x", "c", "d", "e"])
    model = lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(table, y)
    known, counted = gw.Explainer(model, table), gw.Explainer(model, gw.summarize(model, table))
    other = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(table, y), table)
    for explainers in ({"a": known, "b": counted}, {"a": known, "b": other}, {"a": counted, "b": other}):
        assert len(gw.compare(explainers).features) == 5
    assert "number of rooms" in gw.compare({"a": known, "b": counted}).features
    judged = gw.compare({"a": known, "b": counted}, limits={"difference": 0.1, "ndcg": 0.9})
    assert not judged.violations


def test_covers_are_row_counts():
    X, y = numbers()
    model = train(X, y, dataset={"weight": np.linspace(0.1, 9, len(y))})
    ensemble = gw.read_model(model)
    leaves = model.predict(X, pred_leaf=True)
    expected = np.concatenate([np.bincount(column, minlength=8) for column in leaves.T])
    np.testing.assert_array_equal(ensemble.leaf_cover, expected)
    np.testing.assert_array_equal(ensemble.cover[ensemble.root], len(X))
    # LightGBM's own path-dependent baseline is the average over counts, not over weights.
    mean = (ensemble.value[:, 0] * ensemble.leaf_cover).sum() / len(X)
    np.testing.assert_allclose(model.predict(X[:1], pred_contrib=True)[0, -1], mean)


@pytest.mark.parametrize("name", ["regression, missing values", "pandas categories", "random forest, multiclass"])
def test_file(tmp_path, name):
    model, table = CONFIGURATIONS[name]()
    path = tmp_path / "model.txt"
    model.save_model(path)
    ensemble = gw.read_model(path, table)
    assert ensemble.source == "lightgbm file"
    rows = hostile(table)(ensemble)
    np.testing.assert_array_equal(ensemble.predict(rows), raw(model, rows))
    assert ensemble.schema == gw.read_model(model).schema
    # LightGBM itself counts bytes, and dies of a file with the line ends of Windows.
    path.write_text(model.model_to_string(), newline="\r\n")
    np.testing.assert_array_equal(gw.read_model(path).predict(rows), raw(model, rows))


def test_file_with_names_in_another_order(tmp_path):
    # LightGBM goes by position, whatever the names are; Glasswood by the names that the file tells.
    model, X = plain()
    names = model.feature_name()
    swapped = [names[1], names[0], *names[2:]]
    path = tmp_path / "model.txt"
    path.write_text(model.model_to_string().replace(" ".join(names), " ".join(swapped), 1))
    table = pd.DataFrame(X, columns=names)
    expected = raw(lgb.Booster(model_file=path), table[swapped])
    np.testing.assert_array_equal(gw.read_model(path).predict(table), expected)


def test_file_of_version_3(tmp_path):
    model, X = plain()
    path = tmp_path / "model.txt"
    path.write_text(model.model_to_string().replace("version=v4", "version=v3"))
    np.testing.assert_array_equal(gw.read_model(path, X).predict(X), raw(lgb.Booster(model_file=path), X))


def test_file_is_read_without_lightgbm(tmp_path):
    path = tmp_path / "model.txt"
    plain()[0].save_model(path)
    code = f"import sys, glasswood as gw; gw.read_model({str(path)!r}); sys.exit('lightgbm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_file_check_needs_lightgbm(tmp_path, monkeypatch):
    path = tmp_path / "model.txt"
    model, X = plain()
    model.save_model(path)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"glasswood\[lightgbm\]"):
        gw.read_model(path, X)


def test_tampered_ensemble_is_refused():
    model, X = plain()
    ensemble = gw.read_model(model)
    check(ensemble, model, X)
    cut, value = ensemble.cut.copy(), ensemble.value.copy()
    cut[ensemble.root[0]] += 0.5
    value[ensemble.leaf_cover.argmax()] += 1e-6
    for tampered in (dataclasses.replace(ensemble, cut=cut), dataclasses.replace(ensemble, value=value)):
        with pytest.raises(ModelMismatchError, match="lightgbm Booster"):
            check(tampered, model, X)


def test_labels_of_the_wrong_column_are_refused():
    # Ordered categories beside integer codes look, in the text, just like categories beside numbers.
    table, y = frame()
    table["city"] = table["city"].cat.as_ordered()
    table["store"] = table["store"].astype(int) % 5
    model = train(table, y, dataset={"categorical_feature": ["store"]}, **CATEGORY)
    assert isinstance(gw.read_model(model).schema.columns[2], LabelColumn)
    with pytest.raises(gw.errors.GlasswoodError):
        gw.read_model(model, table)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, object, ">f8", np.longdouble])
def test_arrays_that_lightgbm_rounds_are_rounded(dtype):
    # LightGBM rounds NumPy arrays that are not of floats to float32; beyond 2**24 they are other numbers then.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2**30, size=(300, 2))
    model = train(X, X[:, 0] / 1e9)
    ensemble = gw.read_model(model, X.astype(np.float64))
    cuts = ensemble.cut[ensemble.feature == 0]
    rows = np.zeros((3 * cuts.size, 2), dtype=np.int64)
    rows[:, 0] = np.concatenate([np.floor(cuts) + step for step in (-20, 1, 20)])
    exact = model.predict(rows.astype(np.float64), raw_score=True)
    np.testing.assert_array_equal(ensemble.predict(rows.astype(np.float64)), exact)
    rounded = model.predict(rows.astype(dtype), raw_score=True)
    np.testing.assert_array_equal(ensemble.predict(rows.astype(dtype)), rounded)
    assert (rounded != exact).any()
    frame = pd.DataFrame(rows, columns=["a", "b"])  # of frames, integers are exact
    np.testing.assert_array_equal(ensemble.predict(frame), model.predict(frame, raw_score=True))
    check(ensemble, model, rows.astype(dtype))


def test_reading_is_fast():
    X, y = numbers(2000)
    model = train(X, y, 100, num_leaves=31)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        gw.read_model(model)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.2  # of the processor, beside other tests; benchmarks/readers.py has the figure


def not_trained():
    X, y = numbers()
    return lgb.Booster(PARAMETERS, lgb.Dataset(X, y))


def folds():
    X, y = numbers()
    return lgb.cv(PARAMETERS, lgb.Dataset(X, y), 2, nfold=2, stratified=False, return_cvbooster=True)["cvbooster"]


def stops_early_in_predict():
    return wrapper(lgb.LGBMClassifier, lambda y: y > 0, pred_early_stop=True)[0]


def cut_and_categories():
    X, y = codes()
    return train(X, y, init_model=train(X, y, dataset={"categorical_feature": [1, 3]}, **CATEGORY))


REFUSALS: dict[str, tuple[Callable[[], Any], str]] = {
    # read as if it were not linear in shap's loaded trees, 100 % of rows wrong (3.2)
    "linear_tree": (lambda: plain(linear_tree=True)[0], "linear_tree=False"),
    "not fitted": (lgb.LGBMRegressor, "call fit first"),
    "no trees": (not_trained, "no trees"),
    "CVBooster": (folds, "boosters of a CVBooster"),
    "Dataset": (lambda: lgb.Dataset(numbers()[0]), "Dataset is not supported"),
    "Dask": (lgb.DaskLGBMRegressor, "to_local"),
    "pred_early_stop": (stops_early_in_predict, "pred_early_stop=True"),
    "categories, then numbers": (cut_and_categories, "'Column_1' as categories in some trees"),
    "NaN missing, then Zero": (
        lambda: continued({}, {"zero_as_missing": True}, missing=True, missing_then=True, zeros=True)[0],
        "with zero as missing in some trees",
    ),
    "pandas categories as numbers": (lambda: labels_as_numbers()[0], "does not say which"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name):
    make, words = REFUSALS[name]
    with pytest.raises(UnsupportedModelError, match=words):
        gw.read_model(make())


EDITS = {
    "unknown version": ("version=v4", "version=v9", "version 'v9'"),
    "no version": ("version=v4\n", "", "version None"),
    "cut short": ("\nend of trees", "", "truncated"),
    "unknown part of the header": ("\nlabel_index=0", "\nlabel_index=0\nscaling=2", "scaling"),
    "unknown part of a tree": ("\nshrinkage=", "\nbias=2\nshrinkage=", "bias"),
    "unknown decision": ("\ndecision_type=2 ", "\ndecision_type=14 ", "decision_type"),
    "a name lost": ("feature_names=Column_0 ", "feature_names=", "damaged: 5 features, but 4 names"),
    "a threshold lost": ("\nthreshold=", "\nthreshold=1.5 ", "damaged: 71 numbers of threshold"),
    "a leaf lost": ("\nleaf_value=", "\nleaf_value=1.5 ", "damaged: 81 numbers of leaf_value"),
    "no names": ("\nfeature_names=", "\nversion=v4\nobjective=", "damaged: a key that is there twice"),
    "not a number": ("\nleaf_value=", "\nleaf_value=x", "damaged: could not convert"),
    "a tree lost": (
        "num_tree_per_iteration=1",
        "num_tree_per_iteration=3",
        "3 trees per iteration for 1 class",
    ),
    "a size lost": ("\ntree_sizes=", "\ntree_sizes=1 ", "not of the sizes that it says"),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_text_is_refused(tmp_path, name):
    old, new, words = EDITS[name]
    text = plain()[0].model_to_string()
    assert old in text
    path = tmp_path / "model.txt"
    text = text.replace(old, new, 1)
    if "sizes" not in words:  # without them, LightGBM reads line by line, too
        text = re.sub("tree_sizes=.*\n", "", text)
    path.write_text(text)
    with pytest.raises(UnsupportedModelError, match=words):
        gw.read_model(path)


def test_unknown_objective_has_no_link(tmp_path):
    path = tmp_path / "model.txt"
    model, X = plain()
    path.write_text(model.model_to_string().replace("objective=regression", "objective=novel"))
    ensemble = gw.read_model(path)
    assert ensemble.score.link == "unknown"
    np.testing.assert_array_equal(ensemble.predict(X), raw(model, X))


def test_stump_without_count(tmp_path):
    # Before 4.6 or so, the text of a tree of one leaf had nothing but its value.
    path = tmp_path / "model.txt"
    model, X = plain(min_data_in_leaf=1000)
    path.write_text(model.model_to_string().replace("\nleaf_count=300", ""))
    np.testing.assert_array_equal(gw.read_model(path, X).predict(X), raw(model, X))
