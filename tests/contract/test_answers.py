"""Every question, of every kind of model, in every setting: the answers are the golden ones. See README.md."""

from __future__ import annotations

import pytest
from tests.contract import golden, parts, questions
from tests.contract.describe import differences
from tests.contract.kinds import DETAILED, KINDS, fit_of
from tests.contract.questions import MAIN, SETTINGS
from tests.contract.versions import skip_if_too_old


def frozen(kind):
    """Return the golden values of a kind of model, if they are of this fit."""
    skip_if_too_old(kind)
    selected = golden.read(kind)
    if fit_of(kind) != selected["fit"]:
        pytest.skip(f"{kind} was fitted differently here (another version or machine): its golden values do not apply")
    return selected


def check(selected, found):
    """Compare, and list the differences."""
    listed = list(differences(selected, found))
    assert not listed, "\n".join([f"{len(listed)} differences from the golden values:", *listed[:20]])


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("kind", KINDS)
def test_answers(kind, setting):
    selected = frozen(kind)["answers"]
    found = questions.answers(kind, setting)
    check(golden.expected(selected, MAIN[kind], setting.name, found), found)


@pytest.mark.parametrize("kind", DETAILED)
def test_all_attributes(kind):
    check(frozen(kind)["attributes"], questions.attributes(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_trees(kind):
    check(frozen(kind)["trees"], parts.trees(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_tables(kind, tmp_path):
    skip_if_too_old(f"tables of {kind}")
    check(frozen(kind)["tables"], parts.tables(kind, tmp_path))


@pytest.mark.parametrize("kind", KINDS)
def test_backgrounds(kind, tmp_path):
    check(frozen(kind)["backgrounds"], parts.backgrounds(kind, tmp_path))
