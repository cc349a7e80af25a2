"""
Reason codes for every customer, on Spark
=========================================

A lender that turns an applicant down has to say why: the main reasons, for each applicant, from the model that decided.
With millions of customers in a table of Spark, the reasons are computed where the rows are, and become a table again.
Here this is done with a small table and Spark on this machine; on a cluster the lines are the same.
"""

# %%
# A model, and a table of customers
# ---------------------------------
# The generator of :ref:`another page <sphx_glr_gallery_plot_credit_monotone.py>`, shortened. The model is trained on a
# sample in memory; the customers are a table of Spark.

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
settings = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()

rng = np.random.default_rng(0)
n = 20_000
customers = pd.DataFrame(
    {
        "customer": np.arange(n),
        "income": rng.lognormal(10.5, 0.5, n).round(-2),
        "utilization": (1.3 * rng.beta(1.2, 2.5, n)).round(3),
        "debt_ratio": rng.gamma(2, 0.15, n).round(3),
        "months_on_book": rng.integers(0, 240, n),
        "late_payments": rng.poisson(0.5, n),
    }
)
features = customers.columns[1:]
log_odds = (
    -3
    + 1.6 * customers["utilization"]
    + 0.55 * customers["late_payments"]
    + 1.5 * customers["debt_ratio"]
    - 0.5 * np.log(customers["income"] / 40_000)
    - 0.004 * customers["months_on_book"]
)
defaulted = rng.random(n) < 1 / (1 + np.exp(-log_odds))
status = np.where(defaulted, "defaulted", "current")
model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
model.fit(customers[features], status)

lake = tempfile.TemporaryDirectory()
customers.to_parquet(f"{lake.name}/customers.parquet")
table = spark.read.parquet(f"{lake.name}/customers.parquet")

# %%
# Three reasons for each customer
# -------------------------------
# ``shap_values`` of a table of Spark computes nothing yet. ``keep`` passes the customer's number on, ``top_per_row``
# keeps the three features that move the score most, and ``to_spark`` makes a table of Spark of it, which can be
# written, joined or queried like any other.

ex = gw.Explainer(model, customers[features])
values = ex.shap_values(table, keep=["customer"], output="defaulted")
reasons = values.top_per_row(3).to_spark()
reasons.limit(3).toArrow().to_pandas()

# %%
# Positive values raise the log-odds of a default. A letter names only these, so we keep them, with SQL of Spark:

each = F.explode(F.arrays_zip("features", "values")).alias("reason")
codes = reasons.select("customer", each)
codes = codes.select("customer", "reason.features", "reason.values").where("values > 0")
main = F.max_by("features", "values").alias("main_reason")
counted = codes.groupBy("customer").agg(main).groupBy("main_reason").count()
counted = counted.orderBy(F.desc("count")).toArrow().to_pandas()
counted

# %%

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(counted["main_reason"], counted["count"])
ax.invert_yaxis()
ax.set_xlabel("customers whose main reason it is")
plt.show()

# %%
# The bits of a table in memory
# -----------------------------
# Workers compute what this process would compute. The values of all customers, from Spark and from memory:

everywhere = values.to_spark().orderBy("customer").toArrow().to_pandas()
here = ex.shap_values(customers[features], output="defaulted")
print(f"the same bits: {(everywhere[features].to_numpy() == here.values).all()}")

# %%
# What to do with it
# ------------------
# Write the reasons next to the decisions when they are made (``reasons.write.saveAsTable("reason_codes")``), and keep
# the :class:`~glasswood.Background` that they refer to: a reason is relative to it. Without a cluster,
# ``values.to_parquet(folder)`` writes files, and resumes where an interrupted call stopped. Check that reasons are of
# features that an applicant understands, and that a letter does not name one that the law forbids.

spark.stop()
lake.cleanup()
