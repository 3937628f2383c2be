"""
News words: which words go together
===================================

16,242 postings to newsgroups and 100 words: 1 where the word occurs. Nearly all cells are zeros. A
:class:`hiddenbits.LatentClassAnalysis` sorts the postings into kinds, :func:`hiddenbits.tetrachoric` finds the pairs of
words that are used together. Neither sees the name of a group.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import LatentClassAnalysis, tetrachoric
from hiddenbits.datasets import data_folder, simulate_mixture
from hiddenbits.exceptions import DegeneratePairsWarning

try:
    with np.load(data_folder() / "tables" / "news100.npz", allow_pickle=False) as file:
        X, words = file["X"], file["words"].astype(str)
        group = file["group_names"].astype(str)[file["group"].astype(int) - 1]
except FileNotFoundError as missing:
    print(f"{missing} Instead: a simulated table of 40 words.")
    drawn = simulate_mixture(4000, 40, 4, random_state=0)
    X, words, group = drawn.X, np.array([f"w{j}" for j in range(40)]), np.array(["?"] * 4000)

print(f"{X.shape[0]:,} postings, {X.shape[1]} words, {X.mean():.1%} ones")

# %%
# Kinds of postings
# -----------------
# Six classes. The words of a class are those that are more frequent in it than elsewhere, by the ratio of odds. The
# largest class is what is left: short postings with hardly any of the hundred words.

model = LatentClassAnalysis(6, n_init=2, random_state=0).fit(X)
logit = np.log(model.probabilities_ / (1 - model.probabilities_))
everywhere = X.mean(axis=0)
lift = logit - np.log(everywhere / (1 - everywhere))
first = [np.argsort(-lift[k] * (model.probabilities_[k] > 0.03))[:7] for k in range(6)]
for k, share in enumerate(model.weights_):
    print(f"{share:5.1%}  {', '.join(words[first[k]])}")

# %%
# The same as a picture: P(word) in every class.

shown = np.array(list(dict.fromkeys(np.concatenate([chosen[:6] for chosen in first]))))
figure, ax = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
image = ax.imshow(model.probabilities_[:, shown], aspect="auto", cmap="viridis", vmin=0)
ax.set_xticks(range(len(shown)), words[shown], rotation=90, fontsize=8)
ax.set_yticks(range(6), [f"class {k + 1}" for k in range(6)])
figure.colorbar(image, ax=ax, label="P(word)")

# %%
# The four kinds of groups, which the model has not seen, by most probable class (shares of each group):

likely = model.predict(X)
for name in np.unique(group):
    share = np.bincount(likely[group == name], minlength=6) / (group == name).sum()
    print(f"{name:8s}", "  ".join(f"{s:4.0%}" for s in share))

# %%
# Pairs of words
# --------------
# A tetrachoric correlation takes each word for a hidden normal variable above a threshold: unlike the plain correlation
# it does not shrink when words are rare. Some pairs never occur together, which the function says; here we know.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DegeneratePairsWarning)
    found = tetrachoric(X)
upper = np.triu(found.correlation, 1) / np.where(found.standard_error > 0, found.standard_error, np.inf)
for place in np.argsort(-upper, axis=None)[:8]:
    i, j = np.unravel_index(place, upper.shape)
    print(f"{words[i]} & {words[j]}: {found.correlation[i, j]:.2f} ± {found.standard_error[i, j]:.2f}")
