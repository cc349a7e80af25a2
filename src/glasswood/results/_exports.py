"""Attributions as the objects of other libraries, for their figures."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from glasswood.errors import MissingExtraError
from glasswood.results.panels._drawable import DrawableAttributions

__all__ = ["shap_explanation", "shapiq_values"]

# The name of an index in shapiq. Pairs arranged as in the shap package are k-SII: a feature's own value is its Shapley
# value less half of its interactions.
SHAPIQ_INDICES = {"Shapley values": "SV", "Banzhaf values": "BV", "Shapley interactions": "k-SII"}


def shap_explanation(found: DrawableAttributions) -> Any:
    """Return all values as a `shap.Explanation`."""
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError.of("shap", extra="shap", what="to_shap") from error
    base, alone = np.tile(found.mean, (len(found), 1)), len(found.outputs) == 1
    return shap.Explanation(
        np.array(found.heights[..., 0] if alone else found.heights),
        base_values=base[:, 0] if alone else base,
        data=found.columns(),
        feature_names=list(found.names),
        output_names=None if alone else list(map(str, found.outputs)),
    )


def shapiq_values(found: DrawableAttributions, row: int, output: int) -> Any:
    """Return the values of one row and output as `shapiq.InteractionValues`."""
    try:
        import shapiq
    except ImportError as error:
        raise MissingExtraError.of("shapiq", extra="shapiq", what="to_shapiq") from error
    values, n_players, base = found.heights[row, ..., output], len(found.names), float(found.mean[output])
    of_sets: dict[tuple[int, ...], float] = {(): base}
    if values.ndim == 1:
        of_sets |= {(player,): float(value) for player, value in enumerate(values)}
    else:
        of_sets |= {(player,): float(values[player, player]) for player in range(n_players)}
        of_sets |= {(a, b): float(values[a, b] + values[b, a]) for a, b in combinations(range(n_players), 2)}
    return shapiq.InteractionValues(
        of_sets,
        index=SHAPIQ_INDICES[found.name],
        min_order=0,
        max_order=values.ndim,
        n_players=n_players,
        estimated=False,
        baseline_value=base,
    )
