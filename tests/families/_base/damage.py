"""Damaged model files: each is refused with one clear error, or holds a valid model and loads as exactly that.

    python -m tests.families._base.damage --n 100000

The address space is capped, so that an allocation beyond the cap would end the run with an error.
"""

import argparse
import resource
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import hiddenbits
from hiddenbits.datasets import simulate_mixture
from hiddenbits.families._base.persistence import hyperparameters_of
from tests.store.damage import contents, damaged_copies

ROOM = 1 << 30  # bytes of address space beyond what is in use


def originals(folder: Path) -> list[bytes]:
    """Model files of every kind: with names and without, fitted whole and online."""
    X = simulate_mixture(300, 7, 3, random_state=0).X
    models = [
        hiddenbits.LatentClassAnalysis(3, random_state=0).fit(X),
        hiddenbits.LatentClassAnalysis(2, random_state=1).partial_fit(X),
        hiddenbits.IndependentColumns().fit(hiddenbits.open_table(X, names=[f"question {j}" for j in range(7)])),
        hiddenbits.IndependentColumns().partial_fit(X),
        hiddenbits.LogisticPCA(2, random_state=0).fit(X),
        hiddenbits.LogisticPCA(1, refine=False, random_state=0).partial_fit(X),
        hiddenbits.ClippedPCA(2, random_state=0).fit(X),
        hiddenbits.ClippedPCA(1, random_state=0).partial_fit(X),
    ]
    files = []
    for number, model in enumerate(models):
        model.save(folder / f"{number}.hb")
        files.append((folder / f"{number}.hb").read_bytes())
    return files


def check(path: Path, raw: bytes, resummed: bool, original: bytes) -> str:
    """Load one file; return "refused", "valid" or "untouched", or raise AssertionError."""
    path.write_bytes(raw)
    try:
        model = hiddenbits.load(path)
    except hiddenbits.exceptions.FileError as error:
        message = str(error)
        assert message, "an error without a message"
        assert "\n" not in message, message
        return "refused"
    kind, meta, arrays = contents(raw)
    if not resummed:
        # The old checksum still fits, so the damage was to nothing that means anything: the spelling of the header.
        old_kind, old_meta, old_arrays = contents(original)
        assert (kind, meta, set(arrays)) == (old_kind, old_meta, set(old_arrays))
        assert all(np.array_equal(arrays[name], old_arrays[name]) for name in arrays)
    assert type(model).__name__ == kind
    assert hyperparameters_of(model) == hyperparameters_of(type(model)()) | meta["hyperparameters"]
    assert model._params.flaw() is None
    for name, array in model._params.to_arrays().items():
        assert np.array_equal(array, arrays[f"params.{name}"])
        assert np.isfinite(array).all()
    assert np.array_equal(model.trace_, arrays["trace"])
    assert model.n_iter_ == meta["n_iter"]
    zeros = hiddenbits.open_table(np.zeros((1, model.n_features_in_), np.uint8))
    assert np.isfinite(model.score_samples(zeros)).all()
    return "valid" if resummed else "untouched"


def main(n: int, seed: int = 0, room: int | None = ROOM) -> Counter[str]:
    """Try n damaged files, spread over all originals and kinds of damage."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = originals(folder)
        hiddenbits.load(folder / "0.hb")  # everything is imported now
        if room is not None:
            in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (in_use + room, resource.RLIM_INFINITY))
        for number, original in enumerate(files):
            rng = np.random.default_rng([seed, number])
            share = n // len(files) + (number < n % len(files))
            for what, raw, resummed in damaged_copies(original, rng, share):
                try:
                    outcome = check(folder / "damaged.hb", raw, resummed, original)
                except BaseException as error:
                    (Path(tempfile.gettempdir()) / "hiddenbits-damaged.hb").write_bytes(raw)  # to look at
                    raise AssertionError(
                        f"{what} (file {number}, checksum recomputed: {resummed}): {error!r}"
                    ) from error
                counts[outcome] += 1
                counts["checksum recomputed"] += resummed
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(dict(main(arguments.n, arguments.seed)))
