"""The questions, and the settings that they are asked in: one line each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.contract.describe import RESULTS, describe
from tests.contract.kinds import KINDS, model_of
from tests.contract.tables import HALF, column

import glasswood as gw

N_EXPLAINED = 3  # rows


class Asked:
    """A model in a setting, and what questions are about.

    Parameters
    ----------
    kind : str
        A name in `KINDS`.
    setting : Setting
    """

    def __init__(self, kind, setting):
        self.kind, self.setting = kind, setting
        self.table = KINDS[kind].frame()
        self.names = tuple(self.table)
        self.rows = self.table[:N_EXPLAINED]
        self.ex = self.explain(slice(None))
        self.output = setting.output(self.ex)
        # The features that are asked for: the one with holes or categories last.
        self.a, self.b, self.c, self.d = setting.asked(self.names)

    def explain(self, rows):
        """Return an Explainer of some of the rows."""
        model, table = model_of(self.kind), KINDS[self.kind].frame(rows)
        return gw.Explainer(model, self.setting.background(model, table, rows), **self.setting.options(self, rows))

    def at(self, *names):
        """Return some points."""
        columns = [name for player in names for name in (self.names[:2] if player == "together" else (player,))]
        return self.table.loc[[2, 5, 11], columns]

    def grids(self):
        """Return values of all columns that are numbers."""
        names = self.names[2 if self.setting.grouped else 0 :]
        return {name: self.table[name].to_numpy()[[2, 5, 11]] for name in names if name != "city"}

    def metric(self, metric):
        """Return a metric of two rows."""
        return self.ex.evaluate(metric, self.rows[:2], **self.output)

    def ask(self, question, *, full):
        """Return the answer of a question as plain data; of a refusal, the type of the error."""
        exact = question.exact and self.setting.exact and KINDS[self.kind].exact
        try:
            answer = question.ask(self)
            found = describe(answer, exact=exact, full=full)
        except gw.errors.GlasswoodError as error:
            return {"error": type(error).__name__}
        if isinstance(answer, RESULTS) and full:
            again = describe(pickle.loads(pickle.dumps(answer)), exact=exact, full=full)
            found["pickled"] = "the same" if again == found else "another"
        return found


@dataclass(frozen=True)
class Question:
    """A question.

    Parameters
    ----------
    ask : function from Asked to the answer
    exact : whether the answer's numbers are the same bits on every machine: sums in one order, no function of NumPy's
    brief : whether it is asked in all settings, and not in the main one only
    """

    ask: Callable[[Asked], Any]
    exact: bool = False
    brief: bool = True


EXACT = {"exact": True}
ONCE = {"brief": False}

QUESTIONS = {
    # partial dependence
    "curve": Question(lambda q: q.ex.partial_dependence(q.a, **q.output), **EXACT, **ONCE),
    "curve of the last": Question(lambda q: q.ex.partial_dependence(q.d, **q.output), **EXACT, **ONCE),
    "curve by position": Question(lambda q: q.ex.partial_dependence(1, **q.output), **EXACT, **ONCE),
    "curves": Question(lambda q: q.ex.partial_dependence(**q.output), **EXACT),
    "curve at values": Question(
        lambda q: _at(q.ex.partial_dependence(q.a, **q.output), [-np.inf, 40.5, 55.0, np.inf, np.nan]), **EXACT, **ONCE
    ),
    "surface": Question(lambda q: q.ex.partial_dependence(q.a, q.b, **q.output), **EXACT),
    "surface of the last": Question(lambda q: q.ex.partial_dependence(q.b, q.d, **q.output), **EXACT),
    "surface at values": Question(
        lambda q: _at(q.ex.partial_dependence(q.a, q.b, **q.output), [40.5, 55.0, np.nan], [50.0]), **EXACT, **ONCE
    ),
    "surfaces": Question(lambda q: q.ex.joint_partial_dependence(**q.output), **EXACT, **ONCE),
    "grids": Question(
        lambda q: q.ex.joint_partial_dependence(grid=q.grids(), response="raw", **q.output).grid_values, **EXACT
    ),
    "points of one": Question(lambda q: q.ex.partial_dependence(q.a, at=q.at(q.a), **q.output), **EXACT, **ONCE),
    "points": Question(lambda q: q.ex.partial_dependence(q.a, q.b, q.d, at=q.at(q.a, q.b, q.d), **q.output), **EXACT),
    # rows
    "interactions": Question(lambda q: q.ex.interaction_values(q.rows, **q.output), **EXACT),
    "interactions of pairs": Question(
        lambda q: q.ex.interaction_values(q.rows, max_order=2, features=[q.a, q.b], **q.output), **EXACT, **ONCE
    ),
    "shapley": Question(lambda q: q.ex.shap_values(q.rows, **q.output)),
    "shapley of all rows": Question(lambda q: q.ex.shap_values(q.table, **q.output).mean_abs(), **ONCE),
    "banzhaf": Question(lambda q: q.ex.banzhaf_values(q.rows, **q.output)),
    "shapley interactions": Question(lambda q: q.ex.shap_interaction_values(q.rows[:1], **q.output)),
    "metric ShapleyValues": Question(lambda q: q.metric(gw.metrics.ShapleyValues()), **ONCE),
    "metric BanzhafValues": Question(lambda q: q.metric(gw.metrics.BanzhafValues()), **ONCE),
    "metric ShapleyInteractions": Question(lambda q: q.metric(gw.metrics.ShapleyInteractions()), **ONCE),
    "metric BanzhafInteractions": Question(lambda q: q.metric(gw.metrics.BanzhafInteractions(3, 2)), **ONCE),
    "metric ShapleyTaylor": Question(lambda q: q.metric(gw.metrics.ShapleyTaylor(2)), **ONCE),
    "metric CenteredPartialDependence": Question(lambda q: q.metric(gw.metrics.CenteredPartialDependence()), **ONCE),
    "metric PartialDependenceInteractions": Question(
        lambda q: q.metric(gw.metrics.PartialDependenceInteractions(2)), **ONCE
    ),
    "metric of the user": Question(lambda q: q.metric(Depth()), **ONCE),
    "ice": Question(lambda q: q.ex.ice(q.a, rows=q.rows, **q.output), **ONCE),
    "ice of the background": Question(lambda q: q.ex.ice(q.a, **q.output).mean),
    "ice at points": Question(lambda q: q.ex.ice(q.a, q.d, rows=q.rows, at=q.at(q.a, q.d), **q.output), **ONCE),
    # all features
    "importance": Question(lambda q: q.ex.importance(**q.output)),
    "main importance": Question(lambda q: q.ex.importance(kind="main", **q.output)),
    "importance of one": Question(lambda q: q.ex.importance(**q.output)[q.a], **ONCE),
    "strengths": Question(lambda q: q.ex.interaction_strengths(**q.output)),
    "strengths of rows": Question(lambda q: q.ex.interaction_strengths(q.rows, **q.output), **ONCE),
    "monotonicity": Question(lambda q: q.ex.monotonicity(**q.output)),
    "monotonicity of one": Question(lambda q: q.ex.monotonicity(q.a, **q.output)[q.a], **ONCE),
    "spikes": Question(lambda q: q.ex.spikes(points=5, **q.output)),
    "outputs": Question(lambda q: q.ex.outputs, **EXACT, **ONCE),
    # several explainers
    "comparison of parts": Question(
        lambda q: gw.compare({"first": q.explain(slice(HALF)), "second": q.explain(slice(HALF, None))}, **q.output)
    ),
}


def _at(found, *values):
    """Return a curve or a surface at values; columns of a pipeline have points instead."""
    return found(*values) if callable(found) else "no function"


class Depth(gw.metrics.CubeMetric):
    """A metric of a user's own."""

    def calc_metric(self, s_plus, s_minus):
        """Return half the value for each feature that takes part, minus a quarter for each other one."""
        return dict.fromkeys(s_plus, 0.5) | dict.fromkeys(s_minus, -0.25)


@dataclass(frozen=True)
class Setting:
    """How an Explainer is made and asked.

    Parameters
    ----------
    name : str
    response : {"raw", "probability", "prediction"}
    weight : name of the column of weights, or None
    grouped : whether the first two columns are fixed together
    over : {"rows", "counts", "pairs", "covers"}
        What is averaged over: rows, their counts of any order, of order 2, or the covers of training.
    output : function from an Explainer to arguments that choose an output
    few : whether only `FEW` questions are asked
    """

    name: str
    response: str = "raw"
    weight: str | None = None
    grouped: bool = False
    over: str = "rows"
    output: Callable[[gw.Explainer], dict[str, Any]] = field(default=lambda ex: {}, repr=False)
    few: bool = False

    @property
    def exact(self):
        """Whether answers are sums of counts and leaf values."""
        return self.response == "raw"

    def options(self, asked, rows):
        """Return the arguments of an Explainer."""
        found = {"response": self.response} if self.response != "raw" or KINDS[asked.kind].exact else {}
        if self.over in ("rows", "covers"):
            found |= self._groups(asked.names)
            if self.weight is not None and self.over == "rows":
                found["sample_weight"] = column(self.weight)[rows]
        elif self.grouped:
            found |= self._groups(asked.names)
        return found

    def background(self, model, table, rows):
        """Return what is averaged over."""
        if self.over in ("rows", "covers"):
            return table if self.over == "rows" else None
        weight = {} if self.weight is None else {"sample_weight": column(self.weight)[rows]}
        order = None if self.over == "counts" else 2
        return gw.summarize(model, table, order=order, **weight, **self._groups(tuple(table)))

    def asked(self, names):
        """Return the players that questions are about."""
        return ("together", names[2], names[3], names[3]) if self.grouped else names

    def _groups(self, names):
        return {"groups": {"together": list(names[:2])}} if self.grouped else {}


FEW = ("curves", "surface", "interactions", "shapley", "importance", "comparison of parts")

SETTINGS = [
    Setting("raw"),
    Setting("probability", response="probability"),
    Setting("prediction", response="prediction"),
    Setting("whole weights", weight="weight"),
    Setting("fractional weights", weight="share", few=True),
    Setting("weighted probability", response="probability", weight="weight", few=True),
    Setting("groups", grouped=True),
    Setting("grouped predictions with weights", response="prediction", weight="share", grouped=True, few=True),
    Setting("counts", over="counts"),
    Setting("counts of pairs with weights", over="pairs", weight="share"),
    Setting("counts with groups", over="counts", grouped=True, few=True),
    Setting("covers", over="covers"),
    Setting("first output", output=lambda ex: {"output": ex.outputs[0]}, few=True),
    Setting("last output", output=lambda ex: {"output": ex.outputs[-1]}, few=True),
    Setting("first probability", response="probability", output=lambda ex: {"output": ex.outputs[0]}, few=True),
]


MAIN = {name: "raw" if kind.exact else "prediction" for name, kind in KINDS.items()}  # where all questions are asked


def answers(kind, setting, *, full=False):
    """Return the answers of a kind of model in a setting, as plain data."""
    try:
        asked = Asked(kind, setting)
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
    return {
        name: asked.ask(question, full=full)
        for name, question in QUESTIONS.items()
        if setting.name == MAIN[kind] or (question.brief and (name in FEW or not setting.few))
    }


def all_answers(kind):
    """Return the answers of a kind of model in all settings."""
    return {setting.name: answers(kind, setting) for setting in SETTINGS}


def attributes(kind):
    """Return the answers of a kind of model in the main setting, with all their public attributes."""
    (main,) = (setting for setting in SETTINGS if setting.name == MAIN[kind])
    return answers(kind, main, full=True)
