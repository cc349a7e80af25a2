"""The list of deliberate faults stays true, and cheap ones are caught here; `python -m faults` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults._list import Fault, read_faults
from faults._run import copy_tree, try_fault

import glasswood as gw

CHECKOUT = Path(__file__).resolve().parents[2]
FAULTS = {fault.name: fault for fault in read_faults()}
CHEAP = ("background: a difference keeps the number of rows",)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_still_applies(name):
    fault = FAULTS[name]
    source = (CHECKOUT / fault.file).read_text()
    changed = fault.applied(source)
    assert changed != source
    if fault.file.endswith(".py"):
        compile(changed, fault.file, "exec")


@pytest.mark.parametrize("name", FAULTS)
def test_the_tests_of_a_fault_are_there(name):
    assert FAULTS[name].tests
    for test in FAULTS[name].tests:
        file, _, function = test.partition("::")
        assert (CHECKOUT / file).is_file()
        assert not function or f"def {function.partition('[')[0]}(" in (CHECKOUT / file).read_text()


def test_nine_of_ten_are_caught():
    assert len(FAULTS) >= 60
    assert sum(bool(fault.survives) for fault in FAULTS.values()) <= len(FAULTS) / 10


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A copy of this checkout."""
    if not (CHECKOUT / ".git").exists() or Path(gw.__file__).parents[1] != CHECKOUT / "src":
        pytest.skip("faults are tried in a Git clone with an editable install")
    copy = tmp_path_factory.mktemp("clean") / "checkout"
    copy_tree(CHECKOUT, copy)
    return copy


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_fault_is_caught(name, clean, tmp_path):
    outcome = try_fault(FAULTS[name], clean, tmp_path / "fault", None, 300)
    assert outcome.verdict == "caught", outcome.note
    assert outcome.expected


@pytest.mark.parametrize(
    ("text", "test", "verdict"),
    [
        ("Every error that Glasswood raises on purpose", "test_gloves", "survived"),
        ("a text that is not there", "test_gloves", "broken"),
        pytest.param("Every error that Glasswood raises on purpose", "no_such_test", "broken", marks=pytest.mark.slow),
    ],
)
def test_what_changes_nothing_survives_and_what_cannot_be_tried_is_broken(text, test, verdict, clean, tmp_path):
    fault = Fault("none", "src/glasswood/errors.py", text, "errors", (f"tests/questions/rows/test_games.py::{test}",))
    outcome = try_fault(fault, clean, tmp_path / "fault", None, 300)
    assert outcome.verdict == verdict, outcome.note
    assert not outcome.expected
