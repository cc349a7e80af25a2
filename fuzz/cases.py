"""Cases: what is invented, as plain dicts. A case is drawn from its seed, and can be changed and run again."""

from __future__ import annotations

import numpy as np

from fuzz.columns import NAMES, is_category
from fuzz.models import MAKERS, maker_of
from fuzz.streams import chance, pick, stream
from fuzz.tables import kinds_for

__all__ = ["draw_case"]

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
    shape = pick(rng, ["usual", "long", "wide", "deep"], [94, 3, 0.7, 2.3])
    n_columns = {"usual": int(rng.integers(1, 6)), "long": int(rng.integers(9, 13)), "wide": WIDE}.get(shape, 2)
    maker_of(maker).draw(rng, case, n_columns)
    for number, column in enumerate(case["columns"]):
        column["seed"] += 10**6 * number  # names are made of it, and distinct
    case["n_train"] = pick(rng, [1, 2, 5, 20, 60, 120], [1, 2, 6, 20, 40, 30])
    case["n_background"] = pick(rng, [1, 3, 15, 40], [1, 2, 8, 7])
    case["n_rows"] = int(rng.integers(1, 6))
    _shape(case, shape)
    _tables(rng, case, natural=maker == "pipeline")
    case["train_weight"] = chance(rng, 0.25)
    case["weights"] = pick(rng, WEIGHTS, [10, 1.5, 1.5, 1, 0.7, 0.7, 0.7])
    case["response"] = pick(rng, ["raw", "probability", "prediction"], [5, 1, 1])
    if n_columns > 1 and shape != "wide" and chance(rng, 0.2):
        case["groups"] = sorted(int(k) for k in rng.permutation(n_columns)[: int(rng.integers(1, n_columns + 1))])
    case["names"] = pick(rng, NAMES, [12, 1, 1, 1, 1, 1, 1, 0.3])
    asked = list(QUESTIONS)
    shuffled = [asked[k] for k in rng.permutation(len(asked))]
    case["questions"] = [name for name in shuffled if name not in (skip or ())][:N_QUESTIONS]
    return case


def _shape(case: dict, shape: str) -> None:
    """Make a case of an unusual shape: long paths, many columns, or trees that are chains."""
    case["shape"] = shape
    if shape in ("long", "wide"):
        case["n_background"], case["n_rows"] = min(case["n_background"], 3), 1
        case["n_train"] = max(case["n_train"], 60 if shape == "long" else 5)
    if shape == "deep" and case["model"]["maker"] == "sklearn_tree" and case["model"]["kind"] != "isolation":
        case["n_train"] = 400
        case["target"] = {"task": "number", "chain": True}
        case["model"]["options"] |= {"max_depth": None if case["model"]["kind"] != "boosting" else 300}
        for option in ("max_leaf_nodes", "min_samples_leaf", "criterion", "loss", "class_weight"):
            case["model"]["options"].pop(option, None)


def _tables(rng: np.random.Generator, case: dict, *, natural: bool) -> None:
    categories = any(is_category(column) for column in case["columns"])
    kinds = kinds_for(categories=categories, natural=natural)
    if case["model"].get("fit_on") == "array":
        kinds.remove("pandas_extra")  # columns without names are counted through
    case["table"] = pick(rng, kinds) if chance(rng, 0.6) else "pandas"
    case["rows_table"] = case["table"] if chance(rng, 0.5) else pick(rng, kinds)
