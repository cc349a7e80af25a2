"""The options of panels: what the `panel` methods of results pass on to the functions that make panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from glasswood.results._joint_rows import JointRows
    from glasswood.results.panels._drawable import DrawableImportance
    from glasswood.text._arguments import Centering

__all__ = [
    "AttributionOptions",
    "CurveOptions",
    "IceOptions",
    "PointOptions",
    "RankingOptions",
    "SingleCurveOptions",
    "StrengthOptions",
    "SurfaceOptions",
]


class PointOptions(TypedDict, total=False):
    """Of `panel_of_points`."""

    sort: str | None
    xscale: str


class CurveOptions(PointOptions, total=False):
    """Of `panel_of_comparison`, and of `panel_of_curve`, too."""

    fit: bool
    std: bool
    observed: bool


class SingleCurveOptions(CurveOptions, total=False):
    """Of `panel_of_curve`."""

    error: bool


class IceOptions(PointOptions, total=False):
    """Of `panel_of_ice`."""

    n_lines: int
    centered: Centering


class SurfaceOptions(PointOptions, total=False):
    """Of `panel_of_surface`."""

    interaction: bool
    rows: JointRows | None


class RankingOptions(TypedDict, total=False):
    """Of `panel_of_importance` and `panel_of_row`."""

    top: int


class SetOptions(RankingOptions, total=False):
    """Of `panel_of_sets`."""

    kind: str


class AttributionOptions(RankingOptions, total=False):
    """Of `panel_of_attributions`."""

    kind: str
    feature: str | None
    color: str | None


class StrengthOptions(RankingOptions, total=False):
    """Of `panel_of_strengths`."""

    kind: str
    importance: DrawableImportance | None
