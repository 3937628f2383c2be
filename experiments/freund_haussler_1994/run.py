"""Freund & Haussler (1994), "Unsupervised learning of distributions on binary vectors using two layer networks".

python experiments/freund_haussler_1994/run.py --full     # writes results/, figures/ and README.md; under an hour
python experiments/freund_haussler_1994/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/freund_haussler_1994/run.py --full --only digits    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The digits need HIDDENBITS_DATA.
"""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

STEPS = {
    "synthetic": "synthetic",
    "digits": "digits",
    "other_digits": "other_digits",
    "peers": "peers",
    "figures": "pictures",
}

if __name__ == "__main__":
    # The tables stop fits after so many epochs, as the paper did, and say so.
    warnings.simplefilter("ignore", ConvergenceWarning)
    sys.exit(common.main(HERE, __doc__, STEPS, sys.argv[1:]))
