"""Open all tables, and print what became of each."""

import sys
from collections import Counter

from tests.data.sixty.judge import READ, REFUSED, WRONG, judged
from tests.data.sixty.tables import TABLES


def main(arguments: list[str]) -> int:
    """Print a line for each table; with -v, what was said."""
    counts: Counter[str] = Counter()
    for number, case in enumerate(TABLES, 1):
        verdict, said = judged(case)
        counts[verdict] += 1
        print(f"{number:2}  {verdict:31} {case.name}")
        if verdict == WRONG or "-v" in arguments:
            print("\n".join(f"      {line}" for line in said.splitlines()))
    right = counts[READ] + counts[REFUSED]
    print(f"{right} of {len(TABLES)}: {counts[READ]} {READ}, {counts[REFUSED]} {REFUSED}, {counts[WRONG]} {WRONG}")
    return counts[WRONG]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
