"""The introduction's claim: hidden features serve a linear classifier of digits better than the raw bits.

The features are learned from images without labels. C of the regression is chosen by cross-validation.
"""

import warnings
from typing import Any

import digits
import numpy as np
from cells import Cells
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from hiddenbits import datasets

LABELLED = (100, 300, 1000)
PENALTIES = {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]}
UNLABELLED = 3000
RAW = "raw bits"


def learned(name: str, X: np.ndarray) -> Any:
    """A function that turns rows into features."""
    if name == RAW:
        return lambda rows: 2.0 * rows - 1.0
    if name == "PCA":
        return PCA(digits.UNITS, random_state=0).fit(X.astype(float)).transform
    program = {"mixture": digits.MIXTURE, "pursuit": digits.PROGRAMS[3], "machine": digits.PROGRAMS[4]}[name]
    return digits.model_of(program, 0).fit(X).transform


def errors(name: str, seeds: list[int], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Share of the 2,007 test images that are classified wrongly, by number of labelled images."""
    whole = datasets.load_usps(threshold=12)
    features = learned(name, whole.train[np.random.default_rng(0).permutation(len(whole.train))[:UNLABELLED]])
    train, test = features(whole.train), features(whole.test)
    found = {}
    for size in sizes:
        wrong = []
        for seed in seeds:
            rows = np.random.default_rng(seed).permutation(len(train))[:size]
            folds = StratifiedKFold(4, shuffle=True, random_state=0)
            search = GridSearchCV(LogisticRegression(max_iter=3000), PENALTIES, cv=folds)
            with warnings.catch_warnings():  # of 100 images, three may be of one digit: fewer than folds, no harm
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                search.fit(train[rows], whole.train_label[rows])
            wrong.append(float(np.mean(search.predict(test) != whole.test_label)))
        found[str(size)] = wrong
    return found


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    names = (RAW, "PCA", "mixture", "pursuit", "machine") if full else (RAW,)
    sizes, seeds = (LABELLED, [0, 1, 2]) if full else (LABELLED[:1], [0])
    return {name: cells.get(f"features, {name}", lambda n=name: errors(n, seeds, sizes)) for name in names}  # type: ignore[misc]
