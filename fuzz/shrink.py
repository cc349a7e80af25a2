"""Shrinks a case: leaves out and simplifies whatever the finding does not need."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["shrink", "signature"]

SIMPLEST = {
    "table": "pandas",
    "rows_table": "pandas",
    "weights": "none",
    "names": "plain",
    "train_weight": False,
    "at_cuts": False,
    "response": "raw",
}
NUMBERS = {"n_train": (2, 5, 10, 20, 40), "n_background": (1, 2, 3, 5, 10), "n_rows": (1, 2)}
TREES = ("n_estimators", "iterations", "max_iter", "n_trees")
DEPTHS = ("max_depth", "depth", "num_leaves", "max_leaf_nodes", "max_leaves")


def signature(finding: dict) -> tuple[str, str, str]:
    """Return what tells whether two findings are the same."""
    return finding["question"], finding["kind"], finding["what"]


def shrink(case: dict, finding: dict, run: Callable[[dict], dict], seconds: float = 120.0) -> dict:
    """Return a simpler case with the same finding.

    Parameters
    ----------
    case : dict
    finding : dict
        One of the findings of its outcome.
    run : callable
        From a case to its outcome.
    seconds : float
        How long to try.
    """
    selected, until = signature(finding), time.monotonic() + seconds
    changed = True
    while changed:
        changed = False
        for simpler in _simpler(case, finding):
            if time.monotonic() > until:
                return case
            if any(signature(found) == selected for found in run(simpler)["findings"]):
                case, changed = simpler, True
                break
    return case


def _simpler(case: dict, finding: dict) -> Iterator[dict]:
    """Yield cases that are a little simpler, the largest steps first."""
    if finding["question"] in case["questions"] and len(case["questions"]) > 1:
        yield case | {"questions": [finding["question"]]}
        for question in case["questions"]:
            if question != finding["question"]:
                yield case | {"questions": [other for other in case["questions"] if other != question]}
    yield from _fewer_columns(case)
    for name, sizes in NUMBERS.items():
        for size in sizes:
            if size < case[name]:
                yield case | {name: size}
    if "groups" in case:
        yield {name: value for name, value in case.items() if name != "groups"}
    for name, value in SIMPLEST.items():
        if case.get(name, value) != value:
            yield case | {name: value}
    yield from _simpler_columns(case)
    yield from _simpler_model(case)


def _fewer_columns(case: dict) -> Iterator[dict]:
    n_columns = len(case["columns"])
    if n_columns > 20:
        yield case | {"columns": case["columns"][: n_columns // 2]}
        yield case | {"columns": case["columns"][n_columns // 2 :]}
    for left_out in range(min(n_columns, 20) if n_columns > 1 else 0):
        fewer = case | {"columns": [c for k, c in enumerate(case["columns"]) if k != left_out]}
        if "groups" in case:
            fewer["groups"] = [k - (k > left_out) for k in case["groups"] if k != left_out]
        model = copy.deepcopy(case["model"])
        for option, value in model["options"].items():
            if isinstance(value, list) and len(value) == n_columns:  # one entry per column
                model["options"][option] = [v for k, v in enumerate(value) if k != left_out]
        yield fewer | {"model": model}


def _simpler_columns(case: dict) -> Iterator[dict]:
    for number, column in enumerate(case["columns"][:20]):
        for option in ("missing", "ordered"):
            if column.get(option):
                yield _with(case, "columns", number, {k: v for k, v in column.items() if k != option})
        if column["kind"] in ("hostile", "infinite", "large", "doubling", "integer"):
            yield _with(case, "columns", number, column | {"kind": "float"})


def _simpler_model(case: dict) -> Iterator[dict]:
    """Yield cases with fewer trees, shallower ones, and fewer options; the library may refuse some of them."""
    model = case["model"]
    for option, value in model["options"].items():
        if option in TREES and value > 1:
            yield _with(case, "model", "options", model["options"] | {option: 1})
        elif option in DEPTHS and (value is None or value > 2):
            yield _with(case, "model", "options", model["options"] | {option: 2})
        elif option not in (*TREES, *DEPTHS, "members"):
            yield _with(case, "model", "options", {k: v for k, v in model["options"].items() if k != option})
    for name, simplest in (("fit_on", "frame"), ("given_as", "estimator"), ("select", ""), ("output", "default")):
        if model.get(name, simplest) != simplest:
            yield _with(case, "model", name, simplest)
    target = case["target"]
    if target.get("labels", "whole") != "whole":
        yield _with(case, "target", "labels", "whole")
    for option in ("scale", "level"):
        if option in target:
            yield case | {"target": {k: v for k, v in target.items() if k != option}}


def _with(case: dict, part: str, key: Any, value: Any) -> dict:
    """Return a case with one entry of one of its parts changed."""
    changed = copy.deepcopy(case)
    changed[part][key] = value
    return changed
