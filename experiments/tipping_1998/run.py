"""Tipping (1998), "Probabilistic visualisation of high-dimensional binary data": its table and figures, next to ours.

python experiments/tipping_1998/run.py --full     # writes results/, figures/ and README.md; some minutes
python experiments/tipping_1998/run.py --quick    # the same code on less, in a temporary folder; under a minute
python experiments/tipping_1998/run.py --full --only maps    # one step again; the others' results stay as they are

The exit status is 1 when a figure is missed. The digits and the surveys need HIDDENBITS_DATA.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # what the experiments share

import common  # noqa: E402

STEPS = {"table1": "table", "printed": "printed", "equations": "equations", "claim": "claim", "maps": "pictures"}

if __name__ == "__main__":
    sys.exit(common.main(HERE, __doc__, STEPS, sys.argv[1:]))
