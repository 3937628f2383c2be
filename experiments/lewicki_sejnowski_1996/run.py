"""Lewicki & Sejnowski (1996), "Bayesian unsupervised learning of higher order structure": its two problems and ours.

python experiments/lewicki_sejnowski_1996/run.py --full     # writes results/, figures/ and README.md; some minutes
python experiments/lewicki_sejnowski_1996/run.py --quick    # the same code on a few seeds, in a temporary folder
python experiments/lewicki_sejnowski_1996/run.py --full --only lines    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The survey (nltcs) needs HIDDENBITS_DATA.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = {"pictures": "pictures", "survey": "survey", "shifter": "shifter", "lines": "lines"}

if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, STEPS, sys.argv[1:]))
