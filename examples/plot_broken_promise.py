"""
A promise that a library breaks: credit with monotone constraints
=================================================================

A lender trains with monotone constraints, so that one more late payment can never help an applicant, and more income
can never hurt. The library accepts the constraints; nobody checks whether it keeps them. Here a certificate does, from
the trees alone, and finds that one method of LightGBM does not if there are missing values.

The data are made by the short generator below.
"""

# %%
# Applicants, some of whom leave fields empty
# -------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

import glasswood as gw

rng = np.random.default_rng(0)
n = 8_000
X = pd.DataFrame(
    {
        "late_payments": rng.poisson(1.2, n).astype(float),
        "income": rng.lognormal(10.5, 0.5, n).round(-2),
        "utilization": (1.3 * rng.beta(1.2, 2.5, n)).round(3),
        "debt_ratio": rng.gamma(2, 0.15, n).round(3),
        "months_on_book": rng.integers(0, 240, n).astype(float),
    }
)
log_odds = (
    -2.5
    + 0.5 * X["late_payments"] * (X["utilization"] > 0.3)
    + 1.6 * X["utilization"]
    - 0.6 * np.log(X["income"] / 40_000)
    + 1.5 * X["debt_ratio"]
)
defaulted = rng.random(n) < 1 / (1 + np.exp(-log_odds))
X = X.mask(rng.random(X.shape) < 0.1)

# %%
# Two models with the same constraints
# ------------------------------------
# LightGBM has three methods to keep trees monotone. "basic" is the default; "advanced" constrains less and fits better.

promises = [1, -1, 0, 0, 0]
settings = {"n_estimators": 100, "monotone_constraints": promises, "verbose": -1, "random_state": 0, "n_jobs": 1}
basic = LGBMClassifier(**settings).fit(X, defaulted)
advanced = LGBMClassifier(monotone_constraints_method="advanced", **settings).fit(X, defaulted)

# %%
# The certificate
# ---------------
# No data is needed. A tree is increasing in a feature if and only if no two leaves that a change of this feature alone
# can join are in the wrong order. If all trees are, so is their sum, for every applicant that there can be.

gw.Explainer(basic).certificate()

# %%
# The model of the basic method keeps both promises. The other one does not:

certificate = gw.Explainer(advanced).certificate()
certificate

# %%
# Each broken promise comes with a row that shows it, made of values that the leaves accept. LightGBM itself agrees:

for broken in certificate.broken:
    before, after = advanced.predict_proba(broken.to_frame())[:, 1]
    print(f"{broken.feature}: {broken.text}; LightGBM's own probabilities: {before:.4f}, then {after:.4f}")

# %%
# How far can it go? The bars are bounds: no applicant's log-odds can move by more. A bar that is missing is a proof.

certificate.plot(figsize=(8, 4))
plt.show()

# %%
# Whom does it concern?
# ---------------------
# The average curve does not show it, because it is an average. The curves of single applicants do: all of them are
# followed through all steps of the model.

ex = gw.Explainer(advanced, X)
print(ex.monotonicity("late_payments", "income"))
rows = ex.row_monotonicity("late_payments", "income")
rows.to_frame()

# %%
# ``rows`` is the number of applicants whose own curve goes against the promise, ``at_least`` and ``below`` enclose the
# worst case, and ``at`` is where most of them have such a step. The worst applicant of all:

worst = rows.worst("late_payments") or rows.worst("income")
print(worst)
X.iloc[[worst.row]]

# %%
# What to do with it
# ------------------
# - Ask for the certificate of every constrained model before it is deployed; ``glasswood certificate model.txt`` fails
#   if a promise is broken. In the report, a broken promise is the first line.
# - If it is broken, train with another method (here "basic") or loss. XGBoost and scikit-learn do not keep constraints
#   with the absolute and the quantile error either: it is likely that these losses set leaves again after growing.
# - A constraint that is neither proven nor broken has a bound. Decide whether the bound is small enough.
