"""OnScale: a study on one scale. Sums over trees come from counts, responses from sums over rows or from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import make_plan
from glasswood.effects._responses import Responses, all_responses, batch_of, sum_responses
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import BackgroundError
from glasswood.models._scale import Scale
from glasswood.parallel._once import once
from glasswood.study._averages import NO_ROWS
from glasswood.study._rows_again import blocks_of_cells
from glasswood.study._study import Study

__all__ = ["OnScale"]

BLOCK = 2**16  # rows of a source that are held at a time, about


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
        return self.study.raw_curves if self.scale.additive else self._response_curves

    @property
    def mean(self) -> NDArray[np.float64]:
        """The average response, for each output."""
        if self.scale.additive:
            return self.study.raw_mean
        return self.study.moments(self.scale).mean

    @once
    def _response_curves(self) -> dict[int, NDArray[np.float64]]:
        """The curves of all features that are players of their own, on the scale of the response."""
        plan = self.study.plan(1)
        single = np.bincount(plan.player_of)[plan.player_of] == 1
        return {f: heights for f, heights in self.study.moments(self.scale).curves.items() if single[f]}

    def spread(self, feature: int) -> NDArray[np.float64]:
        """Return the standard deviation over rows of the response with a feature in each of its cells."""
        return self.study.moments(self.scale).spreads[feature]

    def responses_at(self, features: NDArray[np.intp], cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean response with some features in given cells, (n_features, n_points): (n_points, n_outputs)."""
        self.study.refuse_offset("this question", self.scale)
        responses, player = self._responses_of(features)
        questions = responses.questions([(player, features, cells)])
        total, whole = 0.0, 0.0
        for rows, weight in self._blocks(responses, batch_of(responses, questions)):
            total = sum_responses(responses, questions, rows, weight, total)
            whole += rows.n_rows if weight is None else float(weight.sum())
        if whole <= 0:
            raise BackgroundError(NO_ROWS)
        found: NDArray[np.float64] = np.asarray(total) / whole
        return found

    def _blocks(
        self, responses: Responses, batch: int
    ) -> Iterator[tuple[Rows | CellBlock, NDArray[np.float64] | None]]:
        """Yield the rows of the background and their weights: a table as a whole, a source block by block."""
        over = self.study.over
        if over.in_memory:
            yield self.study.own_rows(responses.plan), over.weights
        else:
            self.refuse_without_rows("this")
            yield from blocks_of_cells(self.study, batch * max(1, BLOCK // batch))

    def refuse_without_rows(self, what: str) -> None:
        """Raise an error if the rows themselves are not at hand."""
        if self.study.over.basis != "rows":
            message = (
                f"{what} needs the rows themselves on this scale, but a Background, a stream that is read once, or a "
                "frame on a cluster does not keep them; pass a table or files"
            )
            on_raw = not self.study.combined and self.study.ensemble.derived is None  # where counts answer
            raise BackgroundError(f'{message}, or ask for response="raw"' if on_raw else message)

    def scored_anew(self, columns: Mapping[int, NDArray[np.floating[Any]]]) -> NDArray[np.float64]:
        """Return the response of each row of the table, with some columns replaced: (n_rows, n_outputs).

        With offsets and exposures, that is the rate. This uses neither counts nor cells; everything else is checked
        against it.
        """
        opened = self.study.columns(self.study.ensemble.used_features)
        encoded = opened.encode(0, opened.n_rows) | dict(columns)
        scores = self.study.ensemble.scores_of(encoded, opened.n_rows).astype(np.float64)
        offset = None if self.scale.is_score else self.study.over.offset
        scores = scores if offset is None else scores + offset
        found, exposure = self.scale.of_scores(scores), self._exposure
        return found if exposure is None else found / exposure[:, None]

    @property
    def _exposure(self) -> NDArray[np.float64] | None:
        """The exposures of the rows of a table in memory, if answers are per unit of exposure."""
        per_unit = not self.scale.is_score and self.study.wanted_of(self.scale).exposure
        return self.study.over.row_values["exposure"][:, 0] if per_unit else None

    @property
    def row_weights(self) -> NDArray[np.float64] | None:
        """What responses of rows of a table in memory are averaged with: their weights, times exposures."""
        weight, exposure = self.study.over.weights, self._exposure
        return weight if exposure is None else exposure if weight is None else weight * exposure

    def ice(
        self, features: NDArray[np.intp], cells: NDArray[np.int64], rows: Rows | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the response of each row with some features in given cells, (n_rows, n_points, n_outputs), and shares.

        Shares are the weights of rows that have any, and sum to 1. None stands for the rows of the background.
        """
        self.study.refuse_offset("ICE", self.scale)
        responses, player = self._responses_of(features)
        asked = (player, features, cells)
        if rows is not None:
            return all_responses(responses, asked, rows), None
        found, weights = [], []
        for block, weight in self._blocks(responses, BLOCK):
            found.append(all_responses(responses, asked, block))
            weights += [] if weight is None else [weight.copy()]
        heights = found[0] if len(found) == 1 else np.concatenate(found)
        weight = np.concatenate(weights) if weights else None
        return heights, None if weight is None else weight / weight.sum()

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
