"""Small models of every library in every format, and files of Glasswood's own: what `fuzz.files` damages.

The models are fitted in a process of their own (`python -m fuzz.file_seeds FOLDER`), because libraries that have
started threads do not survive a fork.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Seed", "load_seeds", "save_seeds"]


class Seed(NamedTuple):
    """A good file: its format, its name in the folder, and rows that its model takes."""

    format: str
    name: str
    rows: Any


def load_seeds(folder: Path) -> list[Seed]:
    """Return the seeds that `save_seeds` wrote."""
    return [Seed(*seed) for seed in pickle.loads(Path(folder, "seeds.pickle").read_bytes())]


def save_seeds(folder: Path) -> None:
    """Fit all models and save them."""
    makers: list[Callable[[Path], Iterator[Seed]]] = [_xgboost, _lightgbm, _catboost, _skops, _treelite, _own]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeds = [tuple(seed) for maker in makers for seed in maker(folder)]
    Path(folder, "seeds.pickle").write_bytes(pickle.dumps(seeds))


def _numbers(n: int = 300) -> tuple[Any, Any]:
    """Return rows of four numbers with missing ones, and a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(2)
    y = X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] > 0)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def _with_codes() -> tuple[Any, Any]:
    """Return the same rows with codes of categories in the last two columns."""
    rng = np.random.default_rng(1)
    X, y = _numbers()
    X[:, 2], X[:, 3] = rng.integers(0, 5, len(X)), rng.integers(0, 40, len(X))
    return X, y + (X[:, 2] == 2) - (X[:, 3] % 3 == 1)


def _with_labels() -> tuple[Any, Any]:
    import pandas as pd

    X, y = _with_codes()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["c"] = frame["c"].map(lambda code: f"color {code:.0f}").astype("category")
    frame["d"] = frame["d"].astype("int64").astype("category")
    return frame, y


def _asked(X: Any) -> Any:
    """Return some rows of a table, odd ones added where it is an array."""
    if not isinstance(X, np.ndarray):
        return X[:40]
    odd = np.array([np.nan, 0.0, -0.0, 1e-36, -1.0, 0.5, 1e30, -1e30, 39.0, 40.0, 64.0, 1e6])
    return np.vstack([X[:30], np.repeat(odd[:, None], X.shape[1], axis=1)])


# ------------------------------------------------------------------------------------------------------ libraries


def _xgboost(folder: Path) -> Iterator[Seed]:
    import xgboost as xgb

    X, y = _numbers()
    codes, y_codes = _with_codes()
    labels, y_labels = _with_labels()
    classes = np.digitize(y, [-1, 1])
    small = {"max_depth": 3, "eta": 0.5}
    typed = {"feature_types": ["q", "q", "c", "c"], "enable_categorical": True}
    sets = small | {"max_cat_to_onehot": 1, "tree_method": "hist"}
    vectors = small | {"multi_strategy": "multi_output_tree", "tree_method": "hist"}
    made = {
        "reg": (small, X, xgb.DMatrix(X, y)),
        "binary": (small | {"objective": "binary:logistic", "num_parallel_tree": 2}, X, xgb.DMatrix(X, y > 0)),
        "classes": (small | {"objective": "multi:softprob", "num_class": 3}, X, xgb.DMatrix(X, classes)),
        "codes": (sets, codes, xgb.DMatrix(codes, y_codes, **typed)),
        "labels": (sets, labels, xgb.DMatrix(labels, y_labels, enable_categorical=True)),
        "dart": (small | {"booster": "dart", "rate_drop": 0.5, "seed": 3}, X, xgb.DMatrix(X, y)),
        "vectors": (vectors, X, xgb.DMatrix(X, np.column_stack([y, -y, y**2]))),
    }
    for name, (settings, table, matrix) in made.items():
        booster = xgb.train(settings, matrix, num_boost_round=3)
        for suffix in ("json", "ubj"):
            booster.save_model(folder / f"xgboost-{name}.{suffix}")
            yield Seed(f"xgboost-{suffix}", f"xgboost-{name}.{suffix}", _asked(table))


def _lightgbm(folder: Path) -> Iterator[Seed]:
    import lightgbm as lgb

    X, y = _numbers()
    codes, y_codes = _with_codes()
    labels, y_labels = _with_labels()
    small = {"num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
    sets = small | {"min_data_per_group": 3, "cat_smooth": 1, "max_cat_to_onehot": 1}
    forest = small | {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    made: dict[str, tuple[Any, Any, Any, Any]] = {
        "reg": (small, X, y, "auto"),
        "binary": (small | {"objective": "binary", "sigmoid": 2}, X, y > 0, "auto"),
        "classes": (small | {"objective": "multiclass", "num_class": 3}, X, np.digitize(y, [-1, 1]), "auto"),
        "zero": (small | {"zero_as_missing": True}, X, y, "auto"),
        "codes": (sets, codes, y_codes, [2, 3]),
        "labels": (sets, labels, y_labels, "auto"),
        "forest": (forest, X, y, "auto"),
    }
    for name, (settings, table, target, categorical) in made.items():
        data = lgb.Dataset(table, target, categorical_feature=categorical, free_raw_data=False)
        lgb.train(settings, data, num_boost_round=3).save_model(folder / f"lightgbm-{name}.txt")
        yield Seed("lightgbm", f"lightgbm-{name}.txt", _asked(table))


def _catboost(folder: Path) -> Iterator[Seed]:
    from catboost import CatBoostClassifier, CatBoostRegressor, Pool

    X, y = _numbers()
    labels, y_labels = _with_labels()
    texts = labels.assign(c=labels["c"].astype(str), d=labels["d"].astype(str))
    small = {"iterations": 3, "depth": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    small |= {"random_seed": 0}
    categories = {"cat_features": ["c", "d"], "max_ctr_complexity": 1}
    combined = {"cat_features": ["c", "d"], "max_ctr_complexity": 4, "model_size_reg": 0, "one_hot_max_size": 1}
    made = {
        "reg": (CatBoostRegressor(**small), X, y),
        "classes": (CatBoostClassifier(**small), X, np.digitize(y, [-1, 1])),
        "binary": (CatBoostClassifier(**small), X, y > 0),
        "depthwise": (CatBoostRegressor(**small, grow_policy="Depthwise"), X, y),
        "onehot": (CatBoostRegressor(**small, **categories, one_hot_max_size=100), texts, y_labels),
        "ctr": (CatBoostRegressor(**small, **categories, one_hot_max_size=2), texts, y_labels),
        "combinations": (CatBoostRegressor(**small, **combined), texts, y_labels),
    }
    for name, (model, table, target) in made.items():
        model.fit(table, target)
        pool = Pool(table, target, cat_features=["c", "d"]) if table is texts else None
        model.save_model(str(folder / f"catboost-{name}.cbm"))
        model.save_model(str(folder / f"catboost-{name}.json"), format="json", pool=pool)
        for suffix in ("cbm", "json"):
            yield Seed(f"catboost-{suffix}", f"catboost-{name}.{suffix}", _asked(table))


def _skops(folder: Path) -> Iterator[Seed]:
    import skops.io
    from sklearn import ensemble, tree

    X, y = _numbers()
    labels, y_labels = _with_labels()
    classes, filled = np.digitize(y, [-1, 1]), np.nan_to_num(X)
    small = {"max_depth": 3, "random_state": 0}
    made = {
        "tree": (tree.DecisionTreeRegressor(**small), X, y),
        "forest": (ensemble.RandomForestClassifier(3, **small), X, classes),
        "extra": (ensemble.ExtraTreesRegressor(3, **small), X, np.column_stack([y, -y])),
        "boosting": (ensemble.GradientBoostingClassifier(n_estimators=3, **small), filled, classes),
        "histogram": (ensemble.HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=6), X, y),
        "labels": (ensemble.HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=6), labels, y_labels),
        "isolation": (ensemble.IsolationForest(n_estimators=3, max_samples=32, random_state=0), filled, None),
        "bag": (ensemble.BaggingRegressor(n_estimators=3, max_features=0.5, random_state=0), filled, y),
    }
    for name, (model, table, target) in made.items():
        skops.io.dump(model.fit(table, target), folder / f"sklearn-{name}.skops")
        yield Seed("skops", f"sklearn-{name}.skops", np.nan_to_num(_asked(table)) if table is filled else _asked(table))


def _treelite(folder: Path) -> Iterator[Seed]:
    import lightgbm as lgb
    import treelite
    import xgboost as xgb

    for name in ("reg", "classes", "codes", "dart", "vectors"):
        booster = xgb.Booster(model_file=folder / f"xgboost-{name}.json")
        treelite.frontend.from_xgboost(booster).serialize(folder / f"treelite-xgboost-{name}.bin")
        X, _ = _with_codes() if name == "codes" else _numbers()
        yield Seed("treelite", f"treelite-xgboost-{name}.bin", _asked(X))
    for name in ("reg", "codes"):
        text = lgb.Booster(model_file=folder / f"lightgbm-{name}.txt")
        treelite.frontend.from_lightgbm(text).serialize(folder / f"treelite-lightgbm-{name}.bin")
        X, _ = _with_codes() if name == "codes" else _numbers()
        yield Seed("treelite", f"treelite-lightgbm-{name}.bin", _asked(X))


# ------------------------------------------------------------------------------------------------------ own formats


def _own(folder: Path) -> Iterator[Seed]:
    """Save backgrounds; and a checkpoint, whose bytes are also those of a partial sum."""
    import pandas as pd

    import glasswood as gw

    X, _ = _numbers()
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(4)])
    frame["group"] = np.where(np.arange(len(X)) % 3 == 0, "a", "b")
    model = folder / "xgboost-reg.json"  # whose columns have no names
    weight = np.random.default_rng(2).random(len(X))
    made = {
        "plain": {},
        "pairs": {"order": 2},
        "weights": {"sample_weight": weight},
        "groups": {"groups": {"g": ["f0", "f1"]}},
    }
    for name, settings in made.items():
        gw.summarize(model, X, **settings).save(folder / f"background-{name}.gw")
        yield Seed("background", f"background-{name}.gw", X)
    for name, by in (("plain", None), ("by", "group")):
        rows, kept = folder / f"rows-{by}.parquet", folder / f"checkpoint-{name}"
        (frame if by else frame.drop(columns="group")).to_parquet(rows, row_group_size=100)
        gw.summarize(gw.read_model(model), str(rows), by=by, checkpoint=kept)
        (found,) = kept.iterdir()
        for format in ("checkpoint", "partial"):
            yield Seed(format, str(found.relative_to(folder)), by)


if __name__ == "__main__":
    save_seeds(Path(sys.argv[1]))
