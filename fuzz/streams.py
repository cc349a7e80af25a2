"""Streams of random numbers that do not depend on each other, so that a case can be shrunk piece by piece."""

from __future__ import annotations

import zlib

import numpy as np

__all__ = ["chance", "pick", "stream"]


def stream(seed: int, *names: object) -> np.random.Generator:
    """Return the generator of one purpose of one case."""
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def pick(rng: np.random.Generator, options, p=None):
    """Return one of some options, as it is: NumPy's own choice would turn it into an array's scalar."""
    options = list(options)
    weights = None if p is None else np.asarray(p, dtype=float) / np.sum(p)
    return options[int(rng.choice(len(options), p=weights))]


def chance(rng: np.random.Generator, probability: float) -> bool:
    """Return True with a probability."""
    return bool(rng.random() < probability)
