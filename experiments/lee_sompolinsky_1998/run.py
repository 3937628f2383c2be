"""Lee & Sompolinsky (1998), "Learning a continuous hidden variable model for binary data": its examples, beside ours.

python experiments/lee_sompolinsky_1998/run.py --full     # writes results/, figures/ and README.md; a few minutes
python experiments/lee_sompolinsky_1998/run.py --quick    # the same code on less, in a temporary folder; seconds
python experiments/lee_sompolinsky_1998/run.py --full --only digits    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The digits and the faithful tables need HIDDENBITS_DATA.
"""

import sys
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = (
    "translation",
    "low_rank",
    "cells",
    "constraint",
    "negative",
    "rarity",
    "origins",
    "digits",
    "outputs",
    "morphs",
    "faithful",
    "weighted",
    "figures",
)


def steps(run: common.Run) -> int:
    import checks
    import constraint
    import digits
    import faithful
    import low_rank
    import morphs
    import negative
    import origins
    import outputs
    import patterns
    import pictures
    import rarity
    import readme
    import translation
    import weighted

    from hiddenbits import DegeneratePairsWarning

    # Pairs with an empty cell are counted and told of on the page.
    warnings.simplefilter("ignore", DegeneratePairsWarning)
    modules = {
        "translation": translation,
        "low_rank": low_rank,
        "cells": patterns,
        "constraint": constraint,
        "negative": negative,
        "rarity": rarity,
        "origins": origins,
        "digits": digits,
        "outputs": outputs,
        "morphs": morphs,
        "faithful": faithful,
        "weighted": weighted,
    }
    with threadpool_limits(1):  # matrices of a few hundred columns: threads would only wait for each other
        for name, module in modules.items():
            if run.wants(name):
                run.step(name, module.measure(full=run.full), module.SEEDS)
        if run.wants("figures"):
            pictures.draw(run.out / "figures", full=run.full)
    reports = common.read_results(run.out, tuple(modules))
    verdicts = checks.measure({name: report["figures"] for name, report in reports.items()})
    run.step("checks", verdicts, {})
    common.write(readme.pages(run.out))
    return run.conclude(verdicts)


if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, steps, sys.argv[1:], STEPS))
