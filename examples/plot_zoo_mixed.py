"""
Zoo: yes/no columns and a number of legs
========================================

101 animals: fifteen yes/no columns, and legs, of which an animal has 0, 2, 4, 5, 6 or 8.
:class:`hiddenbits.LogisticPCA` takes tables of several kinds of columns; here legs are *ordered*: more is more, but a
spider is not twice a cat.
"""

import numpy as np

from hiddenbits import LogisticPCA, plots
from hiddenbits.datasets import load_zoo

zoo = load_zoo()
X, legs, kind, names = zoo.X, zoo.legs, zoo.type, zoo.names

# %%
# Columns and their kinds
# -----------------------
# A table with the names of its columns would do as well, as a pandas or polars frame, a CSV or a Parquet file; types
# then say what a column is, and ``kinds=`` has the last word. Here the columns are given one by one.

rows = np.column_stack([X, legs]).astype(float)
kinds = ["binary"] * X.shape[1] + ["ordered"]
model = LogisticPCA(2, kinds=kinds, random_state=0).fit(rows)
print(model.stop_reason_, "after", model.n_iter_, "passes")

# %%
# The map
# -------
# Equal animals share a mark, whose area is their number. Lines are drawn where a yes becomes more likely than a no, and
# the name stands on the side of the yes.

ax = plots.map(model, rows, colour=kind, lines=8, names=[*names, *(f"legs>{k}" for k in np.unique(legs)[:-1])])

# %%
# An animal whose legs were not counted
# -------------------------------------
# Take the legs of every fifth animal away, fit again, and ask for them.

blanked = rows.copy()
blanked[::5, -1] = np.nan
guess = LogisticPCA(2, kinds=kinds, random_state=0).fit(blanked).complete(blanked)[::5, -1]
print(f"right for {np.mean(guess == legs[::5]):.0%} of {len(guess)} animals")
