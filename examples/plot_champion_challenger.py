"""
Champion against challenger: what would change?
===============================================

A new model is as good as the old one, or slightly better. What would change for the people it scores? Overall
accuracy does not say. :func:`glasswood.compare` puts the curves of both models on common cells, ranks features by
how differently the models use them, and shows where.

The data are a sample of 30,000 rows of `Adult <https://doi.org/10.24432/C5XW20>`_ (Becker and Kohavi, 1996, CC BY 4.0):
the US census of 1994. The task is to predict whether a person earns more than $50,000 a year.
"""

# %%
# Two models of two libraries
# ---------------------------
# The champion is a random forest, the challenger a boosted model of LightGBM. Both use the same six numeric columns.

from pathlib import Path

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import glasswood as gw

folder = Path(__file__).parent if "__file__" in globals() else Path()  # a notebook runs beside the folder data
people = pd.read_parquet(folder / "data" / "adult_census.parquet")
X = people[["age", "education-num", "hours-per-week", "capital-gain", "capital-loss"]]
X = X.assign(married=people["marital-status"].eq("Married-civ-spouse").astype(int))
X_train, X_test, y_train, y_test = train_test_split(X, people["income"], test_size=7_500, random_state=0)
models = {
    "champion": RandomForestClassifier(60, max_leaf_nodes=100, random_state=0),
    "challenger": lightgbm.LGBMClassifier(num_leaves=15, n_jobs=1, verbose=-1),
}
probability = {}
for name, model in models.items():
    probability[name] = model.fit(X_train, y_train).predict_proba(X_test)
    auc = roc_auc_score(y_test, probability[name][:, 1])
    print(f"{name}: AUC {auc:.3f}, log loss {log_loss(y_test, probability[name]):.3f}")

# %%
# The challenger is a little better. How different are the two for single people?

change = probability["challenger"][:, 1] - probability["champion"][:, 1]
print(f"mean absolute change of the probability: {np.abs(change).mean():.3f}")
print(f"people whose probability changes by more than 0.2: {np.mean(np.abs(change) > 0.2):.1%}")

# %%
# Where do they differ?
# ---------------------
# ``difference`` is the mean distance of the two centred curves over the test rows, and ``largest`` the largest one
# anywhere. ``shift`` is zero because both models see the same rows.

explainers = {name: gw.Explainer(model, X_test) for name, model in models.items()}
comparison = gw.compare(explainers)
comparison.to_frame().round(4)

# %%

comparison.plot(figsize=(11, 6.5))
plt.show()

# %%
# On age, education, hours and marriage the models agree wherever there are many rows. They differ at high ages, where
# rows are few, and on capital gains and losses. Most people have neither; those who have are between 2,000 and 8,000
# dollars, too narrow for the axis above. On the common cells of the comparison, we can zoom in:

curves = comparison.curves("capital-gain")
figure, ax = plt.subplots(figsize=(9, 3.5), layout="constrained")
for (name, curve), style in zip(curves.items(), ("-", "--"), strict=True):
    ax.stairs(curve.values, [curve.ends[0], *curve.cuts, curve.ends[1]], baseline=None, linestyle=style, label=name)
ax.set(xlim=(0, 10_000), xlabel="capital-gain", ylabel="average probability of >50K")
ax.legend()
plt.show()

# %%
# The challenger has sharper steps, up and down. Is this signal or noise? The people concerned decide:

moved = np.abs(change) > 0.2
print(f"{moved.sum()} people move by more than 0.2; with a capital gain or loss: ", end="")
print(f"{(X_test.loc[moved, ['capital-gain', 'capital-loss']] > 0).any(axis=1).mean():.0%} (all: ", end="")
print(f"{(X_test[['capital-gain', 'capital-loss']] > 0).any(axis=1).mean():.0%})")
losses = pd.DataFrame(
    {
        name: {"all people": log_loss(y_test, found), "those who move": log_loss(y_test[moved], found[moved])}
        for name, found in probability.items()
    }
)
gain = losses["champion"] - losses["challenger"]
print(losses.round(3))
print(f"their share of the improvement: {gain['those who move'] * moved.mean() / gain['all people']:.0%}")

# %%
# It is signal: for these people, the challenger is much better, and they account for a large part of its improvement.
# But it comes at a price:

for name, explainer in explainers.items():
    found = explainer.monotonicity("capital-gain", "capital-loss")
    print(name, dict(zip(found.names, found.against.ravel().round(2).tolist(), strict=True)))

# %%
# These are the largest steps against the main direction. With the challenger, a slightly higher capital gain can lower
# the probability by 0.4, several times as much as with the champion.
#
# What to do with it
# ------------------
# - For most people little changes. The large changes concern one person in sixty, and almost all of them have capital
#   gains or losses.
# - There, the challenger is better because it follows the amounts more closely, up and down. If someone has to justify
#   these decisions, fit it again with monotone constraints on the two columns, and compare once more.
# - Nobody should rely on either model above the age of 75: they disagree there, and there are hardly any rows.
