"""Hospitals in processes of their own. Each reads its own rows, and only files of statistics go from one to another.

folder/<site>/<job>.npz       the rows of a site: no other process opens them
folder/post/                  what is exchanged
folder/<site>/<job>.hb        the model that the site ends with
"""

import multiprocessing
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import hiddenbits

SITES = ("east", "north", "south")
PRELOAD = [
    "hiddenbits.families.bernoulli_mixture.estimator",
    "hiddenbits.families._base.persistence",
    "hiddenbits.federated.statistics",
]
SECONDS = 240


def rows(seed, n=900, d=12, missing=0.2):
    """Rows of three kinds, none of them rare, so that no site has a small count."""
    rng = np.random.default_rng(seed)
    kinds = np.where(rng.integers(0, 2, (3, d)), 0.8, 0.25)
    X = (rng.random((n, d)) < kinds[rng.integers(0, 3, n)]).astype(float)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X


def parts_of(X, weights=None):
    """Return three unequal pieces of a table, one for each site, with the weights of their rows."""
    n = X.shape[0]
    cuts = [0, n // 4, n // 2, n]
    return {
        site: (X[a:b], None if weights is None else weights[a:b])
        for site, a, b in zip(SITES, cuts[:-1], cuts[1:], strict=True)
    }


def keep_rows(folder: Path, job: str, X, weights) -> None:
    """Give each site its rows, in a file of its own."""
    for site, (part, its_weights) in parts_of(X, weights).items():
        (folder / site).mkdir(exist_ok=True)
        csr = sparse.issparse(part)
        arrays = {"data": part.data, "indices": part.indices, "indptr": part.indptr} if csr else {"rows": part}
        if its_weights is not None:
            arrays["weights"] = its_weights
        np.savez(folder / site / f"{job}.npz", shape=part.shape, **arrays)


def own_rows(path: Path):
    with np.load(path) as kept:
        weights = kept.get("weights")
        if "rows" in kept:
            return kept["rows"], weights
        return sparse.csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])), weights


def hospital(folder: Path, site: str, jobs: dict[str, hiddenbits.BernoulliMixture]) -> None:
    """The program of one site: fit every job together with the others, then save."""
    deadline = time.monotonic() + SECONDS
    for job, model in jobs.items():
        X, weights = own_rows(folder / site / f"{job}.npz")
        number = 0
        while model.unfinished_:
            model.stats(X, weights, site=site).save(folder / "post" / f"{job}-{number}-{site}.hb")
            files = [folder / "post" / f"{job}-{number}-{other}.hb" for other in SITES]
            while not all(file.exists() for file in files):
                assert time.monotonic() < deadline, f"{site} waited in vain for round {number} of {job}"
                time.sleep(0.002)
            model.update(hiddenbits.merge(hiddenbits.Statistics.load(file) for file in files))
            number += 1
        model.save(folder / site / f"{job}.hb")


def run(folder: Path, jobs: dict[str, hiddenbits.BernoulliMixture]) -> None:
    """Run the three sites at the same time, each in a fresh process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    (folder / "post").mkdir()
    processes = [context.Process(target=hospital, args=(folder, site, jobs)) for site in SITES]
    for process in processes:
        process.start()
    try:
        while any(process.exitcode is None for process in processes):
            codes = [process.exitcode for process in processes]
            assert not any(codes), f"the sites ended with {codes}"
            time.sleep(0.02)
        codes = [process.exitcode for process in processes]
        assert codes == [0, 0, 0], f"the sites ended with {codes}"
    finally:
        for process in processes:  # the others would wait for one that failed
            process.kill()
            process.join()


def gather(model, parts, **options):
    options = {"minimum_count": 0, **options}
    return hiddenbits.merge(model.stats(X, weights, site=site, **options) for site, (X, weights) in parts.items())


def federated(model, parts):
    """Fit in this process, all sites sharing one estimator."""
    n_rounds = 0
    while model.unfinished_:
        model.update(gather(model, parts))
        n_rounds += 1
        assert n_rounds < 3000
    return model
