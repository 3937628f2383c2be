"""
Votes: parties found without being told
=======================================

435 members of the House of Representatives of the United States, 16 votes of 1984, blanks where somebody took no
position. The table is real and comes along with the package. Members' parties are not part of what the models see.
"""

import numpy as np

from hiddenbits import LatentClassAnalysis, LogisticPCA, diagnostics, open_table, plots
from hiddenbits.datasets import load_votes

votes = load_votes()
house = open_table(votes.X, names=votes.names)
print(f"{house.shape[0]} members, {house.shape[1]} votes, {np.isnan(votes.X).mean():.1%} of the cells blank")

# %%
# Two kinds of members
# --------------------
# :class:`hiddenbits.LatentClassAnalysis` with two classes: how often each voted yes.

kinds = LatentClassAnalysis(2, random_state=0).fit(house)
ax = plots.profiles(kinds, house)

# %%
# The classes next to the parties:

found = kinds.predict(house)
for party in ("democrat", "republican"):
    print(f"{party:10s}", np.bincount(found[votes.party == party], minlength=2))

# %%
# A map
# -----
# :class:`hiddenbits.LogisticPCA`: members lie on a continuum rather than in two classes. Arrows lead to where a yes is
# more likely.

model = LogisticPCA(2, random_state=0).fit(house)
ax = plots.map(model, house, color=votes.party, arrows=6)

# %%
# What two classes do not explain
# -------------------------------
# Pairs of votes that were both yes more or less often than the two classes expect. Party is most of it, not all.

ax = plots.residual_pairs(kinds, house, most=10)

# %%
# The same as a table:

print(diagnostics.residual_pairs(kinds, house, n_pairs=3))
