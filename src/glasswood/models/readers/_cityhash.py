"""CityHash64 of many byte strings at once: the hash under which CatBoost knows its categories.

CatBoost keeps the first published version of the hash (1.0); later versions give other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cityhash64"]

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Pair = tuple[Words, Words]

WORD = (1 << 64) - 1
K0, K1, K2, K3 = (
    np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557)
)
K_PAIR = np.uint64(0x9DDFEA08EB382D69)


def cityhash64(texts: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return the 64-bit hash of each byte string.

    Strings of one length are hashed together as the rows of a matrix, so that the cost per string is a few dozen
    array operations divided by their number. Arrays of uint64 wrap around, which is the arithmetic of the hash.
    """
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    hashes = np.full(len(texts), K2, dtype=np.uint64)  # the hash of the empty string
    for length in np.unique(lengths[lengths > 0]).tolist():
        at = np.flatnonzero(lengths == length)
        joined = b"".join([texts[k] for k in at.tolist()])
        hashes[at] = _hash_rows(np.frombuffer(joined, dtype=np.uint8).reshape(at.size, length))
    return hashes


def _hash_rows(rows: Bytes) -> Words:
    length = rows.shape[1]
    if length < 4:
        return _up_to_3(rows)
    if length <= 16:
        return _up_to_16(rows)
    if length <= 32:
        return _up_to_32(rows)
    return _up_to_64(rows) if length <= 64 else _longer(rows)


def _fetch(rows: Bytes, start: int, size: int = 8) -> Words:
    """Return the little-endian number in `size` bytes of each row; a negative start counts from the end."""
    start %= rows.shape[1]
    field = np.ascontiguousarray(rows[:, start : start + size])
    return field.view(f"<u{size}")[:, 0].astype(np.uint64)


def _rotate(word: Words, bits: int) -> Words:
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


def _fold(word: Words) -> Words:
    return word ^ (word >> np.uint64(47))


def _mix(low: Words, high: Words) -> Words:
    """Return one word that depends on every bit of two."""
    first = _fold((low ^ high) * K_PAIR)
    return _fold((high ^ first) * K_PAIR) * K_PAIR


def _up_to_3(rows: Bytes) -> Words:
    length = rows.shape[1]
    first, middle, last = (rows[:, k].astype(np.uint64) for k in (0, length >> 1, length - 1))
    low = first + (middle << np.uint64(8))
    high = np.uint64(length) + (last << np.uint64(2))
    return _fold(low * K2 ^ high * K3) * K2


def _up_to_16(rows: Bytes) -> Words:
    length = rows.shape[1]
    if length <= 8:
        return _mix(np.uint64(length) + (_fetch(rows, 0, 4) << np.uint64(3)), _fetch(rows, -4, 4))
    last = _fetch(rows, -8)
    return _mix(_fetch(rows, 0), _rotate(last + np.uint64(length), length)) ^ last


def _up_to_32(rows: Bytes) -> Words:
    a, b = _fetch(rows, 0) * K1, _fetch(rows, 8)
    c, d = _fetch(rows, -8) * K2, _fetch(rows, -16) * K0
    return _mix(_rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ K3, 20) - c + np.uint64(rows.shape[1]))


def _up_to_64(rows: Bytes) -> Words:
    length = np.uint64(rows.shape[1])
    head = _digest(
        _fetch(rows, 0) + (_fetch(rows, -16) + length) * K0,
        (_fetch(rows, 8), _fetch(rows, 16), _fetch(rows, 24)),
    )
    tail = _digest(
        _fetch(rows, 16) + _fetch(rows, -32),
        (_fetch(rows, -24), _fetch(rows, -16), _fetch(rows, -8)),
    )
    both = _fold((head[0] + tail[1]) * K2 + (tail[0] + head[1]) * K0)
    return _fold(both * K0 + head[1]) * K2


def _digest(start: Words, words: tuple[Words, Words, Words]) -> Pair:
    """Return a quick digest of four words, the first one already seeded."""
    second, third, last = words
    spread = _rotate(start + last, 52) + _rotate(start, 37)
    start = start + second
    spread = spread + _rotate(start, 7)
    start = start + third
    return start + last, spread + _rotate(start, 31)


def _weak(rows: Bytes, start: int, seeds: tuple[Any, Words]) -> Pair:
    """Return a quick digest of 32 bytes of each row and two seeds."""
    w, x, y, z = (_fetch(rows, start + 8 * k) for k in range(4))
    first = seeds[0] + w
    total = first + x + y
    return total + z, _rotate(seeds[1] + first + z, 21) + _rotate(total, 44) + first


def _longer(rows: Bytes) -> Words:
    """Return the hash of rows of more than 64 bytes: the end first, then blocks of 64 from the start."""
    length = rows.shape[1]
    x, y, z = _fetch(rows, 0), _fetch(rows, -16) ^ K1, _fetch(rows, -56) ^ K0
    v = _weak(rows, length - 64, (np.uint64(length), y))
    w = _weak(rows, length - 32, (np.uint64(length * int(K1) & WORD), np.full_like(x, K0)))
    z = z + _fold(v[1]) * K1
    x = _rotate(z + x, 39) * K1
    y = _rotate(y, 33) * K1
    for start in range(0, length - 1 & ~63, 64):
        x = _rotate(x + y + v[0] + _fetch(rows, start + 16), 37) * K1 ^ w[1]
        y = _rotate(y + v[1] + _fetch(rows, start + 48), 42) * K1 ^ v[0]
        z = _rotate(z ^ w[0], 33)
        v = _weak(rows, start, (v[1] * K1, x + w[0]))
        w = _weak(rows, start + 32, (z + w[1], y))
        x, z = z, x
    return _mix(_mix(v[0], w[0]) + _fold(y) * K1 + z, _mix(v[1], w[1]) + x)
