"""What is frozen of Backgrounds with everything in them: a digest of every vector, and files that were saved once.

`python -m tests.contract.vectors` saves files that are not there yet. Files that are there stay as they are: later
versions must load them, and answer from them as the version that saved them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.contract.describe import describe, digest
from tests.contract.kinds import KINDS, fit_of, model_of
from tests.contract.tables import column, frame

import glasswood as gw

STORED = Path(__file__).parent / "stored"
ANSWERS = {"importance": {}, "ale": {"bins": 4}}
NUMERIC = ANSWERS | {"row_monotonicity": {}}


def _loss(name):
    return {"permutation_importance": {"loss": name}}


# What is summed up of the rows of each kind of model, besides counts.
EVERYTHING = {
    "hist_categories": {"order": 2, "target": "price", "answers": ANSWERS | _loss("squared_error")},
    "hist_poisson": {
        "target": "visits",
        "exposure": "weight",
        "response": "prediction",
        "answers": NUMERIC | _loss("poisson"),
    },
    "forest_multiclass": {"order": 2, "target": "kind", "answers": ANSWERS | _loss("log_loss")},
    "xgboost_binary": {"response": "probability", "answers": NUMERIC},
    "lightgbm_categories": {"target": "price", "response": "prediction", "answers": ANSWERS},
    "catboost_binary": {"order": None, "answers": NUMERIC},
}
SETTINGS = {
    "plain": {},
    "whole weights": {"sample_weight": "weight"},
    "fractional weights": {"sample_weight": "share"},
    "folds": {"folds": 3},
    "folds of groups": {"folds": 3, "fold_by": "region"},
    "offset": {"offset": "share"},
    "groups of columns": {"groups": ("age", "income")},
    "groups of rows": {"by": "region"},
    "everything": {"sample_weight": "share", "folds": 3, "by": "region"},
}
SAVED = {
    "xgboost_binary": {"response": "probability", "folds": 3, "order": 2, "answers": NUMERIC},
    "lightgbm_categories": {"target": "price", "order": 2, "answers": ANSWERS | _loss("squared_error")},
    "catboost_categories": {"sample_weight": "share", "order": None},
}
COLUMNS = ("weight", "share", "price", "visits", "kind", "region")


def _file(kind, folder):
    path = Path(folder) / f"all of {kind}.parquet"
    if not path.exists():
        frame((*KINDS[kind].columns, *COLUMNS)).to_parquet(path, row_group_size=16)
    return str(path)


def _options(selected):
    pair = selected.get("groups")
    return selected | ({} if pair is None else {"groups": {"together": list(pair)}})


def _of_table(selected):
    """Return options with the values of columns in place of their names."""
    return {name: column(value) if value in COLUMNS else value for name, value in selected.items()}


def vectors_of(background):
    """Return a digest of every vector."""
    groups = background if isinstance(background, dict) else {"": background}
    return {
        f"{group}: {name}" if group else name: digest(np.asarray(vector))
        for group, own in groups.items()
        for name, vector in sorted(own.vectors.items())
    }


def _digests(kind, folder, more):
    selected = _options(EVERYTHING[kind] | more)
    try:
        table = vectors_of(gw.summarize(model_of(kind), frame(KINDS[kind].columns), **_of_table(selected)))
        file = vectors_of(gw.summarize(model_of(kind), _file(kind, folder), **selected))
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
    differ = sorted(name for name in file.keys() | table.keys() if file.get(name) != table.get(name))
    return {"of a file": differ or "the same", **file}


def vectors(folder):
    """Return digests of all vectors, in all settings."""
    found = {kind: {name: _digests(kind, folder, more) for name, more in SETTINGS.items()} for kind in EVERYTHING}
    return {"fits": {kind: fit_of(kind) for kind in EVERYTHING}, **found}


# ------------------------------------------------------------------------------------------------------ saved files


ASKED = {
    "curves": lambda ex: ex.partial_dependence(),
    "surface": lambda ex: ex.partial_dependence("age", "income"),
    "importance": lambda ex: ex.importance(),
    "permutation importance": lambda ex: ex.permutation_importance(loss="squared_error"),
    "local effects": lambda ex: ex.ale(),
    "monotonicity of rows": lambda ex: ex.row_monotonicity(),
    "strengths": lambda ex: ex.interaction_strengths(),
    "error": lambda ex: ex.partial_dependence("age").error,
}


def stored(folder):
    """Return digests of the vectors of saved files, and what is answered from them."""
    found = {}
    for path in sorted(STORED.glob("*.gw")):
        background = gw.Background.load(path)
        found[path.stem] = {"vectors": vectors_of(background), "n_rows": background.n_rows}
        response = SAVED[path.stem].get("response")
        ex = gw.Explainer(model_of(path.stem), background, **({} if response is None else {"response": response}))
        found[path.stem] |= {name: _asked(ask, ex) for name, ask in ASKED.items()}
    return found


def _asked(ask, ex):
    try:
        return describe(ask(ex), exact=False)
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}


def save(folder):
    """Save the files that are not there yet."""
    STORED.mkdir(exist_ok=True)
    for kind, selected in SAVED.items():
        if not (STORED / f"{kind}.gw").exists():
            gw.summarize(model_of(kind), _file(kind, folder), **_options(selected)).save(STORED / f"{kind}.gw")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        save(folder)
