"""
Sites of species: gradients, and species that avoid each other
==============================================================

300 sites and 30 species: 1 where a species was found, blank where nobody looked for it. The table is *simulated*: how
likely a species is depends on the height and the wetness of a site, which the fit does not see, and two species exclude
each other. Ecologists call such a model a joint species distribution model.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import LogisticPCA, diagnostics, evaluate, open_table, plots

rng = np.random.default_rng(0)
n_sites, n_species = 300, 30
height, wetness = rng.normal(size=(2, n_sites))
likes = rng.normal(0, 1.3, (2, n_species))
X = (rng.random((n_sites, n_species)) < 1 / (1 + np.exp(0.8 - np.column_stack([height, wetness]) @ likes))).astype(
    float
)
X[:, 1] = rng.random(n_sites) < np.where(X[:, 0] == 1, 0.05, 0.6)  # species 2 only where species 1 is not
X[rng.random(X.shape) < 0.08] = np.nan
names = [f"species {j + 1}" for j in range(n_species)]
sites = open_table(X, names=names)
print(f"{n_sites} sites, {n_species} species, {np.nanmean(X):.0%} present, {np.isnan(X).mean():.0%} not looked for")

# %%
# How many gradients?
# -------------------
# Hide a tenth of the cells and predict them: nats a cell, smaller is better.

for q in (1, 2, 3):
    print(f"{q} dimensions: {evaluate.held_out_cells(LogisticPCA(q, random_state=0), sites)}")

# %%
# The map of the sites
# --------------------
# Two dimensions, colored by height. A map may be turned in any way: its axes are not height and wetness, but some
# direction of it is.

model = LogisticPCA(2, random_state=0).fit(sites)
ax = plots.map(model, sites, color=height, arrows=4)

# %%
# How much of each gradient the map has: predict it linearly from the two coordinates.

place = np.column_stack([model.transform(sites), np.ones(n_sites)])
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, true, name in zip(axes, (height, wetness), ("height", "wetness"), strict=True):
    guess = place @ np.linalg.lstsq(place, true)[0]
    ax.axline((0, 0), slope=1, color="#8c8c8c", linewidth=1)
    ax.plot(true, guess, "o", color="#0072B2", markersize=3, alpha=0.6)
    ax.set(xlabel=f"true {name}", ylabel="from the map", title=f"correlation {np.corrcoef(true, guess)[0, 1]:.2f}")

# %%
# Species that avoid each other
# -----------------------------
# Two species may be apart because they like different sites, or because one displaces the other. The map takes care of
# the first; pairs that are found together less often than the map expects are candidates for the second.

ax = plots.residual_pairs(model, sites, most=8)

# %%
# The first of them is the pair that was planted.

print(diagnostics.residual_pairs(model, sites, n_pairs=1))
