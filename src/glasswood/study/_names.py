"""Players by the names or numbers that users give; unknown names are refused, with the nearest known one."""

from __future__ import annotations

import numpy as np

from glasswood.counting._plan import CountPlan
from glasswood.errors import TableError
from glasswood.text._arguments import refuse_no_name

__all__ = ["player_of"]


def player_of(feature: str | int, plan: CountPlan) -> str:
    """Return the name of a player, given by its name or the number of its column."""
    ensemble, players = plan.ensemble, plan.players
    names = ensemble.feature_names
    refuse_no_name(feature)
    number = isinstance(feature, int | np.integer) and -len(names) <= feature < len(names)
    name = names[int(feature)] if number else feature
    if isinstance(name, str) and name not in players:
        result = ensemble.schema.number_of(name)  # LightGBM writes blanks as underscores
        name = name if result is None else names[result]
    if name in players:
        return str(name)
    hint = ""
    if name in names:
        group = players[plan.player_of[names.index(str(name))]]
        hint = f"it belongs to the group {group!r}, which is treated as one feature"
    raise TableError.no_feature(feature, players, hint=hint)
