"""Every question about rows in files, databases and streams: the bits of a table in memory, or a sentence."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import glasswood as gw
from glasswood.errors import GlasswoodError
from helpers.matrix import ONCE, QUESTIONS, answer, differences, make_model, make_rows

SOURCES = ["files", "polars", "duckdb", "list", "iterator"]


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def model(rows):
    return make_model(rows)


@pytest.fixture(scope="module")
def sources(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for number in range(3):
        rows.iloc[200 * number : 200 * (number + 1)].to_parquet(folder / f"{number}.parquet")
    with duckdb.connect() as connection:
        yield {
            "files": lambda: str(folder),
            "polars": lambda: pl.scan_parquet(folder / "*.parquet"),
            "duckdb": lambda: connection.sql(f"select * from '{folder}/*.parquet' order by id"),
            "list": lambda: [rows[:300], rows[300:]],
            "iterator": lambda: iter([rows[:300], rows[300:]]),
        }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question(question, model, rows, sources):
    expected = answer(question, model, rows, rows)
    for name in SOURCES:
        otherwise = ONCE.get(question) if name == "iterator" else None
        if isinstance(otherwise, str):
            with pytest.raises(GlasswoodError, match=otherwise):
                answer(question, model, sources[name], rows)
            continue
        found = differences(expected, answer(question, model, sources[name], rows))
        if name == "iterator":  # without the spread over rows, which needs a second look at them
            found = [part for part in found if "std" not in part]
        assert (set(found) >= otherwise) if otherwise else not found, (name, found)


@pytest.mark.parametrize("question", ["curves", "surface", "interactions", "Shapley", "weights: curves"])
def test_counts(question, model, rows):
    """A Background of all orders answers what counts are enough for, with the same bits."""
    weight = "weight" if question.startswith("weights") else None
    counted = gw.summarize(model, rows, order=None, sample_weight=weight, response="raw")
    expected = answer(question, model, rows, rows)
    assert differences(expected, answer(question.partition("weights: ")[2] or question, model, counted, rows)) == []
