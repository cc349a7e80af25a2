"""An evaluator for MLflow: ``mlflow.models.evaluate(..., evaluators=["default", "glasswood"])``.

MLflow finds it by its entry point. It logs a report, the curves of all features, their counts and their importance.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mlflow.models.evaluation.artifacts import CsvEvaluationArtifact
from mlflow.models.evaluation.base import EvaluationArtifact, EvaluationResult, ModelEvaluator
from mlflow.tracking import MlflowClient
from numpy.typing import NDArray

from glasswood._explainer import Explainer
from glasswood._summarize import summarize
from glasswood.counting._background import Background
from glasswood.errors import ArgumentError, ModelMismatchError, UnsupportedModelError

__all__ = ["BackgroundArtifact", "GlasswoodEvaluator", "PageArtifact"]

FOLDER = "glasswood"  # of a run's artifacts
MODEL_TYPES = ("classifier", "regressor")
SETTINGS = ("response", "title", "by", "n_interactions", "notes")
MAX_METRICS = 50  # features, the most important ones

logger = logging.getLogger(__name__)


class PageArtifact(EvaluationArtifact):  # type: ignore[misc]
    """A page of HTML."""

    def _save(self, output_artifact_path: str) -> None:
        Path(output_artifact_path).write_text(self.content, encoding="utf-8")

    def _load_content_from_file(self, local_artifact_path: str) -> str:
        return Path(local_artifact_path).read_text(encoding="utf-8")


class BackgroundArtifact(EvaluationArtifact):  # type: ignore[misc]
    """Counts of rows, as a file of `Background.save`."""

    def _save(self, output_artifact_path: str) -> None:
        self.content.save(output_artifact_path)

    def _load_content_from_file(self, local_artifact_path: str) -> Background:
        return Background.load(local_artifact_path)


class GlasswoodEvaluator(ModelEvaluator):  # type: ignore[misc]
    """Explains a classifier or regressor of trees on the evaluation data.

    `evaluator_config` takes the arguments of `Explainer.report`: response, title, by, n_interactions and notes.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Mapping[str, Any], **_: object) -> bool:
        """Return whether models of a type may be explained."""
        del evaluator_config
        return model_type in MODEL_TYPES

    def evaluate(
        self,
        *,
        model: Any = None,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        **_: object,
    ) -> EvaluationResult | None:
        """Log a report, curves, counts and importance; only warn if the model cannot be explained."""
        unknown = set(evaluator_config) - set(SETTINGS)
        if unknown:
            message = f"evaluator_config has unknown keys {sorted(unknown)}; known are {list(SETTINGS)}"
            raise ArgumentError(message)
        rows = dataset.features_data
        try:
            explainer = Explainer(_raw(model), rows, response=evaluator_config.get("response"))
        except (ModelMismatchError, UnsupportedModelError) as error:
            logger.warning("Glasswood does not explain this model: %s", error)
            return None
        report = explainer.report(**{name: value for name, value in evaluator_config.items() if name != "response"})
        importance = explainer.importance()
        metrics = _metrics(importance.names, np.asarray(importance.total))
        contents = {
            "report.html": (PageArtifact, report.html),
            "curves.csv": (CsvEvaluationArtifact, explainer.partial_dependence().to_frame()),
            "background.gw": (
                BackgroundArtifact,
                summarize(_raw(model), rows, response=evaluator_config.get("response")),
            ),
        }
        return EvaluationResult(metrics, _log(run_id, contents, metrics), run_id)


def _raw(model: Any) -> object:
    """Return the model that was logged."""
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError) as error:
        message = "it is not the model of a library that Glasswood reads, or there are predictions only"
        raise UnsupportedModelError(message) from error


def _metrics(names: Sequence[str], importance: NDArray[np.float64]) -> dict[str, float]:
    """Return the largest importances by names that MLflow allows; features whose names become the same get numbers."""
    metrics: dict[str, float] = {}
    for k in np.argsort(-importance, kind="stable")[:MAX_METRICS].tolist():
        name = "glasswood/importance/" + re.sub(r"[^\w\-. ]", "_", names[k])
        metrics[f"{name} {k}" if name in metrics else name] = float(importance[k])
    return metrics


def _log(
    run_id: str, contents: Mapping[str, tuple[type[EvaluationArtifact], Any]], metrics: Mapping[str, float]
) -> dict[str, EvaluationArtifact]:
    """Log artifacts and metrics of a run, and return the artifacts."""
    client, made = MlflowClient(), {}
    folder = f"{client.get_run(run_id).info.artifact_uri}/{FOLDER}"
    with tempfile.TemporaryDirectory() as local:
        for name, (kind, content) in contents.items():
            made[f"{FOLDER}/{name}"] = artifact = kind(uri=f"{folder}/{name}", content=content)
            artifact._save(str(Path(local, name)))
        client.log_artifacts(run_id, local, FOLDER)
    for name, value in metrics.items():
        client.log_metric(run_id, name, value)
    return made
