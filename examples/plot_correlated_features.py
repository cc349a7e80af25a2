"""
Correlated features
===================

What does a feature do in a model? Three curves answer, and with correlated features they disagree: partial dependence,
accumulated local effects (ALE), and the average prediction of the rows at each value (an M-plot). This page makes rows
whose true effects are known, and shows what each curve says, and what to conclude.
"""

# %%
# Flats
# -----
# Rooms go along with the area. The price rises with the area, and large flats with many rooms are worth even more. A
# third feature, the year, is independent of both, and a fourth one, the distance to the centre, follows the area but
# has no effect at all.

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

generator = np.random.default_rng(0)
n = 20_000
area = generator.gamma(8, 11, n).round()
flats = pd.DataFrame(
    {
        "area": area,
        "rooms": np.clip(np.round(area / 27 + generator.normal(0, 0.8, n)), 1, 8),
        "year": generator.integers(1920, 2026, n).astype(float),
        "distance": (area / 20 + generator.normal(0, 1.5, n)).round(1),
    }
)
price = 0.5 * flats["area"] + 0.5 * flats["area"] * flats["rooms"] + 0.3 * (flats["year"] - 1920)
price = price + generator.normal(0, 15, n)
model = HistGradientBoostingRegressor(random_state=0).fit(flats, price)
ex = gw.Explainer(model, flats, folds=20, target=price)

# %%
# Where the two curves differ
# ---------------------------
# The gap is the distance between partial dependence and ALE, in standard deviations of the score.

gaps = ex.ale().gaps
for name, gap in gaps.items():
    print(f"{name:9} gap {gap:.3f}, standard error {ex.ale(name).gap_error:.3f}")

# %%
# The year and the distance have the same curve both ways. Rooms interact with the area and depend on it, so their
# partial dependence rests on flats that do not exist, such as 30 square metres with 8 rooms: the gap is beyond 0.1.

ex.ale(["area", "rooms"]).plot(partial_dependence=True, error=True)

# %%
# The truth for rooms: one room more is worth half the area. Among flats with few rooms, which are small, that is
# little; among flats with many rooms it is much. ALE says so. Partial dependence moves all flats, small and large.

ale = ex.ale("rooms", bins=np.arange(1.0, 9.0))
truth = [0.5 * flats["area"][flats["rooms"] == rooms].mean() for rooms in range(2, 9)]
for rooms, step, level, true in zip(range(2, 9), np.diff(ale.values), np.diff(ale.dependence), truth, strict=True):
    print(f"room {rooms}: ALE {step:6.1f}, partial dependence {level:6.1f}, truth {true:6.1f}")

# %%
# What goes along with a feature
# ------------------------------
# The average prediction of the rows at each value mixes the effect of a feature with that of all others that go along
# with it. The distance has no effect, and both curves are flat; the predictions of the rows at each distance rise.

curve = ex.partial_dependence("distance")
print(f"ALE of distance: range {np.ptp(ex.ale('distance').values):.1f}")
print(f"partial dependence: range {np.ptp(curve.values):.1f}")
print(
    f"average prediction of the rows at each value: range {np.nanmax(curve.predicted) - np.nanmin(curve.predicted):.1f}"
)
curve.plot(observed=True)

# %%
# The pair
# --------
# The interaction behind the gap: what area and rooms add together, beyond each of them alone. Hatched pairs of bins
# have no rows, and their heights rest on their neighbours.

ex.ale("area", "rooms").plot()

# %%
# What to do with it
# ------------------
# - Look at the gaps first. Where they are below 0.1, partial dependence and ALE say the same, and partial dependence
#   is easier to read: it has a level, and every step of the model.
# - Where a gap is larger than 0.1 and than two of its standard errors, the feature interacts with features that it
#   depends on. Report the ALE for what the model does among the rows that exist, and look at the pair.
# - Use partial dependence there only to ask what the model would do with combinations that the data does not have, as
#   a test of the model, and not as an effect.
# - Do not read effects from averages of rows at each value. They answer another question: whether the model is right
#   there.
