"""CatBoost models are read bit for bit: numbers, one-hot values and CTRs, every shape of tree, models and files."""

from __future__ import annotations

import dataclasses
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import glasswood as gw
from glasswood.errors import MissingExtraError, ModelMismatchError, TableError, UnsupportedModelError
from glasswood.models.readers import _catboost
from glasswood.models.readers._catboost_ctr import HashColumn
from glasswood.models.readers._dispatch import check
from glasswood.tables._columns import UNSEEN
from helpers.adversarial import ODD, hostile_array, hostile_frame
from helpers.versions import needs
from zoo.catboost_models import (
    CATEGORIES,
    CTR,
    FRAMES,
    NUMBERS,
    SMALL,
    TRIES,
    catboost,
    classes,
    classifier,
    forged,
    homes,
    mixed,
    numbers,
    plain,
    ranker,
    raw,
    summed,
)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_model_of_numbers_is_read_bit_for_bit(name, prove):
    model, X = NUMBERS[name]()
    ensemble = prove(model, raw, lambda ensemble: hostile_array(X, ensemble, odd=ODD, max_=4000))
    assert not ensemble.schema.named


@pytest.mark.parametrize("name", FRAMES)
def test_a_model_with_categories_is_read_bit_for_bit(name, prove):
    model, table = FRAMES[name]()
    tries = TRIES | {"city": TRIES["city"] + [f"city {k}" for k in range(15, 420)]} if len(table) > 1000 else TRIES
    ensemble = prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=tries, max_=4000))
    assert set(CATEGORIES) & {ensemble.feature_names[j] for j in ensemble.used_features}
    assert ensemble.schema.named


# The types that CatBoost trains on a GPU only are computed like the ones on the CPU, which here lend them their tables.
@pytest.mark.parametrize(
    ("name", "of", "ctr"),
    [
        ("FeatureFreq", "Counter", "Counter:Prior=0.3/1"),
        ("FloatTargetMeanValue", "BinarizedTargetMeanValue", "BinarizedTargetMeanValue"),
    ],
)
def test_types_of_statistics_of_gpu_models(name, of, ctr, prove, tmp_path):
    model, table = forged(lambda text: text.replace(of, name), tmp_path, simple_ctr=ctr)
    prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000))
    assert name in (tmp_path / "model.json").read_text()


def test_prior_denominators_of_gpu_models(prove, tmp_path):
    model, table = forged(
        lambda text: text.replace('"prior_denomerator":1', '"prior_denomerator":3'), tmp_path, simple_ctr="Borders"
    )
    prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000))


def test_statistics_equal_to_a_border(prove, tmp_path):
    """Borders lie between statistics by nature; here each is the statistic of some category, in float32 as CatBoost."""

    def move_borders(text):
        document = json.loads(text)
        features = document["features_info"]
        border_of = {}
        number = sum(len(feature["borders"]) for feature in features["float_features"])
        for ctr in features["ctrs"]:
            entries = document["ctr_data"][ctr["identifier"]]["hash_map"]
            low, high = (np.array(entries[k::3], dtype=np.float32) for k in (1, 2))
            ratio = (high + np.float32(ctr["prior_numerator"])) / (low + high + np.float32(1))
            values = np.unique((ratio + np.float32(ctr["shift"])) * np.float32(ctr["scale"]))
            places = np.linspace(0, values.size - 1, len(ctr["borders"]) + 2).astype(int)[1:-1]
            ctr["borders"] = values[places].tolist()
            border_of |= {number + k: border for k, border in enumerate(ctr["borders"])}
            number += len(ctr["borders"])
        for tree in document["oblivious_trees"]:
            for split in tree["splits"]:
                split["border"] = border_of.get(split["split_index"], split["border"])
        return json.dumps(document)

    priors = "Borders:Prior=-0.3/1:Prior=0.1/1:Prior=0.7/1"
    model, table = forged(move_borders, tmp_path, simple_ctr=priors, iterations=40)
    prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000))


def test_missing_values_go_right_only_if_training_had_some(prove, tmp_path):
    def never_missing(text):
        return text.replace('"has_nans":true', '"has_nans":false')

    model, table = forged(never_missing, tmp_path, nan_mode="Max")
    ensemble = prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000))
    assert '"AsTrue"' in (tmp_path / "model.json").read_text()
    assert ensemble.missing_left[ensemble.category_set < 0].all()


def test_a_tree_without_splits(prove, tmp_path):
    def cut_down(text):
        document = json.loads(text)
        document["oblivious_trees"][1] = {"leaf_values": [0.1], "leaf_weights": [400], "splits": None}
        return json.dumps(document)

    model, table = forged(cut_down, tmp_path)
    prove(model, raw, lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000))


@pytest.mark.parametrize("n_rows", [1, 2, 15, 17, 127, 128, 129, 20_000])
def test_the_sum_is_the_same_for_any_number_of_rows(n_rows):
    # CatBoost adds in blocks of 128 rows, by four trees at a time, and on several threads.
    X, y = numbers()
    model = catboost.CatBoostRegressor(**SMALL | {"iterations": 103, "thread_count": 2}).fit(X, y)
    rows = X[np.random.default_rng(0).integers(len(X), size=n_rows)]
    np.testing.assert_array_equal(gw.read_model(model).predict(rows), raw(model, rows))


def test_a_frame_of_numbers_is_read_by_name():
    X, y = numbers()
    table = pd.DataFrame(X, columns=list("abcde")).assign(c=lambda t: (t["c"] * 10).astype(int), d=lambda t: t["d"] > 0)
    model = catboost.CatBoostRegressor(**SMALL).fit(table, y)
    ensemble = gw.read_model(model, table)
    assert ensemble.feature_names == tuple("abcde")
    expected = raw(model, table)
    np.testing.assert_array_equal(ensemble.predict(table[list("ebdca")]), expected)
    np.testing.assert_array_equal(ensemble.predict(pl.from_pandas(table)), expected)
    np.testing.assert_array_equal(ensemble.predict(scipy.sparse.csr_matrix(table.astype(float))), expected)


@pytest.mark.parametrize("columns", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
def test_numbers_as_names(columns):
    X, y = numbers()
    table = pd.DataFrame(X, columns=columns)
    model = catboost.CatBoostRegressor(**SMALL).fit(table, y)
    ensemble = gw.read_model(model, table)
    assert ensemble.schema.named == (columns[0] != 0)
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))


def tables_of_homes():
    """The same rows in every kind of table."""
    table, _ = homes()
    texts = table.astype({"store": str})
    return {
        "pandas": table,
        "pandas, categories": table.astype(dict.fromkeys(CATEGORIES, "category")),
        "pandas, objects": table.astype(object),
        "pandas, texts": texts,
        "pandas, nullable": table.astype({"store": "Int64", "city": "string"}),
        "NumPy, objects": table.to_numpy(dtype=object),
        "Polars": pl.from_pandas(table),
        "Polars, enumeration": pl.from_pandas(texts).with_columns(pl.col("wing").cast(pl.Enum(["west", "east"]))),
        "PyArrow": pa.Table.from_pandas(table),
        "PyArrow, categories": pa.Table.from_pandas(table.astype({"city": "category", "wing": "category"})),
    }


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=needs("catboost", (1, 2, 8)) if "Polars" in kind else ())  # refused before
        for kind in tables_of_homes()
    ],
)
def test_categories_of_any_table(kind):
    model, table = mixed(one_hot_max_size=2)
    rows = tables_of_homes()[kind]
    ensemble = gw.read_model(model, rows)
    np.testing.assert_array_equal(ensemble.predict(rows), raw(model, table))
    if "PyArrow" not in kind:  # which CatBoost itself does not take
        np.testing.assert_array_equal(ensemble.predict(rows), raw(model, rows))


@pytest.mark.parametrize("names", [["city", "store", "wing"], [1, 3, 4]])
def test_columns_of_categories_by_name_or_number(names):
    table, y = homes()
    model = catboost.CatBoostRegressor(**SMALL | CTR | {"cat_features": names}).fit(table, y)
    np.testing.assert_array_equal(gw.read_model(model, table).predict(table), raw(model, table))


def test_an_array_of_integers_with_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(-5, 30, size=(300, 3))
    model = catboost.CatBoostRegressor(**SMALL, cat_features=[0, 2], max_ctr_complexity=1).fit(X, X[:, 0] % 4 + X[:, 1])
    rows = np.vstack([X, rng.integers(-50, 100, size=(300, 3))])
    np.testing.assert_array_equal(gw.read_model(model, rows).predict(rows), raw(model, rows))


def test_true_and_false_are_the_categories_1_and_0():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=200), "lift": rng.random(200) < 0.5})
    model = catboost.CatBoostRegressor(**SMALL, cat_features=["lift"]).fit(table, table["size"] + 3 * table["lift"])
    ensemble = gw.read_model(model, table)
    assert 1 in ensemble.used_features
    for rows in (table, table.astype({"lift": int}), table.astype({"lift": int}).astype({"lift": str})):
        np.testing.assert_array_equal(ensemble.predict(rows), raw(model, rows))


@pytest.mark.parametrize(
    ("value", "reason"),
    [(None, "missing category in row 2"), (np.nan, "missing"), (1.5, "holds 1.5"), (2.0, "holds 2.0")],
)
def test_categories_that_catboost_refuses_are_refused(value, reason):
    model, table = mixed()
    rows = table.astype(object)
    rows.loc[2, "city"] = value
    with pytest.raises((catboost.CatBoostError, TypeError)):
        raw(model, rows)
    with pytest.raises(TableError, match=f"column 'city' .*{reason}"):
        gw.read_model(model).predict(rows)


def test_a_column_of_categories_knows_hashes_until_it_is_shown_values():
    model, table = mixed()
    column = gw.read_model(model).schema.columns[3]
    assert isinstance(column, HashColumn)
    assert column.n_codes == table["store"].nunique()
    assert column.categories == column.hashes == tuple(sorted(column.hashes))
    shown = column.labelled(np.array([3, 5, 99]))
    assert {3, 5} < set(shown.categories)
    assert len(set(shown.categories) & set(column.hashes)) == column.n_codes - 2  # 99 is unseen
    codes = column.encode(np.array([5, 99, 3]))
    assert [shown.categories[int(codes[0])], codes[1], shown.categories[int(codes[2])]] == [5, UNSEEN, 3]
    all_shown = column.labelled(table["store"].to_numpy())
    assert set(all_shown.categories) == set(table["store"])
    np.testing.assert_array_equal(all_shown.encode(table["store"].to_numpy()), column.encode(table["store"].to_numpy()))


def test_a_column_of_categories_without_splits_takes_anything():
    column = HashColumn("city", (), ())
    np.testing.assert_array_equal(column.encode(np.array(["a", "b"])), [UNSEEN, UNSEEN])
    np.testing.assert_array_equal(HashColumn("city", (7,), (7,)).encode(np.array([b"a"])), [UNSEEN])


# ---------------------------------------------------------------------------------------------------------------------


def names_of(model):
    score = gw.read_model(model).score
    return score.labels, score.units, score.link


def test_outputs_are_named_after_classes_targets_or_quantiles():
    log_odds = ("log-odds", "logistic")
    assert names_of(plain()[0]) == (("prediction",), "value", "identity")
    assert names_of(plain("Poisson", np.abs)[0]) == (("prediction",), "log of the mean", "exp")
    assert names_of(ranker("YetiRank")[0]) == (("prediction",), "ranking score", "identity")
    assert names_of(classifier(lambda y: y > 0)[0]) == ((False, True), *log_odds)
    assert names_of(classifier(lambda y: np.where(y > 0, "up", "down"))[0]) == (("down", "up"), *log_odds)
    assert names_of(classifier(lambda y: (y > 0) * 1, class_names=[1, 0])[0]) == ((1, 0), *log_odds)
    assert names_of(classifier(lambda y: (y > 0) * 1.0)[0]) == ((0.0, 1.0), *log_odds)
    assert names_of(plain("CrossEntropy", lambda y: (y > 0) * 0.9)[0]) == ((0, 1), *log_odds)
    assert names_of(classifier(lambda y: np.array(list("abc"))[classes(y)])[0]) == (
        tuple("abc"),
        "softmax margin",
        "softmax",
    )
    assert names_of(NUMBERS["several targets"]()[0]) == ((0, 1, 2), "value", "identity")
    assert names_of(NUMBERS["several labels"]()[0]) == ((0, 1), *log_odds)
    assert names_of(NUMBERS["several quantiles"]()[0])[0] == ("quantile 0.1", "quantile 0.5", "quantile 0.9")
    uncertain = ("mean", "log of the standard deviation")
    assert names_of(plain("RMSEWithUncertainty")[0]) == (uncertain, "score", "unknown")
    assert names_of(summed()[0]) == (("prediction",), "value", "identity")
    two = classifier(lambda y: np.where(y > 0, "up", "down"))[0]
    assert names_of(catboost.sum_models([two, two])) == (("down", "up"), *log_odds)


def test_links_lead_to_the_predictions_of_catboost():
    model, X = classifier(lambda y: y > 0)
    scores = gw.read_model(model).predict(X)
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), model.predict_proba(X)[:, 1], rtol=1e-12)
    model, X = NUMBERS["three classes"]()
    scores = np.exp(gw.read_model(model).predict(X))
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), model.predict_proba(X), rtol=1e-12)
    X, y = numbers()
    model = catboost.CatBoostRegressor(**SMALL, loss_function="Tweedie:variance_power=1.3").fit(X, np.abs(y))
    np.testing.assert_allclose(np.exp(gw.read_model(model).predict(X)), model.predict(X), rtol=1e-12)


def test_classes_without_training_rows_have_no_output():
    model, X = classifier(lambda y: np.array(list("ace"))[classes(y)], class_names=list("abcde"))
    ensemble = gw.read_model(model, X)
    assert ensemble.score.labels == ("a", "c", "e")
    theirs = raw(model, X)
    assert np.isneginf(theirs[:, [1, 3]]).all()
    np.testing.assert_array_equal(ensemble.predict(X), theirs[:, [0, 2, 4]])


@pytest.mark.filterwarnings("ignore:Failed to import numba")
def test_an_own_loss_has_an_unknown_link():
    class Squares:
        def calc_ders_range(self, approxes, targets, weights):
            return [(targets[k] - approxes[k], -1.0) for k in range(len(targets))]  # CatBoost compiles this

    X, y = numbers()
    model = catboost.CatBoostRegressor(**SMALL, loss_function=Squares(), eval_metric="RMSE").fit(X, y)
    assert names_of(model) == (("prediction",), "score", "unknown")
    np.testing.assert_array_equal(gw.read_model(model).predict(X), raw(model, X))


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("one_hot", [False, True])
def test_covers_are_the_training_weight_that_reached_a_node(policy, one_hot):
    table, y = homes()
    table = table if one_hot else table.drop(columns=CATEGORIES)
    weight = np.random.default_rng(0).integers(1, 4, len(table)).astype(float)
    parameters = (
        SMALL | {"grow_policy": policy} | ({"cat_features": CATEGORIES, "one_hot_max_size": 50} if one_hot else {})
    )
    model = catboost.CatBoostRegressor(**parameters).fit(table, y, sample_weight=weight)
    ensemble = gw.read_model(model)
    cover = np.concatenate(
        [ensemble.cover, ensemble.leaf_cover[::-1]]
    )  # so that a leaf's number ~k counts from the end
    below = [cover[child] for child in (ensemble.left, ensemble.right)]
    np.testing.assert_array_equal(ensemble.cover, sum(below))
    np.testing.assert_array_equal(cover[ensemble.root], np.full(ensemble.n_trees, weight.sum()))
    if policy == "SymmetricTree":  # whose leaves are in CatBoost's own order
        reached = np.asarray(model.calc_leaf_indexes(table))
        sizes = np.diff([0, *np.flatnonzero(np.diff(leaf_tree(ensemble))) + 1, ensemble.n_leaves])
        expected = [np.bincount(reached[:, t], weight, minlength=size) for t, size in enumerate(sizes)]
        np.testing.assert_array_equal(ensemble.leaf_cover, np.concatenate(expected))


def leaf_tree(ensemble):
    """The tree of each leaf."""
    tree = np.empty(ensemble.n_leaves, dtype=int)
    for number, node in enumerate(ensemble.root):
        waiting = [node]
        for node in waiting:
            if node < 0:
                tree[~node] = number
            else:
                waiting += [ensemble.left[node], ensemble.right[node]]
    return tree


def test_covers_of_models_with_statistics_of_categories_are_not_to_be_trusted():
    # model-semantics.md, 2.2: they count other rows than the model itself would.
    ensemble = gw.read_model(mixed()[0])
    assert ensemble.cover is None
    assert ensemble.leaf_cover is None


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_a_model_without_leaf_weights_has_no_covers(policy, tmp_path):
    model, X = plain(grow_policy=policy)
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    path.write_text(without(json.loads(path.read_text()), {"leaf_weights", "weight"}))
    ensemble = gw.read_model(path)
    assert ensemble.cover is None
    np.testing.assert_array_equal(ensemble.predict(X), raw(model, X))


def without(part, names):
    """JSON without the entries of these names."""

    def clean(part):
        if isinstance(part, dict):
            return {key: clean(value) for key, value in part.items() if key not in names}
        return [clean(value) for value in part] if isinstance(part, list) else part

    return json.dumps(clean(part))


# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one-hot and CTR", "CTR, depthwise", "CTR of mean targets", "CTR of counts"])
@pytest.mark.parametrize("suffix", ["cbm", "json"])
def test_a_model_file_is_read_bit_for_bit(name, suffix, prove, tmp_path):
    model, table = FRAMES[name]()
    path = tmp_path / f"model.{suffix}"
    model.save_model(str(path), format=suffix)
    # CatBoost itself reads numbers of a JSON file with errors in the last digit, so the model that wrote it is asked.
    prove(
        path,
        lambda _, rows: raw(model, rows),
        lambda ensemble: hostile_frame(table, ensemble, odd=ODD, categories=TRIES, max_=2000),
    )


@pytest.mark.parametrize("suffix", ["cbm", "json"])
def test_a_model_file_is_checked_with_rows(suffix, tmp_path):
    model, table = mixed()
    path = tmp_path / f"model.{suffix}"
    model.save_model(str(path), format=suffix)
    ensemble = gw.read_model(str(path), table)
    assert ensemble.feature_names == tuple(table.columns)
    assert ensemble.source == {"cbm": "catboost CatBoost", "json": "catboost JSON file"}[suffix]


def test_a_file_of_a_model_of_a_plain_array(tmp_path):
    model, X = plain()
    model.save_model(str(tmp_path / "model.json"), format="json")
    ensemble = gw.read_model(tmp_path / "model.json", X)
    assert not ensemble.schema.named
    assert ensemble.feature_names == ("0", "1", "2", "3", "4")
    np.testing.assert_array_equal(ensemble.predict(X), raw(model, X))


def test_a_file_saved_with_its_pool_knows_the_texts_of_categories(tmp_path):
    model, table = mixed()
    pool = catboost.Pool(table, cat_features=CATEGORIES)
    model.save_model(str(tmp_path / "model.json"), format="json", pool=pool)
    ensemble = gw.read_model(tmp_path / "model.json", table)
    assert set(ensemble.schema.columns[1].categories) == set(table["city"])
    assert set(ensemble.schema.columns[3].categories) == {str(k) for k in table["store"]}
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))


def test_a_file_saved_with_a_pool_without_categories(tmp_path):
    # Found by fuzzing: the texts of categories are then null, which was a TypeError.
    model, X = plain()
    model.save_model(str(tmp_path / "model.json"), format="json", pool=catboost.Pool(X))
    assert '"cat_features_hash":null' in (tmp_path / "model.json").read_text()
    np.testing.assert_array_equal(gw.read_model(tmp_path / "model.json", X).predict(X), raw(model, X))


def test_fractions_in_a_json_file_that_catboost_itself_misreads(tmp_path):
    # CatBoost 1.2.10 reads the sums of targets of a JSON file as integers, and so loads another model.
    model, table = FRAMES["CTR of mean targets"]()
    model.save_model(str(tmp_path / "model.json"), format="json")
    np.testing.assert_array_equal(gw.read_model(tmp_path / "model.json").predict(table), raw(model, table))
    loaded = _catboost.load_file(tmp_path / "model.json")
    assert np.abs(raw(loaded, table) - raw(model, table)).max() > 0.1
    with pytest.raises(ModelMismatchError):
        gw.read_model(tmp_path / "model.json", table)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_large_whole_numbers(policy, tmp_path):
    # CatBoost writes them without a point, and reads borders right, but leaves, scale and bias as 0.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 2)) * [2e16, 3e15]
    path = tmp_path / "model.json"
    model = catboost.CatBoostRegressor(**SMALL, grow_policy=policy).fit(X, X[:, 0] / 1e16)
    model.save_model(str(path), format="json")
    for given in (model, path):
        np.testing.assert_array_equal(gw.read_model(given, X).predict(X), raw(model, X))
    model = catboost.CatBoostRegressor(**SMALL, grow_policy=policy).fit(X, X[:, 1] * 10)
    model.save_model(str(path), format="json")
    np.testing.assert_array_equal(gw.read_model(model, X).predict(X), raw(model, X))
    with pytest.raises(UnsupportedModelError, match=r"whole number beyond 2\*\*53.*reads as 0. Pass the fitted model"):
        gw.read_model(path)


def test_only_binary_files_need_catboost(monkeypatch, tmp_path):
    model, table = mixed()
    expected = raw(model, table)
    for suffix in ("json", "cbm"):
        model.save_model(str(tmp_path / f"model.{suffix}"), format=suffix)
    monkeypatch.setitem(sys.modules, "catboost", None)
    np.testing.assert_array_equal(gw.read_model(tmp_path / "model.json").predict(table), expected)
    with pytest.raises(MissingExtraError, match=r"loading 'model.cbm' requires catboost.*glasswood\[catboost\]"):
        gw.read_model(tmp_path / "model.cbm")


def test_a_model_read_wrong_is_noticed():
    model, X = plain()
    ensemble = gw.read_model(model, X)
    value = ensemble.value.copy()
    value[:8] += 1e-6
    with pytest.raises(ModelMismatchError, match="catboost CatBoost"):
        check(dataclasses.replace(ensemble, value=value), model, X)


# ---------------------------------------------------------------------------------------------------------------------


def test_text_and_embedding_features_are_refused():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=200), "text": rng.choice(["a cat sat", "a dog ran"], 200)})
    y = (table["size"] + (table["text"] == "a cat sat") > 0.5).astype(int)
    model = catboost.CatBoostClassifier(**SMALL, text_features=["text"]).fit(table, y)
    with pytest.raises(UnsupportedModelError, match=r"text features.*train without them"):
        gw.read_model(model)
    table = pd.DataFrame({"size": table["size"], "vector": list(rng.normal(size=(200, 3)))})
    model = catboost.CatBoostClassifier(**SMALL, embedding_features=["vector"]).fit(table, y)
    with pytest.raises(UnsupportedModelError, match=r"embedding features.*train without them"):
        gw.read_model(model)


def test_ignored_text_features_keep_their_place(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"text": rng.choice(["a cat sat", "a dog ran"], 200), "size": rng.normal(size=200)})
    model = catboost.CatBoostRegressor(**SMALL, text_features=["text"], ignored_features=["text"])
    model.fit(table, table["size"])
    ensemble = gw.read_model(model, table)
    assert ensemble.feature_names == ("text", "size")
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))
    model.save_model(str(tmp_path / "model.json"), format="json")
    with pytest.raises(UnsupportedModelError, match=r"does not name all columns.*\.cbm"):
        gw.read_model(tmp_path / "model.json")


def test_models_without_trees_are_refused():
    with pytest.raises(UnsupportedModelError, match="CatBoostClassifier is not fitted; call fit first"):
        gw.read_model(catboost.CatBoostClassifier())
    model, _ = plain()
    model.shrink(0)
    with pytest.raises(UnsupportedModelError, match="no trees"):
        gw.read_model(model)


def test_models_without_counts_are_refused():
    model, _ = mixed(final_ctr_computation_mode="Skip")
    with pytest.raises(UnsupportedModelError, match=r"no counts.*final_ctr_computation_mode='Default'"):
        gw.read_model(model)


def add(*path):
    """Put an unknown part into a part of the model."""

    def change(document):
        part = document
        for step in path:
            part = part[step]
        part["surprise"] = 1

    return change


def replace_entry(value, *path):
    def change(document):
        part = document
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value

    return change


def rename_keys(document):
    """Give the tables of statistics keys that are no hashes of categories."""
    for table in document["ctr_data"].values():
        table["hash_map"] = [str(int(k) ^ 1) if isinstance(k, str) else k for k in table["hash_map"]]


def remove(name):
    return lambda document: document.pop(name)


FEATURE = ("features_info", "float_features", 0)
TAMPERED = {
    "part of the model": (add(), "model has parts .* surprise"),
    "part of the features": (add("features_info"), "features_info has parts"),
    "text features": (replace_entry([{}], "features_info", "text_features"), "text_features. Text, embedding"),
    "part of a feature": (add(*FEATURE), "float feature has parts"),
    "part of a categorical feature": (add("features_info", "categorical_features", 0), "categorical feature has parts"),
    "part of a CTR": (add("features_info", "ctrs", 0), "ctr has parts"),
    "part of a tree": (add("oblivious_trees", 0), "tree has parts"),
    "part of a split": (add("oblivious_trees", 0, "splits", 0), "splits on .*surprise"),
    "another border": (replace_entry(0.5, "oblivious_trees", 0, "splits", 0, "border"), "splits on .*'border': 0.5"),
    "another number of a split": (replace_entry(-1, "oblivious_trees", 0, "splits", 0, "split_index"), "splits on"),
    "a split beyond the list": (replace_entry(10**6, "oblivious_trees", 0, "splits", 0, "split_index"), "splits on"),
    "another treatment of NaN": (replace_entry("AsMean", *FEATURE, "nan_value_treatment"), "'AsMean'"),
    "another type of CTR": (replace_entry("Median", "features_info", "ctrs", 0, "ctr_type"), "unknown type 'Median'"),
    "another hash": (rename_keys, "keyed in an unknown way"),
    "no bias": (remove("scale_and_bias"), "lacks scale_and_bias; load it with CatBoost"),
    "no trees": (remove("oblivious_trees"), "lacks trees; load it with CatBoost"),
    "more biases than outputs": (replace_entry([1, [0, 0]], "scale_and_bias"), "output labels for 2 base scores"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_file_with_anything_unknown_is_refused(name, tmp_path):
    change, reason = TAMPERED[name]
    model, _ = mixed()
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(UnsupportedModelError, match=reason):
        gw.read_model(path)


def test_half_a_file_is_refused(tmp_path):
    model, _ = mixed()
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    path.write_text(path.read_text()[:-1000])
    with pytest.raises(UnsupportedModelError, match=r"'model.json' is not a whole JSON file"):
        gw.read_model(path)


@pytest.mark.parametrize("path", [("trees", 0), ("trees", 0, "left", "left", "left", "left")])
def test_a_nested_tree_with_anything_unknown_is_refused(path, tmp_path):
    model, _ = plain(grow_policy="Depthwise")
    file = tmp_path / "model.json"
    model.save_model(str(file), format="json")
    document = json.loads(file.read_bytes())
    add(*path)(document)
    file.write_text(json.dumps(document))
    with pytest.raises(UnsupportedModelError, match="surprise"):
        gw.read_model(file)


# ------------------------------------------------------------------------------------- statistics of several targets


@pytest.mark.parametrize("loss", ["MultiRMSE", "MultiLogloss", "MultiCrossEntropy"])
def test_statistics_of_several_targets_are_refused(loss, tmp_path):
    # CatBoost's JSON form has one table for the statistics of all targets: 94 of 200 rows were wrong.
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"s": rng.choice(list("abcdefgh"), size=200), "f": rng.normal(size=200)})
    heights = rng.normal(size=(8, 2))[X["s"].map("abcdefgh".index)]
    targets = heights if loss == "MultiRMSE" else (heights > 0).astype(int)
    options = {"iterations": 20, "depth": 3, "verbose": 0, "allow_writing_files": False, "loss_function": loss}
    options |= {"cat_features": ["s"], "one_hot_max_size": 2, "max_ctr_complexity": 1}
    model = catboost.CatBoost(options).fit(X, targets)
    model.save_model(str(tmp_path / "model.json"), format="json")
    model.save_model(str(tmp_path / "model.cbm"))
    for given in (model, tmp_path / "model.json", tmp_path / "model.cbm"):
        with pytest.raises(UnsupportedModelError, match="several targets and splits on category statistics"):
            gw.read_model(given)
    counted = catboost.CatBoost(options | {"simple_ctr": ["Counter"]}).fit(X, targets)
    np.testing.assert_array_equal(
        gw.read_model(counted, X).predict(X), counted.predict(X, prediction_type="RawFormulaVal")
    )
