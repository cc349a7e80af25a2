"""Reads CatBoost models and model files, through CatBoost's own JSON form.

CatBoost rounds numbers to float32 and goes right iff ``x > border``; a category goes right iff its hash is the one of a
one-hot split, or its statistic (CTR) is above a border.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import MissingExtraError, UnsupportedModelError
from glasswood.models._derived import Derived
from glasswood.models._ensemble import CategorySets, Link, Score, Tree, TreeEnsemble, stack
from glasswood.models.readers._catboost_combinations import (
    ADVICE,
    Columns,
    IsAbove,
    IsCategory,
    Statistic,
    derived_of,
    hashes_of_keys,
    hashes_of_tables,
)
from glasswood.models.readers._catboost_ctr import HashColumn, ascending, floats, goes_left, read_ctr
from glasswood.models.readers._json import parse_json
from glasswood.models.readers._promises import promises_of
from glasswood.models.readers._rounding import cut_at_most
from glasswood.tables._columns import Column, NumberColumn
from glasswood.tables._given import pandas_of
from glasswood.tables._tables import Schema
from glasswood.text._printable import how_many

__all__ = ["load_file", "raw_score", "read", "read_file"]

LOG_ODDS: tuple[str, Link] = ("log-odds", "logistic")
LOG_MEAN: tuple[str, Link] = ("log of the mean", "exp")
VALUE: tuple[str, Link] = ("value", "identity")
RANKING: tuple[str, Link] = ("ranking score", "identity")

# What the raw score is, and how `predict` or `predict_proba` transforms it.
UNITS_AND_LINK: dict[str, tuple[str, Link]] = {
    "MultiClass": ("softmax margin", "softmax"),
    **dict.fromkeys(("Logloss", "CrossEntropy", "Focal", "MultiClassOneVsAll"), LOG_ODDS),
    **dict.fromkeys(("MultiLogloss", "MultiCrossEntropy"), LOG_ODDS),
    **dict.fromkeys(("Poisson", "Tweedie"), LOG_MEAN),
    **dict.fromkeys(("RMSE", "MAE", "Quantile", "MultiRMSE", "MultiQuantile", "MultiRMSEWithMissingValues"), VALUE),
    **dict.fromkeys(("Expectile", "Huber", "LogCosh", "Lq", "MAPE", "RMSPE", "LogLinQuantile"), VALUE),
    **dict.fromkeys(("YetiRank", "YetiRankPairwise", "PairLogit", "PairLogitPairwise", "QueryRMSE"), RANKING),
    **dict.fromkeys(("QuerySoftMax", "QueryCrossEntropy", "StochasticRank", "LambdaMart", "GroupQuantile"), RANKING),
}

MANY_BITS = 2**26  # of category sets
MAX_CTR_BORDERS = 255

ONE_TARGET = ("MultiClass", "MultiClassOneVsAll", "RMSEWithUncertainty", "MultiQuantile")  # with several outputs
WITHOUT_TARGET = ("Counter", "FeatureFreq")  # statistics of the rows only

PARTS_OF_FEATURES = {"float feature": "float_features", "categorical feature": "categorical_features", "ctr": "ctrs"}

# Every part of a model file that is understood; a model with others is refused.
PARTS = {
    "model": {"model_info", "features_info", "ctr_data", "oblivious_trees", "trees", "scale_and_bias"},
    "features_info": {"float_features", "categorical_features", "ctrs", "cat_features_hash"},
    "float feature": {
        "feature_index", "flat_feature_index", "feature_id", "feature_name", "borders", "has_nans",
        "nan_value_treatment",
    },
    "categorical feature": {
        "feature_index", "flat_feature_index", "feature_id", "feature_name", "values", "string_values",
    },
    "ctr": {
        "identifier", "elements", "ctr_type", "borders", "prior_numerator", "prior_denomerator", "shift", "scale",
        "target_border_idx",
    },
    "tree": {"splits", "leaf_values", "leaf_weights"},
    "node": {"split", "left", "right"},
    "leaf": {"value", "weight"},
}  # fmt: skip


def read(model: Any) -> TreeEnsemble:
    """Return a fitted CatBoost model as arrays."""
    from catboost import CatBoostError

    if not model.is_fitted():
        message = f"this {type(model).__name__} is not fitted; call fit first"
        raise UnsupportedModelError(message)
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        try:
            model.save_model(str(path), format="json")
        except CatBoostError as error:
            message = (
                f"CatBoost cannot write this {type(model).__name__} as JSON: {error}. Models with text or embedding "
                "features are not supported; train without them, or turn them into numbers first."
            )
            raise UnsupportedModelError(message) from error
        document = parse_json(path.read_bytes(), parse_int=_whole_or_float)
    return _read_document(document, f"catboost {type(model).__name__}", model.feature_names_)


def _whole_or_float(digits: str) -> int | float:
    """Return a number that CatBoost wrote without a point: a number of something, or a large float that is whole."""
    number = int(digits)
    return number if abs(number) <= 2**53 else float(number)


def raw_score(model: object, table: Any) -> NDArray[np.floating[Any]]:
    """Return CatBoost's raw formula value, without the classes that no training row had."""
    from catboost import CatBoost

    if type(table).__module__.startswith("pyarrow"):
        table = pandas_of(table)
    if type(table).__module__.startswith("polars"):
        table = _frame_of_texts(table)
    # The base class's own method: rankers hide the type of prediction.
    raw = np.asarray(CatBoost.predict(model, table, prediction_type="RawFormulaVal"))
    return raw if raw.ndim == 1 else raw[:, ~np.isneginf(raw).all(axis=0)]


def _frame_of_texts(frame: Any) -> Any:
    """Return a Polars frame with texts for categories, which end the process in CatBoost 1.2.10."""
    text = sys.modules["polars"].String
    categories = [name for name, dtype in frame.schema.items() if type(dtype).__name__ in ("Categorical", "Enum")]
    return frame.with_columns([frame.get_column(name).cast(text) for name in categories])


def read_file(path: Path) -> TreeEnsemble:
    """Return a CatBoost model file, .cbm or .json, as arrays. Only .cbm needs CatBoost itself."""
    if _is_binary(path):
        return read(load_file(path))
    content = path.read_bytes()
    document = parse_json(content, repr(path.name))
    _check_claims(document["features_info"], document.get("ctr_data") or {}, len(content))
    return _read_document(document, "catboost JSON file")


def _check_claims(features: Mapping[str, Any], tables: Mapping[str, Any], size: int) -> None:
    """Refuse a file of `size` bytes whose category sets would take far more memory."""
    n_values = [len(feature.get("values") or ()) for feature in features.get("categorical_features") or ()]
    n_borders = [len(ctr["borders"]) for ctr in features.get("ctrs") or ()]
    n_hashes = max((len(table["hash_map"]) // 2 for table in tables.values()), default=0)
    n_bits = sum(n * n for n in n_values) + sum(max(1, n) for n in n_borders) * n_hashes
    if n_bits > MANY_BITS + 64 * size or max(n_borders, default=0) > MAX_CTR_BORDERS:
        message = (
            f"the model has up to {max(n_values, default=0):,} values and {max(n_borders, default=0):,} borders of one "
            "column of categories. If the file is not damaged, load it with CatBoost and pass the model"
        )
        raise UnsupportedModelError(message)


def load_file(path: Path) -> Any:
    """Return a CatBoost model file, .cbm or .json, as a CatBoost model."""
    try:
        from catboost import CatBoost, CatBoostError
    except ImportError as error:
        raise MissingExtraError.of("catboost", extra="catboost", what=f"loading {path.name!r}") from error
    try:
        return CatBoost().load_model(str(path), format="cbm" if _is_binary(path) else "json")
    except CatBoostError as error:
        message = f"CatBoost itself cannot read {path.name!r}: {error}"
        raise UnsupportedModelError(message) from error


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"CBM1"


def _expect(part: Mapping[str, Any], kind: str) -> None:
    """Raise if a part of a model holds anything that is not understood."""
    unknown = sorted(part.keys() - PARTS[kind])
    if unknown:
        message = (
            f"the CatBoost {kind} has parts that Glasswood does not know: {', '.join(unknown)}. Text, embedding and "
            "estimated features are not supported: train without them. If it has none, please report the "
            "CatBoost version."
        )
        raise UnsupportedModelError(message)


def _read_document(document: Mapping[str, Any], source: str, names: Sequence[str] | None = None) -> TreeEnsemble:
    """Return the model described by CatBoost's JSON; a fitted model provides the names of all columns itself."""
    _expect(document, "model")
    absent = {"features_info", "model_info", "scale_and_bias"} - document.keys()
    if absent or not {"oblivious_trees", "trees"} & document.keys():
        message = (
            f"the model lacks {', '.join(sorted(absent)) or 'trees'}; load it with CatBoost and pass the loaded model"
        )
        raise UnsupportedModelError(message)
    features = document["features_info"]
    _expect(features, "features_info")
    for kind, parts in PARTS_OF_FEATURES.items():
        for part in features.get(parts, ()):
            _expect(part, kind)
    _check_numbering(features)
    ctrs = [read_ctr(ctr, document.get("ctr_data") or {}) for ctr in features.get("ctrs", ())]
    _refuse_partial_tables(document["model_info"], ctrs)
    hashes = _known_hashes(features, ctrs)
    names = _all_names(features, names)
    sets = CategorySets()
    derived, place = _derived(features, ctrs, hashes)
    behind = [len(names) + number for number in place]
    splits = _Splits(_all_splits(features, ctrs, hashes, sets, behind))
    if "oblivious_trees" in document:
        trees = (_symmetric_tree(tree, splits) for tree in document["oblivious_trees"] or ())
    else:
        trees = (_nested_tree(tree, splits) for tree in document["trees"] or ())
    arrays = stack(trees, sets)
    _refuse_shared_statistics(document, features, arrays["value"].shape[1])
    if ctrs:  # the stored weights are those of statistics made on the fly in training, not of the model's own
        arrays |= {"cover": None, "leaf_cover": None}
    schema, score = _schema(features, hashes, names), _score(document, arrays["value"].shape[1])
    promised = promises_of(_constraints(document["model_info"]), [c.name for c in schema.columns], score.n_outputs)
    return TreeEnsemble(**arrays, schema=schema, score=score, source=source, promised=promised, derived=derived)


def _constraints(info: Mapping[str, Any]) -> dict[int, Any]:
    """Return the monotone constraints of training, by the number of the column."""
    options = (_parsed(info.get("params")) or {}).get("tree_learner_options") or {}
    listed = options.get("monotone_constraints") or {}
    return {int(number): direction for number, direction in listed.items() if number.isdecimal()}


def _check_numbering(features: Mapping[str, Any]) -> None:
    """Raise unless columns of a kind are numbered as they are listed, and all have numbers of their own in tables."""
    flat: list[Any] = []
    for kind in ("float_features", "categorical_features"):
        listed = features.get(kind) or ()
        numbers = [feature["feature_index"] for feature in listed]
        if not _are_whole(numbers) or numbers != list(range(len(numbers))):
            message = f"{kind} are not numbered as they are listed: {str(numbers)[:100]}; the model is damaged"
            raise UnsupportedModelError(message)
        flat += [feature["flat_feature_index"] for feature in listed]
    if not _are_whole(flat) or len({*flat}) != len(flat):
        message = f"two columns of the model have the same number, or one has none: {str(flat)[:100]}"
        raise UnsupportedModelError(message)


def _are_whole(numbers: Sequence[Any]) -> bool:
    return all(type(number) is int and number >= 0 for number in numbers)


def _refuse_shared_statistics(document: Mapping[str, Any], features: Mapping[str, Any], n_outputs: int) -> None:
    """Raise if statistics of the targets may be of several targets: CatBoost's JSON form keeps those of one only."""
    kind = _loss(document["model_info"]).get("type", "")
    of_target = [ctr for ctr in features.get("ctrs", ()) if ctr["ctr_type"] not in WITHOUT_TARGET]
    if n_outputs > 1 and of_target and kind not in ONE_TARGET:
        message = (
            "the model has several targets and splits on category statistics (CTRs), for which CatBoost's JSON "
            "does not contain the target; train with simple_ctr=['Counter'] and max_ctr_complexity=1, or with a "
            "one_hot_max_size of at least the number of categories"
        )
        raise UnsupportedModelError(message)


def _refuse_partial_tables(info: Mapping[str, Any], ctrs: Sequence[Statistic]) -> None:
    """Raise if tables of combinations may have categories that those of single columns lack."""
    if all(ctr.column is not None for ctr in ctrs):
        return
    params = (_parsed(info.get("params")) or {}).get("cat_feature_params") or {}
    limit = params.get("ctr_leaf_count_limit")
    if isinstance(limit, int | float) and limit < 2**53:
        message = f"the model keeps only the {limit} most frequent combinations (ctr_leaf_count_limit); {ADVICE}"
        raise UnsupportedModelError(message)
    if params.get("counter_calc_method") == "Full":
        message = (
            "the model counts combinations of rows that were not trained on (counter_calc_method='Full'); " + ADVICE
        )
        raise UnsupportedModelError(message)


def _known_hashes(features: Mapping[str, Any], ctrs: Sequence[Statistic]) -> dict[int, NDArray[np.uint32]]:
    """Return, for each column of categories, every hash that some split distinguishes from the others."""
    one_hot = {}
    for feature in features.get("categorical_features", ()):
        number = feature["feature_index"]
        asked = [e.hash for ctr in ctrs for e in ctr.elements if isinstance(e, IsCategory) and e.column == number]
        one_hot[number] = np.unique(_hashes([*(feature.get("values") or ()), *asked]))
    known = hashes_of_tables(ctrs, one_hot)
    if known.keys() != one_hot.keys():
        message = "a statistic of categories is of a column that the model does not have; the model is damaged"
        raise UnsupportedModelError(message)
    return known


def _derived(
    features: Mapping[str, Any], ctrs: Sequence[Statistic], hashes: Mapping[int, NDArray[np.uint32]]
) -> tuple[Derived | None, list[int]]:
    """Return the derived columns of a model, and the number of the column of each statistic of a combination."""
    combined = [ctr for ctr in ctrs if ctr.column is None]
    if not combined:
        return None, []
    floats_of = {feature["feature_index"]: feature for feature in features.get("float_features", ())}
    asked = sorted({e for ctr in combined for e in ctr.elements if isinstance(e, IsAbove)})
    if any(element.column not in floats_of for element in asked):
        message = "a statistic of categories is of a column that the model does not have; the model is damaged"
        raise UnsupportedModelError(message)
    borders = _floats32([element.border for element in asked])
    columns = Columns(
        category={f["feature_index"]: f["flat_feature_index"] for f in features.get("categorical_features", ())},
        number={number: feature["flat_feature_index"] for number, feature in floats_of.items()},
        hashes=hashes,
        missing_above={number: not _missing_left(feature) for number, feature in floats_of.items()},
    )
    return derived_of(combined, columns, dict(zip(asked, cut_at_most(borders).tolist(), strict=True)))


def _floats32(values: Sequence[object]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return floats(values, "the borders of conditions").astype(np.float32)


def _hashes(values: Sequence[int]) -> NDArray[np.uint32]:
    """Return hashes, which files have as signed numbers."""
    if not all(type(value) is int for value in values):
        message = "the one-hot values of a column are not whole numbers"
        raise UnsupportedModelError(message)
    return np.array(values, dtype=np.int32).view(np.uint32)


def _all_names(features: Mapping[str, Any], names: Sequence[str] | None) -> Sequence[str]:
    """Return the names of all columns of the table."""
    if names is not None:
        return names
    listed = [*features.get("float_features", ()), *features.get("categorical_features", ())]
    result = {feature["flat_feature_index"]: _name(feature) for feature in listed}
    if len(result) <= max(result, default=0):
        message = (
            "the file does not name all columns of the table, because the model ignores text or embedding columns; "
            "pass the fitted model, or its .cbm file"
        )
        raise UnsupportedModelError(message)
    return [result[index] for index in range(len(result))]


def _schema(features: Mapping[str, Any], hashes: Mapping[int, NDArray[np.uint32]], names: Sequence[str]) -> Schema:
    """Return the columns of numbers and of categories in the user's order."""
    text_of = {entry["hash"]: str(entry["value"]) for entry in features.get("cat_features_hash") or ()}
    columns: dict[int, Column] = {}
    for feature in features.get("float_features", ()):
        columns[feature["flat_feature_index"]] = NumberColumn(_name(feature))
    for feature in features.get("categorical_features", ()):
        known = tuple(hashes[feature["feature_index"]].tolist())
        labels = tuple(text_of.get(number, number) for number in known)
        columns[feature["flat_feature_index"]] = HashColumn(_name(feature), known, labels)
    ordered = tuple(columns.get(index, NumberColumn(name)) for index, name in enumerate(names))
    # CatBoost calls the columns of a plain array by their numbers.
    return Schema(ordered, named=list(names) != [str(index) for index in range(len(names))])


def _name(feature: Mapping[str, Any]) -> str:
    return feature.get("feature_id") or str(feature["flat_feature_index"])


class _Split(NamedTuple):
    """One split that the model's trees may use, as the fields of a canonical node, and as CatBoost describes it."""

    description: dict[str, Any]
    feature: int
    cut: float = 0.0
    missing_left: bool = False
    category_set: int = -1
    unseen_left: bool = False


class _Splits:
    """All splits of a model in CatBoost's numbering: the borders of numbers, one-hot values, the borders of CTRs."""

    def __init__(self, splits: Iterable[_Split]) -> None:
        table = list(splits)
        self.descriptions = [split.description | {"split_index": index} for index, split in enumerate(table)]
        table.append(_Split({}, feature=0))  # stands at leaves, under the number -1
        self.fields: dict[str, Any] = {
            name: np.array([getattr(split, name) for split in table]) for name in _Split._fields[1:]
        }

    def number(self, split: Mapping[str, Any]) -> int:
        """Return the number of a tree's split, which is proved by its description."""
        index: int = split.get("split_index", -1)
        known = type(index) is int and 0 <= index < len(self.descriptions)  # True is 1, for lists
        if not known or self.descriptions[index] != split:
            message = f"a tree splits on {dict(split)!r}, which is not what the model's list of features has there"
            raise UnsupportedModelError(message)
        return index

    def nodes(self, numbers: NDArray[np.int64]) -> dict[str, Any]:
        """Return the fields of nodes that split as numbered."""
        return {name: column[numbers] for name, column in self.fields.items()}


def _all_splits(
    features: Mapping[str, Any],
    ctrs: Sequence[Statistic],
    hashes: Mapping[int, NDArray[np.uint32]],
    sets: CategorySets,
    derived: Iterable[int],
) -> Iterator[_Split]:
    for feature in features.get("float_features", ()):
        yield from _float_splits(feature)
    flat_of = {}
    for feature in features.get("categorical_features", ()):
        number, flat = feature["feature_index"], feature["flat_feature_index"]
        flat_of[number] = flat
        for value in feature.get("values", ()):
            description = {"split_type": "OneHotFeature", "cat_feature_index": number, "value": value}
            is_other = hashes[number] != np.int32(value).view(np.uint32)
            yield _Split(description, flat, category_set=sets.add(is_other), unseen_left=True)
    behind = iter(derived)
    for ctr, entry in zip(ctrs, features.get("ctrs", ()), strict=True):
        description = {"split_type": "OnlineCtr", "ctr_target_border_idx": entry["target_border_idx"]}
        if ctr.column is None:  # a derived column, whose values are numbers of borders
            feature = next(behind)
            for number, border in enumerate(entry["borders"]):
                yield _Split(description | {"border": border}, feature, cut=float(number))
            continue
        by_border = goes_left(ctr, hashes_of_keys(ctr), hashes[ctr.column])
        for border, left in zip(entry["borders"], by_border, strict=True):
            yield _Split(
                description | {"border": border},
                flat_of[ctr.column],
                category_set=sets.add(left[:-1]),
                unseen_left=bool(left[-1]),
            )


def _missing_left(feature: Mapping[str, Any]) -> bool:
    """Return whether missing values are below all borders of a column of numbers."""
    treatment, has_missing = feature["nan_value_treatment"], feature["has_nans"]
    if treatment not in ("AsIs", "AsFalse", "AsTrue") or type(has_missing) is not bool:
        message = (
            f"column {_name(feature)!r} treats missing values in an unknown way: {treatment!r}, has_nans={has_missing}"
        )
        raise UnsupportedModelError(message)
    # NaN is above no border, unless CatBoost puts +inf in its place.
    return not (has_missing and treatment == "AsTrue")


def _float_splits(feature: Mapping[str, Any]) -> Iterator[_Split]:
    missing_left = _missing_left(feature)
    flat, number = feature["flat_feature_index"], feature["feature_index"]
    borders = ascending(feature["borders"] or (), f"the borders of column {_name(feature)!r}")
    for border, cut in zip(feature["borders"] or (), cut_at_most(borders), strict=True):
        description = {"split_type": "FloatFeature", "float_feature_index": number, "border": border}
        yield _Split(description, flat, cut=float(cut), missing_left=missing_left)


def _symmetric_tree(tree: Mapping[str, Any], splits: _Splits) -> Tree:
    """Return a tree that has one split per level; bit i of a leaf's number says whether split i was passed."""
    _expect(tree, "tree")
    numbers = np.array([splits.number(split) for split in tree["splits"] or ()], dtype=np.int64)
    leaf_values = floats(tree["leaf_values"], "leaf_values")
    n_leaves = 1 << numbers.size
    if leaf_values.size < n_leaves:
        message = f"a tree of {how_many(numbers.size, 'split')} has {how_many(leaf_values.size, 'leaf value')}"
        raise UnsupportedModelError(message)
    leaf = np.full(n_leaves, -1)
    # With the last split at the root, the leaves are in CatBoost's order. Node k has the children 2k + 1 and 2k + 2.
    at_node = np.append(np.repeat(numbers[::-1], 1 << np.arange(numbers.size)), leaf)
    left = np.arange(1, 2 * n_leaves - 1, 2)
    value = leaf_values.reshape(n_leaves, -1)
    return Tree(
        **splits.nodes(at_node),
        left=np.append(left, leaf),
        right=np.append(left + 1, leaf),
        value=np.vstack([np.zeros((n_leaves - 1, value.shape[1])), value]),
        cover=_symmetric_cover(tree.get("leaf_weights")),
    )


def _symmetric_cover(leaf_weights: Sequence[float] | None) -> NDArray[np.float64] | None:
    if not leaf_weights:
        return None
    levels = [floats(leaf_weights, "leaf_weights")]
    while levels[0].size > 1:
        levels.insert(0, levels[0].reshape(-1, 2).sum(axis=1))
    return np.concatenate(levels)


def _nested_tree(root: Mapping[str, Any], splits: _Splits) -> Tree:
    """Return a tree that is stored as nodes within nodes, numbered level by level."""
    nodes = [root]
    numbers, left = [], []
    for node in nodes:  # which grows on the way
        if "value" in node:
            _expect(node, "leaf")
            numbers.append(-1)
            left.append(-1)
        else:
            _expect(node, "node")
            numbers.append(splits.number(node["split"]))
            left.append(len(nodes))
            nodes += [node["left"], node["right"]]
    first = np.array(left)
    leaves = np.flatnonzero(first < 0)
    leaf_value = _leaf_values([nodes[k]["value"] for k in leaves])
    value = np.zeros((first.size, leaf_value.shape[1]))
    value[leaves] = leaf_value
    return Tree(
        **splits.nodes(np.array(numbers)), left=first, right=first + 1, value=value, cover=_nested_cover(nodes, first)
    )


def _leaf_values(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the values of leaves, each a number, or a list with one for every output."""
    rows = [value if isinstance(value, list) else [value] for value in values]
    if len({len(row) for row in rows}) != 1:
        message = "the leaves of a tree have values of different lengths; the model is damaged"
        raise UnsupportedModelError(message)
    return floats([number for row in rows for number in row], "the values of leaves").reshape(len(rows), -1)


def _nested_cover(nodes: Sequence[Mapping[str, Any]], left: NDArray[np.int64]) -> NDArray[np.float64] | None:
    if any("value" in node and "weight" not in node for node in nodes):
        return None
    cover = floats([node.get("weight", 0.0) for node in nodes], "the weights of leaves")
    for node in np.flatnonzero(left >= 0)[::-1]:  # children come after their parent
        cover[node] = cover[left[node]] + cover[left[node] + 1]
    return cover


def _loss(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the loss function that a model was trained with; nothing if it is not known."""
    return _parsed(info.get("loss_function")) or info.get("params", {}).get("loss_function") or {}


def _score(document: Mapping[str, Any], n_outputs: int) -> Score:
    info = document["model_info"]
    loss = _loss(info)
    kind = loss.get("type", "")
    units, link = UNITS_AND_LINK.get(kind, ("score", "unknown"))
    scale, bias = document["scale_and_bias"]
    factor = floats([scale], "the scale")
    labels = _labels(loss, _parsed(info.get("class_params")) or {}, n_outputs)
    return Score(
        base=floats(bias, "the bias"),
        labels=labels,
        units=units,
        link=link,
        scale=float(factor[0]),
        base_first=False,
        binary=len(labels) == 2 and (n_outputs == 1 or kind in ("MultiClass", "MultiClassOneVsAll")),
        target_classes=((0, 1),) * n_outputs if kind in ("MultiLogloss", "MultiCrossEntropy") else (),
    )


def _labels(loss: Mapping[str, Any], classes: Mapping[str, Any], n_outputs: int) -> tuple[Any, ...]:
    """Return the labels of the outputs: classes, numbers of targets, quantiles, or "prediction"."""
    if loss.get("type") == "RMSEWithUncertainty":
        return ("mean", "log of the standard deviation")
    if loss.get("type") == "MultiQuantile":
        return tuple(f"quantile {alpha}" for alpha in loss["params"]["alpha"].split(","))
    # Only the classes that some training row had have an output; the score of two is for the second.
    names, seen = classes.get("class_names"), classes.get("class_to_label", ())
    labels = tuple(_label(names[int(k)], classes) if names else int(k) for k in seen)
    if len(labels) == n_outputs or (len(labels) == 2 and n_outputs == 1):
        return labels
    return ("prediction",) if n_outputs == 1 else tuple(range(n_outputs))


def _label(label: str | float, classes: Mapping[str, Any]) -> str | float:
    return float(label) if classes["class_label_type"] == "Float" else label


def _parsed(value: object) -> Any:
    """Return a part of the model's information, which sums of models keep as text."""
    return parse_json(value) if isinstance(value, str) else value
