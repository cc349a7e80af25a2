"""
What a sampled curve misses, and the full one shows
===================================================

Partial dependence is usually computed at 5, 20 or 100 evenly spaced values and drawn as a line through them. But a
tree ensemble changes its prediction at the split points of its trees and nowhere else. Between two samples, the line
is a guess. The authors of Woodelf++ therefore propose the *full* curve, with one value between any two neighbouring
split points, which is what Glasswood always returns. This page shows their example: a default value in a form.
"""

# %%
# A form with a default value
# ---------------------------
# Applicants enter their annual salary. The field is pre-filled with 60,000, and people who commit fraud tend to leave
# it as it is. Apart from that, the probability of fraud falls slowly with the salary, and there is a product for
# salaries between 95,000 and 96,000 that attracts more fraud than others.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost

import glasswood as gw

rng = np.random.default_rng(0)
n = 40_000
X = pd.DataFrame({"salary": rng.lognormal(11, 0.5, n).clip(10_000, 300_000).round(), "age": rng.integers(18, 80, n)})
X.loc[rng.random(n) < 0.03, "salary"] = 60_000
chance = 0.06 - 0.03 * (X["salary"] / 300_000) + 0.25 * (X["salary"] == 60_000) + 0.2 * X["salary"].between(95e3, 96e3)
fraud = rng.random(n) < chance
model = xgboost.XGBClassifier(tree_method="exact", max_depth=4, learning_rate=0.1, min_child_weight=10, n_jobs=1)
model.fit(X, fraud)

# %%
# Sampled curves
# --------------
# The curve is known everywhere, so a sampled one is the same curve at a few values. Three panels have 5, 20 and 100
# samples, evenly spaced over the range of the salary; the last one has the full curve.

ex = gw.Explainer(model, X)
full = ex.partial_dependence("salary")
low, high = full.ends

figure, axes = plt.subplots(2, 2, figsize=(11, 6), sharex=True, sharey=True, layout="constrained")
for ax, points in zip(axes.flat, (5, 20, 100), strict=False):
    at = np.linspace(low, high, points)
    ax.plot(at, full(at), "o-", color="tab:orange", markersize=3, linewidth=1)
    ax.set_title(f"{points} samples")
axes[1, 1].stairs(full.values, [low, *full.cuts, high], baseline=None, color="tab:blue")
axes[1, 1].set_title(f"full: {len(full.cuts)} cuts")
figure.supxlabel("salary")
figure.supylabel("average probability of fraud")
plt.show()

# %%
# The samples show a probability that wavers and then falls. All of them miss the two largest effects in the model.
#
# Finding spikes without looking
# ------------------------------
# :meth:`~glasswood.Explainer.spikes` lists all stretches that lie between two of a number of sample points (100 by
# default) and leave the range of both by more than 5 % of the curve's range.

ex.spikes("salary").to_frame().round(4)

# %%
# The first stretch, from ``above`` (exclusive) to ``to`` (inclusive), contains the default value, and the second one is
# the product. The third is neither: the generator has no effect there, and the model has learned noise from 131
# applicants. How many samples are needed to meet the first one?

spike = ex.spikes("salary")[0]
print(f"the spike is {spike.to - spike.above:g} wide, in a range of {high - low:,.0f}")
for points in (5, 20, 100, 1_000, 10_000, 100_000):
    at = np.linspace(low, high, points)
    print(f"{points:>7,} samples: highest value {full(at).max():.3f}, the curve's own maximum {full.values.max():.3f}")

# %%
# Around it
# ---------
# The same curve from 59,000 to 61,000, and from 94,000 to 97,000.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.5), sharey=True, layout="constrained")
at = np.linspace(low, high, 100)
for ax, (left, right) in zip(axes, [(59_000, 61_000), (94_000, 97_000)], strict=True):
    ax.stairs(full.values, [low, *full.cuts, high], baseline=None, color="tab:blue", label="full")
    ax.plot(at, full(at), "o-", color="tab:orange", label="100 samples")
    ax.set(xlim=(left, right), xlabel="salary")
axes[0].set_ylabel("average probability of fraud")
axes[0].legend()
plt.show()

# %%
# What to do with it
# ------------------
# - A default value, a sentinel such as 999 or a round number can have the largest effect of a model. Here, even 1,000
#   samples miss it. Ask for ``ex.spikes()`` before a sign-off; it checks all numeric features.
# - The full curve is not a finer grid. It has as many values as the model has cuts, and it is exact between them.
# - A spike is a question, not a verdict. Two of these are real patterns and one is overfitting; ``rows`` says how many
#   rows each of them rests on.
