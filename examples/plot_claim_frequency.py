"""
Claim frequency with exposure
=============================

Policies are in force for different lengths of time. A model of the claim frequency is right if, for every value of a
feature, the claims that were observed agree with those that were predicted, both divided by the exposure. This page
makes claims whose true frequency is known, fits two models, and looks at what was observed beside what was predicted,
with bands that tell how much of a difference chance explains.
"""

# %%
# Policies and claims
# -------------------
# Young drivers have four times as many claims, strong cars more, but only for the young. Exposure is a part of a year.

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

generator = np.random.default_rng(0)
n = 40_000
policies = pd.DataFrame(
    {
        "age": generator.uniform(18, 90, n).round(),
        "power": generator.gamma(4, 25, n).round(),
        "area": pd.Categorical(generator.choice(list("ABCDE"), n)),
    }
)
policies["exposure"] = generator.uniform(0.05, 1, n).round(3)
young = policies["age"] < 26
frequency = 0.08 * np.where(young, 4.0, 1.0) * np.where(young & (policies["power"] > 120), 1.6, 1.0)
policies["claims"] = generator.poisson(frequency * policies["exposure"])

features = policies[["age", "power", "area"]]
rate, weight = policies["claims"] / policies["exposure"], policies["exposure"]

# %%
# A model that is right
# ---------------------
# The frequency is fitted with the exposure as weight. `target` and `exposure` are columns of the same table; `folds`
# are for the bands. Curves are asked for on the scale of predictions, on which claims were observed.

settings = {"loss": "poisson", "categorical_features": "from_dtype", "max_iter": 60, "min_samples_leaf": 300}
model = HistGradientBoostingRegressor(random_state=0, **settings).fit(features, rate, sample_weight=weight)
asked = {"target": "claims", "exposure": "exposure", "folds": 20, "response": "prediction"}
ex = gw.Explainer(model, policies, **asked)
ex.partial_dependence("age").plot(observed=True, error=True)

# %%
# Numbers are exact for every step of the model, and add up: over all rows, the model predicts what was observed.

found = ex.partial_dependence("age").observations
print(f"observed {found.mean_observed[0]:.4f}, predicted {found.mean_predicted[0]:.4f}, A/E {found.ratio[0]:.3f}")

# %%
# A model that is wrong
# ---------------------
# A second model has the age in steps of twenty years, so it cannot know the young. It is right on average, and for
# every value of the features that it has: a finer feature shows the mistake.

coarse = features.assign(age=features["age"] // 20 * 20)
blunt = HistGradientBoostingRegressor(random_state=0, **settings).fit(coarse, rate, sample_weight=weight)
residual = gw.Explainer(model, policies, prediction=blunt.predict(coarse), **asked).partial_dependence("age")
residual.plot(observed=True, error=True, title="Predictions of the blunt model, in the steps of the good one")

# %%
# The predictions of any model can be given as `prediction`: the steps are those of the good model, in which the blunt
# one is wrong. A difference counts if it is large beside its own error.

lines = residual.observations
size = np.abs(lines.residual[:, 0] / lines.error("residual")[:, 0])
print(f"{np.nansum(size > 3):.0f} of {np.isfinite(size).sum()} steps differ by more than three standard errors")

# %%
# Relativities
# ------------
# What multiplies in a tariff, with drivers of 50 as the reference.

relativity = ex.partial_dependence("age").relativity(50)
print(f"from {relativity.min():.2f} to {relativity.max():.2f}")

# %%
# What to do with it
# ------------------
# - Look at observed and predicted before the curve: if they agree within the band in every part of a feature, the
#   model is right where the data is, and the curve is worth reading.
# - Where they differ by more than two or three standard errors, the model lacks a feature, or has one too coarsely, as
#   the blunt model has the age. With many steps, a few differ by chance.
# - Use totals as the target and pass the exposure apart. The mean of each policy's rate would weigh a week like a year.
# - Take relativities of the raw scale for a tariff of factors, and ``scale="response"`` to say how the average price
#   of the portfolio would change.
