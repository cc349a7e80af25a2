"""Which tests ask for what only some versions of a library can do."""

from __future__ import annotations

from importlib.metadata import version

import pytest

Version = tuple[int, ...]


def installed(library: str) -> Version:
    """Return the version of a library as numbers: (3, 2, 0)."""
    return tuple(int(part) for part in version(library).split(".")[:3] if part.isdigit())


def has(library: str, least: Version, below: Version | None = None) -> bool:
    """Return whether the library's version is at least `least` (and below `below`)."""
    return installed(library) >= least and (below is None or installed(library) < below)


def needs(library: str, least: Version, below: Version | None = None) -> pytest.MarkDecorator:
    """Return a mark that skips a test unless the library's version is at least `least` (and below `below`)."""
    text = f"{library} from {'.'.join(map(str, least))}"
    text += f" to before {'.'.join(map(str, below))}" if below else ""
    return pytest.mark.skipif(not has(library, least, below), reason=text)


def quantiles(method: str) -> dict[str, str]:
    """Return how `KBinsDiscretizer` finds quantiles, as an argument; before scikit-learn 1.7 it had no choice."""
    return {"quantile_method": method} if installed("scikit-learn") >= (1, 7) else {}
