"""What a report is about: a view, what is known of its rows, and what families of questions tell of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.parallel._lazy import Cache, cached_property
from glasswood.report._common import MAX_LINES, ColumnOfFeatures, Item, column, in_brackets, noun_of
from glasswood.report._settings import DEFAULTS, Settings
from glasswood.study._study import Study
from glasswood.study._view import View, view_of
from glasswood.text._printable import how_many

__all__ = ["Subject"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Parameters
    ----------
    view : View
    families : tuple of modules
        What families of questions tell, as far as they have these functions:

        - `prepare(subject)`: what is refused or counted before anything else;
        - `ranking(subject)`: the names of players, the most important first;
        - `number_of(subject)`: the number of the figure of each player that has one;
        - `columns(subject)`: columns of the table of features, `ColumnOfFeatures`;
        - `subtitle(subject, name)`: what is said below the figure of a feature;
        - `overlay(subject, curve, panel)`: the panel of a curve, with something beside it;
        - `sections(subject)`: sections, `Placed`;
        - `findings(subject, made)`: findings, `Placed`, given the sections by their anchors.
    settings : Settings
    """

    view: View
    families: tuple[ModuleType, ...] = ()
    settings: Settings = DEFAULTS

    @cached_property
    def _cache(self) -> Cache:
        return Cache()

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return an answer that several sections need; it is found once."""
        return self._cache.cached(key, make)

    def functions(self, what: str) -> Iterator[Callable[..., Any]]:
        """Yield the functions of a name that families have."""
        for family in self.families:
            result = getattr(family, what, None)
            if result is not None:
                yield result

    @property
    def study(self) -> Study:
        """The model, and what is averaged over."""
        return self.view.study

    @cached_property
    def raw(self) -> View | None:
        """The same model and rows on the raw score; None if the model has none that is a sum over trees."""
        if self.view.scale.is_score:
            return self.view
        return None if self.study.combined else view_of(self.study, "raw")

    # ------------------------------------------------------------------------------------------------- features

    @cached_property
    def used(self) -> frozenset[str]:
        """The players of which some column is split on."""
        plan = self.study.plan(1)
        return frozenset(plan.players[k] for k in set(plan.player_of[self.study.ensemble.used_features].tolist()))

    @cached_property
    def names(self) -> list[str]:
        """All players, the most important first, unused ones last."""
        first = [name for ranking in self.functions("ranking") for name in ranking(self) if name in self.used]
        players = self.study.plan(1).players
        first += [name for name in players if name in self.used and name not in set(first)]
        return [*first, *(name for name in players if name not in self.used)]

    @cached_property
    def single(self) -> dict[str, int]:
        """The features that are players of their own, and their numbers."""
        own, groups = set(self.study.plan(1).players), self.study.groups
        names = enumerate(self.study.ensemble.feature_names)
        return {name: f for f, name in names if name in own and name not in groups}

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """The number of the figure of each player that has one."""
        return {name: k for numbers in self.functions("number_of") for name, k in numbers(self).items()}

    @cached_property
    def columns(self) -> list[ColumnOfFeatures]:
        """The columns of the table of features, in their order."""
        return sorted(
            (one for columns in self.functions("columns") for one in columns(self)), key=lambda one: one.place
        )

    @property
    def without_curves(self) -> list[str]:
        """The columns before a pipeline that have points only."""
        return [] if self.study.originals is None else [name for name in self.study.groups if name in self.used]

    @property
    def what_has_no_order(self) -> str:
        """What groups are called, whose values have no order."""
        return "columns of a pipeline that have no curve" if self.without_curves else "groups of columns"

    # ----------------------------------------------------------------------------------------------------- rows

    @cached_property
    def background(self) -> Background | None:
        """The counts of the rows; None if there are none, or too many to keep."""
        return None if self.study.in_parts else self.study.counted(1)

    @cached_property
    def total(self) -> float:
        """The number (or weight) of the background's rows; 0 without a background."""
        rows = [self.study.rows_per_cell(f) for f in self.single.values()]
        counted = max((float(np.sum(own)) for own in rows), default=0.0)
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

    # ------------------------------------------------------------------------------------------------ parts of sections

    def item(self, tag: str, names: list[str], text: str, *, linked: bool = True, state: str = "") -> Item:
        """Return a finding about some features, linked to the figure of the first one."""
        feature = self.number_of.get(names[0]) if linked and names else None
        return {"tag": tag, "names": names, "text": text, "feature": feature, "state": state}

    def table_of_features(
        self, caption: str, columns: list[dict[str, str]], rows: list[list[Any]], *, outputs: bool = True
    ) -> dict[str, Any]:
        """Return a table whose lines start with a feature, and with an output if there are several."""
        first = [column("Feature", "name"), *([column("Output", "text")] if self.several and outputs else [])]
        rows = rows[:MAX_LINES]
        features = [self.number_of.get(row[0]) for row in rows]
        return {"caption": caption, "columns": [*first, *columns], "rows": rows, "features": features}
