"""What is on disk of a long fit that is stopped and resumed: a line for every pass, the checkpoint, and the model."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np


class Course:
    """The files of one fit."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log, self.checkpoint = folder / "passes.jsonl", folder / "full_size.checkpoint"
        self.model = folder / "full_size.model"  # as it is after the last pass

    def lines(self) -> list[dict[str, Any]]:
        text = self.log.read_text() if self.log.is_file() else ""
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def passes(self) -> dict[int, dict[str, Any]]:
        """Return the passes by number. One that was made again, after a kill, counts once."""
        return {line["pass"]: line for line in self.lines()}

    def last(self) -> int:
        return max(self.passes(), default=0)

    def told(self) -> dict[str, Any]:
        """Return what the log says: the course of the fit, and the seconds of its passes."""
        lines, passes = self.lines(), self.passes()
        first = [n for n, line in enumerate(lines) if n == 0 or line["process"] != lines[n - 1]["process"]]
        # The first pass of a process has the making of the start in it, or the reading of the checkpoint.
        steady = [line for n, line in enumerate(lines) if n not in first]
        done, numbers = len(passes), sorted(passes)
        seconds = [line["seconds"] for line in steady]
        return {
            "done": done,
            "first_passes": [lines[n]["pass"] for n in first],  # of each process
            "seconds_to_first_passes": [lines[n]["seconds"] for n in first],
            "made_twice": len(lines) - done,
            "seconds_a_pass": float(np.median(seconds)),
            "fastest_and_slowest": [min(seconds), max(seconds)],
            "processor_seconds_a_pass": float(np.median([line["processor_seconds"] for line in steady])),
            "active": [passes[n]["active"] for n in numbers],
            "noise": [passes[n]["noise"] for n in numbers],
            "objective": [passes[n]["objective"] for n in numbers],
            "seconds": [passes[n]["seconds"] for n in numbers],
            "processor_seconds": [passes[n]["processor_seconds"] for n in numbers],
        }


def finished(found: dict[str, Any]) -> dict[str, Any]:
    """Return how long all passes took: in processor time, and by those that had the cores to themselves.

    The process may be paused for other work, so that the sum of its seconds means nothing. A pass was alone if its
    processor time is nine tenths of what all cores have.
    """
    cores = os.cpu_count() or 1
    seconds, busy = np.array(found["seconds"]), np.array(found["processor_seconds"])
    alone, cut = busy > 0.9 * cores * seconds, np.arange(len(seconds)) >= found["uncut"]
    medians = [float(np.median(seconds[alone & (cut == late)])) for late in (False, True)]
    return {
        "passes_alone": [int((alone & (cut == late)).sum()) for late in (False, True)],
        "seconds_a_pass_alone": medians,
        "minutes_alone": float((~cut).sum() * medians[0] + cut.sum() * medians[1]) / 60.0,
        "minutes_of_processor": float(busy.sum()) / 60.0,
    }
