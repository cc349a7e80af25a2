"""Questions about rows with an offset, and an exposure beside it: against the library's own scores with a margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.models import LibraryRefusedError
from fuzz.questions_observed import EVEN
from fuzz.session import Session
from fuzz.streams import chance, pick

__all__ = ["QUESTIONS"]


@dataclass
class Margins:
    """The offset of each row of the background as the Explainer is given it, and as a margin, (n_rows, n_scores)."""

    asked: dict[str, Any]
    margin: np.ndarray
    exposure: np.ndarray


def _draw(s: Session, *, exposure: bool = False) -> Margins:
    """Return offsets of a size that links can take; with exposures, their logarithms are part of the offset."""
    rng, n_rows, n_scores = s.rng, len(s.setting.background), _n_scores(s)
    margin = pick(rng, [0.3, 1.0, 0.0]) * rng.normal(size=(n_rows, n_scores)).round(pick(rng, [1, 16]))
    size = np.ones(n_rows)
    asked: dict[str, Any] = {}
    if exposure:
        size = rng.uniform(0.05, 2.0, n_rows)
        margin = margin + np.log(size)[:, None]
        asked |= {"exposure": size, "target": rng.integers(0, 5, n_rows)}
    asked["offset"] = margin[:, 0] if n_scores == 1 else margin
    return Margins(asked, margin, size)


def _n_scores(s: Session) -> int:
    """Return the number of scores to which a margin is added: one for two classes."""
    n_outputs = s.setting.fitted.raw(s.setting.background[:1]).shape[1]
    return 1 if s.case["target"]["task"] == "binary" else n_outputs


def _raw(s: Session, frame: pd.DataFrame, margin: np.ndarray) -> np.ndarray:
    """Return the library's scores with a margin; of two classes, that of the second only."""
    fitted = s.setting.fitted
    if fitted.margined is not None:
        return fitted.margined(frame, margin)
    scores = fitted.raw(frame)
    return (scores[:, 1:] if margin.shape[1] < scores.shape[1] else scores) + margin


def _can_ask(s: Session) -> bool:
    """Whether the model's raw scores take a margin, and there are rows."""
    fitted = s.setting.fitted
    known = fitted.raw is not None and not fitted.pipeline and s.case["model"]["maker"] != "wrapper"
    return known and len(s.setting.background) > 0 and len(s.singles) > 0 and s.setting.labels != (0,)


def offsets(s: Session) -> None:
    """On the raw scale, curves and Shapley values are those of what the library adds to a margin."""
    if not _can_ask(s):
        return
    drawn = _draw(s)
    ex = s.setting.explainer(response="raw", **drawn.asked)
    for player in s.few(s.singles, 2):
        points = s.points(list(player.columns), 12)
        got = ex.partial_dependence(player.name)(s.values(points[player.columns[0]]))
        own = _each(s, points, drawn.margin * 0, lambda raw: raw)
        want = np.einsum("r,rpo->po", s.setting.oracle.shares, own)
        _compare(s, "raw curve", got, want, s.setting.raw_scale)
    frame = s.setting.rows
    if len(frame):
        values = ex.shap_values(s.setting.rows_table)
        total = values.values.reshape(len(frame), len(values.names), -1).sum(axis=1) + values.base_values
        _compare(
            s,
            "sum of Shapley values",
            total,
            _raw(s, frame, np.zeros((len(frame), drawn.margin.shape[1]))),
            s.setting.raw_scale,
        )


def offsets_behind_a_link(s: Session) -> None:
    """On the scale of the response, curves are averages of the linked score with the margin; per unit of exposure."""
    if not _can_ask(s) or s.case.get("weights", "none") not in EVEN:
        return
    ensemble = gw.read_model(s.setting.fitted.model)
    link = _link(ensemble.score)
    if link is None or ensemble.score.divisor != 1:
        return
    response = "probability" if ensemble.score.link in ("logistic", "softmax") else "prediction"
    drawn = _draw(s, exposure=ensemble.score.link == "exp" and chance(s.rng, 0.5))
    ex = s.setting.explainer(response=response, **drawn.asked)
    weight = np.ones(len(drawn.margin)) if s.setting.weight is None else np.asarray(s.setting.weight, dtype=float)
    for player in s.few(s.singles, 2):
        points = s.points(list(player.columns), 8)
        own = _each(s, points, drawn.margin, link)
        want = np.einsum("r,rpo->po", weight, own) / (weight @ drawn.exposure)
        curve = ex.partial_dependence(player.name)
        got = curve(s.values(points[player.columns[0]]))
        size = float(np.abs(own).max(initial=1.0)) / float(drawn.exposure.min())
        _compare(s, f"curve ({response})", got, want, size)
    now = link(_raw(s, s.setting.background, drawn.margin))
    want = (weight @ now) / (weight @ drawn.exposure)
    _compare(s, "mean of a curve", np.reshape(curve.mean, (1, -1)), want[None], size)


def _link(score: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return what the model's objective makes of raw scores; None if it has no link."""
    scale = score.link_scale

    def softmax(raw: np.ndarray) -> np.ndarray:
        powers = np.exp(raw * scale - (raw * scale).max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    links = {"logistic": lambda raw: 1 / (1 + np.exp(-raw * scale)), "exp": lambda raw: np.exp(raw * scale)}
    return (links | {"softmax": softmax}).get(score.link)


def _each(s: Session, points: pd.DataFrame, margin: np.ndarray, link: Callable) -> np.ndarray:
    """Return the linked score of every row at every point: (n_rows, n_points, n_outputs)."""
    rows, n_points = s.setting.background, len(points)
    table = rows.iloc[np.tile(np.arange(len(rows)), n_points)].reset_index(drop=True)
    repeated = points.iloc[np.repeat(np.arange(n_points), len(rows))].reset_index(drop=True)
    table = table.assign(**{name: repeated[name] for name in points})[list(rows)]
    try:
        scores = _raw(s, table, np.tile(margin, (n_points, 1)))
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise LibraryRefusedError(message) from error
    return link(scores).reshape(n_points, len(rows), -1).transpose(1, 0, 2)


def _compare(s: Session, what: str, got: Any, want: np.ndarray, scale: float) -> None:
    """Compare answers about the second of two classes, or about all outputs."""
    s.same(what, np.asarray(got, dtype=float).reshape(len(want), -1), want, scale=scale)


QUESTIONS = (offsets, offsets_behind_a_link)
