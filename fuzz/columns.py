"""Invented columns: numbers with ties, hostile numbers, categories with odd labels; and values to try in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fuzz.streams import chance, pick, stream

__all__ = ["Takes", "Tried", "draw_column", "is_category", "make_frame", "names_of", "tries", "unseen_label"]

FLOAT32 = float(np.finfo(np.float32).max)
ODD = (0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-40, -1e-40, 1e-36, -1e-36, 1.0000000180025095e-35, 1e-30)
LARGE = (1e20, -1e20, 1e30, -1e30, 16777217.0, 2.0**53 + 2, FLOAT32, -FLOAT32)
BEYOND = (np.inf, -np.inf, 1e308, -1e308, 4e38)  # of float32
TEXTS = ("a", "b", "c", "dd", "e e", "ü", "猫", "1", "0.5", "nan", "", "<b>", "x" * 40)
LABELS = {
    "text": TEXTS,
    "whole_labels": (3, 7, 0, 11, 5, -2),
    "flags": (False, True),
    "fraction_labels": (0.5, 1.5, -2.25, 1e30),
    "many_labels": tuple(f"v{k}" for k in range(300)),
}
MANY = (63, 64, 65, 127, 128, 129, 200)  # labels, around the sizes of words of bits
N_CODES = 12
NAMES = {
    "plain": "c{}",
    "blank": "col {}",
    "unicode": "größe_猫_{}",
    "quotes": "it's {}",
    "dots": "a.b.{}",
    "markup": "<i>&amp;{}",
    "number": "{}",
    "long": "n" * 300 + "{}",
}


@dataclass(frozen=True)
class Takes:
    """What a library takes in its columns: missing values, infinities, and how categories are passed."""

    missing: bool = True
    infinite: bool = False
    categories: str = ""  # "", "pandas" (category dtype) or "object" (plain texts and whole numbers)
    missing_categories: bool = True
    codes: bool = False  # whole numbers that are declared to be categories
    unseen: bool = True


@dataclass(frozen=True)
class Tried:
    """What decides which values are tried: the cuts of the model, and what its library takes."""

    cuts: np.ndarray
    takes: Takes


def draw_column(rng: np.random.Generator, takes: Takes) -> dict:
    """Return what a column is like."""
    kinds = {"float": 8, "integer": 6, "binary": 3, "hostile": 3, "constant": 1, "large": 0.5, "doubling": 0.7}
    kinds |= {"empty": 0.3} if takes.missing else {}
    kinds |= {"infinite": 1} if takes.infinite else {}
    kinds |= {"text": 4, "whole_labels": 2, "many_labels": 1} if takes.categories else {}
    kinds |= {"codes": 4} if takes.codes else {}
    kinds |= {"flags": 0.7, "fraction_labels": 0.7} if takes.categories == "pandas" else {}
    kind = pick(rng, kinds, list(kinds.values()))
    allowed = takes.missing_categories if kind in LABELS else takes.missing
    column = {"kind": kind, "seed": int(rng.integers(10**6))}
    if allowed and chance(rng, 0.35):
        column["missing"] = True
    if kind in LABELS and chance(rng, 0.2):
        column["ordered"] = True
    return column


def is_category(column: dict) -> bool:
    """Return whether a column holds categories."""
    return column["kind"] in LABELS


def names_of(case: dict) -> list[str]:
    """Return the names of the columns, which stay as they are if one is left out."""
    pattern = NAMES[case.get("names", "plain")]
    return [pattern.format(column["seed"]) for column in case["columns"]]


def make_frame(case: dict, n_rows: int, part: str, style: str) -> pd.DataFrame:
    """Return some rows of a case's table; `style` is how categories are passed."""
    made = [_column(column, n_rows, part, style) for column in case["columns"]]
    return pd.DataFrame(dict(zip(names_of(case), made, strict=True)), index=pd.RangeIndex(n_rows))


def _column(column: dict, n_rows: int, part: str, style: str) -> pd.Series:
    rng = stream(column["seed"], column["kind"], part)
    missing = stream(column["seed"], "missing", part).random(n_rows) < 0.15
    if not column.get("missing"):
        missing[:] = False
    if style == "natural":
        return _natural(column, rng, missing)
    if column["kind"] not in LABELS:
        return pd.Series(np.where(missing, np.nan, _numbers(column, rng, n_rows)))
    labels = labels_of(column)
    codes = rng.integers(len(labels) - (part == "train" and len(labels) > 2), size=n_rows)
    if style == "object":
        return pd.Series([labels[code] for code in codes], dtype=object if column["kind"] == "text" else None)
    codes[missing] = -1
    return pd.Series(pd.Categorical.from_codes(codes, categories=labels, ordered=bool(column.get("ordered"))))


def _natural(column: dict, rng: np.random.Generator, missing: np.ndarray) -> pd.Series:
    """Return a column as tables have it before any transformer: whole numbers, flags and texts have their own types."""
    if column["kind"] == "text":
        labels = labels_of(column)
        codes = rng.integers(len(labels), size=len(missing))
        texts = pd.Series([None if gone else labels[code] for code, gone in zip(codes, missing, strict=True)])
        return texts.astype("category") if column.get("ordered") else texts
    numbers = _numbers(column, rng, len(missing))
    if column["kind"] == "binary" and not missing.any():
        return pd.Series(numbers > 0)
    if column["kind"] == "integer" and not missing.any():
        return pd.Series(numbers.astype(np.int64))
    return pd.Series(np.where(missing, np.nan, numbers))


def labels_of(column: dict) -> list:
    """Return the labels of a column of categories."""
    known = LABELS[column["kind"]]
    rng = stream(column["seed"], "labels")
    n_labels = pick(rng, MANY) if column["kind"] == "many_labels" else min(len(known), int(rng.integers(2, 8)))
    return [known[k] for k in rng.permutation(len(known))[:n_labels]]


def _numbers(column: dict, rng: np.random.Generator, n_rows: int) -> np.ndarray:
    kind = column["kind"]
    size = 10.0 ** stream(column["seed"], "size").integers(-3, 4)
    if kind == "integer":
        return rng.integers(-5, 8, size=n_rows).astype(float)
    if kind == "codes":
        return rng.integers(0, N_CODES, size=n_rows).astype(float)
    if kind == "binary":
        return rng.integers(0, 2, size=n_rows).astype(float)
    if kind == "constant":
        return np.full(n_rows, 3.25)
    if kind == "empty":
        return np.full(n_rows, np.nan)
    if kind == "large":
        return rng.integers(2**53 - 8, 2**53 + 8, size=n_rows).astype(float)
    if kind == "doubling":
        return 2.0 ** rng.integers(-60, 60, size=n_rows)
    values = rng.normal(size=n_rows) * size
    if kind == "float":
        return values
    odd = (*ODD, *LARGE, *BEYOND) if kind == "infinite" else (*ODD, *LARGE)
    return np.where(rng.random(n_rows) < 0.3, rng.choice(odd, size=n_rows), values)


def unseen_label(column: dict):
    """Return a label that the column has not."""
    return "unseen!" if column["kind"] == "text" else 999


def tries(rng: np.random.Generator, column: dict, known: pd.Series, tried: Tried, n: int) -> pd.Series:
    """Return values of a column to try: its own, at cuts, right beside them, and odd ones; of categories, its own."""
    cuts, takes = tried.cuts, tried.takes
    if column["kind"] == "codes":
        return pd.Series(rng.choice([*range(N_CODES + 3), *([np.nan] if takes.missing else [])], size=n))
    if known.dtype.kind != "f":
        return known.iloc[rng.integers(len(known), size=n)].reset_index(drop=True)
    finite = cuts[np.isfinite(cuts)]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        single = finite.astype(np.float32)
        beside = [np.nextafter(finite, side) for side in (-np.inf, np.inf)]
        beside += [np.nextafter(single, np.float32(side)).astype(float) for side in (-np.inf, np.inf)]
        pool = [known.to_numpy(float), finite, single.astype(float), *beside, np.array(ODD), np.array(LARGE)]
    if takes.infinite:
        pool.append(np.array(BEYOND))
    if takes.missing:
        pool.append(np.full(1 + len(finite) // 2, np.nan))
    allowed = _allowed(np.concatenate(pool), takes)
    return pd.Series(allowed[rng.integers(len(allowed), size=n)])


def _allowed(values: np.ndarray, takes: Takes) -> np.ndarray:
    values = values if takes.missing else values[~np.isnan(values)]
    return values if takes.infinite else values[~(np.abs(values) > FLOAT32)]
