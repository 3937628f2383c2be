"""
The coffee shop: several groups at once
=======================================

Who sits in a coffee shop on a Sunday? Freund and Haussler (1994) begin with this question. Fred comes with his family,
golfers with golfers, and where Bill is, Brenda, his ex-wife, is not. *Several* groups may be there at the same time:
a mixture, in which a Sunday is of one kind, would need a kind for every combination. A
:class:`hiddenbits.CombinationMachine` needs one hidden unit a group. The Sundays here are simulated.
"""

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import CombinationMachine, IndependentColumns, LatentClassAnalysis, evaluate

people = ["Fred", "his wife", "his daughter", "Ann", "Bob", "Carl", "Dora", "Eve", "Bill", "Brenda"]
groups = {
    "family": [3, 3, 3, 0, 0, 0, 0, 0, 0, 0],
    "golf club": [1, 0, 0, 3, 3, 3, 0, 0, 0, 0],
    "chess": [0, 0, 0, 0, 0, 2, 3, 3, 0, 0],
    "Bill's Sundays": [0, 0, 0, 0, 0, 0, 0, 0, 4, -3],
}
rng = np.random.default_rng(0)
there = rng.random((4000, len(groups))) < [0.3, 0.25, 0.35, 0.5]
log_odds = there @ np.array(list(groups.values()), float) + [-2, -2, -2, -2, -2, -2, -2, -2, -2, 1]
sundays = (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(int)
train, test = sundays[:2000], sundays[2000:]

# %%
# The groups are found
# --------------------
# Only who was there is given to the machine: neither the groups nor their number, which held-out Sundays choose. A unit
# that is on adds twice its weight to a person's log-odds. A group may come out the other way round, as a unit that
# is on while it is *away*, which is the same machine: here unit 1 stands for the Sundays on which Bill stays at home.

machine = evaluate.select(CombinationMachine(random_state=0), train, [2, 3, 4, 5, 6], progress=False).estimator
mixture = LatentClassAnalysis(len(machine.weights_) + 1, random_state=0).fit(train)
print(f"{len(machine.weights_)} units; nats a Sunday, on new Sundays:")
for model in (IndependentColumns().fit(train), mixture, machine):
    print(f"  {type(model).__name__:20} {model.score(test):.3f}   ({model.n_parameters_} parameters)")

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained", sharey=True)
for ax, effects, names, title in (
    (axes[0], np.array(list(groups.values()), float), list(groups), "the groups that made the Sundays"),
    (axes[1], 2 * machine.weights_, [f"unit {k + 1}" for k in range(len(machine.weights_))], "the units found"),
):
    image = ax.imshow(effects.T, cmap="RdBu_r", vmin=-4, vmax=4, aspect="auto")
    ax.set_xticks(range(len(names)), names, rotation=20, ha="right")
    ax.set_yticks(range(len(people)), people)
    ax.set_title(title, fontsize=10)
fig.colorbar(image, ax=axes, label="change of log-odds")
plt.show()

# %%
# What do we learn from those we have seen?
# -----------------------------------------
# Fred's wife and daughter are there: is Fred? Two golfers are there: is Bob? Bill is there: is Brenda?

for seen, asked in ((["his wife", "his daughter"], "Fred"), (["Ann", "Carl"], "Bob"), (["Bill"], "Brenda")):
    row = np.full((1, len(people)), np.nan)
    row[0, [people.index(name) for name in seen]] = 1
    before, after = (machine.complete(r)[0, people.index(asked)] for r in (np.full_like(row, np.nan), row))
    print(f"P({asked}) = {before:.2f}; with {' and '.join(seen)} there {after:.2f}")
