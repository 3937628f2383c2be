"""Can `LogisticPCA` be trusted? Do its intervals hold the truth; are its guesses of hidden cells good and calibrated?

python experiments/trust_logistic/run.py --full     # writes results/, figures/ and README.md; a quarter of an hour
python experiments/trust_logistic/run.py --quick    # the same code on less, in a temporary folder; half a minute
python experiments/trust_logistic/run.py --full --only figures    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The votes and the survey need HIDDENBITS_DATA.
"""

import sys
from pathlib import Path

from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = ("coverage", "completion", "figures")


def steps(run: common.Run) -> int:
    import checks
    import completion
    import interval_coverage
    import pictures
    import readme

    with threadpool_limits(1):  # many small products: threads would only wait for each other
        for name, module in {"coverage": interval_coverage, "completion": completion}.items():
            if run.wants(name):
                run.step(name, module.measure(full=run.full), module.SEEDS)
    reports = common.read_results(run.out, ("coverage", "completion"))
    intervals, cells = (report["figures"] for report in reports.values())
    pictures.draw(run.out / "figures", intervals, cells)
    common.write(readme.pages(run.out))
    return run.conclude(checks.measure(intervals, cells))


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
