"""
Every picture
=============

One picture of each function in ``hiddenbits.plots``, on small simulated tables. All of them draw on the axes they
are given (``ax=``) or on new ones, return the axes, and leave showing and saving to you. Colors are those of Okabe and
Ito, which color-blind people can tell apart, and categories differ in their marks as well.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from hiddenbits import (
    BinarySparseCoding,
    ClippedPCA,
    CombinationMachine,
    ItemResponseModel,
    LatentClassAnalysis,
    LogisticPCA,
    NoisyOrNetwork,
    evaluate,
    plots,
)
from hiddenbits.datasets import simulate_bars, simulate_influences, simulate_prototypes
from hiddenbits.exceptions import DegeneratePairsWarning

warnings.simplefilter("ignore", DegeneratePairsWarning)  # small tables; the gallery's digits say more
rows, prototype = simulate_prototypes(random_state=0, flip=0.12)  # 600 noisy copies of three rows of 16 bits
model = LogisticPCA(2, random_state=0).fit(rows)

# %%
# map
# ---
# :func:`hiddenbits.plots.map`: the rows of a table on two dimensions of a model, with the lines P(bit = 1) = 1/2.

ax = plots.map(model, rows, color=np.array(["first", "second", "third"])[prototype], lines=5)

# %%
# posterior
# ---------
# :func:`hiddenbits.plots.posterior`: where one row may lie, and the Gaussian that stands for it.
# (:func:`hiddenbits.plots.posterior_density` returns the numbers behind it.)

ax = plots.posterior(LogisticPCA(2, refine=False, random_state=0).fit(rows), rows[0])

# %%
# images
# ------
# :func:`hiddenbits.plots.images`: P(bit = 1) over the map, for tables whose columns are pixels.

ax = plots.images(model, (4, 4), grid=5)

# %%
# trace
# -----
# :func:`hiddenbits.plots.trace`: the objective after each pass, of one or several fits. Where the polish begins, the
# bound changes and the curve leaps.

bound = LogisticPCA(2, refine=False, start="noise", random_state=0).fit(rows)
fits = {"variational": bound, "polished": model}
ax = plots.trace(fits)

# %%
# spectrum
# --------
# :func:`hiddenbits.plots.spectrum`: eigenvalues of the bits and of the hidden variables behind them, and what chance
# reaches.

clipped = ClippedPCA("parallel", random_state=0).fit(rows)
ax = plots.spectrum(clipped)

# %%
# strips
# ------
# :func:`hiddenbits.plots.strips`: sequences of images.

steps = {"morph": clipped.morph(rows[0], rows[-1], steps=7), "cross-fade": np.linspace(rows[0], rows[-1], 7)}
ax = plots.strips(steps, (4, 4))

# %%
# components
# ----------
# :func:`hiddenbits.plots.components`: the loadings or fields of a model as images. Here bars that add up to images of
# real numbers, as :class:`hiddenbits.BinarySparseCoding` finds them.

drawn = simulate_bars(1000, random_state=0)
coding = BinarySparseCoding(10, n_init=1, random_state=0).fit(drawn.X)
ax = plots.components(coding, (5, 5))

# %%
# hinton
# ------
# :func:`hiddenbits.plots.hinton`: weights as squares, white for positive and black for negative ones.

influences = simulate_influences("A", n_rows=1500, random_state=0)
machine = CombinationMachine(5, tol=1e-4, random_state=0).fit(influences.train)
ax = plots.hinton(machine, (8, 8))

# %%
# projections
# -----------
# :func:`hiddenbits.plots.projections`: the rows along the weights of each unit, colored where it is more likely on.

ax = plots.projections(machine, influences.train)

# %%
# profiles
# --------
# :func:`hiddenbits.plots.profiles`: how often each bit is 1 in each class, next to all rows.

classes = LatentClassAnalysis(3, random_state=0).fit(rows)
ax = plots.profiles(classes, rows)

# %%
# item_curves
# -----------
# :func:`hiddenbits.plots.item_curves`: items of a scale, how P(1) of each rises along it, and where they tell rows
# apart. Simulated answers to questions of rising difficulty.

rng = np.random.default_rng(0)
answers = rng.normal(size=(600, 1)) + rng.logistic(size=(600, 10)) > np.linspace(-2.5, 2.5, 10)
scale = ItemResponseModel(random_state=0).fit(answers)
curves, information = plots.item_curves(scale, answers)

# %%
# wright_map
# ----------
# :func:`hiddenbits.plots.wright_map`: rows and items on one axis.

people, items = plots.wright_map(scale, answers)

# %%
# causes
# ------
# :func:`hiddenbits.plots.causes`: which columns each hidden cause switches on.

ax = plots.causes(NoisyOrNetwork(3, random_state=0).fit(rows), rows)

# %%
# residual_pairs
# --------------
# :func:`hiddenbits.plots.residual_pairs`: pairs of columns that are both 1 more or less often than a model expects.
# Here two classes for three kinds of rows.

ax = plots.residual_pairs(LatentClassAnalysis(2, random_state=0).fit(rows), rows)

# %%
# Arrows on a map
# ---------------
# With ``arrows=True`` a map is a biplot: in which direction a bit becomes more probable.

ax = plots.map(model, rows, arrows=True)

# %%
# compare
# -------
# :func:`hiddenbits.plots.compare`: how far behind the best family each is on rows that no fit has seen.

sizes = {"LatentClassAnalysis": [2, 3], "LogisticPCA": [1, 2], "ClippedPCA": [1, 2]}
ax = plots.compare(evaluate.compare(rows, ["IndependentColumns", *sizes], sizes=sizes, progress=False))

# %%
# Several in one figure
# ---------------------
# All functions draw where they are told to.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plots.map(model, rows, color=rows.sum(axis=1), legends=False, ax=axes[0])
ax = plots.trace(fits, ax=axes[1])
