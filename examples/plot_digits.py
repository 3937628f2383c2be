"""
Digits: places on a map, and ways between them
==============================================

Handwritten twos as black and white images: a row has a bit for each pixel. Two models look at them:
:class:`hiddenbits.LogisticPCA`, a map of styles; and :class:`hiddenbits.ClippedPCA`, fitted in one pass, which can walk
from one image to another.
"""

import warnings

import numpy as np
from sklearn.datasets import load_digits

from hiddenbits import ClippedPCA, LogisticPCA, plots
from hiddenbits.datasets import load_usps
from hiddenbits.exceptions import DegeneratePairsWarning

try:
    digits = load_usps()
    X, label, shape = digits.train, digits.train_label, (16, 16)
except FileNotFoundError as missing:
    print(f"{missing} Instead: scikit-learn's digits, 8 x 8 pixels.")
    small = load_digits()
    X, label, shape = (small.data > 7.5).astype(np.uint8), small.target, (8, 8)

twos = X[label == 2]
print(f"{len(twos)} twos of {twos.shape[1]} pixels, {twos.mean():.0%} ink")

# %%
# A map of twos
# -------------
# What P(ink) looks like over the map: the loop at the lower left comes and goes, and the two leans.

model = LogisticPCA(2, refine=False, random_state=0).fit(twos)
ax = plots.images(model, shape, grid=7, span=2.0)

# %%
# Where the twos themselves lie, each at the mean of its posterior:

ax = plots.map(model, twos)

# %%
# From one two to another
# -----------------------
# Ten dimensions of :class:`hiddenbits.ClippedPCA`. On the way every pixel changes at most once; a cross-fade between
# the same images looks like two images at once. Pixels that are never both ink leave a pair without evidence, about
# which the model warns; here it is known.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DegeneratePairsWarning)
    clipped = ClippedPCA(10, random_state=0).fit(twos)
first, last = twos[5], twos[11]
ax = plots.strips({"morph": clipped.morph(first, last, steps=9), "cross-fade": np.linspace(first, last, 9)}, shape)

# %%
# The dimensions as images:

ax = plots.components(clipped, shape)

# %%
# Eigenvalues of the bits, and of the hidden variables behind them. Negative ones (hollow) are what correlations
# estimated pair by pair from a few hundred rows have; they are no evidence against the model.

ax = plots.spectrum(clipped)
