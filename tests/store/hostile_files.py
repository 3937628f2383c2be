"""Files with valid checksums and hostile contents: each is answered soon, with little memory, and is used if it loads.

    python -m tests.store.hostile_files --count 20000

The originals are the golden files, a family each, and files of its variants, and a checkpoint. In each copy
one or several hyperparameters, numbers of the description, arrays or their shapes are replaced, and the checksum is
made to fit. A file is loaded, or refused with an error of ours, within 2 s of processor time and with at most 10 times
its size plus 50 MB of memory (the highest point of the process, which Linux forgets on demand). What loads must say
something finite of a few rows.
"""

import argparse
import json
import math
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import hiddenbits
from hiddenbits.data import collapse
from hiddenbits.data.summary import summarise
from hiddenbits.engine import Checkpoint, Local, Settings
from hiddenbits.evaluate.trial import peak
from tests.store import golden
from tests.store.damage import META, join, resum, split

SECONDS, TIMES, BYTES = 2.0, 16, 50e6  # six bytes of JSON are a string of sixty in Python
OURS = (hiddenbits.StoreError, hiddenbits.CheckpointError)
NUMBERS = [0, -1, 1, 2, 3, 100, 10**5, 10**7, 2**31, 2**53, 2**63, 10**30, -(10**39), 10**39]
FLOATS = [0.0, -0.0, 0.5, -1.5, 5e-324, 1e-300, 1e16, 1e308, -1e308]
OTHERS = [None, True, False, "", "x", "auto", "exact", "9" * 50, "nan", "a\nb\x1b[31m", "x" * 10_000]
NESTED = [[], {}, [[]], [1] * 1000, [10**9] * 3, ["real"] * 6, {"a": {"b": [1]}}, [None], {"0": "real"}]
ODD = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e6, 1e16, 1e150, 1e308, -1e308, 5e-324, 1e-200, 1.7976931348623157e308]


def originals():
    """Return every kind of file."""
    return {name: golden.content(name) for name in sorted([*golden.MODELS, *golden.VARIANTS, "checkpoint"])}


def pick(rng, items):
    """Return one of the items."""
    return items[int(rng.integers(len(items)))]


def hostile_value(rng):
    """Return what no fit would write in this place."""
    return pick(rng, pick(rng, [NUMBERS, NUMBERS, FLOATS, OTHERS, NESTED]))


def hyperparameters(meta):
    """Return all mappings of hyperparameters in a description: a checkpoint has settings, too."""
    return [meta["hyperparameters"], *([meta["settings"]] if "settings" in meta else [])]


def hostile_hyperparameters(header, data, rng, turn):
    """Replace hyperparameters; one after the other in turn, so that each has its share."""
    meta = json.loads(header[META]["meta"])
    places = [(mapping, name) for mapping in hyperparameters(meta) for name in mapping]
    for number in range(1 if rng.random() < 0.7 else int(rng.integers(2, 6))):
        mapping, name = places[turn % len(places)] if number == 0 else pick(rng, places)
        if rng.random() < 0.05:
            mapping.pop(name, None)
        elif rng.random() < 0.05:
            mapping[f"{name}_"] = hostile_value(rng)
        else:
            mapping[name] = hostile_value(rng)
    header[META]["meta"] = json.dumps(meta)


def hostile_description(header, data, rng, turn):
    """Replace anything that the description says, however deep."""
    meta = json.loads(header[META]["meta"])
    places = [(meta, name) for name in meta]
    for where, name in places:
        inner = where[name]
        if isinstance(inner, (dict, list)):
            places += [(inner, key) for key in (inner if isinstance(inner, dict) else range(len(inner)))]
    where, name = places[turn % len(places)]
    where[name] = hostile_value(rng)
    header[META]["meta"] = json.dumps(meta)


def hostile_numbers(header, data, rng, turn):
    """Replace numbers of an array: one, some or all."""
    name = _array(header, turn)
    begin, end = header[name]["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype=np.uint8 if header[name]["dtype"] != "F64" else np.float64).copy()
    if values.dtype == np.float64 and len(values):
        values[rng.random(len(values)) < pick(rng, [0.0, 0.3, 1.0])] = pick(rng, ODD)
        values[rng.integers(len(values))] = pick(rng, ODD)
    data[begin:end] = values.tobytes()


def hostile_shape(header, data, rng, turn):
    """Give an array another shape of the same size."""
    entry = header[_array(header, turn)]
    shape, size = entry["shape"], math.prod(entry["shape"])
    entry["shape"] = pick(rng, [[1, *shape], [*shape, 1], [1, 1, *shape], [size], [1, size], [size, 1], shape[::-1]])


def _array(header, turn):
    names = sorted(set(header) - {META})
    return names[turn % len(names)]


KINDS = {
    "hyperparameters": hostile_hyperparameters,
    "description": hostile_description,
    "numbers": hostile_numbers,
    "shape": hostile_shape,
}
TURNS = ("hyperparameters", "hyperparameters", "hyperparameters", "description", "numbers", "shape")


def hostile_copies(count, seed=0):
    """Yield (name of the original, what was done, bytes), all originals and kinds in turn."""
    files = originals()
    turns = Counter()
    for number in range(count):
        name = list(files)[number % len(files)]
        what = TURNS[(number // len(files)) % len(TURNS)]
        rng = np.random.default_rng([seed, number])
        header, data = split(files[name])
        KINDS[what](header, data, rng, turns[name, what])
        turns[name, what] += 1
        resum(header, data)
        yield name, what, join(header, data)


def use(model):
    """Score a few rows with a model that was loaded; everything must be finite."""
    rows = rows_for(model)
    assert np.isfinite(model.score_samples(rows)).all(), model.score_samples(rows)
    if hasattr(model, "transform"):
        assert np.isfinite(model.transform(rows)).all()


def rows_for(model):
    """Return a few rows: zeros, ones, both in turn and, where blanks are not filled in at random, a blank one."""
    if getattr(model, "layout_", None) is not None:
        rows = np.empty((2, model.n_features_in_), object)  # the first category of each column; all blank
        rows[0] = [column.categories[0] if column.has_categories else 1 for column in model.layout_.columns]
        return rows
    d = model.n_features_in_
    rows = np.array([np.zeros(d), np.ones(d), np.arange(d) % 2.0])
    if getattr(model, "visible", "") == "reals" or isinstance(model, hiddenbits.BinarySparseCoding):
        return rows
    if getattr(model, "method", "") not in ("chains", "gibbs"):
        rows = np.vstack([rows, np.full((1, d), np.nan)])
    names = getattr(model, "feature_names_in_", None)
    return rows if names is None else hiddenbits.open_table(rows, names=list(names), threshold=model.threshold)


def loader(name):
    """Return what reads a file of this kind."""
    if name != "checkpoint":
        return hiddenbits.load
    model = golden.checkpointed()
    table = hiddenbits.open_table(golden.bits(), names=golden.NAMES)
    walked = collapse(table)[0]
    grid = walked.grid(model._height(model._model(), walked))
    summary = Local().reduce(summarise, grid)

    def load(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hiddenbits.EnvironmentChangedWarning)
            settings = model._settings()
            assert isinstance(settings, Settings)
            checkpoints = Checkpoint(path, model._model(), settings, table.shape, grid.height, names=table.names)
            return checkpoints.load(summary)

    return load


def answer(load, path, raw):
    """Load one file; return (outcome, model or None, seconds, bytes of memory), or raise AssertionError."""
    path.write_bytes(raw)
    with peak() as memory:
        begun = time.process_time()
        try:
            found, outcome = load(path), "loaded"
        except OURS as error:
            found, outcome, message = None, "refused", str(error)
            assert message, "an error without a message"
            assert message.isprintable(), message
            assert len(message) < 2000, message
            assert "Unable to allocate" not in message, message
        seconds = time.process_time() - begun
    assert seconds <= SECONDS, f"{seconds:.1f} s"
    taken = memory.bytes if math.isfinite(memory.bytes) else 0.0
    assert taken <= TIMES * len(raw) + BYTES, f"{taken / 1e6:.0f} MB"
    return outcome, found, seconds, taken


def main(count, seed=0, using=True):
    """Try so many files; return how often each answer was given, and the worst seconds and bytes."""
    counts, worst, loaders = Counter(), [0.0, 0.0], {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder) / "hostile.hb"
        for name, raw in originals().items():  # everything is imported now, and every original can be used
            outcome, found, *_ = answer(loaders.setdefault(name, loader(name)), path, raw)
            assert outcome == "loaded", name
            if name != "checkpoint":
                use(found)
        for number, (name, what, raw) in enumerate(hostile_copies(count, seed)):
            try:
                outcome, found, seconds, taken = answer(loaders[name], path, raw)
                worst = [max(worst[0], seconds), max(worst[1], taken)]
                if using and found is not None and name != "checkpoint":
                    use(found)
            except Exception as error:
                (Path(tempfile.gettempdir()) / "hiddenbits-hostile.hb").write_bytes(raw)  # to look at
                raise AssertionError(f"file {number}, {name}, {what}: {error!r}") from error
            counts[outcome] += 1
            counts[f"{outcome}: {what}"] += 1
    return counts, *worst


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found, most_seconds, most_bytes = main(arguments.count, arguments.seed)
    print(dict(sorted(found.items())))
    print(f"slowest answer {most_seconds:.3f} s of processor time, most memory {most_bytes / 1e6:.1f} MB")
