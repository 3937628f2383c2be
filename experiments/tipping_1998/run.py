"""Tipping (1998), "Probabilistic visualisation of high-dimensional binary data": its table and figures, next to ours.

python experiments/tipping_1998/run.py --full     # writes results/, figures/ and README.md; some minutes
python experiments/tipping_1998/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/tipping_1998/run.py --full --only animals    # one step again; the others' results stay as they are

The exit status is 1 when a figure is missed. The digits, the votes and the surveys need HIDDENBITS_DATA.
"""

import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = ("table1", "printed", "equations", "claim", "maps", "animals", "kinds", "checks")


def steps(run: common.Run) -> int:
    import animals
    import checks
    import claim
    import equations
    import kinds
    import pictures
    import printed
    import readme
    import table

    figures = run.out / "figures"
    todo = {
        "table1": (table.measure, table.SEEDS),
        "printed": (printed.measure, printed.SEEDS),
        "equations": (equations.measure, equations.SEEDS),
        "claim": (claim.measure, claim.SEEDS),
        "maps": (partial(pictures.draw, figures), pictures.SEEDS),
        "animals": (partial(animals.draw, figures), animals.SEEDS),
        "kinds": (kinds.measure, kinds.SEEDS),
        "checks": (checks.measure, checks.SEEDS),
    }
    for name, (measure, seeds) in todo.items():
        if run.wants(name):
            run.step(name, measure(full=run.full), seeds)
    run.kept("closer", "tree")
    common.write(readme.pages(run.out))
    return run.conclude(common.read_results(run.out, ("checks",))["checks"]["figures"])


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
