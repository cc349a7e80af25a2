"""Cases: what is invented, as plain dicts. A case is drawn from its seed, and can be changed and run again."""

from __future__ import annotations

import numpy as np

from fuzz.columns import NAMES, is_category
from fuzz.models import MAKERS, maker_of
from fuzz.streams import chance, pick, stream
from fuzz.tables import kinds_for

__all__ = ["draw_case"]

# How often each is drawn: long paths, many columns, trees that are chains, many rows, many leaves.
SHAPES = {"usual": 90, "long": 3, "wide": 0.7, "deep": 2, "tall": 2.3, "large": 2}
WIDE = 5000  # columns, of a case in a hundred
N_QUESTIONS = 8  # of a case
WEIGHTS = ("none", "whole", "fractions", "wide", "tiny", "one_row", "float32")


def draw_case(seed: int, makers: list[str] | None = None, skip: list[str] | None = None) -> dict:
    """Return the case of a seed; of some makers of models only, and without some questions, if they are named."""
    from fuzz.questions import QUESTIONS

    rng = stream(seed, "case")
    names = list(makers or MAKERS)
    maker = pick(rng, names, [MAKERS[name][1] for name in names])
    case: dict = {"seed": seed}
    shape = pick(rng, SHAPES, list(SHAPES.values()))
    wide = 300 if maker in ("pipeline", "wrapper") else WIDE  # transformers of thousands of columns take minutes
    n_columns = {"usual": int(rng.integers(1, 6)), "long": int(rng.integers(9, 14)), "wide": wide}.get(shape, 2)
    maker_of(maker).draw(rng, case, n_columns)
    for number, column in enumerate(case["columns"]):
        column["seed"] += 10**6 * number  # names are made of it, and distinct
    case["n_train"] = pick(rng, [1, 2, 5, 20, 60, 120], [1, 2, 6, 20, 40, 30])
    case["n_background"] = pick(rng, [1, 3, 15, 40], [1, 2, 8, 7])
    case["n_rows"] = int(rng.integers(0, 6))
    _shape(rng, case, shape)
    _tables(rng, case, natural=maker == "pipeline")
    case["train_weight"] = chance(rng, 0.25)
    case["weights"] = pick(rng, WEIGHTS, [10, 1.5, 1.5, 1, 0.7, 0.7, 0.7])
    case["response"] = pick(rng, ["default", "raw", "probability", "prediction"], [4, 2, 1, 1])
    if n_columns > 1 and shape != "wide" and chance(rng, 0.2):
        case["groups"] = sorted(int(k) for k in rng.permutation(n_columns)[: int(rng.integers(1, n_columns + 1))])
    case["names"] = pick(rng, NAMES, [12, 1, 1, 1, 1, 1, 1, 0.3])
    asked = list(QUESTIONS)
    shuffled = [asked[k] for k in rng.permutation(len(asked))]
    case["questions"] = [name for name in shuffled if name not in (skip or ())][:N_QUESTIONS]
    return case


def _shape(rng: np.random.Generator, case: dict, shape: str) -> None:
    """Make a case of an unusual shape."""
    case["shape"] = shape
    if shape in ("long", "wide"):
        case["n_background"], case["n_rows"] = min(case["n_background"], 3), 1
        case["n_train"] = max(case["n_train"], 60 if shape == "long" else 5)
    elif shape == "tall":  # more rows than a block, or than a thread takes
        case["n_background"] = pick(rng, [4095, 4096, 4097, 9000])
        case["n_rows"] = pick(rng, [1, 1023, 1025, 2500])
    elif shape == "deep" and case["model"]["maker"] == "sklearn_tree" and case["model"]["kind"] != "isolation":
        case["n_train"] = 400
        case["target"] = {"task": "number", "chain": True}
        case["model"]["options"] |= {"max_depth": None if case["model"]["kind"] != "boosting" else 300}
        for option in ("max_leaf_nodes", "min_samples_leaf", "criterion", "loss", "class_weight"):
            case["model"]["options"].pop(option, None)
    elif shape == "large":
        case["n_train"] = 3000
        _many_leaves(case["model"])


def _many_leaves(model: dict) -> None:
    """Make trees of more leaves than bitsets are used for."""
    options = model["options"]
    for option in ("n_estimators", "max_iter", "iterations", "n_trees"):
        if option in options:
            options[option] = min(2, options[option])
    if model["maker"] == "sklearn_hist":
        options |= {"max_leaf_nodes": None, "max_depth": None, "min_samples_leaf": 1, "max_bins": 255}
    elif model["maker"] == "lightgbm":
        options |= {"num_leaves": 1500, "max_depth": -1, "min_child_samples": 1, "max_bin": 255}
    elif model["maker"] == "xgboost" and options["tree_method"] != "exact":
        options |= {"max_depth": 12, "min_child_weight": 0.0, "max_bin": 256}
        options.pop("max_leaves", None)
    elif model["maker"] == "catboost":
        options["depth"] = 10
    elif model["maker"] == "sklearn_tree" and model["kind"] not in ("isolation", "boosting"):
        options["max_depth"] = None
        options.pop("max_leaf_nodes", None)
        options.pop("min_samples_leaf", None)


def _tables(rng: np.random.Generator, case: dict, *, natural: bool) -> None:
    categories = any(is_category(column) for column in case["columns"])
    kinds = kinds_for(categories=categories, natural=natural)
    if case["model"].get("fit_on") == "array":
        kinds.remove("pandas_extra")  # columns without names are counted through
    case["table"] = pick(rng, kinds) if chance(rng, 0.6) else "pandas"
    case["rows_table"] = case["table"] if chance(rng, 0.5) else pick(rng, kinds)
