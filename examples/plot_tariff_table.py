"""
From XGBoost to Excel: a tariff of two factors
==============================================

A tariff is a base premium, a factor for each feature, and perhaps a grid for two of them together. A boosted model
whose paths have at most two features is such a tariff, exactly: it only has to be written down.

The claims are made by the short generator below, so we know that age and power interact.
"""

# %%
# Policies and claims
# -------------------

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from xgboost import XGBRegressor

import glasswood as gw

rng = np.random.default_rng(0)
n = 30_000
policies = pd.DataFrame(
    {
        "age": rng.integers(18, 90, n).astype(float),
        "power": rng.gamma(4, 25, n).round(),
        "bonus": rng.integers(0, 20, n).astype(float),
        "region": pd.Categorical(rng.choice(["coast", "hills", "city"], n)),
    }
)
young = policies["age"] < 26
frequency = (
    0.1
    * np.where(young, 2.5, 1.0)
    * np.where(young & (policies["power"] > 120), 1.8, 1.0)
    * 0.97 ** policies["bonus"]
    * policies["region"].map({"coast": 1.0, "hills": 0.8, "city": 1.4}).astype(float)
)
claims = rng.poisson(frequency)

# %%
# A model with at most two features on a path
# -------------------------------------------
# Trees of depth 2 cannot have more. Deeper trees with ``interaction_constraints`` would do as well.

model = XGBRegressor(
    n_estimators=120, max_depth=2, learning_rate=0.1, objective="count:poisson", enable_categorical=True
).fit(policies, claims)
ex = gw.Explainer(model, policies)
table = ex.rating_table(pairs=10)
table

# %%
# "exact" is a statement about the trees: the table is the model, for every policy that there can be. XGBoost adds in
# float32, so it differs in the seventh digit.

margin = model.predict(policies, output_margin=True)
print(f"largest difference over {n:,} policies: {np.abs(table.score(policies) - margin).max():.1e}")

# %%
# The entries
# -----------
# With a log link, factors multiply. A line holds the values above ``above``, up to and including ``to``.

frame = table.to_frame()
frame[frame["term"] == "region"][["term", "category", "value", "factor"]].round(3)

# %%
# How far apart the entries of each term are tells where the tariff differentiates:

table.plot(figsize=(8, 4))
plt.show()

# %%
# The grid of the strongest pair shows what age and power do beyond their own factors:

ex.partial_dependence("age", "power").plot(kind="interaction")
plt.show()

# %%
# Excel, CSV and SQL
# ------------------
# The workbook has a sheet of facts, one of all features, and a grid of factors for each pair. The SQL is one
# expression, with every digit of every cut.

with tempfile.TemporaryDirectory() as folder:
    table.to_excel(Path(folder, "tariff.xlsx"))
    table.to_csv(Path(folder, "tariff.csv"))
    print({path.name: f"{path.stat().st_size / 1000:.0f} kB" for path in sorted(Path(folder).iterdir())})
sql = table.to_sql("duckdb")
print(f"{len(sql) / 1000:.0f} kB of SQL:")
print(sql[:200], "...")

# %%
# A model that is no table
# ------------------------
# Trees of depth 5 have up to five features on a path. Then the table leaves something, and says how much.

deep = XGBRegressor(n_estimators=120, max_depth=5, objective="count:poisson", enable_categorical=True)
gw.Explainer(deep.fit(policies, claims), policies).rating_table(pairs=10)

# %%
# What to do with it
# ------------------
# - If the tariff must be a table, train with at most two features on each path; the table then *is* the model, and no
#   second approximation has to be validated.
# - Look at the remainder of other models before the table goes anywhere: a share of several percent of the variance
#   means that policies are priced differently from the model that was validated.
# - Use the SQL as it is. Rounded cuts move policies that lie on a cut, and whole numbers often do.
