"""The models of the contract: read from files in models/, or fitted here; one line each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import calibration, compose, ensemble, linear_model, pipeline, preprocessing, tree
from tests.contract.tables import CATEGORIES, HOLES, MIXED, NUMBERS, column, frame

FILES = Path(__file__).parent / "models"


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    Parameters
    ----------
    columns : names of the columns that it takes
    make : a function without arguments that returns what is passed to Glasswood
    exact : whether its raw scores are computed by Glasswood's core alone, so that they are the same everywhere
    digest : whether it is fitted here, so that its golden values are of this fit only
    players : what the model calls its columns, if not by the names of the table
    """

    columns: tuple[str, ...]
    make: Callable[[], Any] = field(repr=False)
    exact: bool = True
    digest: bool = True
    players: tuple[str, ...] = ()

    def frame(self, rows=slice(None)):
        """Return some rows as a frame with the model's own names."""
        found = frame(self.columns, rows)
        return found.set_axis(list(self.players), axis=1) if self.players else found


def fitted(estimator, columns, target):
    """Return a kind that is fitted on the rows of the contract."""
    return Kind(columns, lambda: estimator().fit(frame(columns), _target(target)))


def combined(estimator, columns, target):
    """Return a kind of several models, whose scores are put together by functions of NumPy."""
    return Kind(columns, lambda: estimator().fit(frame(columns), _target(target)), exact=False)


def _target(name):
    return column(name) if isinstance(name, str) else np.column_stack([column(one) for one in name])


def stored(file, columns, load=str, **names):
    """Return a kind that is read from a file."""
    return Kind(columns, lambda: load(FILES / file), digest=False, **names)


def _xgboost(wrapper):
    def load(path):
        import xgboost

        model = getattr(xgboost, wrapper)()
        model.load_model(path)
        return model

    return load


def _lightgbm(path):
    import lightgbm

    return lightgbm.Booster(model_file=path)


def _catboost(wrapper):
    def load(path):
        import catboost

        return getattr(catboost, wrapper)().load_model(str(path), format=path.suffix[1:])

    return load


def _treelite(path):
    import treelite

    return treelite.frontend.load_xgboost_model(str(path))


def _boosted(kind, **settings):
    return lambda: kind(**{"max_iter": 5, "max_leaf_nodes": 5, "min_samples_leaf": 4, "random_state": 0} | settings)


def _forest(kind, **settings):
    return lambda: kind(**{"n_estimators": 4, "max_leaf_nodes": 6, "random_state": 0} | settings)


def _pipeline(last):
    def make():
        cities = preprocessing.OneHotEncoder(sparse_output=False, handle_unknown="ignore")
        columns = compose.ColumnTransformer([("city", cities, ["city"])], remainder="passthrough")
        return pipeline.make_pipeline(columns, last())

    return make


def _members(kind):
    boosted = _boosted(getattr(ensemble, f"HistGradientBoosting{kind}"), max_iter=3)
    return [("forest", _forest(getattr(ensemble, f"RandomForest{kind}"), n_estimators=2)()), ("boosted", boosted())]


def _stacked():
    return ensemble.StackingRegressor(_members("Regressor"), linear_model.LinearRegression(), cv=2)


def _calibrated():
    return calibration.CalibratedClassifierCV(_forest(ensemble.RandomForestClassifier)(), cv=2)


HGBR, HGBC = ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier
RFR, RFC, GBR, GBC = (
    ensemble.RandomForestRegressor,
    ensemble.RandomForestClassifier,
    ensemble.GradientBoostingRegressor,
    ensemble.GradientBoostingClassifier,
)

# One line per kind of model. A new one gets its golden file by `python -m tests.contract --write NAME`.
KINDS = {
    "hist_regressor": fitted(_boosted(HGBR), HOLES, "price"),
    "hist_poisson": fitted(_boosted(HGBR, loss="poisson"), NUMBERS, "visits"),
    "hist_categories": fitted(_boosted(HGBR, categorical_features="from_dtype"), MIXED, "price"),
    "hist_binary": fitted(_boosted(HGBC), HOLES, "bought"),
    "hist_multiclass": fitted(_boosted(HGBC, max_iter=3), NUMBERS, "kind"),
    "forest_regressor": fitted(_forest(RFR), HOLES, "price"),
    "forest_two_targets": fitted(_forest(RFR), NUMBERS, ("price", "visits")),
    "forest_binary": fitted(_forest(RFC), NUMBERS, "bought"),
    "forest_multiclass": fitted(_forest(RFC), NUMBERS, "kind"),
    "extra_trees": fitted(_forest(ensemble.ExtraTreesRegressor), NUMBERS, "price"),
    "gradient_regressor": fitted(_forest(GBR), NUMBERS, "price"),
    "gradient_binary": fitted(_forest(GBC), NUMBERS, "bought"),
    "tree_multiclass": fitted(lambda: tree.DecisionTreeClassifier(max_leaf_nodes=7, random_state=0), HOLES, "kind"),
    "isolation_forest": fitted(
        lambda: ensemble.IsolationForest(n_estimators=3, max_samples=16, random_state=0), NUMBERS, "price"
    ),
    "pipeline_regressor": fitted(_pipeline(_forest(RFR)), CATEGORIES, "price"),
    "pipeline_binary": fitted(_pipeline(_boosted(HGBC)), CATEGORIES, "bought"),
    "voting_regressor": combined(lambda: ensemble.VotingRegressor(_members("Regressor")), NUMBERS, "price"),
    "voting_binary": combined(
        lambda: ensemble.VotingClassifier(_members("Classifier"), voting="soft"), NUMBERS, "bought"
    ),
    "stacking_regressor": combined(_stacked, NUMBERS, "price"),
    "calibrated_binary": combined(_calibrated, NUMBERS, "bought"),
    "xgboost_regressor": stored("xgboost_regressor.json", HOLES),
    "xgboost_binary": stored("xgboost_binary.ubj", HOLES, _xgboost("XGBClassifier")),
    "xgboost_multiclass": stored("xgboost_multiclass.json", NUMBERS),
    "xgboost_categories": stored("xgboost_categories.json", MIXED, _xgboost("XGBRegressor")),
    "lightgbm_categories": stored("lightgbm_categories.txt", MIXED),
    "lightgbm_binary": stored("lightgbm_binary.txt", HOLES, _lightgbm),
    "catboost_categories": stored("catboost_categories.cbm", CATEGORIES, _catboost("CatBoostRegressor")),
    "catboost_statistics": stored("catboost_statistics.cbm", CATEGORIES),
    "catboost_binary": stored("catboost_binary.json", HOLES),
    "treelite": stored("xgboost_regressor.json", HOLES, _treelite, players=("x0", "x1", "x2", "x3")),
}


@cache
def model_of(name):
    """Return the model of a kind, made once."""
    return KINDS[name].make()


# Kinds whose answers are frozen with every public attribute, in the main setting.
DETAILED = ("hist_categories", "forest_multiclass", "xgboost_binary", "pipeline_binary", "voting_binary")


def fit_of(name):
    """Return a digest of all arrays that fitting left in a model: another fit has another one. None for files."""
    if not KINDS[name].digest:
        return None
    model, digest = model_of(name), hashlib.sha256()
    _add(model, digest, set())
    return digest.hexdigest()[:16]


def _add(thing, digest, seen):
    """Add the arrays that are reached from a thing, in the order of names."""
    if isinstance(thing, np.ndarray):
        if thing.dtype == object:
            _add(thing.ravel().tolist(), digest, seen)
        else:
            _add_array(thing, digest)
    elif isinstance(thing, list | tuple):
        for item in thing:
            _add(item, digest, seen)
    elif isinstance(thing, dict):
        _add([thing[key] for key in sorted(thing, key=str)], digest, seen)
    elif isinstance(thing, str):
        digest.update(thing.encode())
    elif type(thing).__module__.startswith("sklearn.") and id(thing) not in seen:
        seen.add(id(thing))
        state = thing.__getstate__() if hasattr(thing, "__getstate__") else None
        _add(state if isinstance(state, dict | tuple) else getattr(thing, "__dict__", {}), digest, seen)


def _add_array(array, digest):
    for name in array.dtype.names or ():  # padding between fields holds anything
        _add_array(np.ascontiguousarray(array[name]), digest)
    if not array.dtype.names:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
