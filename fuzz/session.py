"""A session with an Explainer: questions are asked, their answers compared, and everything is noted."""

from __future__ import annotations

import hashlib
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.columns import is_category, tries, unseen_label
from fuzz.models import LibraryRefusedError
from fuzz.setting import Player, Setting
from fuzz.snapshots import digest, snapshot
from fuzz.streams import stream

__all__ = ["Call", "Notes", "Session"]


@dataclass
class Notes:
    """What came of a case."""

    compared: Counter = field(default_factory=Counter)
    refusals: Counter = field(default_factory=Counter)
    library: Counter = field(default_factory=Counter)
    remarks: Counter = field(default_factory=Counter)  # warnings of others while Glasswood was at work
    findings: list[dict] = field(default_factory=list)
    digest: Any = field(default_factory=hashlib.sha256)  # of all answers

    def find(self, question: str, kind: str, what: str, detail: str) -> None:
        """Note something that should not be; `kind` and `what` tell whether two findings are the same."""
        known = {(found["question"], found["kind"], found["what"]) for found in self.findings}
        if (question, kind, what) not in known:
            self.findings.append({"question": question, "kind": kind, "what": what, "detail": detail[-3000:]})


@dataclass
class Call:
    """A question that was asked, and its answer."""

    method: str
    args: tuple
    kwargs: dict
    answer: dict[str, Any]
    keep: Any = None


class Session:
    """One Explainer, asked many questions."""

    def __init__(self, setting: Setting, notes: Notes) -> None:
        self.setting, self.notes = setting, notes
        self.case, self.oracle = setting.case, setting.oracle
        self.calls: list[Call] = []
        self.kept: list[Any] = []  # what lives as long as the session
        self.question = "Explainer"
        self.rng = stream(self.case["seed"], "session")
        self.explainer = setting.explainer()

    # ------------------------------------------------------------------------------------------------------- asking

    def ask(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Ask the Explainer; the answer is remembered, to be compared with what it says later."""
        result = getattr(self.explainer, method)(*args, **kwargs)
        self.calls.append(Call(method, args, kwargs, snapshot(result), result))
        self.notes.digest.update(method.encode() + digest(self.calls[-1].answer))
        return result

    def uses(self, column: str) -> bool:
        """Whether the model splits on a column; others are not read, so that all their rows are in one cell."""
        if self.setting.fitted.pipeline:
            names = list(self.explainer.ensemble.feature_names)
            return column not in names or names.index(column) in self.explainer.ensemble.used_features
        return list(self.setting.train).index(column) in self.explainer.ensemble.used_features

    def start(self, question: str) -> None:
        """Begin a question: its random numbers do not depend on what was asked before."""
        self.question = question
        self.rng = stream(self.case["seed"], "question", question)

    @contextmanager
    def guarded(self, question: str) -> Iterator[None]:
        """Note what a question raises, and warnings from Glasswood's own code."""
        self.start(question)
        with guard(self.notes, question):
            yield

    # ---------------------------------------------------------------------------------------------------- comparing

    def same(self, what: str, got: Any, want: Any, *, factor: float = 1.0, scale: float | None = None) -> None:
        """Compare an answer with brute force; outputs are the last axis of both."""
        want = np.asarray(want, dtype=np.float64)
        got = np.asarray(got, dtype=np.float64)
        if got.ndim == want.ndim - 1:
            got = got[..., None]
        if want.shape[-1] == 2 and got.shape[-1] == 1:
            want = want[..., 1:]  # the positive class of two
        within = self.setting.fitted.tolerance * factor
        self.equal(what, got, want, within=within, scale=scale or self.setting.scale)

    def equal(self, what: str, got: Any, want: Any, *, within: float = 0.0, scale: float = 1.0) -> None:
        """Compare numbers of the same shape, up to a share of a scale."""
        got, want = np.asarray(got, dtype=np.float64), np.asarray(want, dtype=np.float64)
        self.notes.digest.update(f"{what}{got.shape}".encode() + np.ascontiguousarray(got).tobytes())
        if got.shape != want.shape:
            self.notes.find(self.question, "difference", what, f"shapes {got.shape} and {want.shape}")
            return
        self.notes.compared[self.question] += got.size
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0.0, np.abs(got - want))
        worst = np.nan_to_num(error, nan=np.inf).max(initial=0.0)
        size = max(scale, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
        if worst > within * size:
            at = np.unravel_index(int(np.nan_to_num(error, nan=np.inf).argmax()), error.shape)
            detail = f"{got[at]!r} instead of {want[at]!r} at {tuple(map(int, at))} of {got.shape}, scale {size:.6g}"
            self.notes.find(self.question, "difference", what, detail)

    def true(self, what: str, holds: Any, detail: Any = "") -> None:
        """Note something that must hold."""
        self.notes.compared[self.question] += 1
        if not holds:
            self.notes.find(self.question, "difference", what, str(detail))

    # ------------------------------------------------------------------------------------------------------- points

    def points(self, columns: list[str] | tuple[str, ...], n: int) -> pd.DataFrame:
        """Return points of some columns: values of training, at cuts, beside them, odd ones, missing ones."""
        setting = self.setting
        spec_of = dict(zip(setting.train, self.case["columns"], strict=True))
        made = {}
        for name in columns:
            known = pd.concat([setting.train[name], setting.background[name]], ignore_index=True)
            known = known if known.dtype == setting.background[name].dtype else setting.background[name]
            made[name] = tries(self.rng, spec_of[name], known, setting.tried(name), n)
        return pd.DataFrame({name: self._missing_as_trained(name, own) for name, own in made.items()})

    def _missing_as_trained(self, name: str, values: Any) -> Any:
        """Return values in which None and NaN are what training had: lists cannot tell them apart, encoders may."""
        column = pd.Series(values)
        trained = [value for value in self.setting.train[name] if pd.isna(value)]
        if column.dtype != object or not trained:
            return values
        return pd.Series([trained[0] if pd.isna(value) else value for value in column], dtype=object)

    def at(self, points: pd.DataFrame) -> Any:
        """Return points as a table for `at=`: a frame, a mapping, or another kind of frame."""
        setting = self.setting
        if setting.natural:
            return points
        names = setting.train if setting.case["model"].get("fit_on", "frame") == "frame" else setting.names
        renamed = points.rename(columns=dict(zip(setting.train, names, strict=True)))
        from fuzz.tables import KINDS

        kind = str(self.rng.choice(["pandas", "pandas", "mapping", "polars", "arrow"]))
        return KINDS[kind].make(renamed)

    def values(self, points: pd.Series) -> np.ndarray:
        """Return the values of a column as an array, as a curve is called with them."""
        if points.dtype.kind in "fiub":
            return points.to_numpy()
        return points.astype(object).where(points.notna(), None).to_numpy()

    @property
    def singles(self) -> list[Player]:
        """The players that are columns of their own, and have a curve."""
        have = self.setting.with_curves
        return [
            p for p in self.setting.players if p.single and p.name != "the group" and (have is None or p.name in have)
        ]

    def few(self, players: list[Player], max_: int) -> list[Player]:
        """Return some players, in any order."""
        return [players[k] for k in self.rng.permutation(len(players))[:max_]]

    def unseen(self, column: str) -> pd.Series | None:
        """Return an unseen category of a column as a point; None for numbers."""
        spec = dict(zip(self.setting.train, self.case["columns"], strict=True))[column]
        if not is_category(spec) or self.setting.natural or not self.setting.takes.unseen:
            return None
        known = self.setting.train[column]
        if not isinstance(known.dtype, pd.CategoricalDtype):
            return pd.Series([unseen_label(spec)], dtype=known.dtype)
        return pd.Series(pd.Categorical([unseen_label(spec)], categories=[*known.cat.categories, unseen_label(spec)]))


@contextmanager
def guard(notes: Notes, question: str) -> Iterator[None]:
    """Note refusals, other exceptions, and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except gw.errors.GlasswoodError as error:
            notes.refusals[f"{type(error).__name__}: {general(str(error))}"] += 1
            notes.digest.update(type(error).__name__.encode())
        except LibraryRefusedError as error:
            notes.library[general(str(error))[:100]] += 1
        except Exception as error:  # noqa: BLE001 (that is what we are after)
            notes.find(question, type(error).__name__, _place(error), traceback.format_exc())
    for warning in caught:
        if "glasswood" in warning.filename and "site-packages" not in warning.filename:
            place = warning.filename.rpartition("glasswood/")[2]
            notes.find(question, "warning", f"{place}: {general(str(warning.message))[:80]}", str(warning))
        else:
            notes.remarks[f"{warning.category.__name__}: {general(str(warning.message))[:100]}"] += 1


def _place(error: BaseException) -> str:
    """Return the last function of Glasswood's on the way to an error, and the message without its numbers."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/glasswood/" in frame.filename]
    where = f"{frames[-1].filename.rpartition('/glasswood/')[2]}:{frames[-1].name}" if frames else "the fuzzer"
    return f"{where}: {general(str(error))[:80]}"


def general(message: str) -> str:
    """Return a message without what differs from case to case: numbers, quoted texts, lists."""
    message = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "'...'", message)
    message = re.sub(r"\[[^\]]*\]", "[...]", message)
    return re.sub(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?|\b(?:nan|inf)\b", "#", message)[:300]
