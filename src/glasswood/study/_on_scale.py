"""OnScale: a study on one scale. Sums over trees come from counts; responses are computed row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import make_plan
from glasswood.effects._responses import Responses, all_responses, mean_responses
from glasswood.effects._row_cells import Rows
from glasswood.models._scale import Scale
from glasswood.parallel._once import once
from glasswood.study._study import Study

__all__ = ["OnScale"]


class OnScale:
    """A study on one scale.

    Parameters
    ----------
    study : Study
        The model, and what is averaged over.
    scale : Scale
        The scale of the answers.
    """

    def __init__(self, study: Study, scale: Scale) -> None:
        self.study, self.scale = study, scale

    @property
    def curves(self) -> dict[int, NDArray[np.float64]]:
        """The height of every cell of every feature that is a player of its own."""
        return self.study.raw_curves if self.scale.additive else self._response_curves[0]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The average response, for each output."""
        return self.study.raw_mean if self.scale.additive else self._response_curves[1]

    @once
    def _response_curves(self) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64]]:
        """The curves of all features that are players of their own, and the mean, on the scale of the response."""
        plan = self.study.plan(1)
        single = np.flatnonzero(np.bincount(plan.player_of)[plan.player_of] == 1)
        responses = self._single_responses
        number = responses.plan.player_of
        asked = [(int(number[f]), np.array([f]), np.arange(plan.cells.n_cells[f])[None]) for f in single]
        asked.append((-1, np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int64)))
        heights = mean_responses(responses, asked, self.study.own_rows(plan), self.study.over.shares)
        return dict(zip(single.tolist(), heights[:-1], strict=True)), heights[-1][0]

    def responses_at(self, features: NDArray[np.intp], cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean response with some features in given cells, (n_features, n_points): (n_points, n_outputs)."""
        responses, player = self._responses_of(features)
        asked = [(player, features, cells)]
        return mean_responses(responses, asked, self.study.own_rows(responses.plan), self.study.over.shares)[0]

    def scored_anew(self, columns: Mapping[int, NDArray[np.floating[Any]]]) -> NDArray[np.float64]:
        """Return the response of each row of the table, with some columns replaced: (n_rows, n_outputs).

        This uses neither counts nor cells; everything else is checked against it.
        """
        opened = self.study.columns(self.study.ensemble.used_features)
        encoded = opened.encode(0, opened.n_rows) | dict(columns)
        scores = self.study.ensemble.scores_of(encoded, opened.n_rows).astype(np.float64)
        return self.scale.of_scores(scores)

    def ice(self, features: NDArray[np.intp], cells: NDArray[np.int64], rows: Rows | None) -> NDArray[np.float64]:
        """Return the response of each row with some features in given cells: (n_rows, n_points, n_outputs).

        None stands for the rows of the background.
        """
        responses, player = self._responses_of(features)
        table = self.study.own_rows(responses.plan) if rows is None else rows
        return all_responses(responses, (player, features, cells), table)

    def _responses_of(self, features: NDArray[np.intp]) -> tuple[Responses, int]:
        """Return the responses of a game in which some features are one player, and its number."""
        if features.size == 1:
            return self._single_responses, int(self._single_responses.plan.player_of[features[0]])
        names = [self.study.ensemble.feature_names[f] for f in features]
        plan = make_plan(self.study.ensemble, 1, {" x ".join(names) + " (asked)": names})
        return Responses(plan, self.scale.link, self.scale.inverse), 0

    @once
    def _single_responses(self) -> Responses:
        """The responses of a game in which every feature is a player of its own."""
        return Responses(make_plan(self.study.ensemble, 1, {}), self.scale.link, self.scale.inverse)
