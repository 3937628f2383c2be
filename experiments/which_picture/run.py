"""Which picture fits? Known truths and noise put before `compare` and `select`; real tables; one killed half-way.

python experiments/which_picture/run.py --full     # writes results/, README.md and the matrix in docs/compare.md
python experiments/which_picture/run.py --quick    # the same code on a few small tables, in a temporary folder
python experiments/which_picture/run.py --full --only news    # one step again; the others' results stay

The exit status is 1 when a figure is missed. news100 needs HIDDENBITS_DATA.
"""

import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = ("families", "sizes", "choosing", "answers", "news")  # as in readme.py


def steps(run: common.Run) -> int:
    import answers
    import checks
    import choosing
    import news
    import readme
    import sizes

    import families

    todo = {
        "families": (partial(families.measure, full=run.full), families.SEEDS),
        "sizes": (partial(sizes.measure, full=run.full), sizes.SEEDS),
        "choosing": (partial(choosing.measure, full=run.full), choosing.SEEDS),
        "answers": (partial(answers.measure, full=run.full), answers.SEEDS),
        "news": (partial(news.measure, full=run.full), {"compare": 0}),
    }
    for name, (measure, seeds) in todo.items():
        if run.wants(name):
            skipped = name in ("answers", "news") and run.full and not common.have_data(name)
            run.step(name, common.NO_DATA if skipped else measure(), seeds)
    if waiting := [name for name in STEPS if not (run.out / "results" / f"{name}.json").is_file()]:
        print(f"There are no results of {', '.join(waiting)} yet: run --full, or --only for each.")
        return 1
    results = common.read_results(run.out, STEPS)
    found = checks.of({name: report["figures"] for name, report in results.items()}, full=run.full)
    common.write(readme.pages(run.out))
    return run.conclude(found)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
