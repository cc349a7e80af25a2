"""
A model of 300 features: find what matters
==========================================

With 300 features there are 300 curves and 44,850 pairs. Nobody looks at them all, and nobody has to: importance and
interaction strengths rank them, exactly and within seconds, and figures and the report start with the strongest.

The data are generated, so we can check whether the ranking finds what is there.
"""

# %%
# 8,000 rows, 300 columns, of which 7 matter
# ------------------------------------------
# Five columns have effects of their own, and three pairs interact. ``x200`` acts only together with ``x100``: alone it
# does nothing.

import tempfile
import time
from pathlib import Path

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import glasswood as gw

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(8_000, 300)), columns=[f"x{number:03}" for number in range(300)])
y = (
    3 * np.sin(2 * X["x010"])
    + 2 * X["x020"].clip(lower=0)
    - X["x040"]
    + 0.5 * X["x050"] ** 2
    + 1.5 * X["x010"] * (X["x020"] > 0)
    + X["x030"] * X["x040"]
    + 2 * X["x100"] * (X["x200"] > 0)
    + rng.normal(size=len(X))
)
model = lightgbm.LGBMRegressor(n_estimators=80, num_leaves=15, max_bin=63, n_jobs=1, verbose=-1).fit(X, y)

# %%
# Importance
# ----------

start = time.perf_counter()
ex = gw.Explainer(model, X)
importance = ex.importance()
print(f"the importance of all 300 features: {time.perf_counter() - start:.2f} s")
print(f"features that the model splits on: {sum(importance.values > 0)}")

importance.plot(top=12, figsize=(7, 4))
plt.show()

# %%
# The first seven are the columns that matter; the others are noise that the model has picked up. Importance is how much
# the score changes if a feature is redrawn from the rows, so it includes interactions. The curves of ``x030`` and
# ``x200`` are nearly flat: with ``importance(kind="main")``, which is about curves alone, they are far behind.
#
# Interactions
# ------------
# Two features can only interact if some path of a tree splits on both, so most pairs need no computation. The others
# are ranked by strength: the root mean square of what a pair adds to its two curves.

start = time.perf_counter()
strengths = ex.interaction_strengths()
print(f"{len(strengths)} of 44,850 pairs share a path; their strengths: {time.perf_counter() - start:.2f} s")
strengths.top(5).to_frame().round(3)

# %%
# The three pairs of the generator come first, and the next one is far weaker. The heatmap shows the seven features that
# interact most.

strengths.plot(top=7, figsize=(6, 5))
plt.show()

# %%
# Only now do we look at figures: the curves of the strongest features, and the surface of the strongest pair. Its
# right panel, the interaction alone, shows a slope in ``x100`` that changes its sign at ``x200`` = 0.

ex.plot(list(importance.names[:6]), figsize=(11, 5.5))
ex.partial_dependence(*strengths.pairs[0]).plot(figsize=(10, 4))
plt.show()

# %%
# The report
# ----------
# The same, with all curves, a search field, the surfaces of the ten strongest pairs and the checks, as one HTML file
# for the people who have to sign off the model:

start = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "model.html"
    ex.report(page, title="A model of 300 features")
    print(f"written in {time.perf_counter() - start:.1f} s, {page.stat().st_size / 1e6:.1f} MB")

# %%
# What to do with it
# ------------------
# - Rank first, look second: ``importance()`` for features, ``interaction_strengths()`` for pairs.
# - A flat curve does not mean that a feature is useless. ``x200`` hardly has an effect of its own and is half of the
#   strongest interaction.
# - A gap in the ranking separates effects from noise. If there is none, be careful with everything near the bottom.
