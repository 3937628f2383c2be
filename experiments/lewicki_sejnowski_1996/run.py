"""Lewicki & Sejnowski (1996), "Bayesian unsupervised learning of higher order structure": its two problems and ours.

python experiments/lewicki_sejnowski_1996/run.py --full     # writes results/, figures/ and README.md; half an hour
python experiments/lewicki_sejnowski_1996/run.py --quick    # the same code on a few seeds, in a temporary folder
python experiments/lewicki_sejnowski_1996/run.py --full --only lines    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The survey (nltcs) needs HIDDENBITS_DATA.
"""

import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = ("pictures", "survey", "shifter", "lines")


def steps(run: common.Run) -> int:
    import checks
    import lines
    import pictures
    import readme
    import shifter
    import survey

    todo = {
        "pictures": (partial(pictures.draw, run.out / "figures"), pictures.SEEDS),
        "survey": (survey.measure, survey.SEEDS),
        "shifter": (partial(shifter.measure, full=run.full), shifter.SEEDS),
        "lines": (partial(lines.measure, full=run.full), lines.SEEDS),
    }
    for name, (measure, seeds) in todo.items():
        if run.wants(name):
            run.step(name, measure(), seeds)
    found = checks.of({name: report["figures"] for name, report in common.read_results(run.out, STEPS).items()})
    common.write(readme.pages(run.out))
    return run.conclude(found)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
