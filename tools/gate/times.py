"""Minutes by file of tests, read from what pytest wrote while stages ran."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["table_of_times"]


def table_of_times(logs: Path) -> str:
    """Return a table of the last run: seconds and number of tests by file, longest first."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    tests: dict[tuple[str, str], int] = defaultdict(int)
    for path in sorted(logs.glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            key = (path.stem, case.get("file") or case.get("classname") or "")
            seconds[key] += float(case.get("time") or 0)
            tests[key] += 1
    lines = [f"{'seconds':>8} {'tests':>6}  {'stage':<10} file"]
    lines += [
        f"{seconds[key]:>8.1f} {tests[key]:>6}  {key[0]:<10} {key[1]}"
        for key in sorted(seconds, key=lambda k: -seconds[k])
    ]
    lines.append(f"{sum(seconds.values()):>8.1f} {sum(tests.values()):>6}  all")
    return "\n".join([*lines, ""])
