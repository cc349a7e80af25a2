"""Calls of the compiled core, as real questions make them, and the same calls with something wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.kernels import _core
from glasswood.questions.curves._result_surface import Surface
from glasswood.questions.interactions._arithmetic import joint_rows
from glasswood.questions.rows._answer_evaluator import evaluator_of
from helpers.derived import with_derived_columns

Call = tuple[list[Any], dict[str, Any]]  # arguments, and named ones

NAMES: list[str] = [name for name in getattr(_core, "__all__") if callable(getattr(_core, name))]  # noqa: B009 (not in the stub)
HUGE = 2**40


def ask_everything() -> None:
    """Ask what calls every kernel."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 16)), columns=[f"x{k}" for k in range(16)])
    y = X["x0"] * X["x1"] + np.sin(3 * X["x2"]) + X.sum(axis=1) / 9
    table = X[["x0", "x1", "x2"]].assign(kind=pd.Categorical(rng.choice(list("abc"), 300)))
    boosted = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=7, categorical_features="from_dtype")
    boosted.fit(table, np.digitize(y, [-1, 1]))
    weight = rng.integers(1, 5, size=300)
    grouped = gw.Explainer(boosted, table, groups={"both": ["x0", "x1"]}, response="raw")
    grouped.partial_dependence("x2", "kind")
    ask_about_rows(grouped, table[:9])
    raw: dict[str, Any] = {"response": "raw"}
    for ex in (gw.Explainer(boosted, table, **raw), gw.Explainer(boosted, table, sample_weight=weight, **raw)):
        ask_about_curves(ex, table)
        ask_about_rows(ex, table[:9])
    plain = ExtraTreesRegressor(n_estimators=3, max_leaf_nodes=12, random_state=0).fit(X[["x0", "x1", "x2"]], y)
    gw.Explainer(with_derived_columns(gw.read_model(plain)), X[["x0", "x1", "x2"]]).partial_dependence()
    ex = gw.Explainer(boosted, table, response="probability")
    ex.partial_dependence()
    ex.ice("x0", rows=table[:9])
    gw.summarize(boosted, table, by="kind")
    observed = {"target": np.digitize(y, [-1, 1]), "offset": rng.normal(size=(300, 3)), "response": "probability"}
    gw.summarize(boosted, table, sample_weight=weight, **observed)
    first, second = rng.integers(0, 3, size=(2, 9), dtype=np.uint16)
    joint_rows(first, second, np.ones(9), np.zeros((3, 3)))
    large = ExtraTreesRegressor(1, max_features=1, random_state=0, bootstrap=False).fit(X, y)  # paths of 14 players
    for ex in (gw.Explainer(large, X[:20]), gw.Explainer(large)):
        ex.shap_values(X[:9])
        ex.shap_interaction_values(X[:2])
        ex.evaluate(gw.metrics.ShapleyTaylor(2), X[:2])
    study = gw.Explainer(large, X[:20])._study
    evaluator = evaluator_of(study)
    evaluator.by_paths(evaluator.values(gw.metrics.ShapleyValues()), study.rows(X[:9]), [0])
    many = rng.normal(size=(2000, 3))
    deep = DecisionTreeRegressor(random_state=0).fit(many, rng.normal(size=2000))  # over 1,024 leaves
    gw.Explainer(deep, many[:200]).partial_dependence(0)
    gw.Explainer(deep, many).partial_dependence(0)  # whose columns have digests
    gw.Explainer(deep, many[:200]).ale(0)


def ask_about_curves(ex: gw.Explainer, table: Any) -> None:
    """Curves, surfaces, grids and points."""
    ex.partial_dependence()
    surface = ex.partial_dependence("x0", "x1")
    assert isinstance(surface, Surface)
    pair = surface.pair
    assert pair is not None
    pair.all()
    pair.means(*(np.linspace(0, 2, n + 1) for n in pair.shape[:2]))
    ex.partial_dependence("x0", "kind", at=table[["x0", "kind"]][:5])
    _ = dict(ex.joint_partial_dependence(grid={name: table[name][:4] for name in table}).grid_values)
    ex.monotonicity()
    ex.ale()
    ex.importance()


def ask_about_rows(ex: gw.Explainer, rows: Any) -> None:
    """Values of rows."""
    ex.shap_values(rows)
    ex.shap_interaction_values(rows)
    ex.interaction_values(rows)
    ex.interaction_strengths()


def recorded(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object], max_: int = 3) -> dict[str, list[Call]]:
    """Return the arguments of the first calls of each kernel, by its name, with copies of what they may write to."""
    calls: dict[str, list[Call]] = {name: [] for name in NAMES}

    def watch(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **named: Any) -> Any:
            if len(calls[name]) < max_:
                calls[name].append(([copied(a) for a in args], {key: copied(a) for key, a in named.items()}))
            return call(*args, **named)

        return watched

    with monkeypatch.context() as patch:
        for name in NAMES:
            patch.setattr(_core, name, watch(name, getattr(_core, name)))
        ask()
    return calls


def copied(given: Any) -> Any:
    """Return arrays as copies, also those in lists; anything else as it is."""
    if isinstance(given, np.ndarray):
        return given.copy()
    return [copied(one) for one in given] if isinstance(given, list) else given


def wrong(given: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Yield what is wrong with an argument, and the argument."""
    if isinstance(given, np.ndarray):
        yield "type", given.astype(np.complex128)
        if given.size:
            yield "short", np.ascontiguousarray(given[:-1])
            yield "long", np.concatenate([given, given[-1:]])
        if given.ndim == 2 and min(given.shape) > 1:
            yield "order", np.asfortranarray(given)
            yield "narrow", np.ascontiguousarray(given[:, :-1])
        if given.size and given.dtype.kind == "i":
            for number in (HUGE, -HUGE, -1, int(given.max()) + 1):
                changed = given.copy()
                low, high = _ends(given.dtype)
                changed.flat[rng.integers(given.size)] = min(max(number, low), high)
                yield "entry", changed
    elif isinstance(given, list) and given:
        yield "short", given[:-1]
        yield "type", [None, *given[1:]]
        for what, one in wrong(given[0], rng):
            yield what, [one, *given[1:]]
    elif isinstance(given, int) and not isinstance(given, bool):
        yield "entry", -1
        yield "entry", given + 1
        yield "entry", HUGE


def _ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    return np.iinfo(dtype).min, np.iinfo(dtype).max
