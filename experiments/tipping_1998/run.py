"""Tipping (1998), "Probabilistic visualisation of high-dimensional binary data": every table and figure, beside ours.

python experiments/tipping_1998/run.py --full     # writes results/, figures/ and README.md; some minutes
python experiments/tipping_1998/run.py --quick    # the same code on less, in a temporary folder; under a minute

The exit status is 1 when a figure is missed. The digits, the votes and the surveys need HIDDENBITS_DATA.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402


def steps(run: common.Run) -> int:
    import checks
    import claim
    import closer
    import pictures
    import readme
    import table

    run.step("table1", table.measure(full=run.full), table.SEEDS)
    run.step("claim", claim.measure(full=run.full), claim.SEEDS)
    run.step("maps", pictures.draw(run.out / "figures", full=run.full), pictures.SEEDS)
    run.step("closer", closer.draw(run.out / "figures", full=run.full), closer.SEEDS)
    verdicts = checks.measure(full=run.full)
    run.step("checks", verdicts, checks.SEEDS)
    readme.write(run.out)
    return run.conclude(verdicts)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:]))
