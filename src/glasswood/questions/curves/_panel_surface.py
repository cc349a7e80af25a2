"""Panels of surfaces: one height per pair of cells, or of blocks of them if there are more than can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Cells
from glasswood.questions.curves._result_surface import Surface
from glasswood.results._drawable import drawn
from glasswood.results.panels._display import DRAWN, Blocks, blocks_of
from glasswood.results.panels._layout import layout_of
from glasswood.results.panels._outputs import as_tuples, one_output, scale_label
from glasswood.results.panels._scales import rescaled
from glasswood.text._plain import plain, share_of_rows

if TYPE_CHECKING:
    from glasswood.results._joint_rows import JointRows

__all__ = ["panel_of_surface", "panels_of_surface"]


@drawn(Surface)
def panel_of_surface(
    surface: Surface,
    output: int | None = None,
    *,
    interaction: bool = False,
    rows: JointRows | None = None,
    sort: str | None = None,
    xscale: str = "linear",
) -> Cells:
    """Return the panel of a `Surface`, or of what the pair adds to its curves; options are those of the next one."""
    return panels_of_surface(surface, output, (interaction,), rows=rows, sort=sort, xscale=xscale)[0]


@drawn(Surface, "panels")
def panels_of_surface(
    surface: Surface,
    output: int | None = None,
    alone: Sequence[bool] = (False, True),
    *,
    rows: JointRows | None = None,
    sort: str | None = None,
    xscale: str = "linear",
) -> list[Cells]:
    """Return panels of a `Surface`: of all of it, or of what the pair adds to its curves alone.

    `rows` are the rows in pairs of cells, `JointRows`; those of the background by default. Both features are drawn on
    the scale.
    """
    rows = surface.find_rows() if rows is None else rows
    first, second = surface.first, surface.second
    k = one_output(first.heights, first.outputs, output, "a surface")
    x, y = (rescaled(layout_of(curve.axis, curve.heights[:, k], sort), xscale) for curve in (first, second))
    blocks = blocks_of(x), blocks_of(y)
    merged = any(side.is_merged for side in blocks)
    notes = [f"{curve.name}: {side.note}" for curve, side in ((first, x), (second, y)) if side.note]
    if merged:
        drawn, exact = (f"{a:,} x {b:,}" for a, b in ([side.n for side in blocks], [x.cells.size, y.cells.size]))
        notes.append(f"{DRAWN}{drawn} of {exact} cells")
    for curve, side in ((first, x), (second, y)):
        if side.missing_share:
            share = share_of_rows(side.missing_share, weighted=side.weighted)
            notes.append(f"not shown: {share}, where {plain(curve.name)} is missing")
    density: tuple[tuple[float, ...], ...] = ()
    if rows is not None:
        of_x, of_y = (side.of_cells(curve.axis.n_cells) for curve, side in zip((first, second), blocks, strict=True))
        density = as_tuples(rows.in_blocks(of_x, of_y, (blocks[0].n, blocks[1].n)).T)
    interaction = _interaction(surface, k, blocks)
    base = blocks[0].averaged(first.heights[:, k])[:, None] + blocks[1].averaged(second.heights[:, k]) - first.mean[k]
    supports = [side.summed(layout.support) for side, layout in zip(blocks, (x, y), strict=True)]
    panels = []
    for is_alone in alone:
        label = scale_label(first.units, first.outputs, [k], average=not is_alone, weighted=x.weighted)
        panel = Cells(
            title=f"{x.scale.label} x {y.scale.label}",
            x=blocks[0].scale,
            y=blocks[1].scale,
            z_label=f"interaction ({label})" if is_alone else label,
            heights=as_tuples((interaction if is_alone else base + interaction).T),
            density=density,
            diverging=is_alone,
            x_support=supports[0],
            y_support=supports[1],
            weighted=x.weighted,
            note="; ".join(notes),
            exact=(x.cells.size, y.cells.size) if merged else (),
        )
        panels.append(panel)
    return panels


def _interaction(surface: Surface, k: int, blocks: tuple[Blocks, Blocks]) -> NDArray[np.float64]:
    """Return one output of the interaction where it is drawn: all pairs of cells may be too many."""
    x, y = blocks
    if surface.pair is None:
        return np.zeros((x.n, y.n))
    if not (x.is_merged or y.is_merged):
        exact: NDArray[np.float64] = surface.pair.grid(x.cells, y.cells)[..., k]
        return exact
    (place_x, rank_x), (place_y, rank_y) = (side.places(n) for side, n in zip(blocks, surface.pair.shape, strict=False))
    means: NDArray[np.float64] = surface.pair.means(place_x, place_y)[np.ix_(rank_x, rank_y)][..., k]
    return means
