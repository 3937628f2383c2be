"""Every peer that installs, beside ours: the same tables, from a thousand rows or two up to a hundred times as many.

The files *_fit.py and *.R run in processes of their own, most of them in a peer's environment; the others are the benchmark.
"""

import sys
from pathlib import Path

# The other benchmarks are scripts: they import each other by bare names.
sys.path.insert(0, str(Path(__file__).parents[1]))
