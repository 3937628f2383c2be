"""Maps of binary tables by five programs, each with its defaults: figures, and a picture of all maps.

    python -m benchmarks.maps.run --full      (a quarter of an hour; docs/pictures/maps.png too)
    python -m benchmarks.maps.run --quick     (zoo without umap-learn; nothing is written)

The tables are zoo, senate109, 500 rows of news100 and digits (USPS), and the peers' table of ten classes with 2,000 and
20,000 rows; t-SNE is not run on the last. A program that refuses blanks has them filled with the more frequent bit of the
column. umap-learn has Jaccard distances where ones are rare (news100) and on the peers' table, and Hamming distances on the
others. All have one thread; seconds are of the processor, without compiling. A run that is cut off goes on where it
stopped.
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.environments import peer_versions
from benchmarks.maps import figures
from benchmarks.maps.methods import HERE, UMAP, Answer, Task, answer, umap_answers
from benchmarks.maps.page import ORDER
from benchmarks.maps.picture import draw
from benchmarks.maps.tables import FEWER, MANY, ROWS, SEED, TABLES, Mapped
from benchmarks.record import asked_quick, record, result

SEEDS, SAMPLES, BLANK = 3, 2, 0.2
KEPT = result("maps/run.partial")
LARGE = f"ten classes, {MANY:,} rows"


def samples(table: Mapped) -> list[Any]:
    """Return the rows of each bootstrap sample, sorted, some several times."""
    rng = np.random.default_rng([SEED, 1])
    return [np.sort(rng.integers(len(table.X), size=len(table.X))) for _ in range(SAMPLES)]


def left_out(rows: Any, table: Mapped) -> Any:
    return np.setdiff1d(np.arange(len(table.X)), rows)


def blanked(X: Any) -> Any:
    hidden = np.random.default_rng([SEED, 2]).random(X.shape) < BLANK
    return np.where(hidden, np.nan, X.astype(float))


def filled(X: Any) -> Any:
    """Return the table with the more frequent bit of a column in its blanks."""
    X = X.astype(float)
    return np.where(np.isnan(X), np.nanmean(X, axis=0) > 0.5, X).astype(np.uint8)


def tasks(table: Mapped, fill: bool) -> dict[str, Task]:
    """Return what is asked of a program for one table; one that refuses blanks has them filled."""
    X, none = (filled(table.X) if fill else table.X), table.X[:0]
    found = {f"seed {seed}": Task(X, seed, none) for seed in range(SEEDS)}
    for number, rows in enumerate(samples(table)):
        found[f"sample {number}"] = Task(X[rows], SEED, X[left_out(rows, table)])
    found["blanks"] = Task(blanked(table.X), SEED, none)
    found["filled"] = Task(filled(blanked(table.X)), SEED, none)
    return found


def judged(table: Mapped, answers: dict[str, Answer | str]) -> dict[str, Any]:
    """Return the figures of a program on a table."""
    first = answers["seed 0"]
    some = np.random.default_rng(SEED).permutation(len(table.X))[:2_000]
    trust, continuity = figures.trust_and_continuity(table.X[some], first.places[some])
    judge_by = np.random.default_rng(0).permutation(len(table.X))[:5_000]  # as the peers' judge does
    found = {
        "share": figures.class_share(first.places[judge_by], table.classes[judge_by]),
        "trustworthiness": trust,
        "continuity": continuity,
        "seconds": float(first.seconds),
    }
    if "sample 0" in answers:
        found |= repeated(table, answers)
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()}


def repeated(table: Mapped, answers: dict[str, Answer | str]) -> dict[str, Any]:
    """Return the figures of several fits: how alike they are, new rows, blanks."""
    classes, n = table.classes, len(table.X)
    distinct = np.unique(np.nan_to_num(table.X.astype(float), nan=0.5), axis=0, return_index=True)[1]
    seeds = [(np.arange(n), answers[f"seed {seed}"].places) for seed in range(SEEDS)]
    drawn, new = [], []
    for number, rows in enumerate(samples(table)):
        once, at = np.unique(rows, return_index=True)
        found = answers[f"sample {number}"]
        drawn.append((once, found.places[at]))
        if len(found.new):
            out = left_out(rows, table)
            new.append(figures.new_class_share(found.places[at], classes[once], found.new, classes[out]))
    blanks = answers["blanks"]
    refused = blanks if isinstance(blanks, str) else None
    with_blanks = answers["filled"] if isinstance(blanks, str) else blanks
    return {
        "same_neighbours_seeds": figures.overlap(seeds, distinct),
        "same_neighbours_samples": figures.overlap(drawn, distinct),
        "share_new": float(np.mean(new)) if new else None,
        "refuses_blanks": refused,
        "share_blanks": figures.class_share(with_blanks.places, classes),
    }


def ours(method: str, table: Mapped, alone: bool) -> dict[str, Answer | str]:
    """Return the answers of a program of this environment."""
    begun, blanks = time.process_time(), answer(method, tasks(table, fill=False)["blanks"]) if not alone else ""
    refused = isinstance(blanks, str)
    asked = tasks(table, fill=refused)
    wanted = ("seed 0",) if alone else tuple(name for name in asked if refused or name != "filled")
    found = {name: blanks if name == "blanks" else answer(method, asked[name]) for name in wanted}
    print(method, table.X.shape, f"{time.process_time() - begun:.1f} s", file=sys.stderr, flush=True)
    return found


def umap(tables: dict[str, Mapped]) -> dict[str, dict[str, Answer | str]]:
    """Return umap-learn's answers by table."""
    asked = {
        f"{name}/{task}": work
        for name, table in tables.items()
        for task, work in tasks(table, fill=True).items()
        if name != LARGE or task == "seed 0"
    }
    metrics = {name: tables[name.rpartition("/")[0]].metric for name in asked}
    found: dict[str, dict[str, Answer | str]] = {name: {} for name in tables}
    for name, one in umap_answers(asked, metrics).items():
        table, _, task = name.rpartition("/")
        found[table][task] = one
    return found


def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(name: str, method: str, table: Mapped, answers: dict[str, Answer | str]) -> None:
    """Judge a program on a table, and keep that and its first map: a run that is cut off goes on where it stopped."""
    places = np.round(answers["seed 0"].places.astype(float), 3).tolist() if name != LARGE else []
    KEPT.write_text(json.dumps(kept() | {f"{name}/{method}": {"figures": judged(table, answers), "places": places}}))


def all_tables() -> dict[str, Mapped]:
    small = {name: TABLES[name](FEWER if name in ("news100", "digits") else ROWS) for name in TABLES}
    return {**small, LARGE: TABLES["ten classes"](MANY)}


def main() -> None:
    quick = asked_quick(__doc__ or "")
    warnings.simplefilter("ignore")
    if quick:
        zoo = TABLES["zoo"](ROWS)
        print({method: judged(zoo, ours(method, zoo, alone=False)) for method in HERE})
        return
    tables = all_tables()
    missing = {name: table for name, table in tables.items() if f"{name}/umap-learn" not in kept()}
    for name, answers in (umap(missing) if missing else {}).items():
        keep(name, "umap-learn", tables[name], answers)
    for method in HERE:
        for name, table in tables.items():
            if f"{name}/{method}" not in kept() and (method, name) != ("t-SNE", LARGE):
                keep(name, method, table, ours(method, table, alone=name == LARGE))
    save(tables)
    KEPT.unlink()


def save(tables: dict[str, Mapped]) -> None:
    """Record all that is kept, and draw it."""
    found = kept()
    figures = {name: {m: found[f"{name}/{m}"]["figures"] for m in ORDER if f"{name}/{m}" in found} for name in tables}
    maps = {n: {m: np.array(found[f"{n}/{m}"]["places"]) for m in figures[n]} for n in TABLES}
    draw({name: (tables[name].classes, some) for name, some in maps.items()})
    facts = {
        name: {"rows": len(t.X), "columns": t.X.shape[1], "class": t.what, "metric": t.metric}
        for name, t in tables.items()
    }
    peers = {n: number for n, number in peer_versions(*UMAP).items() if n in ("umap-learn", "numba", "pynndescent")}
    record("maps/run", figures, seeds=SEEDS, samples=SAMPLES, blank=BLANK, tables=facts, umap=peers)


if __name__ == "__main__":
    main()
