"""Rating tables: against the model on all rows, their SQL in DuckDB at every cut and beside it, and what they leave."""

from __future__ import annotations

import csv
import pickle
import re
import zipfile

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError, UnsupportedModelError
from glasswood.questions.rating_tables import _result as results
from helpers.versions import has

KINDS = ["x", "y", "it's", 'a "b"']


def rows_of(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "ties": rng.integers(0, 6, n).astype(float)})
    X["c"] = rng.gamma(2.0, size=n)
    X["kind"] = pd.Categorical(rng.choice(KINDS, n))
    X.loc[rng.random(n) < 0.15, "b"] = np.nan
    mean = np.exp(0.3 * X.a + 0.2 * X["b"].fillna(0.3) * (X.ties > 2) + 0.3 * (X.kind == "x") * X.a)
    return X, rng.poisson(mean).astype(float)


def xgboost(depth):
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=20, max_depth=depth, objective="count:poisson", enable_categorical=True, n_jobs=1)


def lightgbm(depth):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=20, max_depth=depth, objective="poisson", verbose=-1, n_jobs=1)


def histogram(depth):
    return HistGradientBoostingRegressor(
        max_iter=20, max_depth=depth, loss="poisson", categorical_features="from_dtype", random_state=0
    )


def beside_cuts(X, table, n=1500):
    """Return rows with numbers at the cuts, and one step of float64 or float32 beside them."""
    rng = np.random.default_rng(1)
    found = X.loc[rng.integers(0, len(X), n)].reset_index(drop=True)
    for name, axis in table.axes.items():
        if axis.categories is None and axis.cuts.size:
            cut = rng.choice(axis.cuts, n)
            near = np.nextafter(cut.astype(np.float32), np.float32(np.inf)).astype(float)
            moved = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf), near]
            which = rng.integers(0, 5, n)
            for k, numbers in enumerate(moved):
                found[name] = np.where(which == k, numbers, found[name])
    return found


def run_sql(sql, X):
    frame = X.assign(kind=X["kind"].astype(object).where(X["kind"].notna(), None), number=range(len(X)))
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        return connection.sql(f"select {sql} as s from frame order by number").fetchnumpy()["s"]


@pytest.mark.parametrize("depth", [2, 4])
@pytest.mark.parametrize("make", [xgboost, lightgbm, histogram])
def test_sql_in_duckdb_at_and_beside_cuts(make, depth):
    if make is xgboost and not has("xgboost", (3, 1)):
        pytest.skip("xgboost from 3.1, which keeps the labels of categories")
    X, y = rows_of()
    model = make(depth).fit(X, y)
    ex = gw.Explainer(model, X)
    table = ex.rating_table(pairs=20 if depth == 2 else 3)
    assert table.exact == (depth == 2)
    rows = beside_cuts(X, table)
    tabulated = table.score(rows)
    found = run_sql(table.to_sql(), rows)
    assert np.abs(found - tabulated).max() <= 1e-12
    if depth == 2:
        raw = gw.read_model(model).predict(rows)
        tolerance = 1e-5 if make is xgboost else 1e-12  # XGBoost adds in float32
        assert np.abs(found - raw).max() <= tolerance
        single = rows.astype({name: np.float32 for name in X if name != "kind"})
        np.testing.assert_array_equal(run_sql(table.to_sql(), single), table.score(single))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_remainder_is_that_of_all_rows(weighted):
    X, y = rows_of()
    model = lightgbm(5).fit(X, y)
    weight = np.random.default_rng(2).integers(0, 3, len(X)) if weighted else np.ones(len(X))
    table = gw.Explainer(model, X, sample_weight=weight if weighted else None).rating_table(pairs=2)
    score = model.predict(X, raw_score=True)
    left = score - table.score(X)
    assert not table.exact
    assert table.left.mean == pytest.approx(np.average(np.abs(left), weights=weight), rel=1e-9)
    around = np.average((left - np.average(left, weights=weight)) ** 2, weights=weight)
    assert table.left.share == pytest.approx(
        around / np.average((score - np.average(score, weights=weight)) ** 2, weights=weight), rel=1e-9
    )
    largest = np.abs(left[weight > 0]).max()
    assert table.left.at_least <= largest < table.left.below
    row, size = table.worst
    assert abs(size) == pytest.approx(largest, rel=1e-9)
    assert left[row] == pytest.approx(size, rel=1e-9)
    assert "of the variance" in repr(table)


def test_exact_tables_leave_nothing():
    X, y = rows_of()
    table = gw.Explainer(histogram(2).fit(X, y), X).rating_table(pairs=20)
    assert table.left.below < 1e-12
    assert table.left.share < 1e-20
    assert abs(table.worst[1]) < 1e-13
    assert repr(table).endswith("exact, log of the mean)")


def test_paths_decide_not_depth():
    X, y = rows_of()
    numbers = X[["a", "b", "ties"]]
    model = HistGradientBoostingRegressor(max_iter=10, interaction_cst=[{0, 1}, {2}]).fit(numbers, y)
    table = gw.Explainer(model, numbers).rating_table()
    assert table.exact
    assert list(table.pairs) == [("a", "b")]
    np.testing.assert_allclose(table.score(numbers), model.predict(numbers), atol=1e-12)
    assert not gw.Explainer(model, numbers).rating_table(pairs=0).exact
    chosen = gw.Explainer(model, numbers).rating_table(pairs=[("b", "a")])
    assert chosen.exact
    np.testing.assert_allclose(chosen.score(numbers), table.score(numbers), atol=1e-12)


def test_the_same_from_files_and_streams_in_slices(tmp_path):
    X, y = rows_of()
    model = lightgbm(4).fit(X, y)
    X.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    table = gw.Explainer(model, X).rating_table(pairs=2)
    other = gw.Explainer(model, str(tmp_path / "rows.parquet")).rating_table(pairs=2)
    assert other.left == table.left
    assert other.to_sql() == table.to_sql()
    with pytest.raises(BackgroundError, match="a table in memory only"):
        _ = other.worst


def test_csv_has_all_digits(tmp_path):
    X, y = rows_of()
    table = gw.Explainer(histogram(2).fit(X, y), X).rating_table(pairs=3)
    table.to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open() as file:
        lines = list(csv.DictReader(file))
    frame = table.to_frame()
    assert len(lines) == len(frame)
    assert [float(line["value"]) for line in lines] == frame["value"].tolist()
    assert float(lines[0]["value"]) == table.base
    assert float(lines[0]["factor"]) == np.exp(table.base)
    assert {line["category"] for line in lines if line["term"] == "kind"} == {*KINDS, "(unseen)", "(missing)"}


def test_excel(tmp_path):
    X, y = rows_of()
    table = gw.Explainer(lightgbm(2).fit(X, y), X).rating_table(pairs=3)
    table.to_excel(tmp_path / "table.xlsx")
    with zipfile.ZipFile(tmp_path / "table.xlsx") as file:
        names = re.findall(r'<sheet name="([^"]*)"', file.read("xl/workbook.xml").decode())
        texts = file.read("xl/sharedStrings.xml").decode()
        mains = file.read("xl/worksheets/sheet2.xml").decode()
    assert names[:2] == ["Rating table", "Features"]
    assert len(names) == 2 + len(table.pairs)
    assert "factors multiply" in texts
    first = next(iter(table.mains.values()))[0]
    assert any(float(x) == pytest.approx(first, rel=1e-14) for x in re.findall(r"<v>([^<]*)</v>", mains))
    assert "<f>" not in mains  # no formulas


def test_names_of_sheets():
    from glasswood.questions.rating_tables._result_excel import _free

    taken: set[str] = set()
    assert _free("a/b [c] x d", taken) == "a_b (c) x d"
    assert _free("A/B [c] x d", taken) == "A_B (c) x d 2"
    assert len(_free("n" * 50, taken)) == 31
    assert _free("History", taken) == "History 2"
    assert _free("\n", taken) == "sheet"


def test_dialects():
    X, y = rows_of()
    table = gw.Explainer(histogram(2).fit(X, y), X).rating_table(pairs=5)
    assert "`b` IS NULL OR isnan(`b`)" in table.to_sql("spark")
    assert "= 'NaN'" in table.to_sql("postgres")
    assert "nan" not in table.to_sql("ansi").lower()
    assert "'it''s'" in table.to_sql()
    with pytest.raises(ArgumentError, match="dialect must be one of"):
        table.to_sql("mysql")


def test_names_that_need_quotes():
    X, y = rows_of()
    X = X.rename(columns={"a": 'the "a"', "b": "b b; --", "c": "c'"})
    table = gw.Explainer(histogram(2).fit(X, y), X).rating_table(pairs=20)
    assert '"the ""a"""' in table.to_sql()
    assert np.abs(run_sql(table.to_sql(), X) - table.score(X)).max() <= 1e-12


def test_names_that_lightgbm_changes():
    X, y = rows_of(400)
    X = X.rename(columns={"b": "b b"})
    model = lightgbm(2).fit(X, y)
    table = gw.Explainer(model, X).rating_table(pairs=20)
    assert "b b" in table.mains  # as the table calls it
    assert np.abs(run_sql(table.to_sql(), X) - table.score(X)).max() <= 1e-12
    np.testing.assert_array_equal(table.score(X), table.score(X.rename(columns={"b b": "b_b"})))
    alone = gw.Explainer(model, gw.summarize(model, X, order=2))
    assert "b_b" in alone.features  # without a table, as LightGBM calls it


def test_zeros_that_are_missing():
    from lightgbm import LGBMRegressor

    X, y = rows_of()
    numbers = X[["a", "ties"]]
    model = LGBMRegressor(n_estimators=10, max_depth=2, zero_as_missing=True, verbose=-1).fit(numbers, y)
    table = gw.Explainer(model, numbers).rating_table()
    rows = numbers.assign(kind=X["kind"])
    np.testing.assert_allclose(run_sql(table.to_sql(), rows), model.predict(numbers), atol=1e-12)


def test_classes():
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    X, y = rows_of(400)
    numbers = X[["a", "ties"]]
    model = HistGradientBoostingClassifier(max_iter=5, max_depth=2).fit(numbers, y > 0)
    ex = gw.Explainer(model, numbers, response="probability")
    first, second = (ex.rating_table(output=one) for one in (False, True))
    np.testing.assert_allclose(second.score(numbers), model.decision_function(numbers), atol=1e-12)
    np.testing.assert_allclose(first.score(numbers), -second.score(numbers), atol=1e-12)
    assert second.left.below < 1e-12
    assert first.left.below < 1e-12
    three = RandomForestClassifier(5, max_depth=2, random_state=0).fit(numbers, np.minimum(y, 2).astype(int))
    with pytest.raises(TableError, match="one output; pass output="):
        gw.Explainer(three, numbers).rating_table()
    table = gw.Explainer(three, numbers).rating_table(output=1)
    np.testing.assert_allclose(table.score(numbers), three.predict_proba(numbers)[:, 1], atol=1e-12)
    assert "factor" not in table.to_frame().columns


def test_models_that_know_no_names():
    from sklearn.tree import DecisionTreeRegressor

    X, y = rows_of(300)
    numbers = X[["a", "ties", "c"]].to_numpy()
    model = DecisionTreeRegressor(max_depth=2).fit(numbers, y)
    table = gw.Explainer(model, numbers).rating_table()
    np.testing.assert_allclose(table.score(numbers), model.predict(numbers), atol=1e-12)


def test_what_cannot_be_a_table(monkeypatch):
    from sklearn.ensemble import VotingRegressor

    X, y = rows_of(300)
    model = lightgbm(3).fit(X, y)
    with pytest.raises(BackgroundError, match="two passes over the rows"):
        gw.Explainer(model, gw.summarize(model, X, order=2)).rating_table()
    with pytest.raises(BackgroundError, match="two passes over the rows"):
        gw.Explainer(model).rating_table()
    with pytest.raises(ArgumentError, match="a group of columns"):
        gw.Explainer(model, X, groups={"g": ["a", "b"]}).rating_table()
    with pytest.raises(ArgumentError, match="a pair is two features"):
        gw.Explainer(model, X).rating_table(pairs=["a"])
    with pytest.raises(TableError, match="column"):
        gw.Explainer(model, X).rating_table().score(X[["a"]])
    voting = VotingRegressor([("one", histogram(2)), ("two", histogram(3))]).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="rating tables need a score"):
        gw.Explainer(voting, X).rating_table()
    monkeypatch.setattr(results, "LONGEST_SQL", 100)
    with pytest.raises(TooLargeError, match="at most 100 are written"):
        gw.Explainer(model, X).rating_table().to_sql()


def test_results_print_pickle_and_draw():
    X, y = rows_of(300)
    table = gw.Explainer(lightgbm(3).fit(X, y), X).rating_table(pairs=2)
    again = pickle.loads(pickle.dumps(table))
    assert again.worst == table.worst
    assert again.to_sql() == table.to_sql()
    panel = table.panel(top=3)
    assert len(panel.labels) == 3
    assert "remainder" in panel.note
    assert "Rating table" in table._repr_html_()
    assert table.n_entries > len(table.to_frame()) - 1


def test_texts_in_csv_are_no_formulas(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"=A1": rng.normal(size=300), "k": pd.Categorical(rng.choice(["=1+1", "@z", "-y", "x"], 300))})
    y = X["=A1"] * (X["k"] == "=1+1") + (X["k"] == "@z")
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype").fit(X, y)
    gw.Explainer(model, X).rating_table(pairs=1).to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        cells = {cell for line in csv.reader(file) for cell in line}
    assert {"'=A1", "'=1+1", "'@z", "'-y", "x", "-inf"} <= cells
    assert not any(cell[:1] in "=@+" and cell for cell in cells)


@pytest.mark.parametrize("taken", ["(missing)", "(unseen)"])
def test_categories_that_are_called_missing(taken):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"k": pd.Categorical(rng.choice([taken, "x", "y"], 500)), "a": rng.normal(size=500)})
    y = X["k"].map({taken: -1.0, "x": 0.0, "y": 1.0}).astype(float)
    X.loc[::9, "k"], y[::9] = np.nan, 9.0
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype").fit(X, y)
    ex = gw.Explainer(model, X)
    for labels in (
        ex.partial_dependence("k").to_frame()["k"],
        ex.rating_table(pairs=0).to_frame().query("term == 'k'")["category"],
        ex.ale("k").levels,
    ):
        assert len(set(labels)) == len(list(labels))
        assert taken in list(labels)
    assert ex.ale("k")([taken])[0] < ex.ale("k")(["y"])[0]


def test_sql_of_truth_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "t": rng.random(200) < 0.4, "flag": rng.integers(0, 2, 200)})
    model = HistGradientBoostingRegressor(max_iter=10, max_depth=2).fit(X, X["a"] * X["t"] + 3 * X["t"] + X["flag"])
    table = gw.Explainer(model, X).rating_table()
    rows = duckdb.connect()
    for frame in (X, X.astype(float), X.assign(t=X["t"].astype(float) / 2), X.astype({"t": "boolean"})):
        rows.register("rows", frame)
        found = rows.sql(f"select {table.to_sql('duckdb')} from rows").fetchnumpy()
        np.testing.assert_allclose(next(iter(found.values())), table.score(frame), rtol=1e-12)
    assert 'CAST("t" AS INTEGER) <=' in table.to_sql("postgres")
    assert '"a" <=' in table.to_sql("postgres")
