"""
Baskets: reasons for a purchase
===============================

9,835 shopping baskets with 169 kinds of goods: a list of items each, so that whatever is not on a list is 0. In a
:class:`hiddenbits.NoisyOrNetwork` every hidden cause that is on may put each of its goods into the basket, and one
cause is enough: "baking" does not forbid "party".
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import IndependentColumns, LatentClassAnalysis, NoisyOrNetwork, evaluate, open_table
from hiddenbits.datasets import data_folder

try:
    folder = data_folder() / "baskets"
    table = open_table(folder / "groceries.txt.gz")
    goods = np.array((folder / "groceries_items.txt").read_text(encoding="utf-8").split("\n"))
except FileNotFoundError as missing:
    print(f"{missing} Instead: 5,000 simulated baskets.")
    rng = np.random.default_rng(0)
    reasons = np.kron(np.eye(5), np.full((1, 8), 0.35))
    on = rng.random((5000, 5)) < 0.25
    bought = rng.random((5000, 40)) < 1 - 0.97 * np.exp(on @ np.log1p(-reasons))
    file = Path(tempfile.mkdtemp()) / "baskets.dat"
    file.write_text("\n".join(" ".join(map(str, np.flatnonzero(row))) for row in bought if row.any()))
    table, goods = open_table(file), np.array([f"good {j}" for j in range(40)])

print(f"{table.shape[0]:,} baskets, {table.shape[1]} goods")

# %%
# Five reasons
# ------------
# Exact EM: with five causes every row has 32 possible explanations, all of which are looked at. The goods that a cause
# switches on most often, and how often the cause is on:

model = NoisyOrNetwork(5, n_init=1, random_state=0).fit(table)
print(model.stop_reason_, "after", model.n_iter_, "passes")
order = np.argsort(-model.strengths_, axis=1)
for strength, first, often in zip(model.strengths_, order, model.priors_, strict=True):
    print(f"{often:5.1%}  " + ", ".join(f"{goods[j]} {strength[j]:.0%}" for j in first[:5]))

# %%
# As a picture: the strengths of the goods that any cause is strong on.

shown = np.array(list(dict.fromkeys(order[:, :6].ravel())))
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
image = ax.imshow(model.strengths_[:, shown], aspect="auto", cmap="viridis", vmin=0)
ax.set_xticks(range(len(shown)), goods[shown], rotation=60, ha="right", fontsize=8)
ax.set_yticks(range(len(order)), [f"cause {k}" for k in range(len(order))])
figure.colorbar(image, ax=ax, label="P(bought because of it)")

# %%
# Is it a better picture than one kind of customer for each basket?
# -----------------------------------------------------------------
# Bits a cell on the same baskets, fewer is better. The mixture has as many classes as the network has causes.

for contender in (IndependentColumns(), LatentClassAnalysis(5, n_init=2, random_state=0), model):
    fitted = contender if contender is model else contender.fit(table)
    print(f"{type(contender).__name__:18s}", evaluate.bits_per_cell(fitted, table))
