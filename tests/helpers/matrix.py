"""The matrix: every question, wherever the rows are. The answers have the bits of a table in memory, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from fuzz.snapshots import snapshot
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

__all__ = ["COLUMNS", "ONCE", "QUESTIONS", "ROUNDED", "STAYS", "answer", "differences", "make_model", "make_rows"]

COLUMNS = ["a", "b", "c", "kind"]
Question = Callable[[Any, Any], Any]  # of an Explainer and rows


def make_rows(n_rows: int = 600) -> pd.DataFrame:
    """Numbers with missing values, categories, a target, weights, groups and an identifier."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(n_rows, 3)).round(1), columns=["a", "b", "c"])
    frame.loc[generator.random(n_rows) < 0.1, "b"] = np.nan
    frame["kind"] = pd.Categorical.from_codes(generator.integers(-1, 3, n_rows), ["x", "y", "z"])
    score = frame["a"] * frame["c"] + frame["b"].fillna(1) + (frame["kind"] == "y")
    frame["y"] = (score > 0.5).astype(np.int64)
    frame["weight"] = generator.integers(1, 4, n_rows)
    frame["group"] = generator.integers(0, 2, n_rows)
    frame["id"] = np.arange(n_rows)
    return frame


def make_model(frame: pd.DataFrame) -> Any:
    """A small classifier, which has raw scores and probabilities."""
    model = HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=6, categorical_features="from_dtype")
    return model.fit(frame[COLUMNS], frame["y"])


SETTINGS: dict[str, dict[str, Any]] = {
    "": {"response": "raw"},
    "default": {},
    "probability": {"response": "probability"},
    "weights": {"sample_weight": "weight", "response": "raw"},
    "target": {"target": "y", "folds": 5, "fold_by": "id", "response": "raw"},
}


QUESTIONS: dict[str, tuple[str, Question]] = {
    "curves": ("", lambda ex, _: ex.partial_dependence()),
    "surface": ("", lambda ex, _: ex.partial_dependence("a", "b")),
    "all surfaces": ("", lambda ex, _: ex.joint_partial_dependence()["a", "c"]),
    "points": ("", lambda ex, X: ex.partial_dependence("a", "c", at=X[["a", "c"]][:5])),
    "spread": ("", lambda ex, _: ex.partial_dependence("a").std()),
    "importance": ("", lambda ex, _: ex.importance()),
    "main importance": ("", lambda ex, _: ex.importance(kind="main")),
    "strengths": ("", lambda ex, _: ex.interaction_strengths()),
    "H": ("", lambda ex, _: ex.h_statistics()),
    "purified": ("", lambda ex, _: ex.purified_effects()),
    "monotonicity": ("", lambda ex, _: ex.monotonicity()),
    "monotonicity of rows": ("", lambda ex, _: ex.row_monotonicity()),
    "certificate": ("", lambda ex, _: ex.certificate()),
    "rating table": ("", lambda ex, _: ex.rating_table(pairs=2)),
    "spikes": ("", lambda ex, _: ex.spikes()),
    "ALE": ("", lambda ex, _: ex.ale()),
    "ALE of a pair": ("", lambda ex, _: ex.ale("a", "c")),
    "interactions": ("", lambda ex, X: ex.interaction_values(X[:9])),
    "Shapley": ("", lambda ex, X: ex.shap_values(X[:9])),
    "ICE": ("", lambda ex, X: ex.ice("a", rows=X[:9])),
    "ICE of the background": ("", lambda ex, _: ex.ice("a")),
    "comparison": ("", lambda ex, _: gw.compare({"one": ex, "other": ex})),
    "probability: curves": ("probability", lambda ex, _: ex.partial_dependence()),
    "probability: surface": ("probability", lambda ex, _: ex.partial_dependence("a", "b")),
    "probability: points": ("probability", lambda ex, X: ex.partial_dependence("a", "c", at=X[["a", "c"]][:5])),
    "probability: importance": ("probability", lambda ex, _: ex.importance()),
    "probability: ICE of the background": ("probability", lambda ex, _: ex.ice("a")),
    "probability: ALE": ("probability", lambda ex, _: ex.ale("a")),
    "default: curves": ("default", lambda ex, _: ex.partial_dependence()),
    "default: main importance": ("default", lambda ex, _: ex.importance(kind="main")),
    "default: comparison": ("default", lambda ex, _: gw.compare({"one": ex, "other": ex})),
    "weights: curves": ("weights", lambda ex, _: ex.partial_dependence()),
    "weights: surface": ("weights", lambda ex, _: ex.partial_dependence("a", "c")),
    "weights: strengths": ("weights", lambda ex, _: ex.interaction_strengths()),
    "target: observed": ("target", lambda ex, _: ex.partial_dependence("a").observed),
    "target: error": ("target", lambda ex, _: ex.partial_dependence("a").error),
    "target: permutation importance": ("target", lambda ex, _: ex.permutation_importance()),
}


def answer(name: str, model: Any, source: Any, rows: pd.DataFrame) -> dict[str, Any]:
    """Return what an answer says, given the source of the background."""
    setting, question = QUESTIONS[name]
    source = source() if callable(source) else source
    found = snapshot(question(gw.Explainer(model, source, **SETTINGS[setting]), rows[COLUMNS]))
    assert found
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return where two answers differ, in any bit."""
    found = sorted(name for name in one.keys() ^ other.keys() if "worst" not in name)
    for name in one.keys() & other.keys():
        if "worst" in name:  # a row, which only a table in memory is asked for
            continue
        a, b = np.asarray(one[name]), np.asarray(other[name])
        same = a.shape == b.shape and a.dtype == b.dtype
        same = same and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        found += [] if same else [name]
    return found


NOT_TWICE = "twice|read again|read only once|needs? the rows themselves|not have|how rows fall|pass rows="
# What a stream that is read once answers otherwise, and the part that says so; or the sentence that refuses.
ONCE: dict[str, str | set[str]] = {
    "spread": NOT_TWICE,
    "importance": {".kind"},
    "strengths": {".caveat"},
    "H": NOT_TWICE,
    "purified": NOT_TWICE,
    "monotonicity of rows": NOT_TWICE,
    "rating table": NOT_TWICE,
    "ALE": NOT_TWICE,
    "ALE of a pair": NOT_TWICE,
    "ICE of the background": NOT_TWICE,
    "probability: surface": NOT_TWICE,
    "probability: points": NOT_TWICE,
    "probability: importance": {".kind"},
    "probability: ICE of the background": NOT_TWICE,
    "probability: ALE": NOT_TWICE,
    "weights: strengths": {".caveat"},
    "target: permutation importance": NOT_TWICE,
}
# What a frame of a cluster does not answer, because its rows stay there.
STAYS: dict[str, str | set[str]] = {
    "ICE of the background": NOT_TWICE,
    "probability: surface": NOT_TWICE,
    "probability: points": NOT_TWICE,
    "probability: ICE of the background": NOT_TWICE,
    "importance": {".kind"},
    "probability: importance": {".kind"},
}
# Deviations over rows: a cluster adds squares in whole numbers of a unit, a table in memory has them without rounding.
ROUNDED = ("std", "std()", ".gap")
