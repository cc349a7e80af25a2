"""The page for readers of the paper: every item of the paper is there, and what it names exists."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import glasswood as gw

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "paper.md"

# How many there are of each kind in the paper and its appendix.
ITEMS = {"Definition": 7, "Formula": 13, "Algorithm": 4, "Proposition": 1, "Figure": 9, "Table": 6}
COMPLEXITIES = [
    "O(kfnTD)",
    "O(k^2 f^2 nTD)",
    "O(2^f n^2 TD)",
    "O(T 2^D F (n + k))",
    "O(T 2^D F^2 (n + k^2 \\log f))",
    "O(T 2^{D+F} (n + m))",
    "O(2^F nT)",
    "O(nTL + kTLD + TL2^D D)",
    "O(kTLD + TL2^D D)",
    "O(nTL2^D + TL4^D)",
    "O(mTL + nTL2^D + TL4^D)",
    "O(k^2 f^2 \\log f + nTL + k^2 \\log f \\cdot TLD^2 + TL2^D D^2)",
    "O(mTL + nTL v_s + TL 3^D v_c)",
    "O(nTL v_s + TL 3^D v_c)",
    "O(k^2 \\log f)",
]


def text():
    return PAGE.read_text(encoding="utf-8")


def rows():
    """The cells of every row of the tables that name files and tests."""
    found = [line.strip().strip("|").split(" | ") for line in text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in cells] for cells in found if len(cells) == 5 and cells[0].strip() != "task"]


TABLES = [cells for cells in rows() if cells[2] != "file" and not cells[1].lstrip().startswith("$O(")]


@pytest.mark.parametrize("kind", ITEMS)
def test_every_numbered_item_is_a_row(kind):
    found = re.findall(rf"^\| {kind} (\d+)\b", text(), re.MULTILINE)
    assert sorted(set(map(int, found))) == list(range(1, ITEMS[kind] + 1))


def test_every_complexity_is_there():
    assert [bound for bound in COMPLEXITIES if f"${bound}$" not in text()] == []


def test_files_and_tests_exist():
    assert len(TABLES) > 40
    for item, _, file, test, _ in TABLES:
        if file != "-":
            name = file.strip("`")
            assert (ROOT / ("" if name.startswith("benchmarks/") else "src/glasswood") / name).is_file(), item
        if test != "-":
            path, _, function = test.strip("`").partition("::")
            assert f"def {function}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), item


def test_what_has_no_test_has_no_counterpart():
    assert [item for item, here, _, test, _ in TABLES if test == "-" and here != "no counterpart"] == []


def test_names_in_prose_exist():
    named = re.findall(r"`((?:\w+/)+\w+\.py)(?:::(\w+))?`", text())
    places = (ROOT, ROOT / "src" / "glasswood", ROOT / "tests")
    for path, function in named:
        [found] = [place / path for place in places if (place / path).is_file()]
        assert f"def {function}(" in found.read_text(encoding="utf-8") if function else True


def resolves(name):
    """Whether a dotted public name leads to something, fields of dataclasses included."""
    found = gw
    parts = name.split(".")[1:]
    for number, part in enumerate(parts):
        if not hasattr(found, part):
            fields = dataclasses.is_dataclass(found) and part in {field.name for field in dataclasses.fields(found)}
            return fields and number == len(parts) - 1
        found = getattr(found, part)
    return True


def test_public_names_resolve():
    names = sorted(set(re.findall(r"`(gw(?:\.\w+)+)", text())))
    assert len(names) > 12
    assert [name for name in names if not resolves(name)] == []


def test_methods_of_explainers_exist():
    names = sorted(set(re.findall(r"`ex\.(\w+)\(", text())))
    assert {"partial_dependence", "interaction_values"} <= set(names)
    assert [name for name in names if not hasattr(gw.Explainer, name)] == []


def test_cases_of_the_benchmark_exist(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    pytest.importorskip("joblib")
    from paper import CASES

    named = [name for cells in TABLES if cells[1].startswith("case") for name in re.findall(r"`([\w-]+)`", cells[1])]
    assert len(named) > 8
    assert [name for name in named if name not in CASES] == []


def test_the_page_of_results_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from paper_page import PAGE as RESULTS
    from paper_page import page_of

    latest = max((ROOT / "benchmarks" / "results").glob("paper-*.json"))
    assert RESULTS.read_text(encoding="utf-8") == page_of(json.loads(latest.read_text()), latest.name)
