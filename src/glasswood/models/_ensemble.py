"""TreeEnsemble: the one structure that every model library is read into, and that everything else works on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.models._derived import CellsOfDerived, Derived
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.parallel._threads import sum_over
from glasswood.tables._columns import cells_of
from glasswood.tables._tables import Schema, encode, n_rows
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

__all__ = ["CategorySets", "Score", "Tree", "TreeEnsemble", "int32", "stack"]

BLOCK = 4096  # rows routed at a time, unless they are very wide: a block of encoded columns stays in the cache
NUMBERS_IN_CACHE = 2**18

MANY_NODES = 2**20  # from here on threads are worth starting
MAX_NODES = 2**31  # which 32 bits can number

Link = Literal["identity", "logistic", "softmax", "exp", "unknown"]
Margin = Literal["added", "replaces base", "unknown"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(ReadOnly):
    """How leaf values add up to the raw score, and what the raw score means.

    The raw score is ``(base + sum of leaf values) * scale / divisor`` if `base_first`, otherwise
    ``base + (sum of leaf values) * scale / divisor``, added tree by tree in `dtype`: in floating point the order
    matters, and this is the order of the model's own library.

    Parameters
    ----------
    base : ndarray of shape (n_outputs,), float64
        The score without any tree.
    labels : tuple
        The label of each output: a class, the number of a target, or "prediction". Both classes of a binary model that
        has one output, for the second class.
    units : str
        What the raw score is: "value", "log-odds", "probability", "log of the mean", "mean depth", ...
    link : {"identity", "logistic", "softmax", "exp", "unknown"}
        The function from ``link_scale * raw score`` to what `predict` or `predict_proba` of the library gives.
    binary : bool
        Whether the labels are the two classes of a binary classifier.
    margin : {"added", "replaces base", "unknown"}
        What the library does with a margin, a baseline or an initial score of a row: it adds it to the raw score, or
        starts from it in place of the base.
    target_classes : tuple of tuples
        The classes of each target, if there are several targets of classes. Each has an output per class, or, if there
        are as many outputs as targets, one for the second of two classes.
    """

    base: NDArray[np.float64]
    labels: tuple[Any, ...]
    units: str
    link: Link = "identity"
    link_scale: float = 1.0
    scale: float = 1.0
    divisor: float = 1.0
    base_first: bool = True
    dtype: Literal["float64", "float32"] = "float64"
    binary: bool = False
    margin: Margin = "added"
    target_classes: tuple[tuple[Any, ...], ...] = ()

    def __post_init__(self) -> None:
        base = np.array(self.base, dtype=np.float64).reshape(-1)
        object.__setattr__(self, "base", base)
        super().__post_init__()
        both = self.binary and len(self.labels) == 2 and base.size == 1
        if (len(self.labels) != base.size and not both) or (self.binary and len(self.labels) != 2):
            message = f"{len(self.labels)} output labels for {base.size} base scores"
            raise UnsupportedModelError(message)
        factors = (self.scale, self.divisor, self.link_scale)
        if not (np.isfinite(base).all() and all(map(math.isfinite, factors)) and self.divisor):
            message = f"the model's score has a base or factor that is not finite, or divides by {self.divisor}"
            raise UnsupportedModelError(message)

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return self.base.size

    @property
    def factor(self) -> float:
        """What a leaf value is worth in the raw score."""
        return self.scale / self.divisor

    @property
    def constant(self) -> NDArray[np.float64]:
        """What the raw score is without any leaf value."""
        return self.base * self.factor if self.base_first else self.base

    @property
    def without_margin(self) -> Score:
        """What the library adds to the margins of rows: the same score, or that without its base."""
        return replace(self, base=np.zeros_like(self.base)) if self.margin == "replaces base" else self


class Tree(NamedTuple):
    """One tree as most libraries store it: every node, leaves included, numbered from the root 0 within the tree.

    `left` is negative at leaves. `value` is read at leaves only and has one number, or one per output. `round_cut` is
    applied to the cuts of inner nodes: it turns the library's comparison into ``x <= cut`` on float64. `n_leaves` saves
    counting them, which for large forests is a pass over memory.
    """

    feature: NDArray[np.integer[Any]]
    cut: NDArray[np.floating[Any]]
    left: NDArray[np.integer[Any]]
    right: NDArray[np.integer[Any]]
    missing_left: NDArray[Any]
    value: NDArray[np.floating[Any]]
    cover: NDArray[Any] | None = None
    category_set: NDArray[np.integer[Any]] | None = None
    unseen_left: NDArray[Any] | None = None
    output: int = -1
    round_cut: Callable[[NDArray[Any]], NDArray[np.float64]] | None = None
    n_leaves: int | None = None


def int32(numbers: NDArray[np.int64], name: str) -> NDArray[np.int32]:
    """Return whole numbers in 32 bits; `name` describes them in the error if one does not fit."""
    if numbers.size and not -MAX_NODES <= numbers.min() <= numbers.max() < MAX_NODES:
        message = f"{name} holds {numbers.min()} to {numbers.max()}, which are out of range; the model is damaged"
        raise UnsupportedModelError(message)
    return numbers.astype(np.int32)


class CategorySets:
    """Collects the category sets of a model's nodes as bits, 64 codes to a word; equal sets are stored once."""

    def __init__(self) -> None:
        self._words: list[NDArray[np.uint64]] = []
        self._place: dict[bytes, int] = {}
        self._size = 0

    def add(self, left: NDArray[np.bool_]) -> int:
        """Store which of a column's codes go left (one flag per code), and return the number of its first word."""
        bits = np.zeros(max(64, -(-left.size // 64) * 64), dtype=np.uint8)
        bits[: left.size] = left
        words = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
        key = words.tobytes()
        if key not in self._place:
            self._place[key] = self._size
            self._words.append(words)
            self._size += words.size
        return self._place[key]

    @property
    def words(self) -> NDArray[np.uint64]:
        """All sets, one after the other."""
        return np.concatenate(self._words) if self._words else np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TreeEnsemble(ReadOnly):
    """A fitted tree ensemble as plain arrays, with the same predictions as the library it was read from.

    Inner nodes and leaves are numbered through all trees. A child (and a root) is a node if it is not negative, and
    the leaf ``~child`` if it is. A row with value x in the node's feature goes left

    - if x is missing (NaN): iff `missing_left`;
    - else, if `category_set` is negative: iff ``x <= cut``;
    - else, if x is a category unknown to the model: iff `unseen_left`;
    - else: iff bit x of the category set that starts at word `category_set` is set.

    Parameters
    ----------
    root : ndarray of shape (n_trees,), int32
        The root of each tree.
    tree_output : ndarray of shape (n_trees,), int32
        The output that a tree adds to, or -1 if its leaves have a value for every output.
    feature, left, right, category_set : ndarray of shape (n_nodes,), int32
    cut : ndarray of shape (n_nodes,), float64
    missing_left, unseen_left : ndarray of shape (n_nodes,), bool
    words : ndarray of uint64
        The bits of all category sets.
    value : ndarray of shape (n_leaves, 1) or (n_leaves, n_outputs), float64
    cover, leaf_cover : ndarray of shape (n_nodes,) and (n_leaves,), float64, or None
        The training weight that reached a node, as the library defines it (see the models page); None if it keeps none.
    schema : Schema
        The columns of the table that the model takes.
    score : Score
        How the leaf values add up.
    source : str
        The library and class the model came from.
    derived : Derived, optional
        Columns that are functions of several columns of the table; as features, they are numbered behind these.
    promised : ndarray of shape (n_features, n_outputs), int8, or None
        The monotone constraints that the model says it was trained with: 1 for increasing, -1 for decreasing, 0 for
        none. None if it says nothing about them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> import glasswood as gw
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(n_estimators=10, max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> ensemble = gw.read_model(model)
    >>> ensemble
    TreeEnsemble(sklearn RandomForestRegressor: 10 trees, 80 leaves, 10 features, 1 output, score: value)
    >>> bool((ensemble.predict(X) == model.predict(X)).all())
    True
    """

    root: NDArray[np.int32]
    tree_output: NDArray[np.int32]
    feature: NDArray[np.int32]
    cut: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    unseen_left: NDArray[np.bool_]
    words: NDArray[np.uint64]
    value: NDArray[np.float64]
    cover: NDArray[np.float64] | None
    leaf_cover: NDArray[np.float64] | None
    schema: Schema
    score: Score
    source: str
    derived: Derived | None = None
    promised: NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self)

    def __repr__(self) -> str:
        size = (
            how_many(self.n_trees, "tree"),
            how_many(self.n_leaves, "leaf", "leaves"),
            how_many(self.n_features, "feature"),
            how_many(self.n_outputs, "output"),
        )
        return f"TreeEnsemble({self.source}: {', '.join(size)}, score: {self.score.units})"

    def _repr_html_(self) -> str:
        return facts_html(f"TreeEnsemble: {self.source}", self.facts)

    @property
    def facts(self) -> dict[str, Any]:
        """What is to be known about the model at a glance, by name."""
        labels = self.score.labels
        shown = ", ".join(map(str, labels[:10])) + (", ..." if len(labels) > 10 else "")
        return {
            "trees": self.n_trees,
            "leaves": self.n_leaves,
            "features": self.n_features,
            "features with a split": self.used_features.size,
            "features of categories": sum(column.n_codes > 0 for column in self.schema.columns),
            "score": self.score.units,
            "outputs": f"{len(labels):,}: {shown}" if len(labels) > 1 else shown,
            "covers of training": "kept" if self.cover is not None else "none",
        }

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return self.root.size

    @property
    def n_nodes(self) -> int:
        """The number of inner nodes."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.value)

    @property
    def n_features(self) -> int:
        """The number of columns of the model's table."""
        return len(self.schema.columns)

    @property
    def n_columns(self) -> int:
        """The number of columns that trees may split on: those of the table, and derived ones."""
        return self.n_features + (0 if self.derived is None else self.derived.n_columns)

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """The number of categories of each column that trees may split on; 0 for numbers."""
        codes = np.zeros(self.n_columns, dtype=np.int64)
        codes[: self.n_features] = [column.n_codes for column in self.schema.columns]
        return read_only(codes)

    @property
    def n_outputs(self) -> int:
        """The number of outputs: classes, targets, or 1."""
        return self.score.n_outputs

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of the model's table."""
        return tuple(column.name for column in self.schema.columns)

    @cached_property
    def used_features(self) -> NDArray[np.intp]:
        """The features that some node splits on, itself or through a derived column, in increasing order."""
        used = np.bincount(self.feature, minlength=self.n_columns)[: self.n_features]
        if self.derived is not None:
            used[self.derived.features] += 1
        return read_only(np.flatnonzero(used))

    def predict(self, table: object) -> NDArray[np.floating[Any]]:
        """Return the raw score of each row, bit for bit as the model's own library computes it.

        Parameters
        ----------
        table : array, sparse matrix or data frame
            What the model itself takes: NumPy, SciPy, pandas, Polars or PyArrow.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            float32 for XGBoost, which adds in float32; otherwise float64.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.ensemble import HistGradientBoostingClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingClassifier(max_iter=10).fit(X, y)
        >>> bool((gw.read_model(model).predict(X) == model.decision_function(X)).all())
        True
        """
        scores = self._scores_of(encode(table, self.schema, self.used_features), n_rows(table))
        return scores[:, 0] if self.n_outputs == 1 else scores

    def _scores_of(self, columns: Mapping[int, NDArray[np.floating[Any]]], n: int) -> NDArray[np.floating[Any]]:
        """Return the raw scores of n rows, (n, n_outputs), whose used columns are encoded already."""
        score = self.score
        dtype = np.dtype(score.dtype)
        scores = np.zeros((n, self.n_outputs), dtype=dtype)
        if score.base_first:
            scores += score.base.astype(dtype)
        self._add_leaf_values([columns[f] for f in self.used_features.tolist()], scores)
        if score.scale != 1:
            scores *= dtype.type(score.scale)
        if score.divisor != 1:
            scores /= dtype.type(score.divisor)
        if not score.base_first:
            scores += score.base
        return scores

    @cached_unpickled
    def core_trees(self) -> _core.Trees:
        """The trees as kernels take them."""
        return _core.Trees(self.root, self.left, self.right, self.n_leaves)

    @cached_unpickled
    def _splits(self) -> _core.Splits:
        """What each node asks for, with the used columns numbered in order, and derived ones behind them."""
        used, n_derived = self.used_features, self.n_columns - self.n_features
        place = np.zeros(self.n_columns, dtype=np.int32)
        place[used] = np.arange(used.size)
        place[self.n_features :] = used.size + np.arange(n_derived)
        return _core.Splits(
            column=place[self.feature],
            cut=self.cut,
            missing_left=self.missing_left,
            category_set=self.category_set,
            unseen_left=self.unseen_left,
            words=self.words,
            n_codes=np.append(self.n_codes[used], np.zeros(n_derived, dtype=np.int64)),
        )

    @cached_unpickled
    def _cells_of_derived(self) -> CellsOfDerived | None:
        """The derived columns as functions of the cells that their own cuts make."""
        if self.derived is None:
            return None
        used = self.derived.features
        return CellsOfDerived(self.derived, used, {f: self.derived.cuts_of(f) for f in used.tolist()})

    def _ranks(self, columns: list[NDArray[np.floating[Any]]]) -> NDArray[np.int32]:
        """Return the derived columns of rows, (n_derived, n_rows), given the used ones."""
        made = self._cells_of_derived
        if made is None:
            return np.empty((0, 0), dtype=np.int32)
        places = np.searchsorted(self.used_features, made.derived.features).tolist()
        cells = [
            cells_of(columns[place], made.derived.cuts_of(f), int(self.n_codes[f])).astype(np.int32)
            for place, f in zip(places, made.derived.features.tolist(), strict=True)
        ]
        return made.ranks(np.stack(cells))

    def _add_leaf_values(self, columns: list[NDArray[np.floating[Any]]], scores: NDArray[np.floating[Any]]) -> None:
        """Add every tree's leaf values to the scores, block by block of rows."""
        value = self.value.astype(scores.dtype, copy=False)
        n_derived = self.n_columns - self.n_features
        width = len(columns) + n_derived
        n_rows = min(BLOCK, len(scores), max(256, NUMBERS_IN_CACHE // max(1, width)))
        block = np.empty((n_rows, width))
        for start in range(0, len(scores), max(1, n_rows)):
            part = scores[start : start + n_rows]
            here = [column[start : start + n_rows] for column in columns]
            for index, column in enumerate(here):
                block[: len(part), index] = column
            if n_derived:
                block[: len(part), len(columns) :] = self._ranks(here).T
            rows = block[: len(part)]
            _core.add_leaf_values(rows, self.core_trees, self._splits, self.tree_output, value, part)


def stack(trees: Iterable[Tree], sets: CategorySets | None = None) -> dict[str, Any]:
    """Return the arrays of a `TreeEnsemble` from the trees as their library stores them.

    Every tree is taken apart into inner nodes and leaves, which are written to their place in the arrays at once: the
    memory taken is that of the arrays, and for large ensembles trees are taken apart by several threads.
    """
    trees = list(trees)
    if not trees:
        message = "the model has no trees; fit it first"
        raise UnsupportedModelError(message)
    _check_lengths(trees)
    leaves = np.array([np.sum(tree.left < 0) if tree.n_leaves is None else tree.n_leaves for tree in trees])
    inner = np.array([tree.left.size for tree in trees]) - leaves
    if int(max(inner.sum(), leaves.sum())) >= MAX_NODES:
        message = f"the model has {leaves.sum():,} leaves; up to {MAX_NODES:,} are read"
        raise UnsupportedModelError(message)
    arrays = _allocate(trees, int(inner.sum()), int(leaves.sum()))
    stacked = _core.StackedTrees(**{name: arrays[name] for name in STACKED})
    firsts = np.stack([np.cumsum(inner) - inner, np.cumsum(leaves) - leaves, inner], axis=1).tolist()
    places = zip(range(len(trees)), trees, firsts, strict=True)
    if arrays["feature"].size < MANY_NODES:
        for place in places:
            _take_apart(arrays, stacked, *place)
        _round_cuts(arrays["cut"], trees, inner.tolist())
    else:

        def work(_: None, place: tuple[int, Tree, list[int]]) -> None:
            tree, (first_node, _first_leaf, n_inner) = place[1:]
            _take_apart(arrays, stacked, *place)
            _round_cuts(arrays["cut"][first_node : first_node + n_inner], [tree], [n_inner])

        sum_over(places, lambda: None, work)
    words = sets.words if sets is not None else np.empty(0, dtype=np.uint64)
    no_covers = {"cover": None, "leaf_cover": None} if trees[0].cover is None else {}
    return arrays | no_covers | {"words": words}


def _check_lengths(trees: Sequence[Tree]) -> None:
    """Raise if the arrays of a tree differ in length, or if trees differ in the number of values or in their covers."""
    first = trees[0]
    n_values = first.value.size // max(1, first.left.size)
    for number, tree in enumerate(trees):
        n_nodes = tree.left.size
        fields = (
            tree.feature,
            tree.cut,
            tree.right,
            tree.missing_left,
            tree.cover,
            tree.category_set,
            tree.unseen_left,
        )
        fits = all(field is None or len(field) == n_nodes for field in fields) and tree.value.size == n_nodes * n_values
        if not (fits and n_nodes and n_values and (tree.cover is None) == (first.cover is None)):
            message = (
                f"tree {number} of the model is broken: its arrays differ in length, it has no nodes, or its "
                "number of values or covers differs from that of the first tree"
            )
            raise UnsupportedModelError(message)


def _allocate(trees: Sequence[Tree], n_nodes: int, n_leaves: int) -> dict[str, NDArray[Any]]:
    first = trees[0]
    n_covers = 0 if first.cover is None else 1
    return {
        "root": np.empty(len(trees), dtype=np.int32),
        "tree_output": np.array([tree.output for tree in trees], dtype=np.int32),
        "feature": np.empty(n_nodes, dtype=np.int32),
        "cut": np.empty(n_nodes, dtype=np.float64),
        "left": np.empty(n_nodes, dtype=np.int32),
        "right": np.empty(n_nodes, dtype=np.int32),
        "missing_left": np.empty(n_nodes, dtype=bool),
        "category_set": np.full(n_nodes, -1, dtype=np.int32),
        "unseen_left": np.zeros(n_nodes, dtype=bool),
        "value": np.empty((n_leaves, first.value.size // first.left.size), dtype=np.float64),
        "cover": np.empty(n_nodes * n_covers, dtype=np.float64),
        "leaf_cover": np.empty(n_leaves * n_covers, dtype=np.float64),
    }


STACKED = ("feature", "cut", "left", "right", "missing_left", "cover", "value", "leaf_cover")


def _take_apart(
    arrays: dict[str, NDArray[Any]], stacked: _core.StackedTrees, index: int, tree: Tree, numbers: list[int]
) -> None:
    """Write one tree's inner nodes and leaves to the arrays, numbered from the first node and leaf in `numbers` on."""
    first_node, first_leaf, n_inner = numbers
    fits = _core.take_apart(
        feature=aligned(np.asarray(tree.feature, dtype=np.int64)),
        cut=aligned(np.asarray(tree.cut, dtype=np.float64)),
        left=aligned(np.asarray(tree.left, dtype=np.int64)),
        right=aligned(np.asarray(tree.right, dtype=np.int64)),
        missing_left=np.asarray(tree.missing_left, dtype=np.uint8),
        value=aligned(np.asarray(tree.value, dtype=np.float64).reshape(tree.left.size, -1)),
        cover=aligned(np.asarray([] if tree.cover is None else tree.cover, dtype=np.float64)),
        first_node=first_node,
        first_leaf=first_leaf,
        n_inner=n_inner,
        out=stacked,
    )
    if not fits:
        message = (
            f"tree {index} of the model is broken: a child is not one of its nodes, a feature is out of range, or its "
            "number of leaves is wrong"
        )
        raise UnsupportedModelError(message)
    arrays["root"][index] = first_node if tree.left[0] >= 0 else ~first_leaf
    here = slice(first_node, first_node + n_inner)
    if tree.category_set is not None and tree.unseen_left is not None:
        arrays["category_set"][here] = tree.category_set[tree.left >= 0]
        arrays["unseen_left"][here] = tree.unseen_left[tree.left >= 0]


def _round_cuts(cut: NDArray[np.float64], trees: Sequence[Tree], n_cuts: list[int]) -> None:
    """Round the cuts of some trees, which are concatenated, as each of them says; those that agree at once."""
    first = 0
    for round_cut, group in groupby(zip(trees, n_cuts, strict=True), key=lambda pair: pair[0].round_cut):
        last = first + sum(n for _, n in group)
        if round_cut is not None:
            cut[first:last] = round_cut(cut[first:last])
        first = last


def _check(ensemble: TreeEnsemble) -> None:
    """Raise if the arrays do not form trees over the schema's columns and the score's outputs."""
    for problem in _problems(ensemble):
        message = f"the model read from {ensemble.source} is not well formed: {problem}"
        raise UnsupportedModelError(message)


def _problems(e: TreeEnsemble) -> Iterator[str]:
    """Yield what is wrong. Sizes come first, because all else relies on them, and no array is walked before that."""
    yield from _size_problems(e)
    if not _core.is_forest(e.root, e.left, e.right, e.n_leaves):
        yield "some node or leaf is not the child of exactly one node, or is below no root"
    if e.n_nodes and not (e.feature.min() >= 0 and e.feature.max() < e.n_columns):
        yield f"features {e.feature.min()} to {e.feature.max()} for {how_many(e.n_columns, 'column')}"
    if e.derived is not None:
        yield from e.derived.problems(e.n_codes[: e.n_features])
    if not _all_finite(e.value):
        yield "some leaf value is not finite"
    if e.cover is not None and e.leaf_cover is not None and not (_all_finite(e.cover) and _all_finite(e.leaf_cover)):
        yield "some cover is not finite"
    if any(column.n_codes for column in e.schema.columns) or e.category_set.max(initial=-1) >= 0:
        yield from _category_problems(e)
    elif np.isnan(e.cut).any():
        yield "some cut is NaN"


def _size_problems(e: TreeEnsemble) -> Iterator[str]:
    by_node = ("cut", "left", "right", "missing_left", "category_set", "unseen_left")
    if not e.n_trees:
        yield "there are no trees"
    if any(getattr(e, name).shape != e.feature.shape for name in by_node):
        yield "the arrays of nodes differ in length"
    if e.tree_output.shape != e.root.shape:
        yield f"{how_many(e.tree_output.size, 'output')} for {how_many(e.n_trees, 'tree')}"
    if (
        e.cover is not None
        and e.leaf_cover is not None
        and (e.cover.size, e.leaf_cover.size) != (e.n_nodes, e.n_leaves)
    ):
        yield f"{e.cover.size} and {e.leaf_cover.size} covers for {e.n_nodes} nodes and {e.n_leaves} leaves"
    lowest, highest = int(e.tree_output.min(initial=0)), int(e.tree_output.max(initial=0))
    if lowest < -1 or highest >= e.n_outputs:
        yield f"a tree adds to output {highest if lowest >= -1 else lowest} of {e.n_outputs}"
    if e.promised is not None and e.promised.shape != (e.n_features, e.n_outputs):
        yield f"monotone constraints of the shape {e.promised.shape}"
    if e.value.ndim != 2 or e.value.shape[1] not in {e.n_outputs, e.n_outputs if lowest < 0 else 1}:
        yield f"leaves have {e.value.size / max(1, e.n_leaves):g} values for {how_many(e.n_outputs, 'output')}"


def _all_finite(numbers: NDArray[np.float64]) -> bool:
    """Return whether no number is infinite or NaN, judged by their sum unless it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum())) or bool(np.isfinite(numbers).all())


def _category_problems(e: TreeEnsemble) -> Iterator[str]:
    by_cut = e.category_set < 0
    codes = e.n_codes[e.feature]
    if np.isnan(e.cut[by_cut]).any():
        yield "some cut is NaN"
    if np.any(codes[by_cut] > 0):
        yield "a cut on a column of categories"
    if np.any(codes[~by_cut] == 0):
        yield "a category split on a column of numbers"
    if np.any(e.category_set[~by_cut] - (-codes[~by_cut] // 64) > e.words.size):
        yield "a category set is cut short"
