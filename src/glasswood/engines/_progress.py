"""A progress bar, for passes that turn out to be long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["shown"]

T = TypeVar("T")

PATIENCE = 5.0  # seconds before anything is shown


def shown(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items, with a progress bar on standard error once that has taken a few seconds."""
    if total < 2:
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=what, delay=PATIENCE, leave=False)
