"""glasswood bench: the constants of this machine, and the core-hours of larger work."""

from __future__ import annotations

from typing import Any

import click

from glasswood._bench import STEPS, Constants, capacity, measure_constants
from glasswood.parallel._progress import bar
from glasswood.terminal._options import Command, as_json
from glasswood.terminal._output import describe, print_json, write_table

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Measure this machine, and estimate larger work.",
    examples=["glasswood bench", "glasswood bench --capacity", "glasswood bench --seconds 10 --json"],
)
@click.option("--capacity", "larger", is_flag=True, help="Also print the core-hours of 10^8 to 10^10 rows.")
@click.option(
    "--seconds", type=click.FloatRange(1, 600), default=20.0, show_default=True, help="About how long to measure."
)
@as_json
def bench(*, larger: bool, seconds: float, as_json: bool) -> None:
    """Measure what reading, counting and explaining cost on one core of this machine.

    The model and the rows are generated: complete trees of depth 6, and columns of float32. --capacity multiplies the
    constants out, which is an estimate: real trees, files and networks differ.
    """
    with bar(STEPS, "measuring", "steps") as progress:
        constants = measure_constants(seconds, lambda _: progress.add(1))
    table = capacity(constants)
    if as_json:
        print_json(constants.facts() | ({"core_hours": _lines(table)} if larger else {}))
        return
    describe(_described(constants))
    if larger:
        click.echo("\ncore-hours:")
        write_table(table, ("-", "text"))


def _described(c: Constants) -> dict[str, str]:
    """Return the constants as people read them."""

    def nano(seconds: float) -> str:
        return f"{1e9 * seconds:,.2f} ns"

    return {
        "machine": f"{c.machine}, {c.cores} cores",
        "read a value of Parquet": nano(c.read_value),
        "count at order 1": f"{nano(c.count_1_feature)} per row and feature + {nano(c.count_1_tree)} per row and tree",
        "count at order 2": f"{nano(c.count_2_feature)} per row and feature + {nano(c.count_2_tree)} per row and tree",
        "Shapley values": f"{nano(c.shapley_tree)} per row and tree",
        "a task of a cluster": f"{1e3 * c.task:.2f} ms beside its rows (100 trees)",
        "a sum": f"{c.numbers_1:,.0f} numbers per tree at order 1, {c.numbers_2:,.0f} at order 2",
    }


def _lines(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, line, strict=True)) for line in zip(*table.values(), strict=True)]


COMMANDS = [bench]
