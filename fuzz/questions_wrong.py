"""Questions that make no sense: each is refused with an error of Glasswood's own, and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.session import Session

__all__ = ["QUESTIONS"]

N_TRIED = 6


def wrong(s: Session) -> None:
    """Wrong names, outputs, tables, weights, points and groups are refused; the Explainer answers as before."""
    before = s.explainer.partial_dependence(s.setting.players[0].name).heights.copy()
    for what in s.rng.permutation(list(WRONG))[:N_TRIED].tolist():
        try:
            result = WRONG[what](s)
        except gw.errors.GlasswoodError:
            s.notes.compared[s.question] += 1
            continue
        if result is not NotImplemented:
            s.notes.find(s.question, "accepted", what, repr(result))
    after = s.explainer.partial_dependence(s.setting.players[0].name).heights
    s.equal("after wrong questions", after, before)


def _first(s: Session) -> str:
    return s.setting.players[0].name


def _explainer(s: Session, table: Any, **changes: Any) -> Any:
    settings = {"groups": s.setting.groups, "response": s.setting.asked}
    return gw.Explainer(s.setting.fitted.model, table, **(settings | changes)).importance()


def _without_a_column(s: Session) -> Any:
    frame = s.setting.background
    used = s.setting.case["model"].get("fit_on", "frame") == "frame"
    return _explainer(s, frame[list(frame)[1:]]) if used and frame.shape[1] > 1 else NotImplemented


def _texts(s: Session) -> Any:
    frame = s.setting.background
    numbers = [name for name in frame if frame[name].dtype.kind == "f" and len(s.setting.cuts.get(name, ()))]
    if not numbers or not len(frame):
        return NotImplemented
    return _explainer(s, frame.assign(**{numbers[0]: pd.Series(["text"] * len(frame), index=frame.index)}))


def _weights(change: Callable[[np.ndarray], Any]) -> Callable[[Session], Any]:
    def asked(s: Session) -> Any:
        return _explainer(s, s.setting.table, sample_weight=change(np.ones(len(s.setting.background))))

    return asked


def _output(s: Session) -> Any:
    return s.explainer.partial_dependence(_first(s), output="no such class")


def _position(s: Session) -> Any:
    return s.explainer.partial_dependence(_first(s), output="no such output")


def _rows_without_columns(s: Session) -> Any:
    width = s.setting.train.shape[1] + 1  # a table of the model's width may be read by position
    return s.explainer.shap_values(pd.DataFrame({f"no such column {k}": [1.0] for k in range(width)})).values


def _points_without_columns(s: Session) -> Any:
    return s.explainer.partial_dependence(_first(s), at={"no such column": [1.0]})


def _uneven_points(s: Session) -> Any:
    if len(s.setting.players) < 2 or s.setting.natural or s.setting.groups:
        return NotImplemented
    a, b = (player.name for player in s.setting.players[:2])
    return s.explainer.partial_dependence(a, b, at={a: [1.0, 2.0, 3.0], b: [1.0]})


WRONG: dict[str, Callable[[Session], Any]] = {
    "a feature that is not there": lambda s: s.explainer.partial_dependence("no such feature"),
    "a feature twice": lambda s: s.explainer.partial_dependence(_first(s), _first(s)),
    "a feature that is no name": lambda s: s.explainer.partial_dependence(3.5),
    "an output that is not there": _output,
    "a position that is not there": _position,
    "a response that is none": lambda s: s.setting.explainer(response="no such response"),
    "a table without a column": _without_a_column,
    "texts for numbers": _texts,
    "a table of one dimension": lambda s: _explainer(s, np.zeros(5)),
    "a table of three dimensions": lambda s: _explainer(s, np.zeros((2, s.setting.train.shape[1], 2))),
    "a table that is none": lambda s: _explainer(s, object()),
    "a table of no rows": lambda s: _explainer(s, s.setting.background[:0]),
    "weights of another length": _weights(lambda weight: np.ones(len(weight) + 1)),
    "negative weights": _weights(lambda weight: -weight),
    "missing weights": _weights(lambda weight: weight * np.nan),
    "infinite weights": _weights(lambda weight: weight * np.inf),
    "weights that are texts": _weights(lambda weight: ["a"] * len(weight)),
    "no weight at all": _weights(lambda weight: weight * 0),
    "points without the column": _points_without_columns,
    "points of other lengths": _uneven_points,
    "points that are none": lambda s: s.explainer.partial_dependence(_first(s), at=3.0),
    "rows without columns": _rows_without_columns,
    "ICE of no rows": lambda s: s.explainer.ice(_first(s), rows=s.setting.rows[:0]).values,
    "rows of another width": lambda s: s.explainer.shap_values(np.zeros((2, s.setting.train.shape[1] + 3))).values,
    "a group of nothing known": lambda s: s.setting.explainer(groups={"g": ["no such column"]}),
    "a model that is none": lambda s: gw.Explainer(object(), s.setting.table),
    "no model at all": lambda s: gw.Explainer(None, s.setting.table),
    "a file that is not there": lambda s: gw.Explainer("no such file", s.setting.table),
    "rows from a file that is not there": lambda s: _explainer(s, "no such folder/no such file.parquet"),
}

QUESTIONS = (wrong,)
