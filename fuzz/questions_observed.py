"""Questions about what was observed, and about errors by folds: against sums over rows, and rows without a fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.questions_sources import can_count, named, write
from fuzz.session import Session
from fuzz.streams import chance, pick
from fuzz.tables import KINDS

__all__ = ["QUESTIONS"]

MAX_ROWS = 50  # of a background that is counted again without each fold
EVEN = ("none", "whole", "fractions", "float32", "tiny")  # weights of about the same size
WHOLE = ("none", "whole", "one_row")
UNIT = 2.0**-40  # to which values of rows are rounded


@dataclass
class Drawn:
    """What is known of the rows: as the Explainer is given it, and as numbers, (n_rows, n_outputs)."""

    asked: dict[str, Any]
    target: np.ndarray
    exposure: np.ndarray
    predicted: np.ndarray
    classes: bool
    folds: np.ndarray | None = None

    def of(self, lines: np.ndarray, outputs: tuple) -> np.ndarray:
        """Return columns of classes as an answer has them: of two classes, it is about the second."""
        return lines[:, 1:] if self.classes and lines.shape[1] == 2 and len(outputs) == 1 else lines

    @property
    def scale(self) -> float:
        """The size of targets per exposure."""
        finite = self.target[np.isfinite(self.target)]
        return max(1.0, float(np.abs(finite).max(initial=0.0))) / float(self.exposure.min(initial=1.0))


def _numbers(s: Session, n_rows: int) -> np.ndarray:
    """Return targets that are numbers: whole, fractions, large ones, small ones, mostly zeros."""
    rng = s.rng
    kind = pick(rng, ["whole", "normal", "large", "small", "claims", "one"])
    made = {
        "whole": rng.integers(0, 9, n_rows),
        "normal": np.abs(rng.normal(size=n_rows)),
        "large": 10.0 ** rng.uniform(0, 8.5, n_rows),
        "small": 10.0 ** rng.uniform(-12, 0, n_rows),
        "claims": np.where(rng.random(n_rows) < 0.8, 0.0, rng.gamma(1.0, 3e5, n_rows)),
        "one": np.full(n_rows, 7.25),
    }[kind]
    signed = chance(rng, 0.4) and kind in ("normal", "large")
    return made * rng.choice([-1.0, 1.0], n_rows) if signed else made


def _draw(s: Session, *, folds: bool = False, exposure: bool = True) -> Drawn:
    """Return what is known of the rows: a target that suits the model, its exposure, predictions, folds."""
    rng, setting, n_rows = s.rng, s.setting, len(s.setting.background)
    labels = s.explainer.outputs if s.case["target"]["task"] in ("binary", "multiclass") else None
    labels = None if labels is None or len(labels) == 1 else labels  # a model of one class
    own = setting.fitted.responses.get("probability") or setting.fitted.responses.get("prediction")
    n_outputs = len(s.explainer.outputs) if labels is None else len(labels)
    asked: dict[str, Any] = {}
    if labels is not None:
        codes = rng.integers(0, len(labels), n_rows)
        asked["target"] = np.array(labels)[codes]
        target = (codes[:, None] == np.arange(len(labels))).astype(float)
    else:
        target = np.column_stack([_numbers(s, n_rows) for _ in range(n_outputs)])
        asked["target"] = target[:, 0] if n_outputs == 1 else target
    size = np.ones((n_rows, 1))
    if exposure and labels is None and chance(rng, 0.5):
        size = pick(rng, [rng.uniform(0.05, 2.0, (n_rows, 1)), 10.0 ** rng.uniform(-3, 0, (n_rows, 1))])
        asked["exposure"] = size[:, 0]
    if own is None or chance(rng, 0.3):
        predicted = rng.random((n_rows, n_outputs))
        asked["prediction"] = predicted[:, 0] if predicted.shape[1] == 1 else predicted
    else:
        predicted = np.asarray(own(setting.background)).reshape(n_rows, -1)
    drawn = Drawn(asked, target, size, predicted * size, labels is not None)
    if folds:
        _divide(s, drawn)
    return drawn


def _divide(s: Session, drawn: Drawn) -> None:
    """Divide the rows into folds: by their numbers, or by keys."""
    rng, n_rows, n_folds = s.rng, len(drawn.target), int(s.rng.integers(2, 5))
    keys: Any = pick(rng, ["position", "whole", "float", "text"])
    drawn.asked["folds"] = n_folds
    if keys == "position":
        values: list = list(range(n_rows))
    else:
        values = rng.integers(-5, 40, n_rows).tolist()
        values = {"whole": values, "float": [v / 4 for v in values], "text": [f"ä{v}" for v in values]}[keys]
        drawn.asked["fold_by"] = np.array(values)
    drawn.folds = np.array([_fold(value, n_folds) for value in values], dtype=int)


def _fold(value: object, n_folds: int) -> int:
    """Return the fold of a value, as the documentation defines it."""
    word = 2**64
    if isinstance(value, str):
        key = 0xCBF29CE484222325
        for byte in value.encode():
            key = (key ^ byte) * 0x100000001B3 % word
    elif isinstance(value, float) and not value.is_integer():
        key = _mixed(int(np.float64(value).view(np.uint64)))
    else:
        key = int(value) % word  # type: ignore[call-overload]
    return (_mixed(key) >> 32) * n_folds >> 32


def _mixed(x: int) -> int:
    word = 2**64
    x = (x + 0x9E3779B97F4A7C15) % word
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % word
    x = (x ^ x >> 27) * 0x94D049BB133111EB % word
    return x ^ x >> 31


def _weight(s: Session) -> np.ndarray:
    n_rows = len(s.setting.background)
    return np.ones(n_rows) if s.setting.weight is None else np.asarray(s.setting.weight, dtype=float)


def _sums(drawn: Drawn, cells: np.ndarray, n_cells: int, weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sums over the rows of each cell, by their definition, divided by the whole exposure."""
    found = {"exposure": drawn.exposure, "observed": drawn.target, "predicted": drawn.predicted}
    sums = {name: np.zeros((n_cells, part.shape[1])) for name, part in found.items()}
    counts = weight > 0
    for name, part in found.items():
        np.add.at(sums[name], cells[counts], weight[counts, None] * part[counts])
    whole = sums["exposure"].sum()
    return {name: part / whole for name, part in sums.items()}


def _cells_of(s: Session, curve: Any, column: str) -> np.ndarray:
    if not s.uses(column):
        return np.zeros(len(s.setting.background), dtype=np.intp)
    return np.asarray(curve.axis.cell_of(s.values(s.setting.background[column])))


def observed(s: Session) -> None:
    """Observed, predicted and A/E of each cell are ratios of sums over its rows; rows of weight 0 may lack a target."""
    if not len(s.setting.background):
        return
    drawn, weight = _draw(s), _weight(s)
    if (weight == 0).any() and drawn.target.shape[1] == 1 and not drawn.classes:
        drawn.asked["target"] = np.where(weight == 0, np.nan, drawn.target[:, 0])
    explainer = s.setting.explainer(**drawn.asked)
    for player in s.few(s.singles, 3):
        curve = explainer.partial_dependence(player.name)
        found = curve.observations
        if np.isnan(found.exposure).all():
            continue
        sums = _sums(drawn, _cells_of(s, curve, player.columns[0]), len(found.exposure), weight)
        exposure = found.exposure if s.uses(player.columns[0]) else np.nan_to_num(found.exposure)
        share = exposure / exposure.sum()
        s.equal("share of the exposure", share, sums["exposure"][:, 0], within=1e-9)
        _compare(s, drawn, found, sums, share)


def _compare(s: Session, drawn: Drawn, found: Any, sums: dict[str, np.ndarray], share: np.ndarray) -> None:
    """Compare sums, and their ratios where weights are about as large as each other."""
    loose = max(s.setting.fitted.tolerance, 1e-9)
    size = max(1.0, float(np.abs(drawn.predicted).max(initial=0.0))) / float(drawn.exposure.min(initial=1.0))
    for what, within, scale in (("observed", 1e-9, drawn.scale), ("predicted", loose, size)):
        want = drawn.of(sums[what], found.outputs)
        got = getattr(found, what)
        s.equal(f"{what}, times the exposure", np.nan_to_num(got) * share[:, None], want, within=within, scale=scale)
        if s.case.get("weights", "none") in EVEN:
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = want / sums["exposure"]
            s.equal(what, got, ratio, within=within, scale=scale)
        mean = getattr(found, f"mean_{what}")
        s.equal(f"{what} over all rows", mean, want.sum(axis=0), within=within, scale=scale)


# --------------------------------------------------------------------------------------------------------- jackknife


def _jackknife(s: Session, folds: np.ndarray, answer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the standard error of an answer of rows, given by their numbers, by leaving out each fold."""
    weight, rows = _weight(s), np.arange(len(folds))
    n_folds = int(folds.max()) + 1
    h = [weight.sum() / weight[folds == k].sum() for k in range(n_folds)]
    whole, left = answer(rows), [answer(rows[folds != k]) for k in range(n_folds)]
    mean = n_folds * whole - sum((1 - 1 / h[k]) * left[k] for k in range(n_folds))
    square = sum((h[k] * whole - (h[k] - 1) * left[k] - mean) ** 2 / (h[k] - 1) for k in range(n_folds))
    return np.sqrt(square / n_folds)


def _can_leave_out(s: Session, drawn: Drawn) -> bool:
    """Whether every fold has rows that count, and the case is small."""
    even = s.case.get("weights", "none") in EVEN and s.case.get("shape") not in ("wide", "large")
    shares = np.bincount(drawn.folds, weights=_weight(s), minlength=drawn.asked["folds"])
    return even and len(s.setting.background) <= MAX_ROWS and bool((shares > 0).all())


def _of_rows(s: Session, rows: np.ndarray, **changes: Any) -> gw.Explainer:
    """Return an Explainer of some rows of the background."""
    table = KINDS[s.case.get("table", "pandas")].make(s.setting.background.iloc[rows].reset_index(drop=True))
    weight = None if s.setting.weight is None else s.setting.weight[rows]
    settings = {"groups": s.setting.groups, "sample_weight": weight, "response": s.setting.asked}
    return gw.Explainer(s.setting.fitted.model, table, **(settings | changes))


def errors(s: Session) -> None:
    """Errors of curves, surfaces, importance and what was observed are those of rows without each fold."""
    if not len(s.setting.background) or not s.singles:
        return
    drawn = _draw(s, folds=True)
    explainer, other = s.setting.explainer(**drawn.asked), s.singles[-1].name
    (player,) = s.few(s.singles, 1)
    curve = explainer.partial_dependence(player.name)
    if not _can_leave_out(s, drawn):
        s.true("shape of errors", curve.errors.shape == curve.heights.shape)  # or refused
        return
    folds = drawn.folds
    asked = {
        "a curve": lambda ex: ex.partial_dependence(player.name).heights,
        "importance": lambda ex: np.array([np.atleast_1d(ex.importance()[name]) for name in names]),
    }
    names = explainer.importance().names
    got = {"a curve": curve.errors, "importance": explainer.importance().error.reshape(len(names), -1)}
    if other != player.name:
        asked["a surface"] = lambda ex: ex.partial_dependence(player.name, other).heights
        got["a surface"] = explainer.partial_dependence(player.name, other).errors
    for what, answer in asked.items():
        want = _jackknife(s, folds, lambda rows, answer=answer: answer(_of_rows(s, rows)))
        s.equal(f"error of {what}", got[what], want, within=1e-7, scale=s.setting.scale)
    _errors_of_observations(s, drawn, curve, player.columns[0])


def _errors_of_observations(s: Session, drawn: Drawn, curve: Any, column: str) -> None:
    """Compare the error of what was observed with that of sums over rows without each fold."""
    found, cells, weight = curve.observations, _cells_of(s, curve, column), _weight(s)
    if np.isnan(found.exposure).all():
        return

    def answer(rows: np.ndarray) -> np.ndarray:
        kept = np.zeros(len(weight))
        kept[rows] = weight[rows]
        sums = _sums(drawn, cells, len(found.exposure), kept)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = sums["observed"] / sums["exposure"]
        return drawn.of(ratio, found.outputs)

    with np.errstate(invalid="ignore"):
        want = _jackknife(s, drawn.folds, answer)
    s.equal("error of what was observed", found.error("observed"), want, within=1e-6, scale=drawn.scale)


def errors_of_strengths(s: Session) -> None:
    """Errors of strengths and of H are those of rows without each fold."""
    if not len(s.setting.background) or s.setting.fitted.raw is None:
        return
    drawn = _draw(s, folds=True)
    if not _can_leave_out(s, drawn):
        return
    asked = {name: drawn.asked[name] for name in ("folds", "fold_by") if name in drawn.asked}
    found = s.setting.explainer(response="raw", **asked).interaction_strengths()

    def answer(rows: np.ndarray) -> np.ndarray:
        other = _of_rows(s, rows, response="raw").interaction_strengths()
        order = [other.pairs.index(pair) for pair in found.pairs]
        return other.heights[order]

    if found.pairs:
        want = _jackknife(s, drawn.folds, answer)
        s.equal("error of strengths", found.error.reshape(want.shape), want, within=1e-7, scale=s.setting.raw_scale)


# ------------------------------------------------------------------------------------------------------------- parts


def observed_parts(s: Session) -> None:
    """Sums of targets in folds have the same bits from parts that are added, from groups and from files."""
    frame = named(s)
    if not can_count(s) or not len(frame) or s.case["model"].get("fit_on") == "array":
        return  # a model without names takes no further columns
    drawn = _draw(s, folds=True)
    beside = {
        name: drawn.asked[name] for name in ("target", "exposure", "prediction", "fold_by") if name in drawn.asked
    }
    columns, asked = {}, {"folds": drawn.asked["folds"], "groups": s.setting.groups}
    for role, values in beside.items():
        lines = np.asarray(values).reshape(len(frame), -1).T
        names = [f"the {role} {number}" for number in range(len(lines))]
        columns |= dict(zip(names, lines, strict=True))
        asked[role] = names[0] if len(names) == 1 else names
    if "fold_by" not in asked:
        columns["the id"], asked["fold_by"] = np.arange(len(frame)), "the id"
    columns["the key"] = s.rng.integers(0, 3, len(frame))
    if s.setting.weight is not None:
        columns["the weight"], asked["sample_weight"] = np.asarray(s.setting.weight, dtype=float), "the weight"
    extended = frame.assign(**columns)
    _add_up(s, extended, asked)


def _add_up(s: Session, extended: pd.DataFrame, asked: dict[str, Any]) -> None:
    model = s.setting.fitted.model
    whole = gw.summarize(model, extended, **asked)
    file = gw.summarize(model, str(write(s, extended)), **asked)
    s.true("from a file", file == whole, f"{file.facts} and {whole.facts}")
    path = Path(s.case["folder"]) / "observed.gw"
    whole.save(path)
    s.true("saved and loaded", gw.Background.load(path) == whole)
    if s.case.get("weights", "none") not in WHOLE:
        return
    half = int(s.rng.integers(0, len(extended) + 1))
    spans = [span for span in (extended[:half], extended[half:]) if len(span)]
    parts = [gw.summarize(model, span.reset_index(drop=True), **asked) for span in spans]
    s.true("parts add up", sum(parts[1:], start=parts[0]) == whole)
    groups = list(gw.summarize(model, extended, by="the key", **asked).values())
    s.true("groups add up", sum(groups[1:], start=groups[0]) == whole)
    s.true("groups are taken away", len(groups) == 1 or whole - groups[0] == sum(groups[2:], start=groups[1]))


QUESTIONS = (errors, errors_of_strengths, observed, observed_parts)
