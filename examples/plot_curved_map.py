"""
A curved map of digits
======================

Handwritten digits as 8 x 8 black and white images. On the flat map of :class:`hiddenbits.LogisticPCA` the log-odds of
each pixel are a plane over the map; on that of :class:`hiddenbits.TopographicMap` they are a smooth surface, which can
bend around the digits. No model has seen which digit an image shows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from hiddenbits import LogisticPCA, TopographicMap, plots

small = load_digits()
X, label = (small.data > 7.5).astype(np.uint8)[:800], small.target[:800]

flat = LogisticPCA(2, refine=False, random_state=0).fit(X)
curved = TopographicMap(2, n_points=400, n_features=100, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax, model in zip(axes, (flat, curved), strict=True):
    places = model.transform(X)
    for digit in range(10):
        here = places[label == digit]
        ax.scatter(*here.T, s=28, marker=f"${digit}$", color=f"C{digit}", linewidths=0.2)
    ax.set(title=type(model).__name__, xticks=[], yticks=[])

# %%
# Distances on a curved map are not even. On dark ground many pixels change within a short way: a border. On light
# ground images are alike, even if they are drawn far apart.

plots.map(curved, X, color=label.astype(str), borders=True)

# %%
# What P(ink) looks like over the curved map: every position on it is an image.

side = 9
along = np.linspace(-2, 2, side)
grid = np.stack(np.meshgrid(along, along[::-1]), axis=-1).reshape(-1, 2)
images = curved.inverse_transform(grid).reshape(side, side, 8, 8).transpose(0, 2, 1, 3).reshape(8 * side, 8 * side)
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.imshow(images, cmap="Greys", vmin=0, vmax=1)
ax.set_axis_off()

# %%
# If the posterior of an image has two modes, its mean may be where no image is:

positions = curved.position_summary(X)
print(f"{positions.two_places.mean():.1%} of the images have two modes; ", end="")
print(f"the median image shares {np.median(positions.effective_points):.0f} of {len(curved.points_)} points")
