"""Write the golden arrays, or compare with what another checkout wrote on the same machine, bit for bit."""

import argparse
import sys

from tests.golden_fits.cases import CASES
from tests.golden_fits.files import HERE, computed, differences, read, write

parser = argparse.ArgumentParser(prog="python -m tests.golden_fits", description=__doc__)
what = parser.add_mutually_exclusive_group(required=True)
what.add_argument("--write", metavar="FOLDER", nargs="?", const=HERE, help="by default over the committed arrays")
what.add_argument("--same", metavar="FOLDER", help="print each array that is not the same to the last bit")
given = parser.parse_args()
if given.write:
    write(given.write)
else:
    old = read(given.same)
    cases = [*CASES, *(old.keys() - CASES.keys())]
    found = [line for case in cases for line in differences(case, old.get(case, {}), computed(case))]
    print(*found, f"{len(found)} differences in {len(cases)} fits.", sep="\n")
    sys.exit(bool(found))
