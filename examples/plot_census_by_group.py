"""
Census income by group: where does a difference come from?
==========================================================

A model that has never seen a person's sex can still treat men and women differently, because other columns stand in
for it. Here we look for these columns: with curves by group (``by=``), and with :func:`glasswood.compare`, which says
how the curves of two groups differ and how the rows do.

The data are a sample of 30,000 rows of `Adult <https://doi.org/10.24432/C5XW20>`_ (Becker and Kohavi, 1996, CC BY 4.0):
the US census of 1994. The task is to predict whether a person earns more than $50,000 a year.
"""

# %%
# A model without the column
# --------------------------
# Neither ``sex`` nor ``race`` is a feature. All questions are asked about 7,500 people that the model has not seen.

from pathlib import Path

import lightgbm
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import glasswood as gw

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook runs beside the folder data
people = pd.read_parquet(folder / "data" / "adult_census.parquet")
rich = people["income"] == ">50K"
train, test = train_test_split(people.index, test_size=7_500, random_state=0)


def fit(*without):
    """Return a model of all columns but some, its predictions, and their quality on the test rows."""
    columns = people.columns.drop(["income", "race", "sex", *without])
    model = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(people.loc[train, columns], people.loc[train, "income"])
    probability = pd.Series(model.predict_proba(people.loc[test, columns])[:, 1], index=test)
    return model, probability, roc_auc_score(rich[test], probability)


model, probability, auc = fit()
sex = people.loc[test, "sex"]
print(f"AUC: {auc:.3f}")
print(pd.DataFrame({"predicted": probability, "observed": rich[test]}).groupby(sex, observed=True).mean().round(3))

# %%
# The mean predicted probability of men is 2.7 times that of women. The model reproduces what was observed in 1994,
# without knowing the sex of anyone.
#
# Curves by group
# ---------------
# The table may have more columns than the model uses, so we can group by one that it has never seen.

ex = gw.Explainer(model, people.loc[test])
names = ["age", "education-num", "hours-per-week", "occupation"]
ex.partial_dependence(names, by="sex").plot(figsize=(11, 7))
plt.show()

# %%
# The curves of men are higher everywhere, and steeper. Each curve averages over the group's own rows: at 40 hours
# a week, everything else about the men in the table stays as it is, and their other columns raise the prediction.
#
# A part of the steepness is due to the scale: the same step in log-odds is a larger step in probability if one starts
# at 0.3 than at 0.1. On the raw scale, where trees add up, this effect is absent.

groups = dict(list(people.loc[test].groupby("sex", observed=True)))
by_sex = gw.compare({name: gw.Explainer(model, rows, response="raw") for name, rows in groups.items()})
importance = ex.importance(kind="main", response="raw").to_frame()
table = by_sex.to_frame().merge(importance.rename(columns={"value": "importance"}), on="feature")
table[["feature", "importance", "difference", "shift"]].round(3)

# %%
# ``difference`` is the mean distance between the two centred curves, in log-odds. Compared with the importance (the
# standard deviation of the curve of all rows), it is below a third for all features but ``workclass``, which hardly
# matters. So the rules for the two groups are much alike.
#
# ``shift`` says how differently the rows of the two groups are distributed (the population stability index). By
# convention, 0.1 is small and 0.25 is large; ``relationship`` is far beyond.

relationship = ex.partial_dependence("relationship")
relationship.plot(figsize=(7, 3.5))
plt.show()
print(pd.crosstab(people.loc[test, "relationship"], sex, normalize="columns").round(2))

# %%
# All husbands are men and all wives are women. Husbands and wives get a high prediction, but six in ten men in the
# table are husbands, and one in seven women is a wife.
#
# Does leaving out the column help?
# ---------------------------------

gaps = []
for without in [(), ("relationship",), ("relationship", "marital-status")]:
    _, probability, auc = fit(*without)
    means = probability.groupby(sex, observed=True).mean()
    gaps.append({"left out": ", ".join(without) or "nothing", "gap": means["Male"] - means["Female"], "AUC": auc})
pd.DataFrame(gaps).round(3)

# %%
# What to do with it
# ------------------
# - The sex of a person is not a feature, and leaving out ``relationship``, which gives it away, does not narrow the gap
#   either: ``marital-status`` takes over.
# - Leaving out both narrows the gap and costs accuracy. Whether this is a good trade is not for the model to decide,
#   but the numbers to decide on are these.
# - Compare groups on the raw scale if you want to know about rules, and on the probability scale if you want to know
#   about consequences.
# - Partial dependence describes the model, not the world: none of this says why incomes differed in 1994.
