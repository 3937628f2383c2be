"""Tables of items of every type, simulated from a latent trait, and item response models by brute force."""

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import norm, poisson

from hiddenbits.data.layout import Layout
from hiddenbits.families.item_response.params import ItemParams
from hiddenbits.families.item_response.response import OF_BITS

TYPES = {"b0": "binary", "b1": "binary", "o": "ordinal", "n": "nominal", "y": "continuous", "c": "count"}


def mixed_frame(n=300, seed=0, missing=True):
    """Two binary items, an ordinal, a nominal, a continuous column like a year, and a count, behind one trait."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    nominal = np.argmax(np.c_[0 * t, t, -t] + rng.gumbel(size=(n, 3)), axis=1)
    frame = pd.DataFrame(
        {
            "b0": (rng.random(n) < expit(1.5 * t)).astype(float),
            "b1": (rng.random(n) < expit(t - 0.5)).astype(float),
            "o": np.digitize(t + rng.normal(size=n), [-1, 0, 1]).astype(float),
            "n": np.array(list("abc"), object)[nominal],
            "y": 1990 + 7 * (0.8 * t + 0.6 * rng.normal(size=n)),
            "c": rng.poisson(np.exp(0.5 + 0.5 * t)).astype(float),
        }
    )
    if missing:
        for j, name in enumerate(frame.columns):
            frame.loc[rng.permutation(n)[: 4 + j], name] = None if name == "n" else np.nan
    return frame


def item_params(rng, kinds, sizes, q=1, n_continuous=0, n_counts=0, points=None):
    """Random parameters of items of these kinds."""
    layout = Layout(tuple(sizes))
    slopes, intercepts = np.zeros((layout.n_bits, q)), np.zeros(layout.n_bits)
    for kind, start, size in zip(kinds, layout.starts, sizes, strict=True):
        a = rng.normal(1.0, 0.4, q)
        if size == 1:
            slopes[start], intercepts[start] = a, rng.normal()
            continue
        levels = np.arange(1, size)
        cells = slice(start + 1, start + size)
        if kind == "graded":
            slopes[cells], intercepts[cells] = a, np.sort(rng.normal(0, 1.5, size - 1))[::-1]
        elif kind == "partial_credit":
            slopes[cells], intercepts[cells] = levels[:, None] * a, rng.normal(size=size - 1)
        else:
            slopes[cells], intercepts[cells] = rng.normal(size=(size - 1, q)), rng.normal(size=size - 1)
    s = n_continuous + n_counts
    return ItemParams(
        points=np.repeat(np.linspace(-2.0, 2.0, 5)[:, None], q, axis=1) if points is None else points,
        correlations=np.eye(q),
        slopes=slopes,
        intercepts=intercepts,
        guesses=rng.normal(-1.0, 0.3, layout.n_bits),
        types=np.repeat([float(OF_BITS.index(kind)) for kind in kinds], sizes),
        columns=layout.columns.astype(float),
        centers=rng.normal(size=n_continuous),
        scales=rng.uniform(0.5, 2.0, n_continuous),
        noise=rng.uniform(0.2, 0.8, n_continuous),
        prior_rates=np.ones(n_counts),
        number_slopes=rng.normal(0.5, 0.2, (s, q)),
        number_intercepts=rng.normal(0.0, 0.3, s),
    )


def level_probabilities(kind, size, a, d, g, z):
    """P of each level of an item at a position, from the definitions, level by level."""
    if size == 1:
        p = expit(a[0] @ z + d[0])
        p = g + (1 - g) * p if kind == "guessing" else p
        return np.array([1 - p, p])
    if kind == "graded":
        above = [1.0, *(expit(a[m] @ z + d[m]) for m in range(1, size)), 0.0]
        return np.array([above[m] - above[m + 1] for m in range(size)])
    scores = np.array([a[m] @ z + d[m] for m in range(size)])
    return np.exp(scores - logsumexp(scores))


def log_likelihood_at(params, levels, numbers, z):
    """ln P(row | z) by definition; missing cells are levels of -1, and NaN among numbers."""
    total, layout = 0.0, params.layout
    for level, start, size in zip(levels, layout.starts, layout.sizes, strict=True):
        if level >= 0:
            cells, kind = slice(start, start + size), OF_BITS[int(params.types[start])]
            g = expit(params.guesses[start])
            p = level_probabilities(kind, size, params.slopes[cells], params.intercepts[cells], g, z)
            total += np.log(p[level])
    for j, x in enumerate(numbers):
        eta = params.number_slopes[j] @ z + params.number_intercepts[j]
        if np.isnan(x):
            continue
        if j < params.n_continuous:
            mean = params.centers[j] + params.scales[j] * eta
            total += norm.logpdf(x, mean, params.scales[j] * np.sqrt(params.noise[j]))
        else:
            total += poisson.logpmf(x, np.exp(eta))
    return total
