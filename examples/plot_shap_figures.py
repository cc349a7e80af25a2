"""
The figures of shap, from exact Shapley values
==============================================

If you know the figures of the shap package, you can keep them. :meth:`~glasswood.Explainer.shap_values` returns the
interventional Shapley values with *all* rows of the background instead of a sample, and ``to_shap()`` turns them
into a ``shap.Explanation``. This page needs the extra ``shap``.

The data are scikit-learn's breast cancer data set: 569 tumours, 30 measurements each.
"""

# %%
# Values
# ------
# On the raw scale (log-odds), the values of a row and the mean add up to the score of the model.

import matplotlib.pyplot as plt
import numpy as np
import shap
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = HistGradientBoostingClassifier(max_iter=50, max_depth=4, random_state=0).fit(X, y == 0)  # malignant is 0
values = gw.Explainer(model, X).shap_values(X)
print(values)
error = np.abs(values.values.sum(axis=1) + values.base_values - model.decision_function(X)).max()
print(f"largest error of the sums: {error:.1e}")

# %%
# Beeswarm: all rows
# ------------------

explanation = values.to_shap()
shap.plots.beeswarm(explanation, max_display=10, show=False)
plt.tight_layout()
plt.show()

# %%
# Waterfall: one row
# ------------------
# The tumour whose score is closest to zero, so that the model can hardly decide.

doubtful = int(np.abs(model.decision_function(X)).argmin())
shap.plots.waterfall(explanation[doubtful], max_display=10, show=False)
plt.tight_layout()
plt.show()

# %%
# Scatter: one feature
# --------------------

strongest = X.columns[values.mean_abs().argmax()]
shap.plots.scatter(explanation[:, strongest], color=explanation, show=False)
plt.tight_layout()
plt.show()

# %%
# Heatmap: rows ordered by similarity
# -----------------------------------

shap.plots.heatmap(explanation[:200], max_display=10, show=False)
plt.tight_layout()
plt.show()

# %%
# The same from glasswood alone
# -----------------------------
# The library has figures of its own, which do not need shap.

values.plot(kind="beeswarm")
values.plot(row=doubtful)
plt.show()

# %%
# Why all rows matter
# -------------------
# ``shap.TreeExplainer`` averages over the rows that it is given as a background and recommends 100 to 1,000 of them.
# With another sample, the values of the same row change. Here, the values of the doubtful tumour are computed with 100
# background rows, ten times:

name_at = int(values.mean_abs().argmax())
samples = [
    gw.Explainer(model, X.sample(100, random_state=seed)).shap_values(X[doubtful : doubtful + 1]).values[0, name_at]
    for seed in range(10)
]
print(f"{strongest}, samples of 100 rows: from {min(samples):+.3f} to {max(samples):+.3f}")
print(f"{strongest}, all {len(X)} rows: {values.values[doubtful, name_at]:+.3f}")

# %%
# What to do with it
# ------------------
# - Keep the figures you know, and compute the values with all rows: they do not depend on a sample, and they are
#   the same tomorrow.
# - ``values.plot()`` has a waterfall, bars, a beeswarm and a scatter plot without another dependency.
