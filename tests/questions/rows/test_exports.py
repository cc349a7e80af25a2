"""Attributions as objects of shap and shapiq: what these libraries compute themselves, and their figures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import glasswood as gw

KEPT = [0, 2, 3, 6, 8, 9]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("method", "index"), [("shap_values", "SV"), ("shap_interaction_values", "k-SII"), ("banzhaf_values", "BV")]
)
def test_shapiq_computes_the_same(diabetes, method, index):
    # By all coalitions: shapiq's own explainer of trees (1.4.1) gives values to other features than shap does.
    shapiq = pytest.importorskip("shapiq", reason="shapiq is not among the libraries of the tests")
    X, model = diabetes
    X, background = X[:, KEPT], X[20:40][:, KEPT]
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, model.predict(load_diabetes().data))

    def game(coalitions):
        return np.array([model.predict(np.where(taken, X[3], background)).mean() for taken in coalitions])

    order = 2 if index == "k-SII" else 1
    theirs = shapiq.ExactComputer(n_players=len(KEPT), game=game)(index, order=order)
    found = getattr(gw.Explainer(model, background), method)(X[:5]).to_shapiq(row=3)
    assert found.index == index
    assert found.n_players == len(KEPT)
    assert found.max_order == order
    assert not found.estimated
    for members in [members for members in found.interactions if members]:
        np.testing.assert_allclose(found[members], theirs[members], rtol=0, atol=1e-9, err_msg=str(members))
    assert found.baseline_value == pytest.approx(game([np.zeros(len(KEPT), dtype=bool)])[0])
    if index != "BV":
        assert sum(found.interactions.values()) == pytest.approx(model.predict(X[3:4])[0])


def test_shapiq_of_one_class():
    pytest.importorskip("shapiq", reason="shapiq is not among the libraries of the tests")
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = gw.Explainer(model, X).banzhaf_values(X[:2])
    for k in range(3):
        one = found.to_shapiq(1, output=k)
        assert one.index == "BV"
        np.testing.assert_array_equal([one[(player,)] for player in range(4)], found.values[1, :, k])
    with pytest.raises(gw.errors.GlasswoodError, match="output"):
        found.to_shapiq(1)
    with pytest.raises(gw.errors.TableError, match="no row 2; the rows are numbered from 0 to 1"):
        found.to_shapiq(2, output=0)


def test_without_shapiq(diabetes, monkeypatch):
    X, model = diabetes
    monkeypatch.setitem(__import__("sys").modules, "shapiq", None)
    with pytest.raises(gw.errors.MissingExtraError, match=r"glasswood\[shapiq\]"):
        gw.Explainer(model, X).shap_values(X[:1]).to_shapiq()


@pytest.mark.filterwarnings("ignore")
def test_figures(diabetes):
    pytest.importorskip("shapiq", reason="shapiq is not among the libraries of the tests")
    X, model = diabetes
    found = gw.Explainer(model, X).shap_interaction_values(X[:2]).to_shapiq()
    assert found.plot_network(show=False) is not None
    assert found.plot_force(show=False) is not None
