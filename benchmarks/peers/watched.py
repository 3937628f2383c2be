"""Runs a program under limits of processor time and memory, and measures both, with all that it starts.

Processor time, because seconds on a clock depend on what else the machine has to do.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOOK_EVERY = 0.04  # seconds
PATIENCE = 4.0  # times its processor time that a program may take on the clock: it may hang
TICKS = os.sysconf("SC_CLK_TCK")
TELLING = re.compile(r"^(?:[\w.]*(?:Error|Exception|Interrupt)\b|Error\b|ERROR:|Killed).*", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """How a program ended: `failure` is None, or why there is no result, in a few words."""

    cpu: float
    peak_mb: float
    failure: str | None


def run(call: Sequence[Any], most_cpu: float, most_mb: float, more: Mapping[str, str] | None = None) -> Run:
    """Run a program; end it, and all that it started, if it takes more processor time or memory than it may.

    Memory is the largest resident size; of several processes at once the sum, with what they share counted once.
    """
    begun, cpu, peak, failure = time.monotonic(), 0.0, 0.0, None
    with subprocess.Popen(
        [str(part) for part in call],
        env={**os.environ, **(more or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        said = _Said(program)
        try:
            while program.poll() is None:
                family = descendants(program.pid)
                peak, cpu = max(peak, memory_mb(family)), max(cpu, cpu_seconds(family))
                if peak > most_mb:
                    failure = f"more than {most_mb / 1000:g} GB of memory"
                elif cpu > most_cpu:
                    failure = f"not done after {most_cpu:g} s of processor time"
                elif time.monotonic() - begun > PATIENCE * most_cpu:
                    failure = f"not done after {PATIENCE * most_cpu:g} s"
                if failure:
                    end(family)
                time.sleep(LOOK_EVERY)
        finally:  # whoever is interrupted leaves nothing running
            if program.poll() is None:
                end(descendants(program.pid))
        text = said.all()
    if failure is None and program.returncode != 0:
        failure = in_a_few_words(text) or f"exit status {program.returncode}"
    return Run(cpu, peak, failure)


class _Said:
    """What a program writes as errors, read while it runs so that it never waits for a reader."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        assert program.stderr is not None
        self.thread = threading.Thread(target=self.lines.extend, args=(program.stderr,), daemon=True)
        self.thread.start()

    def all(self) -> str:
        self.thread.join(5.0)
        return "".join(self.lines)


def in_a_few_words(text: str) -> str:
    """Return the last line of an error text that names an error."""
    found = TELLING.findall(text)
    return found[-1].strip()[:160] if found else ""


def descendants(pid: int) -> list[int]:
    """Return a process and all that came from it, oldest first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    family = [pid]
    for member in family:
        family.extend(parents.get(member, []))
    return family


def cpu_seconds(family: list[int]) -> float:
    """Return the processor time of processes, and of what they started and has ended."""
    ticks = 0
    for member in family:
        try:
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # gone
            continue
        ticks += sum(map(int, fields[11:15]))  # user and system; of children that have ended, too
    return ticks / TICKS


def memory_mb(family: list[int]) -> float:
    """Return the largest size of one process so far, or what several have now."""
    if len(family) == 1:
        return _field(Path(f"/proc/{family[0]}/status"), "VmHWM")
    return sum(_field(Path(f"/proc/{member}/smaps_rollup"), "Pss") for member in family)


def _field(path: Path, name: str) -> float:
    try:
        lines = path.read_text().splitlines()
    except OSError:  # gone
        return 0.0
    return next((float(line.split()[1]) / 1000.0 for line in lines if line.startswith(name + ":")), 0.0)


def end(family: list[int]) -> None:
    for member in family:
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            continue
