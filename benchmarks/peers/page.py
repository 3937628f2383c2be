"""The figures of `python -m benchmarks.peers`: docs/performance/peers.md."""

from pathlib import Path
from typing import Any

from benchmarks.page_parts import how, load, table, topic_page, write

Point = dict[str, Any]
HEAD = [
    "peer",
    "rows",
    "its quality",
    "ours",
    "its fit",
    "ours, as good",
    "times faster",
    "its memory",
    "ours",
    "verdict",
]
TITLES = {
    "mixture": "**Mixture**, {columns} columns, 10 classes, 4 restarts each, the same tolerance, no prior.",
    "machine": "**Combination machine**, {columns} columns, 10 units. Peers are stopped where the likelihood of validation rows is highest; ours is never stopped.",
    "plane": "**Two dimensions**, {columns} columns. logisticpca and H2O give a point for each row and no distribution, so we give them the best Gaussian on their plane (for H2O in three dimensions, because it has no main effects).",
    "ability": "**One ability**, {columns} questions (the two-parameter model of tests).",
    "tetrachoric": "**Tetrachoric correlations**, {columns} columns, all pairs. gcimpute fits all pairs jointly, by EM.",
    "maps": "**Maps for the eye**: rows on a plane, {columns} columns from 10 classes. No peer has a likelihood, so we measure how well the map shows the classes, which no program was given. Ours is `LogisticPCA(2)`, a linear map.",
}
MORE_MEMORY = 1.1  # times the peer's: below that, equal


def peers() -> str:
    report = load("peers/peers")
    figures, most = report["figures"], report["most"]
    sections, lost = [], []
    for job, facts in figures["jobs"].items():
        points = sorted((p for p in figures["points"] if p["job"] == job), key=lambda p: p["rows"])
        if not points:
            continue
        rows, losses = compared(points, facts)
        ours = [p for p in points if p["program"] == "hiddenbits" and "failure" in p]
        lost += [f"- {job}, ours ({p['way']}), {p['rows']:,} rows: fails, {p['failure']}." for p in ours]
        lost += [f"- {job}, {loss}" for loss in losses]
        truths = {point["rows"]: shown(point["truth"], job) for point in points if point["truth"] is not None}
        known = f" The true model has {', '.join(truths.values())} at these sizes." if truths else ""
        title = TITLES[job].format(columns=points[0]["columns"])
        quality = f"Quality: {facts['quality']}; within {facts['close']:g} counts as equal.{known}"
        sections.append(f"{title} {quality}\n\n{table(HEAD, rows)}\n")
    left = [f"- {job}, {name}: {rows:,} rows" for job, name, rows in not_yet(figures)]
    open_end = f"Not measured yet (the same command continues):\n\n{chr(10).join(left)}\n\n" if left else ""
    missing = "\n".join(f"- {name}: {reason}" for name, reason in figures["missing"].items())
    versions = "; ".join(", ".join(f"{n} {v}" for n, v in found.items()) for found in report["peers"].values() if found)
    return f"""Tables are drawn from known models. Every program, including ours, runs in its own process on two threads. Seconds are those of the fit alone; memory is that of the whole process, including Python and
the table. "Ours, as good" is the fastest of our methods that is at least as good as the peer, followed by the seconds of the default; where no method is as good, it is the
default. A peer fails when it stops with an error, uses more than {most["mb"] / 1000:g} GB or takes more than {most["cpu"]:g} s of processor time after its start. It is then not tried with more rows. Peers that train
for as long as they are allowed get {most["cpu_of_training"]:g} s of processor time. The pages by topic compare single peers in more detail, on real tables.

{chr(10).join(sections)}
Where we lose:

{chr(10).join(lost) or "- nowhere in these tables."}

{open_end}What cannot be run here:

{missing or "- nothing."}

{how(report)} Peers: {versions}.
"""


def not_yet(figures: dict[str, Any]) -> list[tuple[str, str, int]]:
    """What a run that was cut off has left."""
    failed = {(p["job"], p["program"]) for p in figures["points"] if "failure" in p}
    done = {(p["job"], p["program"], p["rows"]) for p in figures["points"]}
    return [
        (job, name, rows)
        for job, facts in figures["jobs"].items()
        for name in facts["peers"]
        for rows in facts["rows"]
        if (job, name, rows) not in done and (job, name) not in failed
    ]


def compared(points: list[Point], facts: dict[str, Any]) -> tuple[list[list[object]], list[str]]:
    """The rows of a job's table, peer by peer, and what of them we lose."""
    rows, lost = [], []
    names = list(dict.fromkeys(point["program"] for point in points if point["program"] != "hiddenbits"))
    for name in names:
        for theirs in (point for point in points if point["program"] == name):
            ways = at_size(points, theirs["rows"], next(iter(facts["ways"])))
            best, equal = chosen(ways, theirs, facts)
            verdict, losses = judged(theirs, best, equal)
            lost += [f"{name}, {theirs['rows']:,} rows: {loss}." for loss in losses]
            rows.append([name, f"{theirs['rows']:,}", *cells(theirs, best, ways[0]), verdict])
    return rows, lost


def at_size(points: list[Point], rows: int, default: str) -> list[Point]:
    """Ours at a size, the default first; a default that failed with fewer rows was not tried again."""
    ways = [point for point in points if point["program"] == "hiddenbits" and point["rows"] == rows]
    if default not in [way["way"] for way in ways]:
        failed = next(p for p in points if p["program"] == "hiddenbits" and p["way"] == default and "failure" in p)
        ways.insert(0, failed)
    return ways


def chosen(ways: list[Point], theirs: Point, facts: dict[str, Any]) -> tuple[Point, bool]:
    """The fastest of our ways that is as good as the peer; the default where none is, or where there is nothing to reach."""
    done = [way for way in ways if "failure" not in way]
    if "failure" not in theirs:
        good = [way for way in done if way["quality"] >= theirs["quality"] - facts["close"]]
        if good:
            return min(good, key=lambda way: way["seconds"]), True
    return (ways[0] if "failure" not in ways[0] or not done else done[0]), False


def judged(theirs: Point, best: Point, equal: bool) -> tuple[str, list[str]]:
    """What the table says in a few words, and what we lose."""
    if "failure" in best:
        return f"ours fails: {best['failure']}", [f"ours fails ({best['failure']})"]
    if "failure" in theirs:
        return f"it fails: {theirs['failure']}", []
    lost = []
    if not equal:
        lost.append(
            f"we lose on quality, {shown(best['quality'], best['job'])} to {shown(theirs['quality'], theirs['job'])}"
        )
    if best["seconds"] > theirs["seconds"]:
        lost.append(f"we lose on time, {best['seconds']:.3g} s to {theirs['seconds']:.3g} s")
    if best["peak_mb"] > MORE_MEMORY * theirs["peak_mb"]:
        lost.append(f"we lose on memory, {best['peak_mb']} MB to {theirs['peak_mb']} MB")
    short = ", ".join(loss.partition(",")[0].removeprefix("we lose on ") for loss in lost)
    return (f"we lose: {short}" if lost else "as good, faster"), lost


def cells(theirs: Point, best: Point, default: Point) -> list[str]:
    ours = "" if "failure" in best else f"{best['seconds']:.3g} s"
    if best is not default and ours:
        whole = "fails" if "failure" in default else f"{default['seconds']:.3g} s"
        ours += f" ({best['way']}; default {whole})"
    faster = ""
    if "failure" not in theirs and "failure" not in best:
        faster = f"{theirs['seconds'] / best['seconds']:.3g}"
    return [
        shown(theirs.get("quality"), theirs["job"]),
        shown(best.get("quality"), best["job"]),
        f"{theirs['seconds']:.3g} s" if "seconds" in theirs else "",
        ours,
        faster,
        f"{theirs['peak_mb']:,} MB",
        f"{best['peak_mb']:,} MB",
    ]


def shown(quality: float | None, job: str) -> str:
    if quality is None:
        return ""
    return f"{quality:.4f}" if job in ("tetrachoric", "maps") else f"{quality:.3f}"


def pages() -> dict[Path, str]:
    return topic_page("peers", "peers", "Every peer that installs, at 1, 10 and 100 times the rows", peers())


if __name__ == "__main__":
    write(pages())
