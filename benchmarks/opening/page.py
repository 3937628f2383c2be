"""Opening tables of every format: benchmarks/results/opening.md."""

from pathlib import Path

from benchmarks.record import how, load, table, topic_page, write


def opening() -> str:
    report = load("opening/formats")
    rows: list[list[object]] = [
        [name, f"{f['rows']:,}", f["seconds"], f["opening"], f["opening and reading"]]
        for name, f in report["figures"].items()
    ]
    head = ["format", "rows", "seconds", "opening", "opening and one reading"]
    return (
        "Processor time of `open_table`, and of that with one reading of all rows, as ratios to those of commit "
        f"{report['other']} in turn; below 1 is faster.\n\n" + table(head, rows) + f"\n\n{how(report)}\n"
    )


def pages() -> dict[Path, str]:
    return topic_page("opening", "opening", "Opening tables of every format", opening())


if __name__ == "__main__":
    write(pages())
