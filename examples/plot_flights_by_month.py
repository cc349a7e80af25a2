"""
Flights by month: count files once, add the counts
==================================================

Tables that arrive month by month do not have to be kept, or read again, to explain a model on any period. A
:class:`~glasswood.Background` holds the counts of the rows, and counts add up. Here we count twelve Parquet files, add
months to seasons, let a new file arrive, and ask what drives delays in summer and in winter.

The data are a sample of 36,000 flights from `nycflights13 <https://github.com/tidyverse/nycflights13>`_ (CC0): flights
that left New York City in 2013, with the weather at the airport.
"""

# %%
# A folder of Parquet files
# -------------------------
# One file per month, in a temporary folder that stands for a data lake. The model predicts whether a flight arrives
# more than 15 minutes late; it knows neither the month nor the delay at departure.

import tempfile
from pathlib import Path

import lightgbm
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.metrics import roc_auc_score

import glasswood as gw

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook runs beside the folder data
flights = pd.read_parquet(folder / "data" / "flights.parquet")
lake = tempfile.TemporaryDirectory()
for month, rows in flights.groupby("month"):
    rows.to_parquet(f"{lake.name}/2013-{month:02}.parquet", index=False)

features = flights.columns.drop(["month", "arr_delay"])
arrival = (flights["arr_delay"] > 15).map({True: "late", False: "in time"})
train, test = flights.index[::2], flights.index[1::2]
model = lightgbm.LGBMClassifier(learning_rate=0.05, num_leaves=15, n_jobs=1, verbose=-1)
model.fit(flights.loc[train, features], arrival[train])
probability = model.predict_proba(flights[features])[:, 1]
print(f"AUC on the other half: {roc_auc_score(arrival[test], probability[test]):.3f}")

# %%
# One pass for all months
# -----------------------
# ``by=`` counts each group of rows separately. The pass also adds up what curves of probabilities need. The files are
# read row group by row group, so they may be larger than memory.

months = gw.summarize(model, f"{lake.name}/*.parquet", by="month")
months[1]

# %%
# Counts add up exactly: the sum of twelve months is what one pass over the year gives, bit for bit.

year = gw.summarize(model, f"{lake.name}/*.parquet")
summed = months[1]
for month in range(2, 13):
    summed = summed + months[month]
print(f"sum of the months == the year: {summed == year}")

year.save(f"{lake.name}/year.gw")
print(f"the saved counts take {Path(lake.name, 'year.gw').stat().st_size / 1000:.0f} kB")

# %%
# A new file arrives
# ------------------
# With ``checkpoint=``, progress is saved. A pass that was interrupted resumes, and when files are added later, only
# these are read.

checkpoint = f"{lake.name}/progress"
first_half = [f"{lake.name}/2013-{month:02}.parquet" for month in range(1, 7)]
print(gw.summarize(model, first_half, checkpoint=checkpoint))
print(gw.summarize(model, [*first_half, f"{lake.name}/2013-07.parquet"], checkpoint=checkpoint))

# %%
# Streams
# -------
# Rows may also come as a stream of tables from anywhere, in any pieces. The counts are the same.

pieces = (flights[start : start + 1_000] for start in range(0, len(flights), 1_000))
print(f"stream == files: {gw.summarize(model, pieces) == year}")

# %%
# From here on, all curves come from the counts; nothing reads the flights again.
#
# Summer and winter
# -----------------

seasons = {
    "winter": months[12] + months[1] + months[2],
    "summer": months[6] + months[7] + months[8],
}
explainers = {name: gw.Explainer(model, counts) for name, counts in seasons.items()}
comparison = gw.compare(explainers)
comparison.to_frame().round(3)

# %%
# The temperature is distributed differently, of course (``shift``). The curve that differs most is that of the hour.

comparison.plot(["hour", "precip", "visib", "carrier"], figsize=(11, 7))
plt.show()

# %%
# Is an evening flight late more often in every month? The model does not know the month, so whatever differs is due to
# the weather and the flights of that month.

rows = []
for month, counts in months.items():
    hour = gw.Explainer(model, counts).partial_dependence("hour")
    rows.append({"month": month, "at 7:00": hour(7), "at 20:00": hour(20)})
by_month = pd.DataFrame(rows, dtype=float).set_index("month")
by_month["predicted, all hours"] = pd.Series(probability).groupby(flights["month"]).mean()
by_month["observed, all hours"] = arrival.eq("late").groupby(flights["month"]).mean()
by_month.plot(style=["o-", "s-", "k--", "k:"], ylabel="probability of being late", xticks=range(1, 13), ylim=(0, 0.65))
plt.show()
lake.cleanup()
ratio = by_month["at 20:00"] / by_month["at 7:00"]
print(f"at 20:00 / at 7:00: from {ratio.min():.1f} to {ratio.max():.1f}")
print(gw.Explainer(model, year).importance().to_frame().round(3).to_string(index=False))

# %%
# What to do with it
# ------------------
# - The hour of departure matters most, and it is something that a passenger can choose: according to the model, an
#   evening flight is late two to four times as often as a morning flight, and the difference is largest in July.
# - The weather explains only a part of the seasons: the observed shares vary much more than the predicted ones. The
#   model lacks a feature that knows about them, such as the month.
# - Keep the counts, not the rows: a month takes kilobytes, and any period is a sum.
