"""Golden arrays in a file, and how they are compared."""

import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hiddenbits.exceptions import DegeneratePairsWarning
from tests.golden_fits.cases import CASES

HERE = Path(__file__).parent
NAME = "arrays.npz"
FLOOR = 1e-12  # what is nothing but rounding, such as intercepts of standardized columns, has no digits to compare


def computed(name):
    """Return the arrays of one case, none where there is no such case. That few passes do not converge is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegeneratePairsWarning)
        return CASES[name].arrays() if name in CASES else {}


def write(folder):
    """Compute all cases and write them to a folder."""
    every = {f"{case}/{name}": array for case in CASES for name, array in computed(case).items()}
    Path(folder).mkdir(parents=True, exist_ok=True)
    np.savez_compressed(Path(folder) / NAME, **every)


def read(folder=HERE):
    """Return the arrays in a folder, by case and name."""
    found = {}
    with np.load(Path(folder) / NAME) as file:
        for key in file.files:
            case, _, name = key.partition("/")
            found.setdefault(case, {})[name] = file[key]
    return found


def differences(case, old, new, rtol=None):
    """Return a line for each array that differs: in any bit, or by more than `rtol` of its largest number."""
    lines = [f"{case}: {name} is in one of them only" for name in sorted(old.keys() ^ new.keys())]
    for name in sorted(old.keys() & new.keys()):
        a, b = old[name], new[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            lines.append(f"{case}: {name} is {b.dtype}{b.shape}, was {a.dtype}{a.shape}")
        elif a.tobytes() != b.tobytes():
            x, y = a.astype(float), b.astype(float)
            with np.errstate(invalid="ignore"):
                apart = np.abs(x - y)[~((x == y) | (np.isnan(x) & np.isnan(y)))].max(initial=0.0)
                largest = np.abs(x[np.isfinite(x)]).max(initial=0.0)
            if rtol is None or not apart <= max(rtol * largest, FLOOR):
                share = apart / max(largest, FLOOR)
                lines.append(f"{case}: {name} differs by {apart:.2g}, {share:.2g} of its largest number")
    return lines
