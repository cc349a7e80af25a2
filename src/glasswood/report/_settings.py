"""Settings: what the user may choose of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["DEFAULTS", "Settings"]


class Settings(NamedTuple):
    """What the user may choose; see `Explainer.report`."""

    title: str | None = None
    by: object = None
    n_interactions: int = 10
    notes: str | Sequence[str] = ()
    gate: object = None


DEFAULTS = Settings()
