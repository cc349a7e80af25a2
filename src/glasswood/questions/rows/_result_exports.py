"""Attributions as the objects of other libraries, for their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, MissingExtraError

if TYPE_CHECKING:
    from glasswood._types import Explanation, InteractionValues

__all__ = ["shap_explanation", "shapiq_values", "shapiq_values_of_sets"]


Floats = NDArray[np.float64]

# The name of an index in shapiq. Pairs arranged as in the shap package are k-SII: a feature's own value is its Shapley
# value less half of its interactions.
SHAPIQ_INDICES = {"Shapley values": "SV", "Banzhaf values": "BV", "Shapley interactions": "k-SII"}


def shap_explanation(
    heights: Floats, mean: Floats, columns: Any, names: Sequence[str], outputs: Sequence[Any]
) -> Explanation:
    """Return the values of rows, (n_rows, ..., n_outputs), as a `shap.Explanation`."""
    try:
        import shap
    except ImportError as error:
        raise MissingExtraError.of("shap", extra="shap", what="to_shap") from error
    base, alone = np.tile(mean, (len(heights), 1)), len(outputs) == 1
    return shap.Explanation(
        np.array(heights[..., 0] if alone else heights),
        base_values=base[:, 0] if alone else base,
        data=columns,
        feature_names=list(names),
        output_names=None if alone else list(map(str, outputs)),
    )


def shapiq_values(name: str, values: Floats, base: float) -> InteractionValues:
    """Return the values of players, or of pairs of them, of one row and output as `shapiq.InteractionValues`."""
    n_players = len(values)
    of_sets: dict[tuple[int, ...], float] = {(): base}
    if values.ndim == 1:
        of_sets |= {(player,): float(value) for player, value in enumerate(values)}
    else:
        of_sets |= {(player,): float(values[player, player]) for player in range(n_players)}
        of_sets |= {(a, b): float(values[a, b] + values[b, a]) for a, b in combinations(range(n_players), 2)}
    return shapiq_values_of_sets(SHAPIQ_INDICES[name], of_sets, values.ndim, n_players)


def shapiq_values_of_sets(
    index: str, of_sets: Mapping[tuple[int, ...], float], order: int | None, n_players: int
) -> InteractionValues:
    """Return the values of sets of one row and output; the empty set has the mean. Their order is the largest set's."""
    if not index:
        message = (
            "to_shapiq is for the indices of glasswood.metrics, which shapiq has names for; these are the values of a "
            "metric of your own. to_frame returns them as a table"
        )
        raise ArgumentError(message)
    try:
        import shapiq
    except ImportError as error:
        raise MissingExtraError.of("shapiq", extra="shapiq", what="to_shapiq") from error
    return shapiq.InteractionValues(
        dict(of_sets),
        index=index,
        min_order=0,
        max_order=max(map(len, of_sets)) if order is None else order,
        n_players=n_players,
        estimated=False,
        baseline_value=of_sets[()],
    )
