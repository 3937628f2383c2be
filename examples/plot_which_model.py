"""
Six kinds of hidden structure
=============================

What tables of each kind look like. Every picture is a simulated table, rows sorted by what is hidden, and beside it the
hidden part itself. :doc:`/which_model` says which model goes with which.
"""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(3)
n, d = 60, 30
column = np.arange(d)


def drawn(chances):
    """Return bits with these probabilities."""
    return rng.random(chances.shape) < chances


def logistic(a):
    """Return 1 / (1 + exp(-a))."""
    return 1 / (1 + np.exp(-a))


# %%
# No structure: every column has its own share of ones.

tables = {"none\nIndependentColumns": (drawn(np.tile(np.linspace(0.1, 0.9, d), (n, 1))), None)}

# %%
# One hidden class for each row.

kind = np.sort(rng.integers(0, 3, n))
profiles = np.where(rng.random((3, d)) < 0.5, 0.9, 0.1)
tables["one class a row\nLatentClassAnalysis"] = (drawn(profiles[kind]), np.eye(3)[kind])

# %%
# A place in a few continuous dimensions (here one): columns switch one after the other.

place = np.sort(rng.normal(size=n))
slope, offset = 4.0, np.linspace(-6, 6, d)
tables["a place\nLogisticPCA, ClippedPCA"] = (drawn(logistic(slope * place[:, None] - offset)), place[:, None])

# %%
# Several influences at once, which push bits up and down.

on = rng.random((n, 3)) < 0.5
on = on[np.lexsort(on.T)]
weights = 3.0 * np.array([np.cos(column / 5), np.where(column < 15, 1.0, -1.0), np.sin(column / 2.5)])
tables["influences up and down\nCombinationMachine"] = (drawn(logistic(on @ weights - 0.8)), on)

# %%
# Several causes, any of which can switch a bit on; none can switch it off.

causes = rng.random((n, 4)) < 0.35
causes = causes[np.lexsort(causes.T)]
strengths = np.array([(np.abs(column - middle) < 4) * 0.95 for middle in (3, 10, 17, 25)])
tables["any cause is enough\nNoisyOrNetwork"] = (drawn(1 - np.exp(causes @ np.log1p(-strengths)) * 0.98), causes)

# %%
# Causes that add up to real numbers.

fields = np.array(
    [np.exp(-(((column - middle) / 3) ** 2)) * sign for middle, sign in ((5, 2), (13, -2), (20, 2), (26, 1))]
)
tables["sums of causes, real numbers\nBinarySparseCoding"] = (causes @ fields + rng.normal(0, 0.15, (n, d)), causes)

# %%
# Black is 1 (in the last picture: large); the narrow strip at the left is what is hidden.

figure = plt.figure(figsize=(10, 7.2), layout="constrained")
parts = figure.subplots(2, 6, width_ratios=[1, 8, 1, 8, 1, 8])
for number, (title, (X, hidden)) in enumerate(tables.items()):
    strip, ax = parts[number // 3, 2 * (number % 3) : 2 * (number % 3) + 2]
    ax.imshow(X, aspect="auto", cmap="Greys", interpolation="nearest")
    ax.set_title(title, fontsize=10)
    if hidden is None:
        strip.set_visible(False)
    else:
        strip.imshow(hidden, aspect="auto", cmap="viridis", interpolation="nearest")
        strip.set_title("hidden", fontsize=7)
    for each in (strip, ax):
        each.set(xticks=[], yticks=[])
