"""Answers about the rows of a source: files, streams, and frames of a cluster. They are computed when they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from glasswood.counting._plan import make_plan
from glasswood.counting._row_job import RowJob, RowQuestion
from glasswood.effects._interactions import Lookups
from glasswood.effects._many_sets import ManySets
from glasswood.effects._row_cells import CellBlock
from glasswood.engines._pass import Pass
from glasswood.engines._rows import ExplainedRows
from glasswood.errors import TableError
from glasswood.metrics import InteractionIndex
from glasswood.models._outputs import OutputSelection
from glasswood.questions.rows._answer_evaluator import evaluate_any_rows
from glasswood.questions.rows._arithmetic_any_rows import ResponsesOfRows, RowEvaluator, SetsOfRows
from glasswood.questions.rows._result_sets import label_of
from glasswood.questions.rows._result_sources import SourceValues
from glasswood.study._locations import Located
from glasswood.study._study import Study
from glasswood.study._view import View
from glasswood.tables._sources import InMemory, open_source

__all__ = ["SourceRows", "attributions_of_source", "explained_rows", "ice_of_source", "interactions_of_source"]


MANY_ROWS = 10**6  # whose number is not known

MAX_COLUMNS = 20_000  # of values


class SourceRows:
    """The rows of a source that a question is about.

    Parameters
    ----------
    rows : Pass
    keep : mapping of str to str
        Columns that are passed through, and their names afterwards.
    """

    def __init__(self, rows: Pass, keep: Mapping[str, str]) -> None:
        self.rows, self.keep = rows, keep

    @property
    def n_rows(self) -> int:
        """The number of rows, or a large one if it is not known."""
        known = self.rows.n_rows
        return MANY_ROWS if known is None else known

    def explained(self, study: Study, question: RowQuestion) -> ExplainedRows:
        """Return the answers to a question about each row."""
        labels = question.kinds
        taken = [(column, name) for column, name in self.keep.items() if name in labels]
        if taken:
            column, name = taken[0]
            called = "" if column == name else f" under the name {name!r}"
            message = (
                f"keep= passes on the column {column!r}{called}, and a column of values is called {name!r}, too; give "
                f"it another name: keep={{{column!r}: 'another name'}}"
            )
            raise TableError(message)
        refuse_columns(len(labels))
        e = study.ensemble
        reading = self.rows.reading(e.schema, e.used_features, study.originals, list(self.keep))
        return ExplainedRows(self.rows, RowJob(question, reading, self.keep))


def refuse_columns(n_columns: int) -> None:
    """Refuse values of too many sets, features or outputs."""
    if n_columns > MAX_COLUMNS:
        message = (
            f"these are {n_columns:,} columns of values; at most {MAX_COLUMNS:,} are handled. Ask for a smaller "
            "max_order, for fewer features, or for one output"
        )
        raise TableError(message)


def explained_rows(rows: object, keep: object, engine: object) -> object:
    """Return rows to explain: a table in memory as it is given, the rows of any other source as `SourceRows`."""
    source = open_source(rows)
    if isinstance(source, InMemory):
        if keep is not None or engine != "auto":
            message = "keep= and engine= are for rows that are files, a stream, or a frame of a cluster"
            raise TableError(message)
        return rows
    result = Pass(source, engine=engine)
    named = _kept(keep)
    absent = [name for name in named if result.names is None or name not in result.names]
    if absent:
        message = f"keep= names columns of the rows; there is no column {absent[0]!r}"
        raise TableError(message)
    return SourceRows(result, named)


def _kept(keep: object) -> dict[str, str]:
    """Return columns that are passed through, and their new names."""
    if keep is None:
        return {}
    if isinstance(keep, str):
        return {keep: keep}
    result = dict(keep) if isinstance(keep, Mapping) else {name: name for name in _listed(keep)}
    if not all(isinstance(name, str) for pair in result.items() for name in pair):
        message = f"keep= is a list of names of columns, or a mapping from their names to new ones, not {keep!r}"
        raise TableError(message)
    if len(set(result.values())) != len(result):
        message = f"keep= gives several columns the same name: {sorted(result.values())!r}"
        raise TableError(message)
    return result


def _listed(keep: object) -> Sequence[Any]:
    if isinstance(keep, Sequence):
        return keep
    message = f"keep= is a list of names of columns, or a mapping from their names to new ones, not {keep!r}"
    raise TableError(message)


def attributions_of_source(view: View, rows: SourceRows, name: str, metric: InteractionIndex) -> SourceValues:
    """Return a metric of features, or of pairs of them, for the rows of a source."""
    study, chosen, mean = view.study, view.chosen, view.level
    plan = study.plan(1)
    values = evaluate_any_rows(study, metric, rows.n_rows, chosen.columns)
    shape = (len(plan.players),) * (metric.max_order or 1)
    subsets = tuple(product(plan.players, repeat=len(shape)))
    labels = _labelled(tuple(map(label_of, subsets)), chosen)
    question = SetsOfRows(values, plan, labels, len(chosen.labels), shape, chosen.total is not None)
    return SourceValues(
        name=name,
        rows=rows.explained(study, question),
        subsets=subsets,
        shape=(*shape, len(chosen.labels)),
        outputs=chosen.labels,
        units=view.units,
        base_values=float(mean[0]) if mean.size == 1 else mean,
    )


def interactions_of_source(view: View, rows: SourceRows, name: str, values: RowEvaluator) -> SourceValues:
    """Return values of sets of features for the rows of a source."""
    study, chosen = view.study, view.chosen
    plan = study.plan(1)
    none = np.empty((plan.ensemble.used_features.size, 0), dtype=np.int32)
    sets = values.sets if isinstance(values, Lookups | ManySets) else values.of_rows(CellBlock(none)).sets
    refuse_columns(len(sets) * len(chosen.labels))
    subsets = tuple(tuple(plan.players[player] for player in members) for members in sets)
    labels = _labelled(tuple(map(label_of, subsets)), chosen)
    question = SetsOfRows(values, plan, labels, len(chosen.labels), (), chosen.total is not None)
    return SourceValues(
        name=name,
        rows=rows.explained(study, question),
        subsets=subsets,
        shape=(len(sets), len(chosen.labels)),
        outputs=chosen.labels,
        units=view.units,
    )


def ice_of_source(view: View, rows: SourceRows, name: str, located: Located) -> SourceValues:
    """Return the responses of the rows of a source with some features in given cells."""
    study, scale, chosen, features = view.study, view.scale, view.chosen, located.features
    if features.size == 1:
        plan = make_plan(study.ensemble, 1, {})
        player = int(plan.player_of[features[0]])
    else:
        names = [study.ensemble.feature_names[f] for f in features]
        plan, player = make_plan(study.ensemble, 1, {f"{name} (asked)": names}), 0
    labels, asked = _labelled(("response",), chosen), (player, features, located.cells)
    question = ResponsesOfRows(plan, scale.link, scale.inverse, asked, chosen, labels, scale.response)
    return SourceValues(
        name=f"ICE of {name}",
        rows=rows.explained(study, question),
        subsets=(),
        shape=(located.cells.shape[1], len(chosen.labels)),
        outputs=chosen.labels,
        units=view.units,
    )


def _labelled(names: tuple[str, ...], chosen: OutputSelection) -> tuple[str, ...]:
    """Return the names of columns, with those of outputs if there are several."""
    ends = [f" [{label}]" for label in chosen.labels] if len(chosen.labels) > 1 else [""]
    return tuple(name + end for name in names for end in ends)
