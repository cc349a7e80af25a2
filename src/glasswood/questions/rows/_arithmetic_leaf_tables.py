"""Metrics of rows from tables: what each leaf is worth to a row that meets some of its players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._chunks import block_width
from glasswood.effects._closed_forms import Effects
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_values import WholeSets, sums_of
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._threads import for_each, n_threads
from glasswood.questions.rows._arithmetic_cube_values import CubeValues, n_sets
from glasswood.questions.rows._arithmetic_cubes import MAX_PLAYERS, Template
from glasswood.questions.rows._arithmetic_leaf_sets import Leaves

__all__ = ["LeafTables", "TabledRows", "seconds_for_tables", "templates_of"]


MAX_ENTRIES = 2**27  # of the tables of all leaves: a gigabyte

ENTRIES_AT_A_TIME = 2**19  # that a thread fills, in a few tenths of a second

MAX_TEMPLATE = 2**24  # entries of a template

CACHE = 2**17  # values that a block of rows may have

LOOKUPS_AT_A_TIME = 2**27  # leaves times rows


def seconds_for_tables(orders: range, plan: CountPlan, n_rows: int = 0) -> float:
    """Return about how long one core takes to write down the values of every leaf, and to look up those of rows.

    Infinity if they do not fit.
    """
    seconds, entries = 0.0, 0
    for used, n_leaves in enumerate(plan.n_paths):
        if n_leaves == 0:
            continue
        n_here = n_sets(orders, used)
        cubes = n_here * 3**used if used <= MAX_PLAYERS else MAX_TEMPLATE + 1
        if cubes > MAX_TEMPLATE:
            return float("inf")
        entries += n_leaves * (n_here << used) * plan.ensemble.value.shape[1]
        seconds += 90e-9 * cubes + n_leaves * 2e-9 * cubes + 0.5e-9 * n_rows * n_leaves * n_here
    return seconds if entries <= MAX_ENTRIES else float("inf")


def templates_of(values: CubeValues, plan: CountPlan) -> dict[int, Template]:
    """Return the templates of a metric, by the number of players; or refuse tables that are too large for memory."""
    templates = {used: Template.of(values, used) for used, n_leaves in enumerate(plan.n_paths) if n_leaves}
    n_values = plan.ensemble.value.shape[1]
    n_entries = sum(
        (plan.n_paths[used] * template.masks.size << used) * n_values for used, template in templates.items()
    )
    if n_entries > MAX_ENTRIES:
        message = (
            f"the values of this metric take up to {n_entries / MAX_ENTRIES:,.1f} GB of tables; at most 1 GB is used. "
            "Use a metric with fewer sets"
        )
        raise TooLargeError(message)
    return templates


class LeafTables:
    """A metric as tables: what each leaf is worth to a row that meets some of its players. They fit any rows.

    Parameters
    ----------
    effects : Effects
        Of all orders.
    values : CubeValues
    outputs : list of int
        The outputs that are wanted.
    templates : mapping of int to Template
        As `templates_of` returns them.
    """

    def __init__(
        self, effects: Effects, values: CubeValues, outputs: list[int], templates: Mapping[int, Template]
    ) -> None:
        plan = effects.plan
        self.plan = plan
        self.leaves = Leaves(plan, {used: template.masks for used, template in templates.items()}, outputs)
        # The score without any leaf is the same regardless of who takes part: an empty cube, which only the empty
        # set, the first one if there is any, can have a value for.
        self.constant = values.of_empty_cube() * plan.ensemble.score.constant[outputs]
        self._fill(effects, templates)

    @property
    def n_bytes(self) -> int:
        """The memory of the tables and their index."""
        return int(self.table.nbytes + self.table_first.nbytes) + self.leaves.n_bytes

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        return "tables", self.leaves.numbers.sets, self.constant.tobytes(), self.table.tobytes()

    def of_rows(self, rows: Rows | CellBlock) -> TabledRows:
        """Return the values of rows."""
        return TabledRows(self, rows)

    def _fill(self, effects: Effects, filled: Mapping[int, Template]) -> None:
        plan, numbers = self.plan, self.leaves.numbers
        value = plan.ensemble.value
        partner, partner_bit = self.leaves.partners
        sizes = (numbers.n_masks[plan.n_players] << plan.n_players.astype(np.int64)) * value.shape[1]
        sizes[partner[partner >= 0]] = 0
        n_table = int(sizes.sum())
        self.table_first = np.cumsum(sizes) - sizes
        self.table_first[partner[partner >= 0]] = -1
        parts = [filled[used] for used in sorted(filled)]
        n_entries = np.zeros(numbers.n_masks.size, dtype=np.int64)
        n_entries[sorted(filled)] = [part.value.size for part in parts]
        templates = _core.Templates(
            n_sets=numbers.n_masks,
            first=np.concatenate([[0], np.cumsum(n_entries)]),
            target=np.concatenate([part.target for part in parts]),
            broken=np.concatenate([part.broken for part in parts]),
            value=np.concatenate([part.value for part in parts]),
        )
        leaves = _core.TabledLeaves(templates, plan.n_players, value, self.table_first, partner, partner_bit)
        table = np.zeros(n_table + 64)

        def fill(index: int) -> None:
            first, last = index * n_leaves // n_parts, (index + 1) * n_leaves // n_parts
            _core.fill_leaf_tables(first, last, leaves, templates, plan.leaf_offset, effects.exact, table)

        n_leaves = plan.ensemble.n_leaves
        n_parts = min(n_leaves, max(8 * n_threads(), n_table // ENTRIES_AT_A_TIME))
        _ = effects.exact  # before threads share it
        for_each(n_parts, fill, "tables")
        table *= effects.unit
        self.table = table


class TabledRows(WholeSets):
    """A metric of rows, from tables.

    Parameters
    ----------
    tables : LeafTables
    rows : Rows or CellBlock
    """

    def __init__(self, tables: LeafTables, rows: Rows | CellBlock) -> None:
        self.tables = tables
        self.rows = rows
        self.sets = tables.leaves.numbers.sets

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, (n_sets x n_outputs, ...), from `at` on."""
        tables = self.tables
        leaves, plan, constant = tables.leaves, tables.plan, tables.constant
        cells = self.rows.cells(*span)
        n_rows = cells.shape[1]
        width = block_width(n_rows, min(CACHE // max(1, leaves.n_groups), LOOKUPS_AT_A_TIME // plan.ensemble.n_leaves))
        states = np.zeros((leaves.chunks.n_seats, width), dtype=np.uint16)
        sums = np.empty((leaves.n_groups, width))
        for row in range(0, n_rows, width):
            check_cancelled()
            last = min(n_rows, row + width)
            leaves.chunks.write_states(cells, (row, last), states)
            sums[:] = 0
            if constant.any():
                sums[: constant.size] = constant[:, None]
            _core.add_leaf_tables(states, leaves.chunks.leaves, leaves.core, tables.table_first, tables.table, sums)
            out[:, at + row : at + last] = sums[:, : last - row]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_sets x n_outputs)."""
        values = np.empty((self.tables.leaves.n_groups, span[1] - span[0]))
        self.write(span, values, 0)
        return sums_of(values)
