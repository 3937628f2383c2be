"""Where the time of a pass goes: self time by function. Matrix products and element-wise steps of NumPy count for who calls them."""

import cProfile
import pstats
from pathlib import Path

from hiddenbits.engine import one_blas_thread

from .turns import Job

SHOWN = 12  # functions
SECONDS = 0.5  # passes are profiled for about so long


def profile(job: Job, seconds_a_pass: float) -> tuple[str, list[tuple[str, float]]]:
    """Return a table of the functions with the largest self times, and those with their shares."""
    profiler = cProfile.Profile()
    with one_blas_thread():
        profiler.enable()
        for _ in range(max(1, round(SECONDS / max(seconds_a_pass, 1e-6)))):
            job.ours()
        profiler.disable()
    functions = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in functions.values())
    found = sorted(
        ((own / total, _name(where), calls) for where, (calls, _, own, _, _) in functions.items()), reverse=True
    )
    lines = [f"{100 * share:5.1f}%  {calls:8d} calls  {name}" for share, name, calls in found[:SHOWN]]
    return "\n".join(lines) + "\n", [(name.rsplit(" ", 1)[-1], share) for share, name, _ in found[:3]]


def _name(where: tuple[str, int, str]) -> str:
    file, line, function = where
    if file == "~":  # a function of an extension
        words = function.strip("<>").replace("built-in method ", "").split("'")
        return f"numpy.{words[1]}" if len(words) > 3 else words[0]
    return f"{Path(file).name}:{line} {function}"
