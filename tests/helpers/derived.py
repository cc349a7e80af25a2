"""Models with derived columns that need no CatBoost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glasswood.models._derived import Derived, Key, Part
from glasswood.models._ensemble import TreeEnsemble

__all__ = ["with_derived_columns"]


def with_derived_columns(ensemble: TreeEnsemble) -> TreeEnsemble:
    """Return a model of numbers in which every third node splits on a column that several others determine."""
    factors = [np.uint64(5), np.uint64(7 << 40), np.uint64(11)]
    parts = [Part(f, 0.1 * f, np.array([0, 1, 2], dtype=np.uint64) * factors[f]) for f in range(3)]
    known = np.sort([np.uint64(5), np.uint64(7 << 40), np.uint64((7 << 40) + 16), np.uint64(11)])
    columns = [np.array([0, 1, 2, 3, 1], dtype=np.uint8), np.array([1, 0, 0, 1, 1], dtype=np.uint8)]
    derived = Derived.of([Key(parts[:2], known[:2], [columns[0][:3]]), Key(parts, known, columns)])
    third = np.arange(ensemble.n_nodes) % 3 == 0
    number = np.arange(ensemble.n_nodes) // 3
    feature = np.where(third, ensemble.n_features + number % derived.n_columns, ensemble.feature).astype(np.int32)
    cut = np.where(third, (number % 2).astype(np.float64), ensemble.cut)
    return replace(ensemble, feature=feature, cut=cut, cover=None, leaf_cover=None, derived=derived)
