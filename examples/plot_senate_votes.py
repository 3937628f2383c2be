"""
Senate votes: a map of a hundred people
=======================================

The 109th Senate of the United States: 102 senators, 645 votes, a blank wherever somebody did not vote.
:class:`hiddenbits.LogisticPCA` gives every senator a place on a map, and every vote a line across it. It is told
nothing of parties.
"""

import numpy as np

from hiddenbits import IndependentColumns, LogisticPCA, evaluate, plots
from hiddenbits.datasets import load_senate109

try:
    votes = load_senate109()
    X, party, names = votes.X, votes.party, votes.names
except FileNotFoundError as missing:
    print(f"{missing} Instead: 102 simulated members of two parties.")
    rng = np.random.default_rng(0)
    party = np.where(np.arange(102) < 47, "D", "R")
    place = np.where(party == "D", -1.0, 1.0)[:, None] * [1.0, 0.2] + rng.normal(0, [0.3, 0.6], (102, 2))
    X = (rng.random((102, 300)) < 1 / (1 + np.exp(-place @ rng.normal(0, [[2.5], [1.0]], (2, 300))))).astype(float)
    X[rng.random(X.shape) < 0.04] = np.nan
    names = tuple(f"vote {j + 1}" for j in range(300))

print(f"{X.shape[0]} members, {X.shape[1]} votes, {np.isnan(X).mean():.1%} of the cells blank")

# %%
# The map
# -------
# Each mark is a senator at the mean of the posterior, with an ellipse that holds half of it. A hundred rows are few for
# so many columns, so the loadings are held back a little (``ridge=1``).

model = LogisticPCA(2, ridge=1.0, random_state=0).fit(X)
print(model.stop_reason_, "after", model.n_iter_, "passes")
ax = plots.map(model, X, color=party, ellipses=0.5)

# %%
# Is the map worth anything?
# --------------------------
# Hide a tenth of the votes that were cast, fit to the rest, and ask for the hidden ones: the log-loss in nats a cell,
# smaller is better; ± is one standard error.

for contender in (IndependentColumns(), LogisticPCA(2, ridge=1.0, random_state=0)):
    print(f"{type(contender).__name__:16s}", evaluate.held_out_cells(contender, X, share=0.1))

# %%
# What would they have voted?
# ---------------------------
# ``complete`` gives the probability of a yes in every blank cell. The surest of these guesses:

guess = model.complete(X)
blank = np.argwhere(np.isnan(X))
sure = np.argsort(-np.abs(guess[tuple(blank.T)] - 0.5))[:5]
for row, column in blank[sure]:
    print(f"member {row:3d} ({party[row]}), {names[column]}: P(yes) = {guess[row, column]:.3f}")
