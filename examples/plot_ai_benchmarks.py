"""
AI benchmarks: models, items, and items that leaked
===================================================

A benchmark of language models is a table of bits: did the model solve the item? Here one is *simulated*, so that the
truth is known: 100 models of different ability, 300 items of different difficulty, a third of the cells never run, and
thirty items whose answers had leaked to some of the models. One dimension of :class:`hiddenbits.LogisticPCA` is an
ability with an interval, as tests of people are scored; a second one finds the leak.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import LogisticPCA, plots

rng = np.random.default_rng(0)
n_models, n_items = 100, 300
ability = np.sort(rng.normal(size=n_models))
ability = (ability - ability.mean()) / ability.std()
slope, offset = rng.uniform(0.6, 2.0, n_items), rng.normal(0.3, 1.3, n_items)
X = (rng.random((n_models, n_items)) < 1 / (1 + np.exp(-(np.outer(ability, slope) + offset)))).astype(float)
leaked, knows = rng.choice(n_items, 30, replace=False), rng.random(n_models) < 0.3
X[np.ix_(knows, leaked)] = 1.0
X[rng.random(X.shape) < 1 / 3] = np.nan
print(f"{n_models} models, {n_items} items, {np.isnan(X).mean():.0%} of the cells never run")

# %%
# Abilities with their intervals
# ------------------------------
# Models were run on different items, so that their shares of solved items do not compare; their places do. Bars are
# two posterior standard deviations. They take the items' curves as known, which with a hundred models they are not
# quite, and they know nothing of leaks: fewer than 95% hold the truth.

model = LogisticPCA(1, random_state=0).fit(X)
means, covariances = model.transform(X, return_cov=True)
mean, sd = means[:, 0], np.sqrt(covariances[:, 0, 0])
mean *= np.sign(np.corrcoef(mean, np.nanmean(X, axis=1))[0, 1])  # which end is "able" is not in the table
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for known, color, mark in ((False, "#0072B2", "o"), (True, "#D55E00", "s")):
    some = knows == known
    name = "saw the leaked answers" if known else "did not"
    ax.errorbar(ability[some], mean[some], 2 * sd[some], fmt=mark, color=color, ms=3, elinewidth=0.8, label=name)
ax.axline((0, 0), slope=1, color="#8c8c8c", linewidth=1)
ax.set(xlabel="true ability", ylabel="place on the map")
ax.legend(frameon=False)
print(f"{np.mean(np.abs(mean - ability) < 2 * sd):.0%} of the true abilities are within two standard deviations")

# %%
# The leak
# --------
# Two dimensions. The second is not ability: it sets those models apart that saw the leaked answers, though the fit was
# not told that there was a leak.

both = LogisticPCA(2, random_state=0).fit(X)
ax = plots.map(both, X, color=np.where(knows, "saw the leaked answers", "did not"))

# %%
# The items with the largest loadings on it are the ones to look at.

suspects = np.argsort(-np.abs(both.components_[1]))[:30]
print(f"{np.isin(suspects, leaked).sum()} of the 30 most suspicious items had leaked")
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
sound = np.setdiff1d(np.arange(n_items), leaked)
ax.plot(*both.components_[:, sound], "o", color="#8c8c8c", markersize=3, label="sound items")
ax.plot(*both.components_[:, leaked], "s", color="#D55E00", markersize=4, label="leaked items")
ax.set(xlabel="loading on dimension 1", ylabel="loading on dimension 2")
ax.legend(frameon=False)
