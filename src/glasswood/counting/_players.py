"""Who the players of a model are: its columns, groups of them, or the user's columns before a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._opened import Opened
from glasswood.text._arguments import checked_groups

__all__ = ["Players", "own_names", "players_of"]

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Players:
    """The trees with names for their columns, and the players that are groups of these columns.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Columns that transformers make have names that no column of the user's has.
    groups : dict from str to tuple of str
        The players that are groups of the ensemble's columns.
    of_user : dict from str to tuple of str
        All players as groups of the user's columns, if there are transformers; empty otherwise.
    """

    ensemble: TreeEnsemble
    groups: dict[str, tuple[str, ...]]
    of_user: dict[str, tuple[str, ...]] = field(default_factory=dict)


def players_of(opened: Opened, groups: Groups | None, counted: Groups | None = None) -> Players:
    """Return the players of a model.

    Parameters
    ----------
    opened : Opened
    groups : mapping of str to sequences of str, optional
        Columns of the user's that are one player.
    counted : mapping of str to sequences of str, optional
        The groups that rows were counted with, as a Background has them: taken if no other groups are asked for.
    """
    ensemble, columns = opened.ensemble, opened.columns
    if columns is None:
        own = own_names(ensemble, counted if groups is None else groups)
        return Players(ensemble, _without_single(own))
    if groups is None and counted is not None:
        return Players(ensemble, *columns.players_of(ensemble.feature_names, counted))
    return Players(ensemble, *columns.groups(ensemble.feature_names, _without_single(checked_groups(groups))))


def _without_single(groups: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return groups without those of one column that has their name: such a group is that column."""
    return {name: columns for name, columns in groups.items() if columns != (name,)}


def own_names(ensemble: TreeEnsemble, groups: Groups | None) -> dict[str, tuple[str, ...]]:
    """Return groups by the names of their columns that are shown: LightGBM writes blanks as underscores."""

    def own(name: str) -> str:
        number = ensemble.schema.number_of(name)
        return name if number is None else ensemble.feature_names[number]

    return {name: tuple(map(own, columns)) for name, columns in checked_groups(groups).items()}
