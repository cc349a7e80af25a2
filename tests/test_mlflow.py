"""The evaluator for MLflow, with a real MLflow and a store in a folder."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw

mlflow = pytest.importorskip("mlflow", reason="MLflow is not among the libraries of the tests")
pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    mlflow.set_tracking_uri(None)


def evaluated(model, X, y, folder, kind, **settings):
    mlflow.sklearn.save_model(model, folder / "model", serialization_format="cloudpickle", pip_requirements=[])
    with mlflow.start_run():
        return mlflow.models.evaluate(
            str(folder / "model"),
            X.assign(observed=np.asarray(y)),
            targets="observed",
            model_type=kind,
            evaluators=["default", "glasswood"],
            evaluator_config={"default": {"log_explainer": False, "log_model_explainability": False}}
            | ({"glasswood": settings} if settings else {}),
        )


def test_a_pipeline(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    found = evaluated(model, X, y, tmp_path, "regressor", title="Diabetes", by="sex")
    ex = gw.Explainer(model, X)
    logged = mlflow.get_run(found.run_id).data.metrics
    for name, value in zip(ex.importance().names, ex.importance().total, strict=True):
        assert found.metrics[f"glasswood/importance/{name}"] == logged[f"glasswood/importance/{name}"] == value
    assert "r2_score" in logged
    client = mlflow.MlflowClient()
    names = {file.path for file in client.list_artifacts(found.run_id, "glasswood")}
    assert names == {"glasswood/report.html", "glasswood/curves.csv", "glasswood/background.gw"} == set(found.artifacts)
    local = client.download_artifacts(found.run_id, "glasswood", str(tmp_path))
    assert gw.Background.load(f"{local}/background.gw") == gw.summarize(model, X)
    assert found.artifacts["glasswood/background.gw"].content == gw.summarize(model, X)
    assert "<title>Diabetes</title>" in found.artifacts["glasswood/report.html"].content
    assert len(found.artifacts["glasswood/curves.csv"].content) == len(ex.partial_dependence().to_frame())


def test_several_classes(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = evaluated(model, X, y, tmp_path, "classifier")
    assert "glasswood/importance/petal length _cm_" in found.metrics  # as MLflow allows it


def test_other_models_are_left_to_others(tmp_path, caplog):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = evaluated(LinearRegression().fit(X, y), X, y, tmp_path, "regressor")
    assert "r2_score" in found.metrics
    assert not found.artifacts
    assert "LinearRegression is not supported" in caplog.text


def test_unknown_settings_are_refused(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = HistGradientBoostingRegressor(max_iter=2).fit(X, y)
    with pytest.raises(gw.errors.ArgumentError, match="heading"):
        evaluated(model, X, y, tmp_path, "regressor", heading="Diabetes")


def test_features_whose_names_become_the_same(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X[["bmi", "s5"]].set_axis(["size (cm)", "size [cm]"], axis=1)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    found = evaluated(model, X, y, tmp_path, "regressor", response="prediction")
    own = [value for name, value in found.metrics.items() if name.startswith("glasswood/")]
    assert sorted(own) == sorted(gw.Explainer(model, X).importance().total)
    assert gw.Explainer(model, found.artifacts["glasswood/background.gw"].content, response="prediction") is not None
