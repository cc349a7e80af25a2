"""study_of: a study of what users pass: a model, and rows, a Background or nothing to average over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from glasswood.counting._background import Background
from glasswood.counting._offsets import has_offset
from glasswood.counting._plan import make_plan
from glasswood.counting._players import players_of
from glasswood.effects._target_sums import target_columns
from glasswood.engines._pass import Pass
from glasswood.models._opened import Opened, open_model
from glasswood.study._averages import average_over
from glasswood.study._study import Study
from glasswood.tables._row_columns import names_in
from glasswood.tables._row_values import NO_COLUMNS, RowColumns
from glasswood.tables._seal import Seal
from glasswood.tables._sources import open_source

__all__ = ["study_of"]


def study_of(
    model: object,
    background: object,
    groups: Mapping[str, Sequence[str]] | None = None,
    weight: object = None,
    response: str | None = None,
    values: RowColumns = NO_COLUMNS,
) -> Study:
    """Return a study of a model; the parameters are those of `Explainer`."""
    counted = background if isinstance(background, Background) else None
    rows = Pass(open_source(background)) if background is not None and counted is None else None
    opened, rows = _open(model, rows, [*names_in(None, weight), *values.names])
    if counted is not None and opened.has_transformers and not _fits(opened, counted):
        single = open_model(model, single=True)
        opened = single if _fits(single, counted) else opened
    if values.offset is not None or (counted is not None and has_offset(counted)):
        opened = opened.with_margins()
    players = players_of(opened, groups, None if counted is None else counted.groups)
    values = target_columns(values, opened, weight)
    over = average_over(counted, rows, weight, values)
    ensemble = replace(players.ensemble, schema=over.with_labels(players.ensemble.schema))
    originals = None if opened.columns is None else opened.columns.snapshot()
    opened = replace(opened, ensemble=ensemble, table=None, columns=None)
    result = Study(opened, players, over, originals, response=response)
    over.check(ensemble, result.plan)
    over.seal(ensemble.schema, ensemble.used_features.tolist())  # of the moment at which targets and weights are read
    result.plan(1)  # refuses groups that do not fit
    return result


def _open(model: Any, rows: Pass | None, further: Sequence[str]) -> tuple[Opened, Pass | None]:
    """Return a model, and the rows as its trees take them."""
    if rows is None:
        return open_model(model), None
    opened = open_model(model, rows.head, further, whole=rows.in_memory)
    return opened, rows.taken_by(opened, further, Seal())


def _fits(opened: Opened, counted: Background) -> bool:
    """Return whether counts are of these trees: those of a pipeline depend on the type of the numbers before it."""
    players = players_of(opened, None, counted.groups)
    return make_plan(players.ensemble, counted.order, players.groups).fingerprint == counted.fingerprint
