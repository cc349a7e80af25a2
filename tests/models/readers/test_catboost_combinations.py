"""CatBoost models with statistics of combinations of columns, as they are trained by default: scores bit for bit, and
curves, surfaces and ICE equal to the model's own predictions on modified rows, at every category and cut."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.errors import BackgroundError, UnsupportedModelError
from glasswood.models._combinations import _side_by_side
from glasswood.models.readers._catboost_combinations import MULTIPLIER, Category, IsAbove, Statistic, hashes_of_tables
from helpers.derived import with_derived_columns

catboost = pytest.importorskip("catboost")

SMALL = {"iterations": 25, "learning_rate": 0.3, "random_seed": 3, "verbose": 0, "allow_writing_files": False}
SMALL |= {"thread_count": 1, "model_size_reg": 0, "max_ctr_complexity": 4}
CATEGORIES = ["city", "store", "wing", "code"]


def homes(n=600, seed=1):
    """Texts of many values, numbers as categories, missing values as text, two values; and numbers with gaps."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(2),
            "city": ["x" * k if k else "missing" for k in rng.integers(0, 12, n)],
            "age": rng.normal(size=n).round(1),
            "store": rng.integers(0, 10, n),
            "wing": rng.choice(["east", "west"], n),
            "code": [f"c{k}" for k in rng.zipf(1.4, n) % 200],
        }
    )
    city, store = table["city"].str.len().to_numpy(), table["store"].to_numpy()
    of_both = rng.normal(size=(12, 10, 2))[city, store, (table["wing"] == "east").astype(int)]
    y = 2 * of_both + (of_both > 0) * table["size"] * (table["age"] > 0)
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    return table, y.to_numpy() + rng.normal(size=n) * 0.1


def hostile(table, n=300, seed=2):
    """Rows of known and unknown categories in any combination, and numbers at all orders of magnitude."""
    rng = np.random.default_rng(seed)
    new = {name: rng.choice(table[name].to_numpy(), n) for name in table}
    rows = pd.DataFrame(new)
    rows["city"] = rows["city"].where(rng.random(n) < 0.8, "nowhere").astype(object)
    rows["code"] = rows["code"].where(rng.random(n) < 0.8, "")
    rows["store"] = rows["store"].where(rng.random(n) < 0.8, 10**9).astype(np.int64)
    for name in ("size", "age"):
        odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e-300], n)
        rows[name] = rows[name].where(rng.random(n) < 0.7, odd)
    return rows


def raw(model, table):
    return model.predict(table, prediction_type="RawFormulaVal")


MODELS = {
    "default": {},
    "one-hot": {"one_hot_max_size": 12},
    "deep": {"depth": 10, "iterations": 6},
    "five columns": {"max_ctr_complexity": 5, "depth": 8, "iterations": 15},
    "counter": {"combinations_ctr": ["Counter"], "simple_ctr": ["Counter"]},
    "mean": {"combinations_ctr": ["BinarizedTargetMeanValue"]},
    "buckets": {"combinations_ctr": ["Buckets:TargetBorderCount=3"], "simple_ctr": ["Buckets"]},
    "missing above": {"nan_mode": "Max"},
}


def train(name="default", *, kind="regressor", n=600):
    table, y = homes(n)
    options = SMALL | {"cat_features": CATEGORIES} | MODELS[name]
    if kind == "regressor":
        return catboost.CatBoostRegressor(**options).fit(table, y), table, y
    target = y > 0.3 if kind == "binary" else np.digitize(y, [-0.5, 0.8])
    return catboost.CatBoostClassifier(**options).fit(table, target), table, target


def points_of(curve, feature):
    """Return a value in each cell of a curve, with its height: every category, and both sides of every cut."""
    axis = curve.axis
    if axis.column.n_codes:
        values = [*axis.column.categories, "nobody has this"]
        return values, curve.heights[: len(values)]
    cuts = axis.cuts
    values = np.concatenate([cuts, [np.nextafter(cuts[-1], np.inf) if cuts.size else 0.0], [np.nan]])
    return values.tolist(), curve.heights


def changed(table, **values):
    rows = table.copy()
    for name, value in values.items():
        rows[name] = [value] * len(rows)
    return rows


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_equal_bit_for_bit(name):
    model, table, _ = train(name)
    ensemble = gw.read_model(model)
    assert ensemble.derived is not None
    for rows in (table, hostile(table)):
        np.testing.assert_array_equal(ensemble.predict(rows), raw(model, rows))


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_scores_of_classifiers_are_equal_bit_for_bit(kind):
    model, table, _ = train(kind=kind)
    ensemble = gw.read_model(model)
    assert ensemble.derived is not None
    for rows in (table, hostile(table)):
        np.testing.assert_array_equal(ensemble.predict(rows), raw(model, rows))


@pytest.mark.parametrize("name", MODELS)
def test_curves_are_means_of_own_predictions(name):
    model, table, _ = train(name)
    curves = gw.Explainer(model, table).partial_dependence()
    assert list(curves) == list(table)
    for feature, curve in curves.items():
        values, heights = points_of(curve, feature)
        expected = [raw(model, changed(table, **{feature: value})).mean() for value in values]
        np.testing.assert_allclose(heights.ravel(), expected, rtol=0, atol=1e-12, err_msg=feature)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_curves_of_probabilities(kind):
    model, table, _ = train("one-hot", kind=kind)
    ex = gw.Explainer(model, table, response="probability")
    for feature in ("store", "wing", "age"):
        curve = ex.partial_dependence(feature)
        values, heights = points_of(curve, feature)
        own = [model.predict_proba(changed(table, **{feature: value})).mean(axis=0) for value in values]
        expected = np.array(own)[:, 1:] if kind == "binary" else np.array(own)
        np.testing.assert_allclose(heights, expected, rtol=0, atol=1e-12, err_msg=feature)


PAIRS = [("city", "store"), ("wing", "store"), ("size", "city"), ("age", "size"), ("code", "wing")]


@pytest.mark.parametrize("pair", PAIRS)
def test_surfaces_are_means_of_own_predictions(pair):
    model, table, _ = train("one-hot", n=300)
    surface = gw.Explainer(model, table).partial_dependence(*pair)
    first, second = (points_of(curve, curve.name)[0] for curve in (surface.first, surface.second))
    heights = surface.heights if surface.heights.ndim == 3 else surface.heights[..., None]
    for x, value in list(enumerate(first))[:: max(1, len(first) // 12)]:
        for y, other in enumerate(second):
            expected = raw(model, changed(table, **{pair[0]: value, pair[1]: other})).mean()
            np.testing.assert_allclose(heights[x, y, 0], expected, rtol=0, atol=1e-12)


def test_ice_and_points_are_own_predictions():
    model, table, _ = train()
    ex, rows = gw.Explainer(model, table), hostile(table, 30)
    points = hostile(table, 8, seed=5)[["city", "size", "store"]]
    found = ex.ice("city", "size", "store", rows=rows, at=points).heights[..., 0]
    for k in range(len(points)):
        expected = raw(model, changed(rows, **points.iloc[k].to_dict()))
        np.testing.assert_allclose(found[:, k], expected, rtol=0, atol=1e-12)
    means = ex.partial_dependence("city", "size", "store", at=points).heights[:, 0]
    own = [raw(model, changed(table, **points.iloc[k].to_dict())).mean() for k in range(len(points))]
    np.testing.assert_allclose(means, own, rtol=0, atol=1e-12)


def test_importance_against_its_definition():
    model, table, y = train(n=150)
    found = gw.Explainer(model, table, target=y).importance()
    scores = raw(model, table)
    lost = gw.Explainer(model, table, target=y).permutation_importance()
    for feature in ("city", "age"):
        redrawn = np.stack([raw(model, changed(table, **{feature: value})) for value in table[feature]])
        total = np.sqrt(((redrawn - scores) ** 2).mean())
        assert found[feature] == pytest.approx(total, rel=1e-9)
        change = ((redrawn - y) ** 2).mean() - ((scores - y) ** 2).mean()
        assert lost[feature] == pytest.approx(change, rel=1e-9)


def test_groups_of_columns_change_together():
    model, table, _ = train()
    ex = gw.Explainer(model, table, groups={"place": ["city", "store"]})
    found = ex.partial_dependence("place", at=table[["city", "store"]][:5]).heights[:, 0]
    own = [raw(model, changed(table, city=table["city"][k], store=table["store"][k])).mean() for k in range(5)]
    np.testing.assert_allclose(found, own, rtol=0, atol=1e-12)
    assert ex.importance().names[0] == "place"


def test_strengths_against_their_definition():
    model, table, _ = train(n=120)
    found = gw.Explainer(model, table).interaction_strengths()

    def means(*names):
        own = [raw(model, changed(table, **{name: row[name] for name in names})).mean() for _, row in table.iterrows()]
        return np.array(own) - np.mean(raw(model, table))

    joint = means("city", "store")
    alone = joint - means("city") - means("store")
    strength = found.heights[found.pairs.index(("city", "store")), 0]
    assert strength == pytest.approx(np.sqrt((alone**2).mean()), rel=1e-9)


@pytest.mark.parametrize("response", ["raw", "probability"])
def test_the_same_bits_from_every_source(response, tmp_path):
    model, table, _ = train("one-hot", kind="binary")
    weight = np.arange(len(table)) % 4
    table.assign(weight=weight).to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    options = {"response": response, "answers": ["importance"], "sample_weight": "weight"}
    whole = gw.summarize(model, table, **options | {"sample_weight": weight})
    assert gw.summarize(model, tmp_path / "rows.parquet", **options) == whole
    halves = [gw.summarize(model, table[part], **options | {"sample_weight": weight[part]}) for part in HALVES]
    assert halves[0] + halves[1] == whole
    assert whole - halves[1] == halves[0]
    whole.save(tmp_path / "rows.gw")
    loaded = gw.Explainer(model, gw.Background.load(tmp_path / "rows.gw"), response=response)
    direct = gw.Explainer(model, table, sample_weight=weight, response=response)
    for feature in table:
        np.testing.assert_array_equal(
            loaded.partial_dependence(feature).heights, direct.partial_dependence(feature).heights
        )
    assert (loaded.importance().values == direct.importance().values).all()


HALVES = (slice(0, 217), slice(217, None))


@pytest.mark.parametrize(
    "question",
    [
        lambda ex, rows: ex.shap_values(rows),
        lambda ex, rows: ex.banzhaf_values(rows),
        lambda ex, rows: ex.shap_interaction_values(rows),
        lambda ex, rows: ex.interaction_values(rows),
        lambda ex, rows: ex.evaluate(gw.metrics.BanzhafInteractions(), rows),
        lambda ex, rows: ex.ale("age"),
        lambda ex, rows: ex.ale(),
        lambda ex, rows: ex.h_statistics(),
        lambda ex, rows: ex.certificate(),
        lambda ex, rows: ex.rating_table(),
    ],
)
def test_what_needs_counts_of_leaves_is_refused(question):
    model, table, _ = train()
    with pytest.raises(UnsupportedModelError, match=r"combinations of columns.*ShapValues.*max_ctr_complexity=1"):
        question(gw.Explainer(model, table), table[:3])


def test_rows_that_go_against_a_direction_are_counted():
    table, y = homes()
    model = catboost.CatBoostRegressor(**SMALL, cat_features=CATEGORIES).fit(table, y)
    found = gw.Explainer(model, table).row_monotonicity().to_frame()
    cuts = gw.Explainer(model, table).partial_dependence("size").axis.cuts
    values = [*cuts, np.nextafter(cuts[-1], np.inf)]
    curves = np.stack([raw(model, changed(table, size=value)) for value in values], axis=1)
    line = found[found["feature"] == "size"].iloc[0]
    steps = np.diff(curves, axis=1) * (1 if line["direction"] == "increasing" else -1)
    assert line["rows"] == (steps < -1e-12).any(axis=1).sum()


def test_a_report_of_constrained_numbers(tmp_path):
    table, y = homes()
    model = catboost.CatBoostRegressor(**SMALL, cat_features=CATEGORIES, monotone_constraints={"size": 1}).fit(table, y)
    assert gw.Explainer(model, table).report(tmp_path / "report.html").path.exists()


def test_a_report_of_groups(tmp_path):
    model, table, _ = train(kind="binary")
    for response in ("raw", "probability"):
        report = gw.Explainer(model, table, response=response).report(tmp_path / f"{response}.html", by="wing")
        assert "Groups by wing" in report.path.read_text(encoding="utf-8")


def test_counts_have_no_surfaces_on_any_scale():
    model, table, _ = train()
    with pytest.raises(BackgroundError, match=r"pass a table or files$"):
        gw.Explainer(model, gw.summarize(model, table)).partial_dependence("city", "store")


def test_local_effects_are_not_counted_along():
    model, table, _ = train()
    with pytest.raises(UnsupportedModelError, match="combinations of columns"):
        gw.summarize(model, table, answers=["ale"])


def test_files_are_read_like_models(tmp_path):
    model, table, _ = train("one-hot")
    for name in ("model.cbm", "model.json"):
        model.save_model(str(tmp_path / name), format=name.rpartition(".")[2])
        np.testing.assert_array_equal(gw.read_model(tmp_path / name).predict(table), raw(model, table))


OPTIONS = [("ctr_leaf_count_limit", "most frequent"), ("counter_calc_method", "not trained")]


@pytest.mark.parametrize(("option", "message"), OPTIONS)
def test_tables_that_may_lack_categories_are_refused(option, message):
    table, y = homes()
    value = {"ctr_leaf_count_limit": 5, "counter_calc_method": "Full"}[option]
    model = catboost.CatBoostRegressor(**SMALL, cat_features=CATEGORIES, **{option: value}).fit(table, y)
    with pytest.raises(UnsupportedModelError, match=f"{message}.*max_ctr_complexity=1"):
        gw.read_model(model)


def test_pipelines_and_members_of_others_are_refused():
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table, y = homes()
    model = catboost.CatBoostRegressor(**SMALL, cat_features=CATEGORIES)
    scaled = ColumnTransformer([("scaled", StandardScaler(), ["size"])], remainder="passthrough")
    scaled.set_output(transform="pandas").set_params(verbose_feature_names_out=False)
    with pytest.raises(UnsupportedModelError, match=r"behind transformers.*max_ctr_complexity=1"):
        gw.Explainer(make_pipeline(scaled, model).fit(table, y), table)
    with pytest.raises(UnsupportedModelError, match=r"member.*max_ctr_complexity=1"):
        _side_by_side([gw.read_model(model)] * 2, "VotingRegressor")


def real(shared, name):
    """Return rows of real data, texts for missing categories, their columns of categories, and two targets."""
    table = pd.read_parquet(shared / "data" / f"{name}.parquet").sample(6000, random_state=0).reset_index(drop=True)
    if name == "adult_census":
        table, targets = table.drop(columns="income"), {"classifier": table["income"], "regressor": table["age"]}
    else:
        late = table["arr_delay"].fillna(0)
        table = table[["month", "day", "dep_time", "carrier", "tailnum", "origin", "dest", "distance"]]
        targets = {"classifier": late > 15, "regressor": late}
    texts = [column for column in table if table[column].dtype.kind not in "iuf"]
    for column in texts:
        table[column] = table[column].astype(object).where(table[column].notna(), "missing").astype(str)
    return table, texts, targets


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("name", ["adult_census", "nycflights13"])
def test_default_settings_on_real_data(name, kind, shared):
    table, texts, targets = real(shared, name)
    made = catboost.CatBoostClassifier if kind == "classifier" else catboost.CatBoostRegressor
    model = made(cat_features=texts, iterations=60, verbose=0, allow_writing_files=False, max_ctr_complexity=4)
    model.fit(table, targets[kind])
    ensemble = gw.read_model(model)
    assert ensemble.derived is not None
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))
    some = table[:400]
    for feature, curve in gw.Explainer(model, some, response="raw").partial_dependence().items():
        if feature in texts and not curve.axis.column.n_codes:
            continue  # which the model does not use
        values, heights = points_of(curve, feature)
        known = [k for k, value in enumerate(values) if curve.axis.column.n_codes == 0 or isinstance(value, str)]
        for k in known[:: max(1, len(known) // 40)]:
            expected = raw(model, changed(some, **{feature: values[k]})).mean()
            np.testing.assert_allclose(heights[k, 0], expected, rtol=0, atol=1e-12, err_msg=feature)


# ------------------------------------------------------------------------------------------------------------- tables


def keys_of(elements, *columns):
    """Return the key of each row, as CatBoost chains hashes: one array of 64-bit values per element."""
    key = np.zeros(len(columns[0]), dtype=np.uint64)
    for _, column in zip(elements, columns, strict=True):
        key = np.uint64(MULTIPLIER) * (key + np.uint64(MULTIPLIER) * column)
    return np.unique(key)


def statistic(elements, *columns):
    keys = keys_of(elements, *columns)
    return Statistic(elements, keys, np.zeros(keys.size, np.float32), np.float32(0), np.zeros(1, np.float32))


def signed(hashes):
    return np.asarray(hashes, dtype=np.uint32).view(np.int32).astype(np.int64).view(np.uint64)


def test_categories_that_only_combinations_know_are_solved_for():
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2**32, (2, 30), dtype=np.uint32)
    a, b, above = rng.choice(known, 500), rng.choice(hidden, 500), rng.integers(0, 2, 500).astype(np.uint64)
    single = statistic((Category(0),), signed(a))
    both = statistic((Category(0), Category(1), IsAbove(0, 0.5)), signed(a), signed(b), above)
    found = hashes_of_tables([single, both], {})
    np.testing.assert_array_equal(found[0], np.unique(a))
    assert set(b.tolist()) <= set(found[1].tolist())
    assert len(found[1]) <= len(set(b.tolist())) + 1


def test_categories_that_cannot_be_recovered_are_refused():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2**32, (2, 100), dtype=np.uint32)
    both = statistic((Category(0), Category(1)), signed(a), signed(b))
    with pytest.raises(UnsupportedModelError, match=r"cannot be recovered.*max_ctr_complexity=1"):
        hashes_of_tables([both], {})


def test_derived_columns_that_do_not_fit_are_refused():
    from sklearn.tree import DecisionTreeRegressor

    X = np.random.default_rng(0).normal(size=(100, 3))
    ensemble = with_derived_columns(gw.read_model(DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0])))
    derived = ensemble.derived
    for change, message in (
        ({"part_column": derived.part_column + 1}, "column 3 of 3"),
        ({"part_cut": derived.part_cut * np.nan}, "does not fit"),
        ({"rank": derived.rank[:-1]}, "too few ranks"),
    ):
        with pytest.raises(UnsupportedModelError, match=message):
            dataclasses.replace(ensemble, derived=dataclasses.replace(derived, **change))
