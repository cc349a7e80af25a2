"""Questions about monotonicity of all rows: proofs from the trees, counts of rows, and rating tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fuzz.session import Session

__all__ = ["QUESTIONS"]


def proofs(s: Session) -> None:
    """No row moves along a feature by more than the certificate allows; and the rows that move are counted."""
    if (
        s.setting.fitted.raw is None
        or "missing" in s.case["model"]
        or s.case["model"]["options"].get("zero_as_missing")
    ):
        return
    rows, oracle = s.setting.background, s.setting.raw_oracle
    numbers = [player for player in s.singles if rows[player.columns[0]].dtype.kind == "f"]
    for player in s.few(numbers, 3):
        proof = s.ask("certificate", player.name)
        found = s.ask("row_monotonicity", player.name, response="raw")
        cuts = found.cuts[0]
        if not cuts.size:
            continue
        values = np.append(cuts, np.nextafter(cuts[-1:], np.inf))
        curves = oracle.each(pd.DataFrame({player.columns[0]: values}))[:, :, -len(found.outputs) :]
        noise = 8 * s.setting.fitted.tolerance * s.setting.raw_scale
        counted = oracle.shares > 0
        for side, max_, moved in ((1, proof.falls, found.falling), (-1, proof.rises, found.rising)):
            own = side * curves
            fall = (np.maximum.accumulate(own, axis=1) - own).max(axis=1)
            s.true("bound of a certificate", (fall <= max_ + noise).all(), (fall.max(axis=0), max_))
            _between(s, fall, counted, noise, moved[0] / found.total)


def _between(s: Session, fall: Any, counted: Any, noise: float, share: Any) -> None:
    """Compare shares of rows that move with those that do so beyond doubt, and with those that may."""
    weight = s.setting.raw_oracle.shares
    least = weight @ ((fall > noise) & counted[:, None])
    max_ = weight @ ((fall > 0) & counted[:, None])
    s.true("rows that move", (least - 1e-9 <= share).all() and (share <= max_ + 1e-9).all(), (least, share, max_))


def tables(s: Session) -> None:
    """A rating table leaves what it says that it leaves."""
    if s.setting.fitted.raw is None:
        return
    found = s.ask("rating_table", pairs=2, output=s.explainer.outputs[-1])
    score = s.setting.raw_oracle.score(s.setting.background)[:, -1]
    left = s.setting.raw_oracle.shares @ np.abs(score - found.score(s.setting.background))
    s.true("remainder", abs(left - found.left.mean) <= 1e3 * s.setting.fitted.tolerance * s.setting.raw_scale, left)


QUESTIONS = (proofs, tables)
