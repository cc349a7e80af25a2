"""Attributions as the objects of other libraries, for their figures."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.errors import ArgumentError, MissingExtraError

if TYPE_CHECKING:
    from glasswood.results._attributions import Attributions
    from glasswood.results._interactions import Interactions

__all__ = ["shap_explanation", "shapiq_values", "shapiq_values_of_sets"]

# The name of an index in shapiq. Pairs arranged as in the shap package are k-SII: a feature's own value is its Shapley
# value less half of its interactions.
SHAPIQ_INDICES = {"Shapley values": "SV", "Banzhaf values": "BV", "Shapley interactions": "k-SII"}


def shap_explanation(found: Attributions) -> Any:
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


def shapiq_values(found: Attributions, row: int, output: int) -> Any:
    """Return the values of one row and output as `shapiq.InteractionValues`."""
    values, n_players, base = found.heights[row, ..., output], len(found.names), float(found.mean[output])
    of_sets: dict[tuple[int, ...], float] = {(): base}
    if values.ndim == 1:
        of_sets |= {(player,): float(value) for player, value in enumerate(values)}
    else:
        of_sets |= {(player,): float(values[player, player]) for player in range(n_players)}
        of_sets |= {(a, b): float(values[a, b] + values[b, a]) for a, b in combinations(range(n_players), 2)}
    return _interaction_values(of_sets, SHAPIQ_INDICES[found.name], values.ndim, n_players)


def shapiq_values_of_sets(found: Interactions, row: int, output: int) -> Any:
    """Return the values of the sets of one row and output as `shapiq.InteractionValues`."""
    if not found.index:
        message = (
            "to_shapiq is for the indices of glasswood.metrics, which shapiq has names for; these are the values of a "
            "metric of your own. to_frame returns them as a table"
        )
        raise ArgumentError(message)
    sets, n_outputs = found.source.sets, len(found.outputs)
    values = np.empty((len(sets) * n_outputs, 1))
    found.source.write((row, row + 1), values, 0)
    heights = values.reshape(len(sets), n_outputs)[:, output].tolist()
    of_sets = {(): float(found.find_mean()[output])} | dict(zip(map(tuple, sets), heights, strict=True))
    largest = max(map(len, of_sets))
    order = largest if found.order is None else found.order
    return _interaction_values(of_sets, found.index, order, len(found.players))


def _interaction_values(of_sets: dict[tuple[int, ...], float], index: str, order: int, n_players: int) -> Any:
    try:
        import shapiq
    except ImportError as error:
        raise MissingExtraError.of("shapiq", extra="shapiq", what="to_shapiq") from error
    return shapiq.InteractionValues(
        of_sets,
        index=index,
        min_order=0,
        max_order=order,
        n_players=n_players,
        estimated=False,
        baseline_value=of_sets[()],
    )
