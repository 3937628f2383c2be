"""Opening tables of answers: benchmarks/results/opening.md."""

from pathlib import Path

from benchmarks.record import how, load, table, topic_page, write


def opening() -> str:
    report = load("opening/opening")
    rows: list[list[object]] = [
        [f["levels"], f["container"], f["seconds"], f["seconds_csv"], f["ratio"], f["goal"] or ""]
        for f in report["figures"].values()
        if f["container"] != "CSV"
    ]
    head = ["levels", "container", "seconds", "seconds of the CSV file", "ratio", "goal"]
    return (
        f"Processor time of `open_table` on {report['rows']:,} x {report['columns']} answers in words, beside that of the "
        "same table in a CSV file; medians of turns side by side.\n\n" + table(head, rows) + f"\n\n{how(report)}\n"
    )


def pages() -> dict[Path, str]:
    return topic_page("opening", "opening", "Opening tables of answers", opening())


if __name__ == "__main__":
    write(pages())
