"""Henniges et al. (2010), "Binary sparse coding": its bars, its natural images, and an image restored, beside ours.

python experiments/henniges_2010/run.py --full     # writes results/, figures/ and README.md; about an hour and a half
python experiments/henniges_2010/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/henniges_2010/run.py --full --only natural    # one step again; the others' results stay
python experiments/henniges_2010/run.py --full --only full_size --iterations 200   # the paper's size, to its end

A full run that was interrupted goes on where it was: fit by fit of its tables, pass by pass of the full size. That step
stops after --iterations passes in all (14 unless told), and can be called again. The exit status is 1 when a figure is
missed. All but the bars need HIDDENBITS_DATA.
"""

import argparse
import os
import sys
import warnings
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # fits run side by side, or in threads of the engine

import common  # noqa: E402

STEPS = (
    "bars",
    "bars_starts",
    "accuracy",
    "costs",
    "number_of_causes",
    "course",
    "full_size",
    "natural",
    "denoise",
    "figures",
    "drawn_fields",
)
ITERATIONS = 14


def steps(run: common.Run, iterations: int) -> int:
    import accuracy
    import bars
    import bars_starts
    import checks
    import costs
    import course
    import denoise
    import drawn_fields
    import full_size
    import natural
    import number_of_causes
    import pictures
    import readme
    from cells import Cells
    from sklearn.exceptions import ConvergenceWarning

    run.command += f" --iterations {iterations}" if iterations != ITERATIONS else ""
    warnings.simplefilter("ignore", ConvergenceWarning)  # the tables say how fits ended
    scratch = run.out / "scratch"
    measures = {
        "bars": (bars, lambda cells: bars.measure(cells, full=run.full)),
        "bars_starts": (bars_starts, lambda cells: bars_starts.measure(cells, full=run.full)),
        "accuracy": (accuracy, lambda _: accuracy.measure(full=run.full)),
        "costs": (costs, lambda _: costs.measure(full=run.full)),
        "number_of_causes": (number_of_causes, lambda cells: number_of_causes.measure(cells, full=run.full)),
        "course": (course, lambda _: course.measure()),
        "full_size": (full_size, lambda _: full_size.measure(scratch, iterations, full=run.full)),
        "natural": (natural, lambda cells: natural.measure(cells, scratch, full=run.full)),
        "denoise": (denoise, lambda cells: denoise.measure(cells, scratch, full=run.full)),
    }
    for name, (module, measure) in measures.items():
        if run.wants(name):
            with Cells(run.out / "results" / f"{name}.partial.json") as cells:
                run.step(name, measure(cells), module.SEEDS)
    run.kept("max_bars", "superposed")
    reports = common.read_results(run.out, (*measures, "max_bars", "superposed"))
    figures = {name: report["figures"] for name, report in reports.items()}
    if run.wants("figures") or run.only in ("full_size", "natural", "denoise"):
        pictures.draw(run.out / "figures", scratch, figures, full=run.full)
    if run.wants("drawn_fields") or run.only == "full_size":
        found = drawn_fields.measure(run.out / "figures", figures["full_size"])
        run.step("drawn_fields", found, drawn_fields.SEEDS)
    figures |= {"drawn_fields": common.read_results(run.out, ("drawn_fields",))["drawn_fields"]["figures"]}
    common.write(readme.pages(run.out))
    return run.conclude(checks.measure(figures, full=run.full))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    options, rest = parser.parse_known_args()
    sys.exit(common.main(HERE, __doc__, partial(steps, iterations=options.iterations), rest, STEPS))
