"""The programs that map tables, each with its defaults, one thread, and what they are asked to do.

A task is a table, a seed, and rows to place afterwards without another fit (none: an empty array).
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.environments import peer_python
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from hiddenbits import LogisticPCA, TopographicMap

UMAP = ("umap-learn", "0.5.12")
SCRIPT = Path(__file__).parent / "umap_fit.py"


class Task(NamedTuple):
    X: Any
    seed: int
    new: Any


class Answer(NamedTuple):
    """Positions of the rows, of new rows (empty where a program cannot), processor seconds without the new rows."""

    places: Any
    new: Any
    seconds: float


def pca(X: Any, seed: int) -> tuple[Any, Any]:
    model = PCA(2, random_state=seed)
    return model.fit_transform(X), model.transform


def logistic(X: Any, seed: int) -> tuple[Any, Any]:
    model = LogisticPCA(2, random_state=seed)
    return model.fit_transform(X), model.transform


def topographic(X: Any, seed: int) -> tuple[Any, Any]:
    model = TopographicMap(2, random_state=seed)
    return model.fit_transform(X), model.transform


def tsne(X: Any, seed: int) -> tuple[Any, None]:
    return TSNE(2, random_state=seed, n_jobs=1).fit_transform(np.asarray(X, float)), None


HERE: dict[str, Callable[[Any, int], tuple[Any, Any]]] = {
    "PCA": pca,
    "LogisticPCA": logistic,
    "TopographicMap": topographic,
    "t-SNE": tsne,
}


def answer(method: str, task: Task) -> Answer | str:
    """Return what a program of this environment answers, or its error."""
    begun = time.process_time()
    try:
        places, place = HERE[method](task.X, task.seed)
    except ValueError as error:
        return str(error).splitlines()[0]
    seconds = time.process_time() - begun
    new = place(task.new) if place and len(task.new) else np.zeros((0, 2))
    return Answer(places, new, seconds)


def umap_answers(tasks: dict[str, Task], metrics: dict[str, str]) -> dict[str, Answer | str]:
    """Return umap-learn's answers, all from one process, since it compiles for more than a minute."""
    with tempfile.TemporaryDirectory() as place:
        work, answers = Path(place) / "work.npz", Path(place) / "answers.npz"
        arrays = {f"{name}/{field}": getattr(task, field) for name, task in tasks.items() for field in ("X", "new")}
        asked = {name: (metrics[name], task.seed) for name, task in tasks.items()}
        np.savez(work, asked=json.dumps(asked), **arrays)
        subprocess.run([peer_python(*UMAP), SCRIPT, work, answers], check=True)
        with np.load(answers) as found:
            failures = json.loads(str(found["failures"]))
            return {
                name: failures.get(name) or Answer(*(found[f"{name}/{part}"] for part in Answer._fields))
                for name in tasks
            }
