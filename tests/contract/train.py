"""Trains the models of models/ once more, if a file has to change; all golden values of it change, too."""

from __future__ import annotations

import catboost
import lightgbm
import xgboost
from tests.contract.kinds import FILES
from tests.contract.tables import CATEGORIES, HOLES, MIXED, NUMBERS, column, frame

CLASSES = {"no": 0, "yes": 1, "ash": 0, "elm": 1, "oak": 2}


def _codes(name):
    return [CLASSES[label] for label in column(name)]


def train():
    """Write all files of models/."""
    small = {"n_estimators": 4, "max_depth": 3, "random_state": 0, "n_jobs": 1, "learning_rate": 0.5}
    price = column("price")
    xgboost.XGBRegressor(**small).fit(frame(HOLES), price).save_model(FILES / "xgboost_regressor.json")
    xgboost.XGBClassifier(**small).fit(frame(HOLES), _codes("bought")).save_model(FILES / "xgboost_binary.ubj")
    multiclass = xgboost.XGBClassifier(**small | {"n_estimators": 2}).fit(frame(NUMBERS), _codes("kind"))
    multiclass.save_model(FILES / "xgboost_multiclass.json")
    categories = xgboost.XGBRegressor(**small, enable_categorical=True, max_cat_to_onehot=2)
    categories.fit(frame(MIXED), price).save_model(FILES / "xgboost_categories.json")

    small = {"num_leaves": 6, "min_data_in_leaf": 4, "verbose": -1, "seed": 0, "num_threads": 1, "learning_rate": 0.5}
    loose = {"min_data_per_group": 2, "cat_smooth": 1.0, "max_cat_to_onehot": 1}
    data = lightgbm.Dataset(frame(MIXED), price, params={"min_data_in_bin": 1, **loose})
    model = lightgbm.train(small | loose | {"objective": "regression"}, data, 4)
    model.save_model(FILES / "lightgbm_categories.txt")
    data = lightgbm.Dataset(frame(HOLES), _codes("bought"), params={"min_data_in_bin": 1})
    lightgbm.train(small | {"objective": "binary"}, data, 4).save_model(FILES / "lightgbm_binary.txt")

    small = {"iterations": 4, "depth": 3, "random_seed": 0, "thread_count": 1, "verbose": False, "border_count": 8}
    small |= {"allow_writing_files": False, "learning_rate": 0.5}
    texts = frame(CATEGORIES).astype({"city": str})
    model = catboost.CatBoostRegressor(**small, cat_features=["city"], one_hot_max_size=10).fit(texts, price)
    model.save_model(str(FILES / "catboost_categories.cbm"))
    model = catboost.CatBoostRegressor(**small, cat_features=["city"], max_ctr_complexity=1).fit(texts, price)
    model.save_model(str(FILES / "catboost_statistics.cbm"))
    model = catboost.CatBoostClassifier(**small).fit(frame(HOLES), column("bought"))
    model.save_model(str(FILES / "catboost_binary.json"), format="json")
