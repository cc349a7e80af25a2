"""The text of a LightGBM model, taken apart: a header, trees, parameters, all of them still texts.

LightGBM's own reader checks little: of a number it takes the digits up to the first other character, a blank line ends
a tree, the last of two equal keys counts, missing numbers are zeros. So only what LightGBM itself writes is read here,
and everything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models.readers._json import parse_json

__all__ = ["Fields", "Text", "check_not_read", "decode", "numbers", "split", "whole"]

Fields = dict[str, str]

NEEDED = {"num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "feature_names", "feature_infos"}
HEADER_KEYS = NEEDED | {"tree", "version", "objective", "average_output", "monotone_constraints", "tree_sizes"}
FREE_KEYS = {"feature_names", "monotone_constraints"}  # whose values may have a "=" in them
TREE_KEYS = {"num_leaves", "split_feature", "threshold", "decision_type", "left_child", "right_child", "leaf_value"}
TREE_KEYS |= {"leaf_count", "internal_count", "cat_boundaries", "cat_threshold", "is_linear", "num_cat"}
NOT_READ = ("split_gain", "leaf_weight", "internal_value", "internal_weight", "shrinkage")
TREE_KEYS |= set(NOT_READ)
LINEAR_KEYS = {"leaf_const", "num_features", "leaf_features", "leaf_coeff"}
NUMERALS = {int: b"0123456789- ", float: b"0123456789-+.eE inf"}


class Text(NamedTuple):
    """The parts of a model text."""

    header: Fields
    trees: list[Fields]
    parameters: str
    pandas_categories: list[list[Any]]


def decode(content: bytes) -> str:
    """Return the text of a model file, if its trees are where it says."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    if b"\0" in content:
        message = "the LightGBM model text is damaged: it contains bytes that are not text; save the model again"
        raise UnsupportedModelError(message)
    body = content.partition(b"\nend of trees")[0]
    sizes = re.search(rb"^tree_sizes=(.*)$", body.partition(b"\nTree=")[0], flags=re.MULTILINE)
    if sizes:  # LightGBM looks for trees there, and nowhere else
        starts = list(_places(body, b"\nTree="))
        sizes_of_trees = [whole(size) for size in sizes[1].decode("ascii").split()]
        if starts and list(accumulate(sizes_of_trees[:-1], initial=starts[0])) != starts:
            message = "the LightGBM model text is damaged: its trees are not of the sizes that it says (tree_sizes)"
            raise UnsupportedModelError(message)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the LightGBM model text is damaged: {error}; save the model again"
        raise UnsupportedModelError(message) from error


def _places(content: bytes, text: bytes) -> Iterator[int]:
    """Yield each place where some bytes begin."""
    at = content.find(text)
    while at >= 0:
        yield at
        at = content.find(text, at + 1)


def split(text: str) -> Text:
    """Return the parts of a model text."""
    body, end, rest = text.partition("\nend of trees")
    head, *trees = body.split("\nTree=")
    header = _header(head)
    if not end or header.get("version") not in ("v3", "v4"):
        version = header.get("version")
        message = (
            f"the LightGBM model text is truncated, or of the unknown version {version!r}; save it with LightGBM 4"
        )
        raise UnsupportedModelError(message)
    if not trees:
        message = "the model has no trees; fit it first"
        raise UnsupportedModelError(message)
    parameters, _, categories = rest.partition("\npandas_categorical:")
    return Text(header, [_tree(tree) for tree in trees], parameters, _labels(categories))


def _header(lines: str) -> Fields:
    pairs = [line.partition("=")[::2] for line in lines.split("\n") if line]
    header = _fields(pairs, HEADER_KEYS)
    absent = sorted(NEEDED - header.keys())
    if absent:
        message = f"no {', '.join(map(repr, absent))}"
        raise ValueError(message)
    if any("=" in value for key, value in pairs if key not in FREE_KEYS):
        message = "a line with two equals signs"
        raise ValueError(message)
    return header


def _tree(section: str) -> Fields:
    """Return the fields of a tree: lines up to a blank one, the first of which is the tree's number."""
    lines = section.rstrip("\n").split("\n")[1:]
    if not all("=" in line for line in lines):
        message = "a tree with a line that is blank, or has no equals sign"
        raise ValueError(message)
    return _fields([line.partition("=")[::2] for line in lines], TREE_KEYS)


def _fields(pairs: list[tuple[str, str]], known: set[str]) -> Fields:
    """Return the pairs of one section, if all keys are known, and each is there once."""
    fields = dict(pairs)
    unknown = fields.keys() - known
    if unknown & LINEAR_KEYS or fields.get("is_linear", "0") != "0":
        message = "the model has linear_tree=True: its score is not piecewise constant. Train with linear_tree=False."
        raise UnsupportedModelError(message)
    if unknown:
        message = f"the LightGBM model has parts that Glasswood does not know: {sorted(unknown)}; please report it"
        raise UnsupportedModelError(message)
    if len(fields) != len(pairs):
        message = "a key that is there twice"
        raise ValueError(message)
    return fields


def _labels(text: str) -> list[list[Any]]:
    """Return pandas' categories, one list of labels for each column."""
    labels = parse_json(text or "null") or []
    if not isinstance(labels, list) or not all(isinstance(column, list) for column in labels):
        message = "pandas_categorical is not a list of lists"
        raise ValueError(message)
    return labels


def whole(text: str) -> int:
    """Return a whole number."""
    if not re.fullmatch(r"-?\d{1,18}", text, flags=re.ASCII):
        message = f"{text[:50]!r} where a whole number was expected"
        raise ValueError(message)
    return int(text)


def numbers(trees: list[Fields], key: str, kind: type[int | float], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """Return one field of all trees, concatenated; tree k has ``sizes[k]`` numbers of it."""
    fields = [tree.get(key, "") for tree in trees]
    counted = [field.count(" ") + 1 if field else 0 for field in fields]
    if counted != sizes.tolist():
        message = f"{sum(counted)} numbers of {key} where there should be {sizes.sum()}, or in another tree"
        raise ValueError(message)
    joined = " ".join(filter(None, fields))
    _check_characters(joined, key, NUMERALS[kind])
    # Python's float is exact: the 17 digits that LightGBM writes give back its number.
    return np.array(list(map(kind, joined.split(" "))) if joined else [], dtype=kind)


def check_not_read(trees: list[Fields]) -> None:
    """Refuse other things than numbers where LightGBM reads numbers that do not matter for predictions."""
    for key in NOT_READ:
        _check_characters(" ".join(tree.get(key, "") for tree in trees), key, NUMERALS[float] + b"a")


def _check_characters(text: str, key: str, known: bytes) -> None:
    odd = text.encode().translate(None, known)
    if odd:
        message = f"could not convert {key} to numbers: {odd[:20]!r} is among them"
        raise ValueError(message)
