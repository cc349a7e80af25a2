"""What a report is about: a view, and what its sections share of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.errors import GlasswoodError
from glasswood.parallel._once import once
from glasswood.report._apart import Apart, apart_of
from glasswood.report._wording import shape_word
from glasswood.results import Certificate, Monotonicity, RowMonotonicity
from glasswood.study._certificate import certificate
from glasswood.study._dependence import curves, partial_dependence
from glasswood.study._importance import importance, permutation_importance
from glasswood.study._request import EVERYWHERE
from glasswood.study._shapes import row_monotonicity
from glasswood.study._study import Study
from glasswood.study._view import View, view_of
from glasswood.text._printable import how_many

__all__ = ["Section", "Subject", "average_of", "column", "in_brackets", "noun_of", "section", "shapes_of"]

Section = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about; answers that several sections need are found once."""

    view: View

    @property
    def study(self) -> Study:
        """The model, and what is averaged over."""
        return self.view.study

    @once
    def curves(self) -> Mapping[str, Any]:
        """The curve of every feature that is a player of its own."""
        found = curves(self.view)
        return found if self.study.originals is None else {k: found[k] for k in found if k not in self.study.groups}

    @property
    def importance(self) -> Any:
        """The importance of all players, the strongest first; None if there is none, see `why_no_importance`."""
        return self._importance[0]

    @property
    def why_no_importance(self) -> str:
        """Why there is no importance."""
        return self._importance[1]

    @once
    def _importance(self) -> tuple[Any, str]:
        """The importance, and why there is none."""
        try:
            return importance(self.view), ""
        except GlasswoodError:
            if self.rows == "none":
                return None, "it is computed over rows, and there are none"
            return None, "that of a group of columns needs the rows themselves, and only counts of them are available"

    @once
    def permutation(self) -> Any:
        """The permutation importance of all players; None if there is no target, or it has no loss.

        Files are not read again for it.
        """
        over = self.study.over
        if not self.study.has_targets or not (over.in_memory or over.counted is not None):
            return None
        try:
            return permutation_importance(self.view)
        except GlasswoodError:  # no usual loss, exposures without offsets, or a Background without its sums
            return None

    @once
    def certificate(self) -> Certificate | None:
        """What the trees prove, on the raw scale; None if the model declares no monotone constraints."""
        raw = self.raw
        e = self.study.ensemble
        if e.promised is None or e.derived is not None or raw is None or not self.numbers:
            return None
        return certificate(raw.view, self.numbers)

    @once
    def rows_against(self) -> RowMonotonicity | None:
        """The rows that break promises which are not kept, on the raw scale; None if there are none, or no table."""
        found, raw = self.certificate, self.raw
        if found is None or raw is None or not found.broken or not self.study.over.in_memory:
            return None
        names = list(dict.fromkeys(one.feature for one in found.broken))
        return row_monotonicity(raw.view, names)

    @property
    def units_of_importance(self) -> str:
        """The units of importance, in brackets."""
        return self.units if self.importance is None else in_brackets(self.importance.units)

    def count_pairs(self) -> None:
        """Count pairs of features if they will be needed; these counts include single features."""
        study, plan = self.study, self.study.plan(1)
        if self.view.scale.additive and study.over.counted is None and study.over.has_rows and plan.countable(2):
            study.effects(2)

    @once
    def apart(self) -> Mapping[str, Apart]:
        """The features whose partial dependence differs from their accumulated local effect."""
        raw = self.raw
        if raw is None or self.rows == "none" or self.study.in_parts:
            return {}
        return apart_of(raw.view)

    @once
    def used(self) -> frozenset[str]:
        """The players of which some column is split on."""
        plan = self.study.plan(1)
        return frozenset(plan.players[k] for k in set(plan.player_of[self.study.ensemble.used_features].tolist()))

    @once
    def numbers(self) -> list[str]:
        """The used features that are numbers."""
        return [name for name, curve in self.curves.items() if curve.categories is None and curve.cuts.size]

    @once
    def names(self) -> list[str]:
        """All players, the most important first, unused ones last."""
        first = [] if self.importance is None else [name for name in self.importance.names if name in self.used]
        players = self.study.plan(1).players
        first += [name for name in players if name in self.used and name not in set(first)]
        return [*first, *(name for name in players if name not in self.used)]

    @once
    def results(self) -> dict[str, Any]:
        """The curve of each used player, or its points if it is a group or a pipeline's column; None if it has none."""
        return {name: self._result(name) for name in self.names if name in self.used}

    def _result(self, name: str) -> Any:
        if name in self.curves:
            return self.curves[name]
        try:
            return partial_dependence(self.view, [name], EVERYWHERE)
        except GlasswoodError:  # a group without a table to take points from
            return None

    @once
    def number_of(self) -> dict[str, int]:
        """The number of the figure of each player that has one: they are in the order of `names`."""
        return {name: k for k, name in enumerate(name for name, found in self.results.items() if found is not None)}

    @once
    def background(self) -> Background | None:
        """The counts of the rows; None if there are none, or too many to keep."""
        return None if self.study.in_parts else self.study.counted(1)

    @once
    def total(self) -> float:
        """The number (or weight) of the background's rows; 0 without a background."""
        counted = max((float(np.sum(curve.axis.rows)) for curve in self.curves.values()), default=0.0)
        background = self.background
        return background.weight if counted == 0.0 and background is not None else counted

    @property
    def rows(self) -> str:
        """What is known of the rows: "table" (themselves), "counts" (saved, or of files), or "none" (covers)."""
        return "table" if self.study.over.in_memory else "counts" if self.study.over.has_rows else "none"

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, so that "rows" are sums of these."""
        return self.study.over.weighted

    @property
    def rows_text(self) -> str:
        """How many rows are averaged over, in words; there must be some."""
        count = self.study.over.n_rows if self.background is None else self.background.n_rows
        return how_many(count, "row") + (f" with a total weight of {self.total:,.6g}" if self.weighted else "")

    @property
    def pipeline(self) -> bool:
        """Whether features are columns before a pipeline, of which the model's own columns are made."""
        return self.study.model.has_transformers

    @property
    def without_curves(self) -> list[str]:
        """The columns before a pipeline that have points only."""
        return [] if self.study.originals is None else [name for name in self.study.groups if name in self.used]

    # ------------------------------------------------------------------------------------------- outputs and scales

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the outputs."""
        return self.view.labels

    def chosen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the outputs that are shown of values of all outputs, the last axis."""
        return self.view.levels(values)

    @property
    def several(self) -> bool:
        """Whether there are several outputs."""
        return len(self.labels) > 1

    @property
    def noun(self) -> str:
        """The quantity that a curve averages, such as "prediction", "probability" or "score"."""
        return noun_of(self.view.units)

    @property
    def units(self) -> str:
        """The units of heights, in brackets, for the heads of columns; empty for those of the target."""
        return in_brackets(self.view.units)

    @once
    def raw(self) -> Subject | None:
        """The same model and rows on the raw score; None if the model has none that is a sum over trees."""
        if self.view.scale.is_score:
            return self
        if self.study.combined:
            return None
        return Subject(view_of(self.study, "raw"))


def shapes_of(subject: Subject, found: Monotonicity, i: int) -> list[str]:
    """Return the shape of the curve of a feature in a word or two, for each output."""
    curve = subject.curves[found.names[i]]
    spans = np.ptp(curve.heights[curve.axis.ordinary], axis=0)
    lines = zip(found.directions[i], found.mains[i], found.against[i], spans, found.shares[i], strict=True)
    return [shape_word(str(a), str(b), float(c), float(d), float(e)) for a, b, c, d, e in lines]


def noun_of(units: str) -> str:
    """Return what the average of a score of some units is called."""
    return {"value": "prediction", "prediction": "prediction", "probability": "probability"}.get(units, "score")


def average_of(units: str) -> str:
    """Return the head of a column of averages of a score of some units."""
    return f"Average {noun_of(units)}{'' if noun_of(units) == units else in_brackets(units)}"


def in_brackets(units: str) -> str:
    """Return units for the head of a column; those of the target are not known."""
    return "" if units == "value" else f" ({units})"


def section(name: str, title: str, *text: str, **parts: object) -> Section:
    """Return a section of the page: its anchor, its title, some sentences, and what else it has."""
    return {"id": name, "title": title, "text": [part for part in text if part], "figures": [], **parts}


def column(name: str, kind: str = "number") -> dict[str, str]:
    """Return a column of a table: "name", "text", "number", "edge", "count", "share" or "bar"."""
    return {"name": name, "kind": kind}
