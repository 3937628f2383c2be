"""Henniges et al. (2010), "Binary sparse coding": its bars and its natural images, beside ours.

python experiments/henniges_2010/run.py --full     # writes results/, figures/ and README.md; under an hour
python experiments/henniges_2010/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/henniges_2010/run.py --full --only natural    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The images need HIDDENBITS_DATA.
"""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # fits run side by side

import common  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

STEPS = {"bars": "bars", "natural": "natural", "figures": "pictures"}

if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # the tables say how fits ended
    sys.exit(common.main(HERE, __doc__, STEPS, sys.argv[1:]))
