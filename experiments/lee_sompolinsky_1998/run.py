"""Lee & Sompolinsky (1998), "Learning a continuous hidden variable model for binary data": its examples, beside ours.

python experiments/lee_sompolinsky_1998/run.py --full     # writes results/, figures/ and README.md; some minutes
python experiments/lee_sompolinsky_1998/run.py --quick    # the same code on less, in a temporary folder; seconds
python experiments/lee_sompolinsky_1998/run.py --full --only digits    # one step again; the others' results stay

The exit status is 1 when a figure is missed. The digits need HIDDENBITS_DATA.
"""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

from hiddenbits.exceptions import DegeneratePairsWarning  # noqa: E402

STEPS = {
    "translation": "translation",
    "low_rank": "low_rank",
    "cells": "patterns",
    "constraint": "constraint",
    "digits": "digits",
    "morphs": "morphs",
    "figures": "pictures",
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", DegeneratePairsWarning)  # such pairs are counted and told of on the page
    sys.exit(common.main(HERE, __doc__, STEPS, sys.argv[1:]))
