"""Freund & Haussler (1994), "Unsupervised learning of distributions on binary vectors using two layer networks".

python experiments/freund_haussler_1994/run.py --full     # writes results/, figures/ and README.md; about an hour
python experiments/freund_haussler_1994/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/freund_haussler_1994/run.py --full --only digits    # one step again; the others' results stay

A full run that was interrupted goes on where it was, cell by cell of its tables. The exit status is 1 when a figure is
missed. The digits need HIDDENBITS_DATA.
"""

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = (
    "synthetic",
    "sizes",
    "digits",
    "other_digits",
    "claims",
    "stopping",
    "refitted",
    "terms",
    "of_model",
    "of_learning",
    "of_reals",
    "of_optima",
    "peers",
    "figures",
)


def steps(run: common.Run) -> int:
    import checks
    import claims
    import digits
    import of_learning
    import of_model
    import of_optima
    import of_reals
    import other_digits
    import peers
    import pictures
    import readme
    import refitted
    import sizes
    import stopping
    import synthetic
    import terms
    from cells import Cells

    # The tables stop fits after so many epochs, as the paper did, and say so.
    warnings.simplefilter("ignore", ConvergenceWarning)
    modules = {
        "synthetic": synthetic,
        "sizes": sizes,
        "digits": digits,
        "other_digits": other_digits,
        "claims": claims,
        "stopping": stopping,
        "refitted": refitted,
        "terms": terms,
        "of_model": of_model,
        "of_learning": of_learning,
        "of_reals": of_reals,
        "of_optima": of_optima,
        "peers": peers,
    }
    for name, module in modules.items():
        if not run.wants(name):
            continue
        # One thread: many small products, for which threads would only wait for each other.
        with threadpool_limits(1), Cells(run.out / "results" / f"{name}.partial.json") as cells:
            run.step(name, module.measure(cells, full=run.full), module.SEEDS)
    if run.wants("figures"):
        with threadpool_limits(1):
            pictures.draw(run.out / "figures", full=run.full)
    reports = common.read_results(run.out, tuple(modules))
    verdicts = checks.measure({name: report["figures"] for name, report in reports.items()})
    run.step("checks", verdicts, {})
    common.write(readme.pages(run.out))
    return run.conclude(verdicts)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
