"""What a report is about: an explainer, and what its sections share of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from glasswood._background import Background
from glasswood._once import once
from glasswood._study import Study
from glasswood.errors import GlasswoodError

__all__ = ["Section", "Subject", "column", "section"]

Section = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """An explainer and its study; answers that several sections need are found once."""

    explainer: Any
    study: Study

    @once
    def curves(self) -> Mapping[str, Any]:
        """The curve of every feature that is a player of its own."""
        if self.study.originals is not None:
            return {}
        curves: Mapping[str, Any] = self.explainer.partial_dependence()
        return curves

    @once
    def importance(self) -> Any:
        """The importance of all players, the strongest first."""
        return self.explainer.importance()

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
        try:
            first = [name for name in self.importance.names if name in self.used]
        except GlasswoodError:
            first = []
        players = self.study.plan(1).players
        first += [name for name in players if name in self.used and name not in set(first)]
        return [*first, *(name for name in players if name not in self.used)]

    @once
    def number_of(self) -> dict[str, int]:
        """The number of the figure of each used player: they are in the order of `names`."""
        return {name: k for k, name in enumerate(name for name in self.names if name in self.used)}

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
    def weighted(self) -> bool:
        """Whether rows have weights, so that "rows" are sums of these."""
        background = self.background
        return background is not None and background.total != background.n_rows

    @property
    def several(self) -> bool:
        """Whether there are several outputs."""
        return len(self.study.outputs.choose().labels) > 1


def section(name: str, title: str, *text: str, **parts: Any) -> Section:
    """Return a section of the page: its anchor, its title, some sentences, and what else it has."""
    return {"id": name, "title": title, "text": [part for part in text if part], "figures": [], **parts}


def column(name: str, kind: str = "number") -> dict[str, str]:
    """Return a column of a table: "name", "text", "number", "edge", "count", "share" or "bar"."""
    return {"name": name, "kind": kind}
