"""The smallest ensemble, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from glasswood.models._ensemble import Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema


def stump(**changes: Any) -> TreeEnsemble:
    """One split of x at 0.5: -1 on the left, 1 on the right."""
    tree = Tree(
        feature=np.array([0, 0, 0]),
        cut=np.array([0.5, 0.0, 0.0]),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.array([True, False, False]),
        value=np.array([0.0, -1.0, 1.0]),
    )
    score = Score(base=np.zeros(1), labels=("prediction",), units="value")
    made = TreeEnsemble(**stack([tree]), schema=Schema((NumberColumn("x"),)), score=score, source="by hand")
    return replace(made, **changes)
