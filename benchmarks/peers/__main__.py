"""Every peer that installs, beside ours: time and memory to equal quality, at 1, 10 and 100 times the rows until it fails.

    python -m benchmarks.peers --full                      (all jobs; a quarter of an hour; writes results/peers.json)
    python -m benchmarks.peers --full --only machine       (one job, or one peer: rbms; the figures of the others are kept)
    python -m benchmarks.peers --full --only tutorials     (what psych says of a table of the tutorials)
    python -m benchmarks.peers --quick                     (scikit-learn's BernoulliRBM alone, 500 rows; writes nothing)

Tables are drawn from known models (drawn.py). Every program, ours too, runs in a process of its own on two threads, pip's peers in
environments of their own. The same function judges all answers (judged.py). Settings are in jobs.py: the programs' own, or those
that the other benchmarks found best. Seconds are of the fit alone, of short fits the median of three; memory is that of
the whole process, Python and table included. A program fails when it stops with an error, has more than 6 GB, or takes more than
60 s of processor time (besides what it may take to start); peers that train as long as they are let have 30 s of it, and are
judged by where they are then. Where a peer takes less time than our default, the default is also run with `max_time=` half of the
peer's seconds. A run that is cut off goes on where it stopped.
"""

import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.peers import jobs, turns, tutorials
from benchmarks.peers.jobs import JOBS, TIMES, Job, Peer
from benchmarks.record import asking, kept, load, record, result

PARTIAL = result("peers/peers.partial")
Point = dict[str, Any]


def wanted(only: str | None) -> list[tuple[Job, set[str]]]:
    """The jobs, each with the peers that are asked for."""
    chosen = [(job, {peer.name for peer in job.peers if only in (None, job.name, peer.name)}) for job in JOBS.values()]
    found = [(job, names) for job, names in chosen if names]
    if not found:
        known = sorted({*JOBS, *(peer.name for job in JOBS.values() for peer in job.peers)})
        raise SystemExit(f"--only {only}: there is no such job or peer; there are {', '.join(known)}, tutorials.")
    return found


def run(job: Job, names: set[str], times: tuple[int, ...], points: list[Point], keep: Any) -> None:
    """Measure what has not been measured, size by size; whoever failed at a size is not tried at a larger one."""
    failed = {(p["program"], p["way"]) for p in points if p["job"] == job.name and "failure" in p}
    for more in times:
        table = None
        for program, way in programs(job, names, more * job.rows, points):
            key = {"job": job.name, "program": program.name, "way": way, "rows": more * job.rows}
            if any(key.items() <= p.items() for p in points) or (program.name, way) in failed:
                continue
            if table is None:
                table = job.draw(more * job.rows)
                judge = job.judge(table)
                truth = judge.truth()
            point = {**key, "columns": table.train.shape[1], **turns.measure(program, table, judge)}
            if "failure" in point:
                failed.add((program.name, way))
            points.append({**point, "truth": truth})
            print(json.dumps(points[-1]), file=sys.stderr, flush=True)
            keep()


def programs(job: Job, names: set[str], rows: int, points: list[Point]) -> Iterator[tuple[Peer, str]]:
    """Our ways, the peers, then our default with half of the time of each peer that took less than it."""
    yield from ((turns.ours(job, settings), way) for way, settings in job.ways.items())
    yield from ((peer, "") for peer in job.peers if peer.name in names)
    default, settings = next(iter(job.ways.items()))
    here = [p for p in points if (p["job"], p["rows"]) == (job.name, rows) and p["way"] in ("", default)]
    seconds = {p["program"]: p["seconds"] for p in here if "failure" not in p}
    for peer in job.peers:
        if seconds.get(peer.name, math.inf) < seconds.get("hiddenbits", math.inf):
            limit = float(f"{seconds[peer.name] / 2:.2g}")
            yield turns.ours(job, {**settings, "max_time": limit}), f"{default}, max_time={limit:g}"


def quick() -> None:
    """One peer that is always here, few rows, nothing written."""
    points: list[Point] = []
    turns.TURNS = 1
    peer = next(peer for peer in JOBS["machine"].peers if peer.name == "BernoulliRBM")
    peer = dataclasses.replace(peer, options={**peer.options, "most": 3.0})
    run(dataclasses.replace(JOBS["machine"], rows=500, peers=(peer,)), {peer.name}, (1,), points, lambda: None)
    print(json.dumps(points, indent=1))
    if any("failure" in point for point in points):
        raise SystemExit(1)


def full(only: str | None) -> None:
    if only == "tutorials":
        tutorials.measure()
        return
    chosen = wanted(only)
    points: list[Point] = json.loads(PARTIAL.read_text())["points"] if PARTIAL.exists() else []
    before = kept("peers/peers") if only else {}
    if before and not points:
        again = {(job.name, name) for job, names in chosen for name in (*names, "hiddenbits")}
        points = [p for p in before["points"] if (p["job"], p["program"]) not in again]
    missing = dict(before.get("missing", {}))
    if not only:
        missing |= {name: turns.missing(Peer(name, "", (package, ""))) for name, package in jobs.NOT_ON_PYPI.items()}
        missing |= {name: turns.not_in_r(package) for name, package in jobs.NOT_IN_R.items()}
    missing |= {peer.name: turns.missing(peer) for job, names in chosen for peer in job.peers if peer.name in names}
    everybody = {peer.name: peer for job in JOBS.values() for peer in job.peers if not missing.get(peer.name)}
    known = load("peers/peers")["peers"] if only else {}  # of peers that are not asked for, which need not be here
    asked = {name for _, names in chosen for name in names}
    facts = {
        "settings": {name: peer.options for name, peer in everybody.items()},
        "peers": {
            name: turns.versions_of(peer) if name in asked else known.get(name, {}) for name, peer in everybody.items()
        },
    }
    for more in TIMES:  # a run that is cut off has the small tables of all jobs
        for job, names in chosen:
            here = {name for name in names if not missing[name]}
            run(job, here, (more,), points, lambda: PARTIAL.write_text(json.dumps({"points": points})))
        save(points, missing, facts)
    PARTIAL.unlink(missing_ok=True)


def save(points: list[Point], missing: dict[str, str | None], facts: dict[str, Any]) -> None:
    order = list(JOBS)
    figures = {
        "points": sorted(points, key=lambda p: order.index(p["job"])),
        "missing": {name: reason for name, reason in missing.items() if reason},
        "jobs": {
            name: {
                "quality": job.quality,
                "close": job.close,
                "ways": job.ways,
                "peers": [peer.name for peer in job.peers if not missing.get(peer.name)],
                "rows": [more * job.rows for more in TIMES],
            }
            for name, job in JOBS.items()
        },
    }
    record(
        "peers/peers",
        figures,
        seeds=jobs.drawn.SEED,
        packages=("numba",),
        most={"cpu": turns.MOST_CPU, "mb": turns.MOST_MB, "cpu_of_training": jobs.MOST},
        **facts,
    )


if __name__ == "__main__":
    parser = asking(__doc__)
    parser.add_argument("--only", help="a job or a peer, by name")
    given = parser.parse_args()
    quick() if given.quick else full(given.only)
