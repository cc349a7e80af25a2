"""Values of the rows of files and streams: those of a table in memory, in every bit, and a folder that resumes."""

from __future__ import annotations

import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import glasswood as gw
from glasswood.counting._exact import exact_means, exact_sums
from glasswood.counting._row_job import explain_piece
from glasswood.effects._set_values import largest
from glasswood.engines import _rows
from glasswood.errors import TableError
from glasswood.tables._part_files import ValuesDigest
from helpers.derived import with_derived_columns

NAMES = ["a", "b", "c", "d"]


def make_frame(n=700, seed=0):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 4)).round(2), columns=NAMES)
    frame.loc[generator.random(n) < 0.1, "b"] = np.nan
    frame["kind"] = pd.Categorical.from_codes(generator.integers(-1, 3, n), ["x", "y", "z"])
    frame["id"] = np.arange(n) * 7 + 2**53  # which no float64 holds
    frame["name"] = [None if k % 5 == 0 else f"n{k}" for k in range(n)]
    return frame


def make_target(frame):
    return frame["a"] * frame["c"] + frame["b"].fillna(1) + (frame["kind"] == "y")


@pytest.fixture(scope="module")
def frame():
    return make_frame()


@pytest.fixture(scope="module")
def model(frame):
    used = frame[[*NAMES, "kind"]]
    found = HistGradientBoostingRegressor(max_iter=15, max_leaf_nodes=8, categorical_features="from_dtype")
    return found.fit(used, make_target(frame))


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 5)):
        part = folder / f"region={'ns'[number % 2]}"
        part.mkdir(exist_ok=True)
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        parquet.write_table(table, part / f"rows-{number}.parquet", row_group_size=64)
    return folder


@pytest.fixture(scope="module")
def explainer(model, frame):
    return gw.Explainer(model, frame[[*NAMES, "kind"]])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("glasswood.questions.rows._arithmetic_any_rows.MAX_ROWS", 50)


QUESTIONS = {
    "shap": lambda ex, rows, **more: ex.shap_values(rows, **more),
    "banzhaf": lambda ex, rows, **more: ex.banzhaf_values(rows, **more),
    "pairs": lambda ex, rows, **more: ex.shap_interaction_values(rows, **more),
    "interactions": lambda ex, rows, **more: ex.interaction_values(rows, max_order=2, **more),
    "metric": lambda ex, rows, **more: ex.evaluate(gw.metrics.BanzhafInteractions(), rows, **more),
}


def read(folder, **more):
    return parquet.read_table(folder, partitioning=None, **more).to_pandas()


def in_memory(found):
    """What is in memory, as columns."""
    return found.to_frame()


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_bits_of_a_table_in_memory(question, explainer, frame, folder, tmp_path):
    expected = QUESTIONS[question](explainer, frame)
    values = QUESTIONS[question](explainer, str(folder), keep=["id", "name"])
    assert values.to_parquet(tmp_path / "out") == len(frame)
    found = read(tmp_path / "out").sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(found[list(in_memory(expected).columns)], in_memory(expected), check_exact=True)
    assert found["id"].tolist() == frame["id"].tolist()
    assert found["name"].where(found["name"].notna(), None).tolist() == frame["name"].tolist()
    assert np.allclose(values.mean_abs(), expected.mean_abs(), rtol=1e-13, atol=0)
    if isinstance(expected, gw.Attributions):
        assert (values.mean_abs() == expected.mean_abs()).all()
        assert values.base_values == expected.base_values


@pytest.mark.parametrize("source", ["files", "dataset", "polars", "iterator", "arrow", "list"])
def test_every_source(source, explainer, frame, folder, tmp_path):
    rows = frame[[*NAMES, "kind", "id"]]
    sources = {
        "files": lambda: [str(path) for path in sorted(folder.rglob("*.parquet"))],
        "dataset": lambda: dataset.dataset(folder, partitioning="hive"),
        "polars": lambda: pl.from_pandas(rows).lazy(),
        "iterator": lambda: iter([rows[:300], rows[300:]]),
        "arrow": lambda: pa.RecordBatchReader.from_batches(
            (table := pa.Table.from_pandas(rows)).schema, table.to_batches(100)
        ),
        "list": lambda: [rows[:1], rows[1:]],
    }
    expected = explainer.shap_values(rows)
    explainer.shap_values(sources[source](), keep=["id"]).to_parquet(tmp_path / "out")
    found = read(tmp_path / "out").sort_values("id", ignore_index=True)
    assert (found["id"] == rows["id"]).all()
    assert (found[[*NAMES, "kind"]].to_numpy() == expected.values).all()
    assert (explainer.shap_values(sources[source]()).mean_abs() == expected.mean_abs()).all()
    top = explainer.shap_values(sources[source](), keep=["id"]).top_per_row(2)
    best = pd.concat([block.to_pandas() for block in top.blocks()]).sort_values("id", ignore_index=True)
    order = np.argsort(-abs(expected.values), axis=1, kind="stable")[:, :2]
    assert [list(names) for names in best["features"]] == [[[*NAMES, "kind"][k] for k in row] for row in order]
    assert (np.stack(best["values"]) == np.take_along_axis(expected.values, order, 1)).all()


def test_ice(explainer, frame, folder, tmp_path):
    expected = explainer.ice("a", rows=frame)
    explainer.ice("a", rows=str(folder), keep=["id"]).to_parquet(tmp_path / "cells")
    found = read(tmp_path / "cells").sort_values("id", ignore_index=True)
    assert (np.stack(found["response"]) == expected.heights[:, :, 0]).all()
    at = pd.DataFrame({"a": [0.0, 1.0], "c": [0.5, np.nan]})
    expected = explainer.ice("a", "c", rows=frame, at=at)
    explainer.ice("a", "c", rows=str(folder), at=at, keep="id").to_parquet(tmp_path / "points")
    found = read(tmp_path / "points").sort_values("id", ignore_index=True)
    assert (np.stack(found["response"]) == expected.values).all()


def test_classes_and_probabilities(frame, folder, tmp_path):
    used = frame[[*NAMES, "kind"]]
    y = np.digitize(make_target(frame), [-1, 1])
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype").fit(used, y)
    explainer = gw.Explainer(model, used)
    expected = explainer.shap_values(frame)
    values = explainer.shap_values(str(folder), keep=["id"])
    assert (values.mean_abs() == expected.mean_abs()).all()
    assert values.mean_abs().shape == (5, 3)
    values.to_parquet(tmp_path / "out")
    found = read(tmp_path / "out").sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(found.drop(columns="id"), expected.to_frame(), check_exact=True)
    assert values.top(2)["output"].isin([0, 1, 2]).all()
    with pytest.raises(TableError, match="needs a single output"):
        values.top_per_row(2)
    ice = explainer.ice("a", rows=frame, response="probability")
    explainer.ice("a", rows=str(folder), response="probability", keep=["id"]).to_parquet(tmp_path / "ice")
    found = read(tmp_path / "ice").sort_values("id", ignore_index=True)
    assert (np.stack(found["response [1]"]) == ice.heights[:, :, 1]).all()


def test_the_other_class(frame, folder, tmp_path):
    used = frame[[*NAMES, "kind"]]
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")
    explainer = gw.Explainer(model.fit(used, make_target(frame) > 0), used)
    explainer.shap_values(str(folder), output=False, keep=["id"]).to_parquet(tmp_path / "out")
    found = read(tmp_path / "out").sort_values("id", ignore_index=True).drop(columns="id")
    assert (found.to_numpy() == explainer.shap_values(frame, output=False).values).all()


def test_pipelines(frame, folder, tmp_path):
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["kind"]), remainder="passthrough")
    used = frame[["a", "c", "kind"]]
    model = make_pipeline(columns, RandomForestRegressor(5, max_depth=4, random_state=0)).fit(used, make_target(frame))
    explainer = gw.Explainer(model, used)
    expected = explainer.shap_values(used)
    explainer.shap_values(str(folder), keep=["id"]).to_parquet(tmp_path / "out")
    found = read(tmp_path / "out").sort_values("id", ignore_index=True).drop(columns="id")
    pd.testing.assert_frame_equal(found, expected.to_frame(), check_exact=True)


@pytest.mark.parametrize("background", [True, False])
def test_deep_trees(background, frame, folder, tmp_path):
    used = frame[NAMES].fillna(0)
    model = RandomForestRegressor(3, random_state=0).fit(used, make_target(frame))
    explainer = gw.Explainer(model, used if background else None)
    rows = make_frame(300, seed=3)[[*NAMES, "id"]].fillna(0)
    rows.to_parquet(tmp_path / "rows.parquet")
    explainer.shap_values(tmp_path / "rows.parquet", keep=["id"]).to_parquet(tmp_path / "out")
    assert (read(tmp_path / "out").drop(columns="id").to_numpy() == explainer.shap_values(rows).values).all()


def test_a_background_that_was_counted(model, frame, folder):
    counted = gw.summarize(model, str(folder), order=None)
    explainer = gw.Explainer(model, counted)
    expected = gw.Explainer(model, frame[[*NAMES, "kind"]]).shap_values(frame).mean_abs()
    assert (explainer.shap_values(str(folder)).mean_abs() == expected).all()


def test_derived_columns(tmp_path):
    rows = make_frame()[NAMES]
    trained = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=8).fit(rows, rows["a"] + rows["c"])
    explainer = gw.Explainer(with_derived_columns(gw.read_model(trained)), rows)
    name = "a"
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    expected = explainer.ice(name, rows=rows)
    explainer.ice(name, rows=path).to_parquet(tmp_path / "out")
    assert (np.stack(read(tmp_path / "out")["response"]) == expected.heights[:, :, 0]).all()


def test_files_have_the_names_of_files(explainer, folder, tmp_path, monkeypatch):
    explainer.shap_values(str(folder), keep=["id"]).to_parquet(tmp_path / "one")
    names = sorted(str(path.relative_to(folder)).replace("=", "-") for path in folder.rglob("*.parquet"))
    assert sorted(str(path.relative_to(tmp_path / "one")) for path in (tmp_path / "one").rglob("*.parquet")) == names
    assert json.loads((tmp_path / "one" / "_glasswood.json").read_text())["complete"]
    monkeypatch.setattr(_rows, "ROWS_PER_FILE", 100)
    explainer.shap_values(str(folder), keep=["id"]).to_parquet(tmp_path / "several")
    several = read(tmp_path / "several").sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(several, read(tmp_path / "one").sort_values("id", ignore_index=True))
    assert len(list((tmp_path / "several").rglob("*.parquet"))) == 2 * len(names)
    assert "region" not in parquet.read_table(tmp_path / "several").column_names  # unless it is kept


def test_an_interrupted_call_resumes(explainer, folder, tmp_path, monkeypatch):
    values = explainer.shap_values(str(folder), keep=["id"])
    values.to_parquet(tmp_path / "whole")
    written = []

    def failing(job, piece, *more):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(piece.name)
        return explain_piece(job, piece, *more)

    monkeypatch.setattr(_rows, "n_threads", lambda: 9)
    monkeypatch.setattr(_rows, "explain_piece", failing)
    with pytest.raises(KeyboardInterrupt):
        values.to_parquet(tmp_path / "out")
    monkeypatch.undo()
    there = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    assert len(there) == 2
    (tmp_path / "out" / ".rows-9.parquet.0123456789abcdef.new").write_text("what kill -9 leaves")
    values.to_parquet(tmp_path / "out")
    assert all(path.stat().st_mtime_ns == before for path, before in there.items())
    assert not list((tmp_path / "out").rglob("*.new"))
    pd.testing.assert_frame_equal(
        read(tmp_path / "out").sort_values("id", ignore_index=True),
        read(tmp_path / "whole").sort_values("id", ignore_index=True),
    )


def test_damaged_parts_are_written_again(explainer, folder, tmp_path):
    keep = {"id": "id", "name": "name", "kind": "label"}
    for name, values in {
        "shap": explainer.shap_values(str(folder), keep=keep),
        "top": explainer.shap_values(str(folder), keep=keep).top_per_row(2),  # whose columns are lists
    }.items():
        out = tmp_path / name
        values.to_parquet(out)
        good = {path: path.read_bytes() for path in out.rglob("*.parquet")}
        times = {path: path.stat().st_mtime_ns for path in good}
        values.to_parquet(out)
        assert {path: path.stat().st_mtime_ns for path in good} == times  # intact parts are not written again
        expected = read(out)
        path, whole = next(iter(good.items()))
        for place in range(40, len(whole) - 8, len(whole) // 12):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            values.to_parquet(out)
            pd.testing.assert_frame_equal(read(out), expected)


def test_values_have_one_digest_however_they_are_divided():
    table = pa.table({"a": [1.0, None, 3.0, 4.0], "t": ["x", None, "z", "w"], "l": [[1.0], [], None, [2.0, 3.0]]})

    def digest(*tables):
        found = ValuesDigest()
        for part in tables:
            found.add(part)
        return found.text

    assert digest(table) == digest(table[:1], table[1:3], table[3:]) == digest(pa.concat_tables([table[:2], table[2:]]))
    others = [{"a": [1.0, 3.0, None, 4.0]}, {"t": ["x", "", "z", "w"]}, {"l": [[1.0], None, [], [2.0, 3.0]]}]
    others += [{"l": [[1.0, 2.0], [], None, [3.0]]}]
    for column in others:
        assert digest(pa.table({**table.to_pydict(), **column})) != digest(table)


def test_a_name_that_is_taken_is_reported(explainer, folder, tmp_path):
    for keep, column in (({"id": "a"}, "id"), (["a"], "a")):
        with pytest.raises(TableError, match=re.escape(f"keep={{'{column}': 'another name'}}")):
            explainer.shap_values(str(folder), keep=keep).to_parquet(tmp_path / "out")


def test_files_of_the_user_in_the_folder_are_left_alone(explainer, frame, tmp_path):
    rows = frame[[*NAMES, "kind", "id"]]
    rows[:100].to_parquet(tmp_path / "one.parquet")
    values = explainer.shap_values(tmp_path / "one.parquet", keep=["id"])
    values.to_parquet(tmp_path / "out")
    (tmp_path / "one.parquet").rename(tmp_path / "renamed.parquet")
    frame[["id"]].to_parquet(tmp_path / "out" / "own.parquet")
    explainer.shap_values(tmp_path / "renamed.parquet", keep=["id"]).to_parquet(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*.parquet")} == {"renamed.parquet", "own.parquet"}


def test_a_file_that_has_changed_is_explained_again(explainer, frame, tmp_path):
    rows = frame[[*NAMES, "kind", "id"]]
    rows[:100].to_parquet(tmp_path / "rows.parquet")
    explainer.shap_values(tmp_path / "rows.parquet", keep=["id"]).to_parquet(tmp_path / "out")
    rows[100:250].to_parquet(tmp_path / "rows.parquet")
    explainer.shap_values(tmp_path / "rows.parquet", keep=["id"]).to_parquet(tmp_path / "out")
    assert read(tmp_path / "out")["id"].tolist() == rows["id"][100:250].tolist()


@pytest.mark.parametrize("n_threads", [1, 9])
def test_the_file_that_is_wrong_is_named(explainer, frame, tmp_path, n_threads, monkeypatch):
    monkeypatch.setattr(_rows, "n_threads", lambda: n_threads)
    rows = frame[[*NAMES, "kind", "id"]]
    rows[:100].to_parquet(tmp_path / "0.parquet")
    rows[100:200].assign(a="a text").to_parquet(tmp_path / "1.parquet")
    values = explainer.shap_values([tmp_path / "0.parquet", tmp_path / "1.parquet"], keep=["id"])
    for ask in (values.mean_abs, lambda: values.to_parquet(tmp_path / "out")):
        with pytest.raises(TableError, match=r"1\.parquet: .*'a'"):
            ask()


def test_folders_that_are_refused(explainer, model, frame, folder, tmp_path):
    values = explainer.shap_values(str(folder), keep=["id"])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious.csv").write_text("1")
    with pytest.raises(TableError, match=r"is not empty \('precious.csv'\)"):
        values.to_parquet(tmp_path / "other")
    values.to_parquet(tmp_path / "out")
    for other in (
        explainer.shap_values(str(folder)),
        explainer.banzhaf_values(str(folder), keep=["id"]),
        values.top_per_row(2),
        gw.Explainer(model, frame[[*NAMES, "kind"]][:300]).shap_values(str(folder), keep=["id"]),
    ):
        with pytest.raises(TableError, match="the answers to another question"):
            other.to_parquet(tmp_path / "out")
    assert values.to_parquet(tmp_path / "out") == len(frame)


def test_arguments_that_are_refused(explainer, frame, folder):
    with pytest.raises(TableError, match="there is no column 'no'"):
        explainer.shap_values(str(folder), keep=["no"])
    with pytest.raises(TableError, match="a column of values is called 'a', too"):
        explainer.shap_values(str(folder), keep=["a"])
    with pytest.raises(TableError, match="are for rows that are files"):
        explainer.shap_values(frame, keep=["id"])
    with pytest.raises(TableError, match="gives several columns the same name"):
        explainer.shap_values(str(folder), keep={"id": "x", "name": "x"})
    with pytest.raises(TableError, match="keep= is a list"):
        explainer.shap_values(str(folder), keep=3)
    with pytest.raises(TableError, match=r"lacks|no column|has no"):
        explainer.shap_values(iter([frame[["a", "b"]]]))
    for name in ("spark", "dask", "ray"):
        with pytest.raises(TableError, match="but these are files or a stream"):
            getattr(explainer.shap_values(str(folder)), f"to_{name}")()
    with pytest.raises(TableError, match="not for ICE of a"):
        explainer.ice("a", rows=str(folder)).top_per_row(2)
    with pytest.raises(TableError, match="no means of ICE of a"):
        explainer.ice("a", rows=str(folder)).mean_abs()


def test_renamed_columns(explainer, frame, folder, tmp_path):
    values = explainer.shap_values(str(folder), keep={"a": "value of a", "region": "region"})
    assert values.columns[:3] == ("value of a", "region", "a")
    values.to_parquet(tmp_path / "out")
    found = parquet.read_table(sorted((tmp_path / "out").rglob("*.parquet"))[0], partitioning=None)
    assert found.column_names[:2] == ["value of a", "region"]


def test_how_it_prints(explainer, folder, frame):
    values = explainer.shap_values(str(folder), keep=["id"])
    assert repr(values) == "SourceValues(Shapley values: 700 rows x 6 columns, value)"
    assert "700" in values._repr_html_()
    stream = explainer.shap_values(iter([frame]))
    assert repr(stream) == "SourceValues(Shapley values: a stream x 5 columns, value)"
    with pytest.raises(ValueError, match="read-only"):
        values.mean_abs()[0] = 1


def test_files_without_rows(explainer, frame, tmp_path):
    rows = frame[[*NAMES, "kind", "id"]]
    rows[:0].to_parquet(tmp_path / "rows-0.parquet")
    rows[:9].to_parquet(tmp_path / "rows-1.parquet")
    values = explainer.shap_values([tmp_path / "rows-0.parquet", tmp_path / "rows-1.parquet"], keep=["id"])
    assert values.to_parquet(tmp_path / "out") == 9
    assert [path.name for path in (tmp_path / "out").glob("*.parquet")] == ["rows-1.parquet"]
    assert (values.mean_abs() == explainer.shap_values(rows[:9]).mean_abs()).all()


def test_exact_sums():
    generator = np.random.default_rng(0)
    values = generator.normal(size=(3, 5000)) * np.exp(30 * generator.normal(size=(3, 5000)))
    whole = exact_sums(values)
    assert exact_means(whole, 1).tolist() == [math.fsum(line) for line in values]
    parts = [exact_sums(part) for part in np.array_split(values, 7, axis=1)]
    assert [sum(some) for some in zip(*parts, strict=True)] == whole
    assert exact_sums(np.array([[1.0, np.nan]])) is None
    assert np.isnan(exact_means(None, 3, 2)).all()
    tiny = np.array([[5e-324, -1.7e308, 1e-310, 0.0]])
    assert exact_means(exact_sums(tiny), 1)[0] == math.fsum(tiny[0])


def test_it_can_be_pickled(explainer, folder):
    values = explainer.shap_values(str(folder), keep=["id"])
    assert (pickle.loads(pickle.dumps(values)).mean_abs() == values.mean_abs()).all()


def test_the_first_of_values_of_the_same_size_come_first():
    values = np.random.default_rng(0).integers(-2, 3, (500, 40)).astype(np.float64)
    for k in (1, 3, 39, 40):
        expected = np.argsort(-np.abs(values[:, 1:]), axis=1, kind="stable")[:, : min(k, 39)] + 1
        found, best = largest(values, min(k, 39), 1)
        assert np.array_equal(found, expected)
        assert np.array_equal(best, np.take_along_axis(values, expected, 1))
