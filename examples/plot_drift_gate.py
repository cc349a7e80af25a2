"""
A drift gate: stop when the rows change
=======================================

A model that is in use meets rows that it was not trained on. A *gate* is a step of a nightly job that compares the new
rows with a reference, by numbers and limits, and stops the job if a limit is exceeded. Here we set up such a gate for a
model of bike rentals, find out which reference and which limits make sense, plant an error, and run the gate as a
command.

The data are the 17,379 hours of the `Bike Sharing Dataset <https://doi.org/10.24432/C5W894>`_ (Fanaee-T and Gama, 2013,
CC BY 4.0): rentals of Capital Bikeshare in Washington, D.C., in 2011 and 2012.
"""

# %%
# A model of 2011, and the months of 2012
# ---------------------------------------
# The model is trained on 2011. All that the gate keeps of the rows are counts: one small
# :class:`~glasswood.Background` for each month. ``response="raw"`` adds the spread of the scores, which is the unit of
# some measures.

import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import matplotlib.pyplot as plt
import pandas as pd

import glasswood as gw

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook runs beside the folder data
hours = pd.read_parquet(folder / "data" / "bike_sharing.parquet")
X = pd.DataFrame(
    {
        "hour": hours["hr"],
        "working_day": hours["workingday"],
        "temperature": 47 * hours["temp"] - 8,
        "humidity": 100 * hours["hum"],
        "wind": 67 * hours["windspeed"],
        "weather": hours["weathersit"],
    }
)
year, month, rentals = 2011 + hours["yr"], hours["mnth"], hours["cnt"]
trained = year == 2011
model = lightgbm.LGBMRegressor(num_leaves=15, n_jobs=1, verbose=-1).fit(X[trained], rentals[trained])
counts = gw.summarize(model, X.assign(year=year, month=month), by=["year", "month"], response="raw")
counts[2012, 7]

# %%
# The first try: all of 2011 as the reference
# -------------------------------------------
# Counts add up, so 2011 is the sum of its months. With a reference and no limits, :func:`glasswood.compare` takes
# common limits for all measures.

whole = counts[2011, 1]
for k in range(2, 13):
    whole = whole + counts[2011, k]
explainers = {"2011": gw.Explainer(model, whole)}
explainers |= {f"2012-{k:02}": gw.Explainer(model, counts[2012, k]) for k in range(1, 13)}
drift = gw.compare(explainers, reference="2011")
drift.violations

# %%
# Every month breaks a limit. The figure shows why: filled marks are beyond the dashed limit.

drift.measures.plot(["psi", "difference", "level", "ndcg"])
plt.show()
months = pd.Series([one.name for one in drift.violations]).nunique()
print(f"{months} of 12 months break a limit")

# %%
# These are the seasons. A month has temperatures of its own, so its distribution (``psi``) always differs from that of
# a year; in summer the model predicts more (``level``), and more so at some hours than at others (the ``difference``
# of the curve of the hour). A gate that stops every month is soon switched off.
#
# A better reference: the same season a year ago
# ----------------------------------------------
# Each quarter of 2012 is compared with the same quarter of 2011. Limits that are known to be too strict for one feature
# are set for that feature alone.


def quarter(year, number):
    """Return an Explainer for the rows of a quarter."""
    first, second, third = (counts[year, 3 * number - k] for k in (2, 1, 0))
    return gw.Explainer(model, first + second + third)


rules = ["psi > 0.2", "temperature: psi > 0.3", "humidity: psi > 0.3", "level > 0.2", "ndcg < 0.9", "missing > 0.02"]
for number in range(1, 5):
    found = gw.compare({"2011": quarter(2011, number), "2012": quarter(2012, number)}, limits=rules)
    print(f"quarter {number}: {found.violations}")

# %%
# Three quarters pass. The first one does not, and it should not: the winter of 2012 was much warmer than that of 2011.
# The model has seen such temperatures, but not that many of them in winter.
#
# The value by chance that is printed beside ``psi`` is its mean if rows were independent draws from one distribution.
# Here they are not: the hours of a day have almost the same weather, so a quarter is rather 90 rows than 2,200. This is
# why weather gets wider limits than the working days, and why single months would raise false alarms.
#
# An error that should stop the job
# ---------------------------------
# In the fourth quarter of 2012, wind arrives in miles per hour instead of kilometres per hour, and 4 % of the humidity
# values are missing. Nothing fails: the model predicts as usual.

latest = X[(year == 2012) & (month > 9)]
broken = latest.assign(wind=latest["wind"] / 1.609, humidity=latest["humidity"].mask(latest.index % 25 == 0))
change = model.predict(broken).mean() / model.predict(latest).mean() - 1
print(f"the mean prediction changes by {change:+.1%}")
found = gw.compare({"2011": quarter(2011, 4), "2012": gw.Explainer(model, broken)}, limits=rules)
found.violations.to_frame()[["measure", "feature", "value", "limit", "chance"]].round(3)

# %%
# The level of the predictions hardly moves, but the gate names both columns.
#
# The same in CI
# --------------
# On the command line, the gate needs the model, the counts and a file of rules. Its exit code is 0 if all limits are
# kept, 1 if one is exceeded, and 2 if something could not be judged, so ``set -e`` in a script, or a step of a
# pipeline, is all that it takes.

work = tempfile.TemporaryDirectory()
model.booster_.save_model(f"{work.name}/model.txt")
Path(work.name, "gate.rules").write_text("# limits of the bike model\n" + "\n".join(rules) + "\n")
then = sum((counts[2011, k] for k in (11, 12)), counts[2011, 10])
then.save(f"{work.name}/2011.gw")
gw.summarize(model, latest, response="raw").save(f"{work.name}/right.gw")
gw.summarize(model, broken, response="raw").save(f"{work.name}/wrong.gw")

for rows in ("right", "wrong", "nowhere"):
    command = f"glasswood compare model.txt --background 2011=2011.gw --background 2012={rows}.gw --rules gate.rules"
    print(f"$ {command} --top 3")
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--top", "3"],
        cwd=work.name,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{done.stdout}{done.stderr}exit code {done.returncode}\n")
work.cleanup()

# %%
# What only the target tells
# --------------------------
# All measures so far are about rows and predictions. Whether the predictions are still right, only the target can tell:
# ``observed`` is the distance of actual/expected from 1.

years = {"2011": trained, "2012": ~trained}
known = {name: gw.Explainer(model, X[rows], target=rentals[rows]) for name, rows in years.items()}
gw.compare(known, limits={"observed": 0.05}).violations

# %%
# What to do with it
# ------------------
# - Choose the reference before the limits. Against all of 2011, every month of 2012 raises an alarm; against the same
#   season a year ago, one quarter of four does, and for a reason.
# - Keep counts of each period (``summarize``, some kilobytes): every later comparison, with any reference, needs them
#   only.
# - Compare ``psi`` with its value by chance, and remember that this assumes independent rows. Give a column that is
#   known to vary a limit of its own instead of raising the limit for all.
# - A gate finds wrong units, missing values and new categories in a night. It does not find that bikes became more
#   popular: in 2012 the model predicts a third too few rentals, and no input says so. Pass the target as soon as it is
#   known, and judge ``observed``, too.
