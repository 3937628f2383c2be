"""Write the table of models in docs/scale.md, a pass over the page's reference job in measured constants, and results/large_tables.md.

python -m benchmarks.scale.page
"""

from pathlib import Path

from benchmarks.record import DOCS, how, load, table, topic_page, write
from benchmarks.scale.tables import large_tables
from experiments.common import filled

PAGE = DOCS / "scale.md"
ROWS, COLUMNS, CORES = 1e9, 1e5, 64 * 16  # of the reference job


def models() -> str:
    """Return the time of a pass over the reference table with each model, from its cost of a row."""
    report, rows = load("scale/pass_rates"), []
    for name, found in report["figures"].items():
        whole = found["columns"] == COLUMNS
        seconds = 1e-6 * found["microseconds_a_row"] * ROWS / CORES
        pairs = f"all pairs of columns: {8e-9 * COLUMNS**2:,.0f} GB, too large"
        rows.append(
            [
                name,
                f"{found['columns']:,}",
                f"{found['microseconds_a_row']:,.1f} µs",
                f"{seconds:,.0f} s" if whole else "",
                f"{8e-6 * found['statistics']:,.0f} MB" if whole else pairs,
            ]
        )
    head = ["model", "columns measured", "a row, one core", "a pass, all cores", "statistics of a pass"]
    return f"{table(head, rows)}\n\n{how(report)}"


def pages() -> dict[Path, str]:
    page = filled(PAGE.read_text(encoding="utf-8"), "models", models())
    return {PAGE: page, **topic_page("large_tables", "scale", "Large tables", *large_tables())}


if __name__ == "__main__":
    write(pages())
