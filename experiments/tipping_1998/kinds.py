"""Columns of several kinds, scored on rows that no fit has seen; and real columns alone, which are to be PCA."""

from collections.abc import Callable
from typing import Any

import numpy as np
from common import have_data
from sklearn.datasets import load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold

from hiddenbits import LogisticPCA, datasets

SEEDS = {"start": 0, "folds": 0}


def zoo() -> tuple[Any, list[str], dict[str, Any]]:
    """101 animals: 15 yes/no columns, and the number of legs, ordered. The type of the animal is left out."""
    import pandas as pd

    found = datasets.load_zoo()
    frame = pd.DataFrame(found.X.astype(bool), columns=found.names).assign(legs=found.legs)
    kinds = {**dict.fromkeys(found.names, "binary"), "legs": sorted(set(found.legs.tolist()))}
    return frame, ["legs"], kinds


def diabetes() -> tuple[Any, list[str], dict[str, Any]]:
    """442 patients: sex, and ten measured numbers, of which the last is the progress of the disease a year later."""
    frame = load_diabetes(scaled=False, as_frame=True).frame.astype(float)
    return frame.assign(sex=frame.sex == 2.0), ["sex"], {**dict.fromkeys(frame, "real"), "sex": "binary"}


def wine() -> tuple[Any, list[str], dict[str, Any]]:
    """178 wines: which of three cultivars, and 13 measured numbers."""
    found = load_wine(as_frame=True)
    names = np.array(["A", "B", "C"])[found.target]
    kinds = {**dict.fromkeys(found.data, "real"), "cultivar": "nominal"}
    return found.data.astype(float).assign(cultivar=names), ["cultivar"], kinds


def fitted(frame: Any, kinds: dict[str, Any]) -> LogisticPCA:
    own = {name: kind for name, kind in kinds.items() if name in frame}
    return LogisticPCA(2, kinds=own, random_state=SEEDS["start"]).fit(frame)


def alone(train: Any, test: Any, kinds: dict[str, Any]) -> np.ndarray:
    """Return ln P of each test row where all columns are independent: normal numbers, and smoothed shares."""
    total = np.zeros(len(test))
    for name in train:
        if train[name].dtype == float:
            mean, variance = train[name].mean(), train[name].var(ddof=0)
            total += -0.5 * ((test[name] - mean) ** 2 / variance + np.log(2.0 * np.pi * variance)).to_numpy()
        else:
            said = kinds[name]
            values = said if isinstance(said, list) else sorted(set(train[name]) | set(test[name]))
            counts = {value: (train[name] == value).sum() + 0.5 for value in values}
            total += np.log([counts[value] / (len(train) + 0.5 * len(values)) for value in test[name]])
    return total


def held_out(frame: Any, apart: list[str], kinds: dict[str, Any], n_folds: int) -> dict[str, Any]:
    """One map of all columns, against maps of each kind by itself, and against columns that are independent."""
    scores: dict[str, list[np.ndarray]] = {"one map": [], "a map of each kind": [], "independent columns": []}
    right: list[np.ndarray] = []
    others = [name for name in frame if name not in apart]
    for train, test in KFold(n_folds, shuffle=True, random_state=SEEDS["folds"]).split(frame):
        rows, new = frame.iloc[train], frame.iloc[test]
        model = fitted(rows, kinds)
        scores["one map"].append(model.score_samples(new))
        # A single column on a map of its own is an independent column.
        first = fitted(rows[others], kinds).score_samples(new[others])
        scores["a map of each kind"].append(first + alone(rows[apart], new[apart], kinds))
        scores["independent columns"].append(alone(rows, new, kinds))
        blank = new.copy()
        blank[apart] = None
        guess = model.complete(blank)[apart[0]]
        common = rows[apart[0]].mode()[0]
        if rows[apart[0]].dtype == bool:
            guess = guess > 0.5  # a probability
        right.append(np.array([[g == t, common == t] for g, t in zip(guess, new[apart[0]], strict=True)], float))
    joined = {name: np.concatenate(each) for name, each in scores.items()}
    hits = np.concatenate(right).mean(axis=0)
    return {
        "rows": len(frame),
        "columns": frame.shape[1],
        "apart": apart[0],
        "folds": n_folds,
        "score": {name: float(each.mean()) for name, each in joined.items()},
        "gain": {
            name: [float((joined["one map"] - each).mean()), float(error_of(joined["one map"] - each))]
            for name, each in joined.items()
            if name != "one map"
        },
        "guessed": {"from the other columns": float(hits[0]), "most frequent value": float(hits[1])},
    }


def error_of(differences: np.ndarray) -> float:
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))


def real_columns() -> dict[str, float]:
    """Probabilistic PCA in closed form, and real columns with one noise variance for all."""
    X = load_diabetes(scaled=False).data[:, [0, *range(2, 10)]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticPCA(2, kinds="real", noise="shared", ridge=0.0, tol=1e-13, max_iter=20000, random_state=0).fit(X)
    pca = PCA().fit(X)
    values = pca.explained_variance_ * (len(X) - 1) / len(X)
    noise = values[2:].mean()
    W = pca.components_[:2].T * np.sqrt(values[:2] - noise)
    places = X @ W @ np.linalg.inv(W.T @ W + noise * np.eye(2))
    ours = model.transform(X)
    turn = np.linalg.svd(places.T @ ours)
    turned = places @ (turn[0] @ turn[2])
    return {"rows": len(X), "columns": X.shape[1], "largest_difference": float(np.abs(turned - ours).max())}


def measure(*, full: bool) -> dict[str, Any]:
    tables: dict[str, Callable[[], tuple[Any, list[str], dict[str, Any]]]] = {"diabetes": diabetes, "wine": wine}
    if full and have_data("columns of several kinds, zoo"):
        tables = {"zoo": zoo, **tables}
    chosen = tables if full else {"wine": wine}
    found: dict[str, Any] = {name: held_out(*table(), 10 if full else 2) for name, table in chosen.items()}
    return {"tables": found, "real_columns": real_columns()}
