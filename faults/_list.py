"""The list of faults: `faults.toml`, read and checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LIST", "Fault", "read_faults"]

LIST = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True, slots=True)
class Fault:
    """One deliberate fault.

    Parameters
    ----------
    name : str
        What is wrong, in a few words.
    file : str
        The file that is changed, from the root of the checkout.
    text, replacement : str
        What is there, exactly once, and what takes its place.
    tests : tuple of str
        The tests that should notice, as arguments of pytest.
    survives : str
        Why no test notices; empty if one does.
    portable : bool
        Whether it is in code of the core that only the lowest instruction level is certain to run.
    """

    name: str
    file: str
    text: str
    replacement: str
    tests: tuple[str, ...]
    survives: str = ""
    portable: bool = False

    def applied(self, source: str) -> str:
        """Return a source with the fault in it; raise a ValueError if its place is not found exactly once."""
        times = source.count(self.text)
        if times != 1:
            message = f"{self.name}: the text is in {self.file} {times} times, not once: {self.text!r}"
            raise ValueError(message)
        return source.replace(self.text, self.replacement)


def read_faults(path: Path = LIST) -> list[Fault]:
    """Return the faults of a list."""
    entries = tomllib.loads(path.read_text())["fault"]
    faults = [Fault(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]
    names = [fault.name for fault in faults]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        message = f"two faults have the name {', '.join(twice)}"
        raise ValueError(message)
    return faults
