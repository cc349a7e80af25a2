"""
Bike sharing: at which hour, and in which weather
=================================================

How many bikes are rented in an hour depends on the time of day, the kind of day and the weather. A boosted model
predicts it well, but the prediction alone does not say when bikes have to be where. Here we read that off the model:
first the curves of single features, then the strongest interaction, then the weather.

The data are the 17,379 hours of the `Bike Sharing Dataset <https://doi.org/10.24432/C5W894>`_ (Fanaee-T and Gama, 2013,
CC BY 4.0): rentals of Capital Bikeshare in Washington, D.C., in 2011 and 2012.
"""

# %%
# The data and the model
# ----------------------
# The file has scaled weather columns; we turn them back into °C, % and km/h, as its documentation describes. Days are
# either working days or days off (weekends and holidays).

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

import glasswood as gw

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook runs beside the folder data
hours = pd.read_parquet(folder / "data" / "bike_sharing.parquet")
X = pd.DataFrame(
    {
        "hour": hours["hr"],
        "day": hours["workingday"].map({1: "working day", 0: "day off"}).astype("category"),
        "month": hours["mnth"],
        "year": 2011 + hours["yr"],
        "temperature": 47 * hours["temp"] - 8,
        "humidity": 100 * hours["hum"],
        "wind": 67 * hours["windspeed"],
        "weather": hours["weathersit"].map({1: "clear", 2: "mist", 3: "rain", 4: "storm"}).astype("category"),
    }
)
y = hours["cnt"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0).fit(X_train, y_train)
print(f"R² on {len(X_test):,} held-out hours: {model.score(X_test, y_test):.3f}")

# %%
# What matters
# ------------
# An :class:`~glasswood.Explainer` counts the rows once. Its figure shows the exact curve of every feature, the most
# important one first, with the distribution of the rows below.

ex = gw.Explainer(model, X)
ex.plot()
plt.show()

# %%
# The hour matters most, with peaks in the morning and in the late afternoon. The kind of day comes last: on average
# over all hours, working days and days off hardly differ. But an average can hide a lot; interactions show it.

ex.importance(kind="main").to_frame()

# %%
# The strongest interaction
# -------------------------
# The strength of a pair is the typical size of what it adds to the two separate curves, in bikes per hour.

ex.interaction_strengths().top(3).to_frame()

# %%
# The hour and the kind of day interact more strongly than any other pair. With ``by=``, the curve of the hour is
# averaged separately over the two kinds of day.

by_day = ex.partial_dependence("hour", by="day")
by_day.plot(figsize=(7, 4))
plt.show()

# %%
# Commuters and people at leisure have different days. The busiest hours of each:

all_hours = pd.Index(range(24), name="hour")
demand = pd.DataFrame({day: curve(all_hours) for day, curve in by_day.items()}, index=all_hours)
for day in demand:
    print(f"{day}: {demand[day].nlargest(4).round().astype(int).to_dict()}")
gap = demand["working day"] - demand["day off"]
print(f"largest gap: {gap.loc[gap.abs().idxmax()]:+.0f} bikes on working days at {gap.abs().idxmax()}:00")

# %%
# The weather
# -----------
# The shaded band is one standard deviation of the single hours' own curves around their mean.

ex.plot(["temperature", "humidity", "weather"], std=True, figsize=(11, 3.5))
plt.show()

# %%
# Demand grows with the temperature, levels off, and falls again when it gets hot. The curve is exact, so no grid is
# needed to find its maximum:

warmth = ex.partial_dependence("temperature")
steps = warmth.to_frame()
best = steps.loc[steps["value"].idxmax()]
print(f"maximum: {best['value']:.0f} bikes, from {best['temperature_above']:.1f} to {best['temperature_to']:.1f} °C")
for celsius in (0, 10, 20, 30, 35):
    print(f"{celsius:>2} °C: {warmth(celsius):.0f} bikes")

weather = ex.partial_dependence("weather")
clear, rain = weather(["clear", "rain"])
print(f"rain instead of clear weather: {rain / clear - 1:+.0%} (storm: only {hours['weathersit'].eq(4).sum()} hours)")

# %%
# What to do with it
# ------------------
# - On working days, bikes must be in place before 8:00 and again before 17:00; on days off, one long peak from about
#   noon to late afternoon needs them.
# - A plan based on the average over all days would be wrong on both kinds.
# - Heat lowers demand as well as cold: a linear term for temperature would get the hottest days wrong.
# - The "storm" level rests on three hours, so the model can say nothing about it. The figure shows the rows
#   below each curve for this reason.
