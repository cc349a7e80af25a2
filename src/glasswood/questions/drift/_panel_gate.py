"""Panels of measures over time: a line per feature, with the limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from glasswood.errors import ArgumentError, TableError
from glasswood.plots._spec import Series, Track
from glasswood.questions.drift._result_gate import Measured, Measures
from glasswood.questions.drift._result_rules import MEASURES
from glasswood.results._drawable import drawn
from glasswood.text._plain import plain

__all__ = ["panel_of_measures"]


MAX_LINES = 6  # that are named and coloured

MAX_LIMITS = 4

MODEL = (None, None)  # the feature and the output of measures of the whole model

SMALL = 1e-12  # of limits


@drawn(Measures)
def panel_of_measures(measures: Measures, measure: str, features: Sequence[str] | None = None) -> Series:
    """Return the panel of one measure of `Measures`; a line has the same colour in the panels of all measures."""
    everything = [one for one in measures if features is None or one.feature is None or one.feature in features]
    _check(measures, measure, features)
    judged = [one for one in everything if one.measure == measure]
    places = {name: k for k, name in enumerate(dict.fromkeys(one.name for one in measures))}
    shown = _worst(everything)
    n_errors = measures.margin or 1.0
    lines = _lines(judged, places, shown, n_errors)
    further = [key for key in lines if key not in shown and key != MODEL]
    rules = dict.fromkeys((one.limit, one.rule) for one in judged if not further or _key(one) in shown)
    return Series(
        title=measure,
        y_label=f"{measure}: {MEASURES[measure].text}",
        labels=tuple(plain(name) for name in places),
        tracks=tuple(lines[key] for key in [*shown, MODEL] if key in lines),
        faint=tuple(lines[key].values for key in further),
        limits=tuple((limit, plain(rule)) for limit, rule in list(rules)[:MAX_LIMITS]),
        chance=_chance(judged, places),
        note="; ".join(filter(None, (_grey(len(further)), _bars(lines.values(), n_errors)))),
    )


def _grey(n: int) -> str:
    return f"{n:,} more in grey" if n else ""


def _bars(lines: Iterable[Track], n_errors: float) -> str:
    """Return what bars are, if there are any."""
    errors = "1 standard error" if n_errors == 1 else f"{n_errors:g} standard errors"
    return f"bars: ± {errors}" if any(track.errors for track in lines) else ""


def _check(measures: Measures, measure: str, features: Sequence[str] | None) -> None:
    """Raise an error if a measure or a feature was not judged."""
    known = list(dict.fromkeys(one.measure for one in measures))
    if measure not in known:
        message = f"{measure!r} was not judged; the measures are {', '.join(known)}"
        raise ArgumentError(message)
    names = list(dict.fromkeys(one.feature for one in measures if one.feature is not None))
    for feature in features or ():
        if feature not in names:
            raise TableError.no_feature(feature, names)


def _key(one: Measured) -> tuple[str | None, Any]:
    return one.feature, one.output


def _worst(judged: Sequence[Measured]) -> list[tuple[str | None, Any]]:
    """Return the features and outputs that are furthest beyond a limit, or come closest to one, in its own unit."""
    beyond: dict[tuple[str | None, Any], float] = {}
    for one in judged:
        sign = 1.0 if MEASURES[one.measure].op == ">" else -1.0
        far = sign * (one.value - one.limit) / max(abs(one.limit), SMALL)
        beyond[_key(one)] = max(beyond.get(_key(one), -np.inf), far)
    return sorted((key for key in beyond if key != MODEL), key=lambda key: -beyond[key])[:MAX_LINES]


def _lines(
    judged: Sequence[Measured],
    places: dict[str, int],
    shown: Sequence[tuple[str | None, Any]],
    n_errors: float,
) -> dict[tuple[str | None, Any], Track]:
    """Return the line of each feature and output; a value with several rules is beyond its limit if it breaks one."""
    values: dict[tuple[str | None, Any], list[float]] = {}
    broken: dict[tuple[str | None, Any], list[bool]] = {}
    errors: dict[tuple[str | None, Any], list[float]] = {}
    for one in judged:
        place = places[one.name]
        values.setdefault(_key(one), [np.nan] * len(places))[place] = one.value
        flags = broken.setdefault(_key(one), [False] * len(places))
        flags[place] = flags[place] or one.broken
        if one.error is not None:
            errors.setdefault(_key(one), [np.nan] * len(places))[place] = n_errors * one.error
    return {
        key: Track(
            _name(key),
            tuple(own),
            tuple(broken[key]),
            shown.index(key) if key in shown else None,
            tuple(errors.get(key, ())),
        )
        for key, own in values.items()
    }


def _name(key: tuple[str | None, Any]) -> str:
    """Return the name of a line."""
    return ", ".join(plain(part) for part in key if part is not None) or "model"


def _chance(judged: Sequence[Measured], places: dict[str, int]) -> tuple[float, ...]:
    """Return the largest mean by chance at each place; empty if it is not known."""
    result = [np.nan] * len(places)
    for one in judged:
        if one.chance is not None:
            result[places[one.name]] = float(np.fmax(result[places[one.name]], one.chance))
    return () if np.isnan(result).any() else tuple(result)
