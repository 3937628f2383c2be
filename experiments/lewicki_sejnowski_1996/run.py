"""Lewicki & Sejnowski (1996), "Bayesian unsupervised learning of higher order structure": its two problems and ours.

python experiments/lewicki_sejnowski_1996/run.py --full     # writes results/, figures/ and README.md; an hour
python experiments/lewicki_sejnowski_1996/run.py --quick    # the same code on a few seeds, in a temporary folder
python experiments/lewicki_sejnowski_1996/run.py --full --only lines    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The survey (nltcs), news100 and groceries need HIDDENBITS_DATA.
"""

import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

MEASURED = ("shifter", "lines", "feedback", "sampling", "schedules", "weight_prior", "levels")
DEEP = ("deep_lines", "deep_news100", "deep_groceries")
STEPS = ("pictures", "survey", *MEASURED, *DEEP)


def steps(run: common.Run) -> int:
    import checks
    import deep
    import feedback
    import levels
    import lines
    import pictures
    import readme
    import sampling
    import schedules
    import shifter
    import survey
    import weight_prior

    modules = (shifter, lines, feedback, sampling, schedules, weight_prior, levels)
    todo = {
        "pictures": (partial(pictures.draw, run.out / "figures", full=run.full), pictures.SEEDS),
        "survey": (survey.measure, survey.SEEDS),
    }
    for name, module in zip(MEASURED, modules, strict=True):
        todo[name] = (partial(module.measure, full=run.full), module.SEEDS)
    for name in DEEP:
        todo[name] = (partial(deep.measure, name.removeprefix("deep_"), full=run.full), deep.SEEDS)
    for name, (measure, seeds) in todo.items():
        if run.wants(name):
            run.step(name, measure(), seeds)
    found = checks.of({name: report["figures"] for name, report in common.read_results(run.out, STEPS).items()})
    common.write(readme.pages(run.out))
    return run.conclude(found)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
