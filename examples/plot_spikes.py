"""
Spikes: words of fifteen neurons
================================

In each of 40,000 short windows a neuron fires or is silent: a row of fifteen bits. Do they fire independently, and if
not, what moves them together? A :class:`hiddenbits.CombinationMachine` has hidden units, any number of which may be
active at once. With so few of them its likelihood is exact, and so are the probabilities of all 32,768 possible words.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import CombinationMachine, IndependentColumns, evaluate, plots
from hiddenbits.datasets import data_folder

try:
    with np.load(data_folder() / "tables" / "spikes15.npz", allow_pickle=False) as file:
        X = file["X"]
except FileNotFoundError as missing:
    print(f"{missing} Instead: 20,000 simulated windows, three groups that fire together.")
    rng = np.random.default_rng(0)
    together = np.repeat(rng.random((20_000, 3)) < 0.1, 5, axis=1)
    X = (rng.random((20_000, 15)) < np.where(together, 0.5, 0.06)).astype(np.uint8)

train, test = X[::2], X[1::2]
print(f"{X.shape[0]:,} windows, {X.shape[1]} neurons, {X.mean():.1%} ones")

# %%
# Nats a window on windows that no fit has seen:

models = {"independent": IndependentColumns().fit(train), "six units": CombinationMachine(6, random_state=0).fit(train)}
for name, model in models.items():
    print(f"{name:12s}", evaluate.mean_log_likelihood(model, test))

# %%
# How often does each word occur?
# -------------------------------
# Every dot is one word: how often it occurs in the test windows, and how often the model says it should. Independent
# neurons fail where several fire at once.

words, counts = np.unique(test, axis=0, return_counts=True)
figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    expected = len(test) * np.exp(model.score_samples(words))
    ax.loglog(counts, expected, ".", color="#0072B2", markersize=3, alpha=0.6)
    ax.plot([1, counts.max()], [1, counts.max()], color="#404040", linewidth=1)
    ax.set(title=name, xlabel="windows with the word", ylim=(1e-3, None))
axes[0].set_ylabel("windows expected")

# %%
# What the units do
# -----------------
# Each unit's weights on the fifteen neurons: white raises, black lowers, and the area is the strength.

ax = plots.hinton(models["six units"].weights_, (3, 5), across=3)

# %%
# How the windows lie along each unit's weights; the colored part is where the unit is more likely active than not.

ax = plots.projections(models["six units"], test)
