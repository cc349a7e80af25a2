"""View: a study on one scale, and the outputs that are asked for. What depends on scale, offset, exposure or folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import make_plan
from glasswood.counting._statistic import StatisticSpec
from glasswood.effects._response_sums import refuse_offset
from glasswood.effects._responses import Responses, all_responses, batch_of, sum_responses
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import BackgroundError, ScaleError, TableError, UnsupportedModelError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._outputs import OutputSelection
from glasswood.models._scale import Scale
from glasswood.results import Axis, Folds
from glasswood.study._averages import NO_ROWS
from glasswood.study._axes import axis_of
from glasswood.study._folds import study_folds
from glasswood.study._second_pass import blocks_of_cells
from glasswood.study._study import Study

__all__ = ["View", "view_of"]

Floats = NDArray[np.float64]

BLOCK = 2**16  # rows of a source that are held at a time, about


@dataclass(frozen=True, eq=False)
class View:
    """A study on one scale, and the outputs that are asked for. It keeps nothing itself: see `Study.cached`.

    Parameters
    ----------
    study : Study
        The model, and what is averaged over.
    scale : Scale
        The scale of the answers.
    chosen : Chosen
        The outputs that they are about.
    """

    study: Study
    scale: Scale
    chosen: OutputSelection

    def of(self, study: Study) -> View:
        """Return the view of another study of the same model, such as that of some of the rows."""
        return replace(self, study=study)

    def on(self, response: str) -> View:
        """Return the same outputs on another scale."""
        scale = self.study.scale(response)
        return self if scale.same_as(self.scale) else replace(self, scale=scale)

    @property
    def ensemble(self) -> TreeEnsemble:
        """The trees."""
        return self.study.ensemble

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the outputs that are asked for."""
        return self.chosen.labels

    @property
    def units(self) -> str:
        """The units of the answers."""
        return self.scale.units

    def levels(self, scores: Floats) -> Floats:
        """Return the scores of the outputs that are asked for, given those of all outputs, the last axis."""
        return self.chosen.levels(scores)

    def changes(self, differences: Floats) -> Floats:
        """Return differences of scores for the outputs that are asked for."""
        return self.chosen.changes(differences)

    def players(self, features: Sequence[Any]) -> list[str]:
        """Return the names of some distinct features (or groups), at least one."""
        result = [self.study.player(feature) for feature in features]
        if not result:
            message = "at least one feature is required"
            raise TableError(message)
        if len(set(result)) != len(result):
            message = f"the same feature is asked for twice: {tuple(features)!r}"
            raise TableError(message)
        return result

    def axis(self, feature: int) -> Axis:
        """Return the cells of a feature, with the rows of the background in them."""
        return axis_of(self.study, feature)

    # ---------------------------------------------------------------------------------------------- what is averaged

    @property
    def curves(self) -> dict[int, Floats]:
        """The height of every cell of every feature that is a player of its own, for all outputs."""
        if self.scale.additive:
            return self.study.raw_curves
        return self.study.cached(("curves", self.scale.response), self._curves_of_responses)

    def curve(self, feature: int) -> Floats:
        """Return the height of every cell of a feature that is a player of its own, for all outputs."""
        if self.scale.additive:
            return self.study.raw_curves[feature]
        return self.study.moments(self.scale, [feature]).curves[feature]

    def expect(self, features: Iterable[int]) -> None:
        """Compute the curves of some features together, if that is faster than one after the other."""
        if not self.scale.additive:
            self.study.moments(self.scale, features)

    def _curves_of_responses(self) -> dict[int, Floats]:
        plan = self.study.plan(1)
        single = np.bincount(plan.player_of)[plan.player_of] == 1
        return {f: heights for f, heights in self.study.moments(self.scale).curves.items() if single[f]}

    @property
    def mean(self) -> Floats:
        """The average response, for each of all outputs."""
        return self.study.raw_mean if self.scale.additive else self.study.moments(self.scale, ()).mean

    @property
    def level(self) -> Floats:
        """The average response, for each output that is asked for."""
        return self.levels(self.mean)

    def spread(self, feature: int) -> Floats:
        """Return the standard deviation over rows of the response with a feature in each of its cells."""
        spreads = self.study.moments(self.scale, [feature]).spreads[feature]
        result: Floats = spreads[:, self.chosen.columns]
        return result  # equal for both classes of one score

    def responses_at(self, features: NDArray[np.intp], cells: NDArray[np.int64]) -> Floats:
        """Return the mean response with some features in given cells, (n_features, n_points): (n_points, n_outputs)."""
        self.refuse_offset("this question")
        responses, player = self._responses_of(features)
        questions = responses.questions([(player, features, cells)])
        total, whole = 0.0, 0.0
        for rows, weight in self._blocks(responses, batch_of(responses, questions)):
            total = sum_responses(responses, questions, rows, weight, total)
            whole += rows.n_rows if weight is None else float(weight.sum())
        if whole <= 0:
            raise BackgroundError(NO_ROWS)
        result: Floats = np.asarray(total) / whole
        return result

    def responses_of_rows(
        self, features: NDArray[np.intp], cells: NDArray[np.int64], rows: Rows | None
    ) -> tuple[Floats, Floats | None]:
        """Return the response of each row with some features in given cells, (n_rows, n_points, n_outputs), and shares.

        Shares are the weights of rows that have any, and sum to 1. None stands for the rows of the background.
        """
        self.refuse_offset("ICE")
        responses, player = self._responses_of(features)
        asked = (player, features, cells)
        if rows is not None:
            return all_responses(responses, asked, rows), None
        blocks, weights = [], []
        for block, weight in self._blocks(responses, BLOCK):
            blocks.append(all_responses(responses, asked, block))
            weights += [] if weight is None else [weight.copy()]
        heights = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        weight = np.concatenate(weights) if weights else None
        return heights, None if weight is None else weight / weight.sum()

    def _blocks(self, responses: Responses, batch: int) -> Iterator[tuple[Rows | CellBlock, Floats | None]]:
        """Yield the rows of the background and their weights: a table as a whole, a source block by block."""
        over = self.study.over
        if over.in_memory:
            yield self.study.own_rows(responses.plan), over.weights
        else:
            self.refuse_without_rows("this")
            yield from blocks_of_cells(self.study, batch * max(1, BLOCK // batch))

    def _responses_of(self, features: NDArray[np.intp]) -> tuple[Responses, int]:
        """Return the responses of a game in which some features are one player, and its number."""
        if features.size == 1:
            single = self.study.cached(("responses", self.scale.response), self._single_responses)
            return single, int(single.plan.player_of[features[0]])
        names = [self.ensemble.feature_names[f] for f in features]
        plan = make_plan(self.ensemble, 1, {" x ".join(names) + " (asked)": names})
        return Responses(plan, self.scale.link, self.scale.inverse), 0

    def _single_responses(self) -> Responses:
        """Return the responses of a game in which every feature is a player of its own."""
        return Responses(make_plan(self.ensemble, 1, {}), self.scale.link, self.scale.inverse)

    # --------------------------------------------------------------------------------------------- what is refused

    @property
    def refusal(self) -> type[BackgroundError]:
        """The error for what these rows do not tell on this scale: a ScaleError if they may tell it of the score."""
        on_raw = not (self.scale.is_score or self.study.combined) and self.ensemble.derived is None
        return ScaleError if on_raw else BackgroundError

    def only_raw(self, what: str) -> None:
        """Refuse a question unless the response is a sum over trees."""
        if not self.scale.is_score:
            message = f'{what}: only the raw score is a sum over trees; make an Explainer with response="raw"'
            raise UnsupportedModelError(message) if self.study.combined else ScaleError(message)
        self.study.plan(1).refuse_derived()

    def refuse_offset(self, what: str) -> None:
        """Refuse what is not known for rows with an offset."""
        if not self.scale.additive:
            refuse_offset(what, self.study.responses_spec(self.scale))

    def refuse_without_rows(self, what: str) -> None:
        """Refuse a question if the rows themselves are not at hand."""
        if self.study.over.basis != "rows":
            message = (
                f"{what} needs the rows themselves on this scale, but a Background, a stream that is read once, or a "
                "frame on a cluster does not keep them; pass a table or files"
            )
            raise self.refusal(f'{message}, or ask for response="raw"' if self.refusal is ScaleError else message)

    # ------------------------------------------------------------------------------------------- offset and exposure

    def scored_anew(self, columns: Mapping[int, NDArray[np.floating[Any]]]) -> Floats:
        """Return the response of each row of the table, with some columns replaced: (n_rows, n_outputs).

        With offsets and exposures, that is the rate. This uses neither counts nor cells; everything else is checked
        against it.
        """
        opened = self.study.columns(self.ensemble.used_features)
        encoded = opened.encode(0, opened.n_rows) | dict(columns)
        scores = self.ensemble._scores_of(encoded, opened.n_rows).astype(np.float64)
        offset = None if self.scale.is_score else self.study.over.offset
        scores = scores if offset is None else scores + offset
        result, exposure = self.scale.of_scores(scores), self._exposure
        return result if exposure is None else result / exposure[:, None]

    @property
    def _exposure(self) -> Floats | None:
        """The exposures of the rows of a table in memory, if answers are per unit of exposure."""
        per_unit = not self.scale.is_score and self.study.responses_spec(self.scale).exposure
        return self.study.over.row_values["exposure"][:, 0] if per_unit else None

    @property
    def row_weights(self) -> Floats | None:
        """What responses of rows of a table in memory are averaged with: their weights, times exposures."""
        weight, exposure = self.study.over.weights, self._exposure
        return weight if exposure is None else exposure if weight is None else weight * exposure

    # ---------------------------------------------------------------------------------------------------- folds

    @property
    def has_folds(self) -> bool:
        """Whether rows are in folds, so that answers have errors."""
        return self.study.has_folds

    @property
    def left_out(self) -> list[tuple[float, View]]:
        """The share of each fold, and the view without its rows, which knows curves and means."""
        return self.without_folds(None if self.scale.additive else self.study.responses_spec(self.scale))

    def without_folds(self, spec: StatisticSpec | None = None, order: int = 1) -> list[tuple[float, View]]:
        """Return the same with counts of sets of so many players, and with what else is wanted of the rows."""
        folds = study_folds(self.study)
        return [] if folds is None else [(share, self.of(study)) for share, study in folds.without(spec, order)]

    def each_without_fold(self, what: str) -> Iterator[tuple[float, View]]:
        """Yield the same with rows, if they are a table in memory, or else with counts of pairs."""
        folds = study_folds(self.study)
        if folds is None:
            return
        if self.study.over.only_counts and self.study.over.basis == "counts":
            yield from self.without_folds(order=2)
            return
        folds.refuse_without_table(what)
        for share, study in folds.without_rows():
            yield share, self.of(study)

    def folds_of(
        self, answer: Callable[[View], Floats], left: Iterable[tuple[float, View]] | None = None, *, mean: bool = False
    ) -> Folds:
        """Return an answer without each fold of the rows, with the mean prediction if that is asked for."""
        parts = list(self.left_out if left is None else left)
        heights = np.stack([answer(view) for _, view in parts])
        means = np.stack([view.level for _, view in self.left_out]) if mean else None
        return Folds(heights, np.array([share for share, _ in parts]), means)

    def responses_without_folds(self, what: str, features: NDArray[np.intp], cells: NDArray[np.int64]) -> Floats:
        """Return mean responses with some features in given cells, without each fold: (n_folds, n_points, n_outputs).

        Each row is asked twice: for the mean over all rows, and for that over its fold.
        """
        folds = study_folds(self.study)
        if folds is None:
            return np.empty((0, cells.shape[1], self.scale.outputs.n_columns))
        otherwise = ', or ask for response="raw"' if self.refusal is ScaleError else ""
        folds.refuse_without_table(what, otherwise)
        whole = self.responses_at(features, cells)
        parts = [
            (whole - share * self.of(study).responses_at(features, cells)) / (1.0 - share)
            for share, study in folds.of_rows()
        ]
        return np.stack(parts)


def view_of(study: Study, response: str | None = None, output: object = None) -> View:
    """Return the view of a study on a scale; by default of the sum over trees, and of all outputs."""
    scale = study.scale(response)
    return View(study, scale, scale.outputs.choose(output))
