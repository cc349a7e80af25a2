"""What is frozen of a kind of model beside its answers: the trees as read, tables of every form, and backgrounds."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
from tests.contract.describe import describe, public_attributes
from tests.contract.kinds import KINDS, model_of
from tests.contract.questions import MAIN
from tests.contract.tables import FORMS, HALF, ROW_FORMS, column, frame

import glasswood as gw


def trees(kind):
    """Return the public arrays and numbers of the trees as read, and their scores."""
    try:
        ensemble = gw.read_model(model_of(kind), frame(KINDS[kind].columns))
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
    found = {name: getattr(ensemble, name) for name in public_attributes(gw.TreeEnsemble)}
    scores = ensemble.predict(frame(KINDS[kind].columns))
    return describe(found | {"predict": scores, "predict dtype": scores.dtype.name}, exact=True)


def tables(kind, folder):
    """Return, for every form of a table, whether its answers are those of the pandas frame, or how it is refused."""
    names = KINDS[kind].columns
    reference = _explained(kind, frame(names))
    curves, rows = _curves(reference), _rows(reference, frame(names)[:HALF])
    found = {}
    for form, make in FORMS.items():
        found[form] = {"background": _verdict(lambda make=make: _curves(_explained(kind, make(names, folder))), curves)}
        if form in ROW_FORMS:
            found[form]["rows"] = _verdict(lambda make=make: _rows(reference, make(names, folder)[:HALF]), rows)
    return found


def _explained(kind, table):
    return gw.Explainer(model_of(kind), table, response=MAIN[kind])


def _curves(ex):
    return {name: found.heights for name, found in ex.partial_dependence().items()}


def _rows(ex, rows):
    first = next(iter(ex.partial_dependence()))
    return {"ice": ex.ice(first, rows=rows).values}


def _verdict(ask, selected):
    try:
        found = ask()
    except gw.errors.GlasswoodError as error:
        return type(error).__name__
    same = list(found) == list(selected) and all(np.array_equal(found[name], selected[name]) for name in selected)
    return "the same" if same else "another"


def backgrounds(kind, folder):
    """Return the numbers of backgrounds, and what must hold of their sums, groups, files and sources."""
    names, model = KINDS[kind].columns, model_of(kind)
    table, weight, regions = frame(names), column("weight"), column("region")
    try:
        whole = gw.summarize(model, table)
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
    first, second = (gw.summarize(model, frame(names, rows)) for rows in (slice(HALF), slice(HALF, None)))
    groups = gw.summarize(model, table, by=regions)
    whole.save(folder / "whole.gw")
    parquet = FORMS["parquet"](names, folder)
    kinds = {
        "order 1": whole,
        "order 2": gw.summarize(model, table, order=2),
        "all orders": gw.summarize(model, table, order=None),
        "whole weights": gw.summarize(model, table, sample_weight=weight),
        "fractional weights": gw.summarize(model, table, sample_weight=column("share")),
        "groups of columns": gw.summarize(model, table, groups={"together": list(KINDS[kind].frame())[:2]}, order=2),
        **{f"group {name}": background for name, background in groups.items()},
    }
    laws = {
        "parts add up": first + second == whole,
        "parts are subtracted": whole - first == second,
        "groups add up": reduce(add, groups.values()) == whole,
        "a file holds the same": gw.Background.load(folder / "whole.gw") == whole,
        "a Parquet file gives the same": _same(model, parquet, whole),
        "a stream gives the same": _same(model, FORMS["iterator"](names, folder), whole),
        "orders differ": whole != kinds["order 2"],
        "answers are those of the rows": _verdict(
            lambda: _curves(gw.Explainer(model, whole)), _curves(gw.Explainer(model, table))
        )
        == "the same",
    }
    frozen = {name: describe(background, exact=True, full=False) for name, background in kinds.items()}
    return frozen | {"weight": kinds["whole weights"].weight, "laws": laws}


def _same(model, source, selected):
    """Return whether a source has the same counts, or how it is refused."""
    try:
        return gw.summarize(model, source) == selected
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
