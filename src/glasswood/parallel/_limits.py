"""What a container may use of the machine: its cores and its memory.

Linux limits groups of processes ("control groups"), which are folders of small files. A group is bound by its own
limits and by those of all groups above it. Version 1 has a tree of folders for cores and one for memory, version 2 has
one for both. Other systems have no such files, and nothing is limited there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Memory", "core_quota", "memory_limit"]

ROOT = Path("/")


@dataclass(frozen=True)
class Memory:
    """The bytes that the processes of a group may have together, and how many of these are left."""

    limit: int
    left: int


def core_quota(root: Path = ROOT) -> float | None:
    """Return how many cores the processes of this group may keep busy, such as 1.5; None if there is no limit."""
    quotas = [*map(_quota_of_version_1, _folders(root, "cpu")), *map(_quota_of_version_2, _folders(root, ""))]
    return min((quota for quota in quotas if quota is not None), default=None)


def memory_limit(root: Path = ROOT) -> Memory | None:
    """Return how much memory the processes of this group may use, and how much is left; None if there is no limit."""
    limits = [_memory(folder, "limit_in_bytes", "usage_in_bytes", "total_") for folder in _folders(root, "memory")]
    limits += [_memory(folder, "max", "current", "") for folder in _folders(root, "")]
    known = [memory for memory in limits if memory is not None]
    return Memory(min(own.limit for own in known), min(own.left for own in known)) if known else None


def _quota_of_version_1(folder: Path) -> float | None:
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (int((folder / f"cpu.cfs_{what}_us").read_text()) for what in ("quota", "period"))
        return quota / period if quota > 0 else None
    return None


def _quota_of_version_2(folder: Path) -> float | None:
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    return None


def _memory(folder: Path, limit: str, usage: str, prefix: str) -> Memory | None:
    """Return the memory of a group. Copies of files are not counted as used: the system gives them up when needed."""
    with suppress(OSError, ValueError):
        max_ = int((folder / f"memory.{limit}").read_text())  # "max" is no number: no limit
        used = int((folder / f"memory.{usage}").read_text())
        text = (folder / "memory.stat").read_text()
        copies = sum(map(int, re.findall(rf"^{prefix}(?:in)?active_file (\d+)$", text, re.MULTILINE)))
        return Memory(max_, max(0, max_ - max(0, used - copies)))
    return None


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folder of this process's group and those of all groups above it; "" is the controller of version 2."""
    own = _own_group(root, controller)
    if own is None:
        return
    for top, place in _mounts(root, controller):
        # In a container, the top of the visible tree may be the container's own group, under its name outside of it.
        parts, outer = ([part for part in path.split("/") if part] for path in (own, place))
        below = parts[len(outer) :] if parts[: len(outer)] == outer and ".." not in parts else []
        for depth in range(len(below), -1, -1):
            yield top.joinpath(*below[:depth])


def _own_group(root: Path, controller: str) -> str | None:
    """Return the path of this process's group in the tree of a controller."""
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):  # that of version 2 is empty
                return path
    return None


@cache
def _mounts(root: Path, controller: str) -> tuple[tuple[Path, str], ...]:
    """Return where the tree of a controller can be read, and which group is at the top of it."""
    result = []
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/mountinfo").read_text().splitlines():
            fields, _, rest = line.partition(" - ")
            kind, _, options = (*rest.split(" ", 2), "", "")[:3]
            if (kind == "cgroup" and controller in options.split(",")) or (kind == "cgroup2" and not controller):
                place, top = (re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), part) for part in _places(fields))
                result.append((root / top.lstrip("/"), place))
    return tuple(result)


def _places(fields: str) -> list[str]:
    """Return the group at the top of a mounted tree, and the folder in which it is mounted."""
    return fields.split(" ")[3:5]
