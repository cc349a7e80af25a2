"""A case brought to life: the fitted model, the tables, and what brute force says about them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.columns import Tried, make_frame, tries
from fuzz.models import Fitted, LibraryRefusedError, Training, maker_of
from fuzz.oracle import Oracle
from fuzz.streams import chance, stream
from fuzz.tables import KINDS
from fuzz.targets import make_target
from glasswood.errors import GlasswoodError

__all__ = ["Player", "Setting"]


@dataclass(frozen=True)
class Player:
    """A feature or a group: its name for the Explainer, and the columns of the frame that it stands for."""

    name: str
    columns: tuple[str, ...]

    @property
    def single(self) -> bool:
        """Whether it is a column of its own."""
        return len(self.columns) == 1


class Setting:
    """Everything that the questions of a case are about.

    Parameters
    ----------
    case : dict
        As `draw_case` returns it, with a "folder" for files.
    """

    def __init__(self, case: dict) -> None:
        self.case = case
        maker = maker_of(case["model"]["maker"])
        self.natural = case["model"]["maker"] == "pipeline"
        self.takes = maker.takes(case)
        self.style = "natural" if self.natural else self.takes.categories
        self.train = make_frame(case, case["n_train"], "train", self.style)
        self.fitted = self._fit(maker)
        self.response = self._response()
        self.labels = self.fitted.labels
        self.weight = self._weight()
        self.cuts: dict[str, np.ndarray] = {}
        self.names: list[str] = []
        self.with_curves: set[str] | None = None  # of a pipeline; all columns of others have one

    def _fit(self, maker) -> Fitted:
        case = self.case
        weight = (
            stream(case["seed"], "train weight").random(case["n_train"]) + 0.01 if case.get("train_weight") else None
        )
        target = make_target(case, self.train)
        self.size = (
            float(np.abs(target.values).max(initial=0.0)) if np.asarray(target.values).dtype.kind == "f" else 1.0
        )
        try:
            return maker.fit(Training(case, self.train, target, weight))
        except LibraryRefusedError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise LibraryRefusedError(message) from error

    def _response(self) -> str:
        """Return the case's response, or another if the model has none such; `asked` is what the Explainer is told."""
        selected = self.case.get("response", "raw")
        known = [*(["raw"] if self.fitted.raw is not None else []), *self.fitted.responses]
        self.asked: str | None = selected if selected in known else known[0]
        if selected == "default":
            found = gw.Explainer(self.fitted.model, self.train).response
            self.asked = None if found in known else known[0]
            return found if found in known else known[0]
        return self.asked

    def _weight(self) -> np.ndarray | None:
        kind, n_rows = self.case.get("weights", "none"), self.case["n_background"]
        rng = stream(self.case["seed"], "weights")
        if kind == "none":
            return None
        weight = {
            "whole": rng.integers(0, 4, size=n_rows),
            "fractions": rng.random(n_rows),
            "wide": 10.0 ** rng.uniform(-6, 6, size=n_rows),
            "tiny": rng.random(n_rows) * 1e-30,
            "one_row": np.eye(n_rows)[0],
            "float32": rng.random(n_rows).astype(np.float32),
        }[kind]
        if weight.sum() <= 0:
            weight[0] = 1
        return weight

    # -------------------------------------------------------------------------------------------------------- tables

    def frame(self, n_rows: int, part: str, kind: str) -> pd.DataFrame:
        """Return rows as a frame: of the case's columns, some of them at cuts and beside them, as a kind can hold."""
        frame = make_frame(self.case, n_rows, part, self.style)
        if n_rows and self.case.get("at_cuts", True):
            rng = stream(self.case["seed"], "tries", part)
            changed = {}
            for name, column in zip(frame, self.case["columns"], strict=True):
                if self.takes.categories == "object" and column["kind"] == "whole_labels":
                    continue
                if chance(rng, 0.5) and frame[name].dtype.kind == "f":
                    known = self.train[name] if len(self.train) else frame[name]
                    changed[name] = tries(rng, column, known, self.tried(name), n_rows)
            frame = pd.DataFrame({name: changed.get(name, frame[name]) for name in frame}, index=frame.index)
        return self._as_the_library(KINDS[kind].coarsen(frame), kind)

    def tried(self, name: str) -> Tried:
        """Return what decides which values of a column are tried."""
        return Tried(self.cuts.get(name, np.empty(0)), self.takes)

    def _as_the_library(self, frame: pd.DataFrame, kind: str) -> pd.DataFrame:
        """Return what the library makes of a kind of table before it looks at it."""
        model = self.case["model"]
        if kind in ("csr_matrix", "csc_array") and model["maker"] == "xgboost":
            return frame.where(frame != 0, np.nan)  # absent entries are missing values
        objects = kind == "array_object" and model.get("given_as", "estimator") != "estimator"
        if model["maker"] == "lightgbm" and (kind == "array_big_endian" or objects):
            with np.errstate(over="ignore", under="ignore"):
                return frame.astype(np.float32).astype(float)
        return frame

    @cached_property
    def background(self) -> pd.DataFrame:
        """The rows to average over."""
        return self.frame(self.case["n_background"], "background", self.case.get("table", "pandas"))

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows to explain."""
        return self.frame(self.case["n_rows"], "rows", self.case.get("rows_table", "pandas"))

    @cached_property
    def table(self) -> Any:
        """The background as the Explainer is given it."""
        return KINDS[self.case.get("table", "pandas")].make(self.background)

    @cached_property
    def rows_table(self) -> Any:
        """The rows as the Explainer is given them."""
        return KINDS[self.case.get("rows_table", "pandas")].make(self.rows)

    # ----------------------------------------------------------------------------------------------------- Glasswood

    @cached_property
    def groups(self) -> dict[str, list[str]] | None:
        """The groups, by the names of columns."""
        names = list(self.train) if self.case["model"].get("fit_on", "frame") == "frame" else self.names
        chosen = [k for k in self.case.get("groups", []) if k < len(names)]
        return {"the group": [names[k] for k in chosen]} if chosen else None

    def look(self) -> None:
        """Learn from a first Explainer what it calls the columns, and where the cuts are, to try values beside them."""
        self.names = list(self.train)
        if self.fitted.pipeline:
            self._look_at_pipeline()
            return
        response = "raw" if self.fitted.raw is not None else self.response
        first = gw.Explainer(self.fitted.model, self.train, response=response)
        self.names = list(self.explainer().ensemble.feature_names)  # which may be the model's own, without a table's
        names = list(first.ensemble.feature_names)
        if self.case.get("shape") != "wide" and self.case.get("at_cuts", True):
            curves = first.partial_dependence()
            self.cuts = {column: curves[name].cuts.copy() for column, name in zip(self.train, names, strict=True)}

    def _look_at_pipeline(self) -> None:
        """Learn which columns of a pipeline have curves: the others have points."""
        curves = gw.Explainer(self.fitted.model, self.train).partial_dependence()
        self.with_curves = {name for name, curve in curves.items() if isinstance(curve, gw.Curve)}
        if (self.background.dtypes != self.train.dtypes).any():  # transformers may treat another type differently
            others = gw.Explainer(self.fitted.model, self.table).partial_dependence()
            self.with_curves &= {name for name, curve in others.items() if isinstance(curve, gw.Curve)}
        if self.case.get("shape") != "wide" and self.case.get("at_cuts", True):
            self.cuts = {name: curves[name].cuts.copy() for name in self.with_curves}

    def explainer(self, **changes: Any) -> gw.Explainer:
        """Return a new Explainer of the case."""
        settings = {"groups": self.groups, "sample_weight": self.weight, "response": self.asked}
        return gw.Explainer(self.fitted.model, self.table, **(settings | changes))

    @cached_property
    def players(self) -> list[Player]:
        """Groups first, then the columns that are in none."""
        columns = list(self.train)
        chosen = [k for k in self.case.get("groups", []) if k < len(columns)]
        players = [Player("the group", tuple(columns[k] for k in chosen))] if chosen else []
        return players + [Player(self.names[k], (columns[k],)) for k in range(len(columns)) if k not in chosen]

    # --------------------------------------------------------------------------------------------------- brute force

    @cached_property
    def score(self):
        """The library's own scores on the scale of the response."""
        return self.fitted.raw if self.response == "raw" else self.fitted.responses[self.response]

    @cached_property
    def oracle(self) -> Oracle:
        """Brute force over the background."""
        return Oracle(self.score, self.background, self.weight)

    @cached_property
    def raw_oracle(self) -> Oracle:
        """The same on the raw scale."""
        return self.oracle if self.response == "raw" else Oracle(self.fitted.raw, self.background, self.weight)

    @cached_property
    def scale(self) -> float:
        """The size of scores, which tolerances are a share of."""
        return self.raw_scale if self.response == "raw" else self.scale_of(self.oracle)

    @cached_property
    def raw_scale(self) -> float:
        """The same on the raw scale."""
        return max(self.scale_of(self.raw_oracle), self._largest_part(), self.size if self.labels is None else 0.0)

    def _largest_part(self) -> float:
        """Return the size of the largest leaf or base: sums pass through it, and are exact to its rounding."""
        try:
            ensemble = gw.read_model(self.fitted.model)
        except GlasswoodError:
            return 0.0  # several models, which have scores of their own
        parts = (np.abs(part) for part in (ensemble.value, ensemble.score.base))
        return max(float(part[np.isfinite(part)].max(initial=0.0)) for part in parts)

    def scale_of(self, oracle: Oracle) -> float:
        """Return the size of what a model gives for any of the rows: leaves that some of them reach may be large."""
        found = [np.abs(oracle.score(frame)).max(initial=0.0) for frame in (self.background, self.rows, self.train)]
        return max(*(float(x) for x in found if np.isfinite(x)), 1e-300)
