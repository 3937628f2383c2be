"""Every peer that installs, beside ours: the same tables, from a thousand rows or two up to a hundred times as many.

The files of fits/ run in processes of their own, most of them in a peer's environment; the others are the benchmark.
"""
