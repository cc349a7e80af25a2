"""Named constructors of errors: one wording for each kind of mistake."""

from __future__ import annotations

import pytest

from glasswood.errors import MissingExtraError, TableError


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("bim", ["age", "bmi"], "there is no feature 'bim' (did you mean 'bmi'?); the features are 'age', 'bmi'"),
        (7, ["age"], "there is no feature 7; the features are 'age'"),
        ("z", list("abcdefghijk"), "; the features are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', ..."),
    ],
)
def test_an_unknown_feature_suggests_the_nearest_and_lists_at_most_ten(name, known, message):
    assert str(TableError.no_feature(name, known)).endswith(message)


def test_a_hint_replaces_the_nearest_name():
    error = TableError.no_feature("age", ["ages"], hint="it belongs to the group 'ages'")
    assert str(error) == "there is no feature 'age' (it belongs to the group 'ages'); the features are 'ages'"


def test_a_missing_library_names_its_extra_and_the_alternative():
    error = MissingExtraError.of("plotly", extra="plotly", what="engine='plotly'", otherwise="pass engine='matplotlib'")
    assert str(error) == (
        "engine='plotly' requires plotly; install it with: pip install 'glasswood[plotly]', or pass engine='matplotlib'"
    )
    assert isinstance(error, ImportError)
