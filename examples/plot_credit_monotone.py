"""
Credit with monotone constraints: which promises are kept?
==========================================================

A lender promises that more income never counts against an applicant, and that one more late payment never helps.
Whether a model keeps such a promise cannot be seen from a few points of a curve: a single step in the wrong direction,
anywhere, breaks it. Glasswood knows all steps, so :meth:`~glasswood.Explainer.monotonicity` checks all of them.

The data are made by the short generator below, so we know that the promises are true for the world behind them.
"""

# %%
# 20,000 applicants
# -----------------
# The probability of default rises with the use of credit lines, late payments and debt, and falls with income and with
# the months that an account has existed. People under 25 default more often; apart from that, age has no effect.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import glasswood as gw

rng = np.random.default_rng(0)
n = 20_000
X = pd.DataFrame(
    {
        "age": rng.integers(21, 75, n),
        "income": rng.lognormal(10.5, 0.5, n).round(-2),
        "utilization": (1.3 * rng.beta(1.2, 2.5, n)).round(3),
        "debt_ratio": rng.gamma(2, 0.15, n).round(3),
        "months_on_book": rng.integers(0, 240, n),
    }
)
X["late_payments"] = np.minimum(rng.poisson(0.4 * np.exp(X["utilization"] - 0.4)), 8)
log_odds = (
    -3
    + 1.6 * X["utilization"]
    + 0.55 * X["late_payments"]
    + 1.5 * X["debt_ratio"]
    - 0.5 * np.log(X["income"] / 40_000)
    - 0.004 * X["months_on_book"]
    + 0.6 * (X["age"] < 25)
)
status = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "defaulted", "current")
train, test = slice(None, n // 2), slice(n // 2, None)
promises = {"income": -1, "utilization": 1, "debt_ratio": 1, "months_on_book": -1, "late_payments": 1}

# %%
# Without constraints
# -------------------

free = HistGradientBoostingClassifier(random_state=0).fit(X[train], status[train])
ex_free = gw.Explainer(free, X[test])
ex_free.monotonicity(*promises).to_frame().round(4)

# %%
# Four of the five promises are broken. ``main`` is the direction in which a curve goes on the whole, ``against`` the
# largest step in the other direction, ``at`` where it is, and ``share`` the share of applicants who are between such a
# step and the point where the curve has recovered: most of them, for each of the four.

ex_free.plot(list(promises), sharey=False, figsize=(11, 6))
plt.show()

# %%
# An average is not a promise to everyone
# ---------------------------------------
# The curve of ``late_payments`` rises throughout. But it is an average over applicants. For a single one, the
# model may still reward a late payment; the individual (ICE) curves show it.


def broken_for(ex, feature):
    """Return the share of applicants whose own curve has a step against the promise."""
    steps = np.diff(ex.ice(feature).values, axis=1) * promises[feature]
    return (steps < -1e-12).any(axis=1).mean()


print(f"a further late payment lowers the predicted risk of {broken_for(ex_free, 'late_payments'):.0%} of applicants")

# %%
# With constraints
# ----------------
# Most libraries can impose monotonicity when they fit. Then it holds for every row, and therefore for the average.

kept = HistGradientBoostingClassifier(monotonic_cst=promises, random_state=0).fit(X[train], status[train])
ex_kept = gw.Explainer(kept, X[test])
ex_kept.monotonicity().to_frame().round(4)

# %%
# All five promises are kept by the curves; ``age`` was not constrained. They are kept for every applicant, too:

for feature in promises:
    print(f"{feature}: broken for {broken_for(ex_free, feature):.0%} before, {broken_for(ex_kept, feature):.0%} now")

# %%
# The price of the promises is negative here: what the constraints remove was noise.

for name, model in {"free": free, "constrained": kept}.items():
    print(f"{name}: AUC on the other half {roc_auc_score(status[test], model.predict_proba(X[test])[:, 1]):.3f}")

comparison = gw.compare({"free": ex_free, "constrained": ex_kept})
comparison.plot(["utilization", "debt_ratio", "age"], sharey=False, figsize=(11, 4))
plt.show()

# %%
# What to do with it
# ------------------
# - Check promises at full resolution. ``against`` and ``share`` say how bad a broken one is, and for how many.
# - A monotone curve is necessary for a promise to everyone, but it is not sufficient. A constraint is the way to make
#   one; check the fitted model all the same, because a misspelled or swapped sign shows in the table at once.
# - Look at what was not constrained. Age has an effect below 25 and none above, by construction; everything else in its
#   curve is noise that the model has learned.
