"""A closer look: a flat mixture of maps, next to an overview."""

from pathlib import Path
from typing import Any

import numpy as np
from common import NO_DATA, have_data, save
from pictures import neighbours

from hiddenbits import BernoulliMixture, LogisticPCA, LogisticPCAMixture, Variational, datasets, plots

SEEDS = {"start": 0}


def draw(folder: Path, *, full: bool) -> dict[str, Any] | str:
    """Fit on a third of the training images, draw and score half of the test images, which no fit has seen."""
    if not have_data():
        return NO_DATA
    digits, n_maps, step = datasets.load_usps(), 6 if full else 3, 1 if full else 8
    X, new, digit = digits.train[:: 3 * step], digits.test[:: 2 * step], digits.test_label[:: 2 * step]
    options: dict[str, Any] = {"tol": 1e-4, "random_state": SEEDS["start"]}
    rough = Variational(polish=False)
    overview = LogisticPCA(2, method=rough, **options).fit(X)
    mixture = LogisticPCAMixture(2, n_maps=n_maps, n_init=4 if full else 1, polish=False, **options).fit(X)
    save(plots.zoom(mixture, new, overview, labels=digit)[0].figure, folder, "closer_look")
    codes = mixture.transform(new)
    best = codes[:, :n_maps].argmax(axis=1)
    places = codes[:, n_maps:].reshape(len(codes), n_maps, 2)[np.arange(len(codes)), best]
    held = [np.bincount(digit[best == k], minlength=10) for k in range(n_maps)]
    together = [neighbours(places[best == k], digit[best == k]) for k in range(n_maps) if (best == k).sum() > 1]
    sizes = [int((best == k).sum()) for k in range(n_maps) if (best == k).sum() > 1]
    others = {
        f"{n_maps} classes without dimensions": BernoulliMixture(n_maps, random_state=SEEDS["start"]).fit(X),
        "one map of 2 dimensions": overview,
        f"{n_maps} maps of 2 dimensions": mixture,
        f"one map of {2 * n_maps} dimensions": LogisticPCA(2 * n_maps, method=rough, **options).fit(X),
    }
    return {
        "rows": len(X),
        "rows_drawn": len(new),
        "maps": n_maps,
        "error": {name: -model.score(new) for name, model in others.items()},
        "nearest_neighbour_of_the_same_digit": neighbours(overview.transform(new), digit),
        "the_same_on_the_most_probable_map": float(np.average(together, weights=sizes)),
        "digits_on_each_map": [counts.tolist() for counts in held],
    }
