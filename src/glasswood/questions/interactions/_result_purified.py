"""PurifiedEffects: curves and interactions that share nothing, given how the rows are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.kernels._read_only import ReadOnly
from glasswood.questions.curves import Curve, Curves, Surface
from glasswood.results._frames import Tabular
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many, printable

__all__ = ["PurifiedEffects"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PurifiedEffects(ReadOnly, Tabular):
    """The main effects of all features and the interactions of some pairs, purified.

    An interaction that is a sum of two functions of one feature each is none. With dependent features, the interaction
    of a pair by partial dependence contains such parts. Here they are moved to the main effects, until the mean of each
    interaction over the rows in each cell of either feature is 0 [1]_. The sum of everything does not change::

        constant + sum_j main_j + sum_jk pair_jk

    `to_frame` returns one row per feature and pair: the standard deviation of its part over the rows, of each output.
    Curves and surfaces have frames of their own.

    Parameters
    ----------
    constant : ndarray of shape (n_outputs,)
    curves : Curves
        The main effect of each feature. Its mean over the rows is 0.
    surfaces : dict from (str, str) to Surface
        For each pair its `Surface.interaction`, and the sum of both main effects and the interaction.
    outputs : tuple
        The labels of the outputs.
    units : str

    References
    ----------
    .. [1] B. Lengerich, S. Tan, C.-H. Chang, G. Hooker, R. Caruana: Purifying interaction effects with the functional
       ANOVA: an efficient algorithm for recovering identifiable additive models. AISTATS 2020.

    Examples
    --------
    >>> found = ex.purified_effects(("bmi", "s5"))
    >>> found
    PurifiedEffects(10 main effects, 1 pair, value)
    >>> found["bmi", "s5"].interaction.shape == ex.partial_dependence("bmi", "s5").shape
    True
    >>> bool(abs(found["bmi"](X["bmi"]).mean()) < 1e-9)
    True
    """

    constant: NDArray[np.float64]
    curves: Curves[Curve]
    surfaces: Mapping[tuple[str, str], Surface]
    outputs: tuple[Any, ...]
    units: str

    @overload
    def __getitem__(self, key: str) -> Curve: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> Surface: ...

    def __getitem__(self, key: Any) -> Curve | Surface:
        """Return the main effect of a feature, or the surface of a pair."""
        if isinstance(key, str):
            return self.curves[key]
        known = {frozenset(pair): pair for pair in self.surfaces}
        if frozenset(key) not in known:
            listed = ", ".join(f"{printable(a)} x {printable(b)}" for a, b in self.surfaces)
            message = f"there is no pair {key!r}; those that were asked for are {listed}"
            raise TableError(message)
        return self.surfaces[known[frozenset(key)]]

    def __repr__(self) -> str:
        mains = how_many(len(self.curves), "main effect")
        return f"PurifiedEffects({mains}, {how_many(len(self.surfaces), 'pair')}, {self.units})"

    def _repr_html_(self) -> str:
        pairs = ", ".join(f"{printable(a)} x {printable(b)}" for a, b in self.surfaces)
        facts = {"main effects": f"{len(self.curves):,}", "pairs": pairs, "units": self.units}
        return facts_html("Purified effects", facts)

    def _columns(self) -> dict[str, Any]:
        effects = [*self.curves, *(" x ".join(pair) for pair in self.surfaces)]
        values = [_spread(self.curves[name].heights, self.curves[name].axis.rows) for name in self.curves]
        for surface in self.surfaces.values():
            rows = surface.find_rows()
            interaction = surface.raw_interaction
            if rows is None or interaction is None:
                values.append(np.zeros(len(self.outputs)))
            else:
                values.append(_spread(interaction[rows.x, rows.y], rows.rows))
        lines = np.array(values).reshape(len(effects), len(self.outputs))
        names = ["value"] if len(self.outputs) == 1 else [f"value_{output}" for output in self.outputs]
        return {"effect": effects, **{name: lines[:, k] for k, name in enumerate(names)}}


def _spread(heights: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the standard deviation of heights, whose mean is 0, over the rows."""
    if not rows.size:
        return np.zeros(heights.shape[1])
    result: NDArray[np.float64] = np.sqrt(rows @ heights**2 / rows.sum())
    return result
