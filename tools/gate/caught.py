"""Which stage catches each deliberate fault, and whether a change of the fault's file chooses that stage."""

from __future__ import annotations

from collections import Counter

from faults._list import read_faults

from tools.gate.stages import choose, read_table

__all__ = ["table_of_faults"]


def table_of_faults() -> str:
    """Return a line for each fault: chosen or not, the stages that hold its tests, its file and its name."""
    table, counts, lines = read_table(), Counter[str](), []
    for fault in read_faults():
        holding = sorted({table.stage_of(test) for test in fault.tests})
        chosen = {choice.stage.name for choice in choose(table, [fault.file])}
        verdict = "chosen" if chosen & set(holding) else "NOT CHOSEN"
        counts[f"{verdict}, {' and '.join(holding)}"] += 1
        lines.append(f"{verdict:<10}  {', '.join(holding):<16}  {fault.file:<48}  {fault.name}")
    lines += [f"{n:>4} {kind}" for kind, n in counts.most_common()]
    return "\n".join([*lines, ""])
