"""Try one extra, or several, with what it installs and nothing else: `python tests/project/smoke.py sklearn`.

`.ci/extras` runs this for each extra in an environment of its own; wheels are tried with it after they are built.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np

import glasswood as gw

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)).round(2)
Y = X[:, 0] + (X[:, 1] > 0) * X[:, 2]

# Two trees as LightGBM writes them: Glasswood reads the file without LightGBM.
FILE = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=a b c
feature_infos=[-4:4] [-4:4] [-4:4]

Tree=0
num_leaves=3
num_cat=0
split_feature=0 0
split_gain=2 1
threshold=0.25 -1.5
decision_type=2 2
left_child=1 -1
right_child=-2 -3
leaf_value=1 2 4
leaf_weight=30 70 100
leaf_count=30 70 100
internal_value=2 3
internal_weight=200 130
internal_count=200 130
is_linear=0
shrinkage=1

Tree=1
num_leaves=3
num_cat=0
split_feature=1 2
split_gain=2 1
threshold=0.5 -0.5
decision_type=2 2
left_child=-1 -2
right_child=1 -3
leaf_value=1 8 16
leaf_weight=100 60 40
leaf_count=100 60 40
internal_value=2 3
internal_weight=200 100
internal_count=200 100
is_linear=0
shrinkage=1

end of trees

pandas_categorical:null
"""


def explainer():
    """Return an Explainer of the trees above, on rows in memory."""
    Path("model.txt").write_text(FILE, encoding="utf-8")
    return gw.Explainer(gw.read_model("model.txt"), X)


def same_as_brute_force(model, predict):
    """Compare a curve with the mean of a library's own predictions."""
    curve = gw.Explainer(model, X).partial_dependence(0)
    rows = X.copy()
    for value in (-1.0, 0.0, 1.0):
        rows[:, 0] = value
        np.testing.assert_allclose(curve([value]), [np.mean(predict(rows))], rtol=1e-5)


def none():
    """Curves, pairs and Shapley values need NumPy, narwhals and tqdm only."""
    ex = explainer()
    rows = X.copy()
    rows[:, 1] = 1.0
    ensemble = gw.read_model("model.txt")
    np.testing.assert_allclose(ex.partial_dependence("b")([1.0]), [ensemble.predict(rows).mean()])
    assert ex.partial_dependence("b", "c").values.shape == (2, 2)
    values = ex.shap_values(X)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, ensemble.predict(X).ravel())


def sklearn():
    """A forest of scikit-learn."""
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    same_as_brute_force(model, model.predict)


def xgboost():
    """A booster of XGBoost."""
    import xgboost as xgb

    model = xgb.train({"max_depth": 3}, xgb.DMatrix(X, Y), 5)
    same_as_brute_force(model, lambda rows: model.predict(xgb.DMatrix(rows)))


def lightgbm():
    """A booster of LightGBM."""
    import lightgbm as lgb

    model = lgb.train({"verbose": -1}, lgb.Dataset(X, Y), 5)
    same_as_brute_force(model, model.predict)


def catboost():
    """A model of CatBoost."""
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(iterations=5, verbose=False, allow_writing_files=False).fit(X, Y)
    same_as_brute_force(model, model.predict)


def treelite():
    """A model of treelite."""
    import treelite

    explainer()
    model = treelite.frontend.load_lightgbm_model("model.txt")
    same_as_brute_force(model, lambda rows: treelite.gtil.predict(model, rows))


def plot():
    """A figure of matplotlib."""
    import matplotlib as mpl

    mpl.use("agg")
    explainer().plot().savefig("figure.png")
    assert Path("figure.png").stat().st_size > 1000


def plotly():
    """A figure of plotly."""
    assert "plotly" in explainer().plot(backend="plotly").to_html()


def output_of(*arguments):
    """Return what the command line tells of a model file."""
    command = [sys.executable, "-m", "glasswood", "info", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def cli():
    """The command line."""
    explainer()
    assert "lightgbm file" in output_of("model.txt")


def skops():
    """A model that skops saved, which the command line opens."""
    import skops.io
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    skops.io.dump(model, "model.skops")
    assert "RandomForestRegressor" in output_of("model.skops", "--trust", "sklearn.tree._tree.Tree")


def parquet():
    """Rows from a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ex = explainer()
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}), "rows.parquet")
    again = gw.Explainer(gw.read_model("model.txt"), "rows.parquet")
    np.testing.assert_array_equal(again.partial_dependence("b").values, ex.partial_dependence("b").values)


def shap():
    """Shapley values as shap's own object."""
    assert explainer().shap_values(X[:5]).to_shap().values.shape == (5, 3)


def shapiq():
    """Shapley values of a row as shapiq's own object."""
    values = explainer().shap_values(X[:5])
    np.testing.assert_allclose(values.to_shapiq(row=3).get_n_order_values(1), values.values[3])


def excel():
    """A rating table as an Excel workbook."""
    explainer().rating_table(pairs=1).to_excel("table.xlsx")
    assert Path("table.xlsx").read_bytes()[:2] == b"PK"


def mlflow():
    """MLflow, and the evaluator."""
    import mlflow

    assert mlflow.__version__
    for evaluator in entry_points(group="mlflow.model_evaluator", name="glasswood"):
        evaluator.load()


def dask():
    """Rows of a Dask frame, counted by a cluster on this machine."""
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    explainer()
    model = gw.read_model("model.txt")
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None):
        counts = gw.summarize(model, dd.from_pandas(frame, npartitions=2))
    assert counts == gw.summarize(model, frame)


def ray():
    """Rows of a Ray dataset."""
    import pandas as pd
    import ray

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    explainer()
    model = gw.read_model("model.txt")
    ray.init(address="local", num_cpus=1, include_dashboard=False)
    counts = gw.summarize(model, ray.data.from_pandas(frame))
    ray.shutdown()
    assert counts == gw.summarize(model, frame)


def spark():
    """Rows of a Spark frame."""
    import pandas as pd
    from pyspark.sql import SparkSession

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    explainer()
    model = gw.read_model("model.txt")
    session = SparkSession.builder.master("local[1]").getOrCreate()
    counts = gw.summarize(model, session.createDataFrame(frame))
    session.stop()
    assert counts == gw.summarize(model, frame)


PARTS = {
    "all": [
        sklearn,
        xgboost,
        lightgbm,
        catboost,
        treelite,
        plot,
        plotly,
        cli,
        skops,
        parquet,
        shap,
        shapiq,
        excel,
        mlflow,
    ],
    "clusters": [dask, ray, spark],
}

if __name__ == "__main__":
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not the first Python of the path
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for extra in sys.argv[1:]:
            for try_it in PARTS.get(extra) or [globals()[extra]]:
                try_it()
            sys.stdout.write(f"{extra}: works\n")
        os.chdir("/")
