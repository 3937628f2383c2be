"""The paper's size and schedule: 200,000 patches of 26 x 26, 700 causes, 200 passes (Figure 2), pass by pass.

The fit runs in a process of its own, on the engine with a checkpoint. It is stopped by being killed (SIGKILL), which
does no harm: the checkpoint is written after every pass, and the next process goes on from there. The first process is
always killed after a few passes, to show it.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from common import NO_DATA, have_data
from passes_log import Course, finished
from patches import natural
from watch import AfterEachPass

from hiddenbits import BinarySparseCoding, load, run_on

SEEDS = {"patches": 0, "starts": 0}
KILLED_AFTER = 4  # passes of the first process
SOME = 20_000  # patches with which the cost of the data cut is measured
POLL, LATE = 0.2, 60.0  # seconds between two looks at the log; seconds to wait for a checkpoint


@dataclass(frozen=True)
class Size:
    """How large a run is."""

    patches: int
    side: int
    causes: int
    passes: int

    def rows(self) -> np.ndarray:
        return natural(self.patches, self.side, SEEDS["patches"])

    def model(self) -> BinarySparseCoding:
        """The paper's settings, with products in float32."""
        model = BinarySparseCoding.paper("images", random_state=SEEDS["starts"])
        return model.set_params(n_components=self.causes, schedule__n_passes=self.passes, dtype="float32")


FULL, QUICK = Size(200_000, 26, 700, 200), Size(4_000, 8, 40, 12)


def work(size: Size, folder: Path) -> None:
    """Fit, from the checkpoint if there is one. The body of the process."""
    course, X = Course(folder), size.rows()
    since, busy = time.perf_counter(), time.process_time()

    def look(model: Any) -> None:
        nonlocal since, busy
        line = {
            "pass": model.n_iter_,
            "active": model.n_active_,
            "noise": model.noise_,
            "objective": float(model.trace_[-1]) / len(X),
            "seconds": time.perf_counter() - since,
            "processor_seconds": time.process_time() - busy,  # of all threads: says how busy the machine was otherwise
            "process": os.getpid(),
        }
        with course.log.open("a") as log:
            log.write(json.dumps(line) + "\n")
        model.save(course.model)
        since, busy = time.perf_counter(), time.process_time()

    with run_on(n_jobs=os.cpu_count(), checkpoint=course.checkpoint):
        size.model().set_callbacks(AfterEachPass(look)).fit(X)


def run(size: Size, folder: Path, until: int) -> None:
    """Go on to pass `until`, by a process that is killed then unless it is done."""
    course = Course(folder)
    process = get_context("spawn").Process(target=work, args=(size, folder))
    process.start()
    reached = _wait(process, lambda: course.last() >= until)
    if reached and until < size.passes:
        written = course.log.stat().st_mtime
        _wait(process, lambda: course.checkpoint.stat().st_mtime > written, LATE)
        time.sleep(course.passes()[until]["seconds"] / 3.0)  # into the middle of the next pass
        process.kill()  # SIGKILL
    process.join()
    if course.last() < until:
        raise RuntimeError(f"The fit ended after {course.last()} of {until} passes, with status {process.exitcode}.")


def _wait(process: Any, done: Callable[[], bool], most: float = np.inf) -> bool:
    """Wait until something is done; return whether it was, before the process ended and the time was over."""
    begin = time.perf_counter()
    while not done():
        if not process.is_alive() or time.perf_counter() - begin > most:
            return done()
        time.sleep(POLL)
    return True


def measure(folder: Path, until: int, *, full: bool) -> dict[str, Any] | str:
    """Go on to pass `until`; return the course so far."""
    if not have_data("fields at the size of the paper"):
        return NO_DATA
    size = FULL if full else QUICK
    course, until = Course(folder), min(until, size.passes)
    for stop in (KILLED_AFTER, until):
        if course.last() < stop:
            run(size, folder, stop)
    found = asdict(size) | {"uncut": round(size.model()._group("schedule").cut_from * size.passes)} | course.told()
    if full:
        return found | (finished(found) if found["done"] == size.passes else extrapolated(size, found))
    alone = size.model().fit(size.rows())
    return found | {"same_bits": bool(np.array_equal(alone.components_, load(course.model).components_))}


def extrapolated(size: Size, found: dict[str, Any]) -> dict[str, Any]:
    """Return how long all passes take: those with the data cut look at all rows twice, here measured on some rows."""
    model, X, marks = size.model(), natural(SOME, size.side, SEEDS["patches"]), [time.process_time()]
    model.set_params(
        schedule=replace(model.schedule, n_passes=7, cut_from=0.49, cut_to=0.5)
    )  # sets in with the fifth pass
    model.set_callbacks(AfterEachPass(lambda _: marks.append(time.process_time()))).fit(X)
    spent = np.diff(marks)
    ratio = float(np.median(spent[4:]) / np.median(spent[1:4]))
    without = found["uncut"]
    passes = without + ratio * (size.passes - without)
    quiet = found["processor_seconds_a_pass"] / (os.cpu_count() or 1)
    return {
        "cut_costs": ratio,
        "quiet_seconds_a_pass": quiet,
        "hours_as_measured": passes * found["seconds_a_pass"] / 3600.0,
        "hours_on_a_quiet_machine": passes * quiet / 3600.0,
    }
