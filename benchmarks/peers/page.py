"""The figures of `python -m benchmarks.peers` and its programs `classes` and `numbers`: peers*.md of benchmarks/results."""

from pathlib import Path
from typing import Any

from benchmarks.record import how, load, table, topic_page, write

Point = dict[str, Any]
HEAD = [
    "peer",
    "rows",
    "its quality",
    "our quality",
    "its seconds",
    "our seconds",
    "default: times faster",
    "fastest of ours that is as good",
    "fastest: times faster",
    "its MB",
    "our MB",
]
# R has packages of these names, too; of mirt we run an estimator that its usual function does not offer.
LABELS = {"mirt": "mirt's GVEM (Python)", "fit_mirt": "mirt's fit_mirt (Python)", "logisticpca": "logisticpca (Python)"}
TITLES = {
    "mixture": "**Mixture**, {columns} columns, 10 classes that overlap, 4 restarts each, the same tolerance. Ours has `prior_strength=0`, as StepMix has no prior. Where classes are far apart the lead is smaller: [mixtures](mixture.md).",
    "clear classes": "**Classes apart**, {columns} columns, 4 classes, each program with its own defaults: StepMix makes one start, ours several.",
    "machine": "**Combination machine**, {columns} columns, 10 units. Peers are stopped where the likelihood of validation rows is highest, and their seconds are those up to the first place within 0.01 nats of it, known only afterwards; they have {training:g} s of processor time at most. Our default is not stopped, and its seconds are those of the whole fit. A combination machine is a restricted Boltzmann machine with visible bits -1 and +1.",
    "plane": "**Two dimensions**, {columns} columns. The peers are Python packages; mirt's is `GVEMEstimator`, by variational EM; `fit_mirt`, its usual function, is [next to ours](logistic.md) elsewhere. logisticpca and H2O give a point for each row and no distribution, so we give them the best Gaussian on their plane (for H2O in three dimensions, because it has no main effects).",
    "ability": "**One ability**, {columns} questions (the 2PL model of item response theory). mirt's `fit_mirt` fits it too, on some tables faster than ours: [next to ours](logistic.md).",
    "tetrachoric": "**Tetrachoric correlations**, {columns} columns, all pairs. gcimpute fits all pairs jointly, by EM.",
    "maps": "**Maps for the eye**: rows on a plane, {columns} columns from 10 classes. The peer has no likelihood, so we measure how well the map shows the classes, which no program was given. Both maps are linear; ours is `LogisticPCA(2)`.",
    "curved maps": "**Curved maps**: the same rows and measure. Ours is `TopographicMap()`; its length scale was chosen on rows of such classes, with the classes in sight, which favors it. On [real tables](maps.md) either may be better.",
}
MORE_MEMORY = 1.1  # times the peer's: below that, equal


def peers() -> str:
    report = load("peers/peers")
    figures, most = report["figures"], report["most"]
    sections: list[str] = []
    lost: dict[str, list[str]] = {
        "failures": [],
        "time": [],
        "quality": [],
        "memory, by more than a tenth": [],
        "time, to another setting of ours that is as good in half of it or less": [],
    }
    for job, facts in figures["jobs"].items():
        points = sorted((p for p in figures["points"] if p["job"] == job), key=lambda p: p["rows"])
        if not points:
            continue
        rows = compared(points, facts, lost)
        lost["time, to another setting of ours that is as good in half of it or less"] += cheaper_and_as_good(
            points, facts
        )
        truths = {point["rows"]: shown(point["truth"], job) for point in points if point["truth"] is not None}
        known = f" The true model has {', '.join(truths.values())} at these sizes." if truths else ""
        title = TITLES[job].format(columns=points[0]["columns"], training=most["cpu_of_training"])
        quality = f"Quality: {facts['quality']}; within {facts['close']:g} counts as equal.{known}"
        sections.append(f"{title} {quality}{cheaper(facts['ways'])}\n\n{table(HEAD, rows)}\n")
    left = [f"- {job}, {name}: {rows:,} rows" for job, name, rows in not_yet(figures)]
    open_end = f"Not measured yet (the same command continues):\n\n{chr(10).join(left)}\n\n" if left else ""
    missing = "\n".join(f"- {name}: {reason}" for name, reason in figures["missing"].items())
    versions = "; ".join(
        f"{name}: {', '.join(f'{n} {v}' for n, v in found.items())}" for name, found in report["peers"].items() if found
    )
    not_run = f"Not run: {', '.join(figures['missing'])} (reasons at the end). " if figures["missing"] else ""
    ended = sum(p["program"] != "hiddenbits" and "failure" not in p for p in figures["points"])
    return f"""{not_run}**Where our default loses**, in the {ended} comparisons in which the peer ended; our figure comes first:

{losses(lost)}

Tables are drawn from known models. Every program, including ours, runs in its own process on two threads. Programs run one after the other, on one table of each size. Seconds are those of the fit alone, medians of three where they are below 3; memory is that of the whole process, including Python and
the table. "Ours" is the default. "Fastest of ours that is as good" is the quickest of our settings whose quality equals the peer's or is higher, picked afterwards; where the peer takes less time than the default, the default limited to
half of the peer's time (`max_time=`) is among them. Peers may have cheaper settings, too: they run with their own, or with those that earlier benchmarks of single families found best. "Fails" means that a program ended with an error, used more than {most["mb"] / 1000:g} GB, or was stopped by us after {most["cpu"]:g} s of processor time
besides 15 to 90 s to start and compile, by program; it is then not tried with more rows. Peers without a rule for when to stop get {most["cpu_of_training"]:g} s of processor time. Other files of this folder compare single peers in more detail, on real tables.

{chr(10).join(sections)}
{open_end}What cannot be run here:

{missing or "- nothing."}

{how(report)} Peers: {versions}.
"""


def losses(lost: dict[str, list[str]]) -> str:
    """What the default loses, by what it is."""
    found = [f"- {kind}:\n" + "\n".join(f"  - {each}" for each in each_of) for kind, each_of in lost.items() if each_of]
    return "\n".join(found) or "- nowhere in these tables."


def cheaper_and_as_good(points: list[Point], facts: dict[str, Any]) -> list[str]:
    """Where the default takes twice the time of a cheaper setting of ours that is as good, or longer."""
    ours = [p for p in points if p["program"] == "hiddenbits" and "failure" not in p]
    found = []
    for default in (p for p in ours if p["way"] == next(iter(facts["ways"]))):
        others = [p for p in ours if p["rows"] == default["rows"] and p["way"] in facts["ways"] and p is not default]
        best = fastest(others, default, facts["close"])
        if best is not None and 2.0 * best["seconds"] <= default["seconds"]:
            qualities = " against ".join(shown(p["quality"], p["job"]) for p in (default, best))
            times = f"{default['seconds']:.3g} s against {best['seconds']:.3g} s ({best['way']})"
            found.append(f"{default['job']}, {default['rows']:,} rows: {times}, at a quality of {qualities}.")
    return found


def label(name: str) -> str:
    """The name of a program, with its language where R has another of that name."""
    return LABELS.get(name, name)


def cheaper(ways: dict[str, dict[str, Any]]) -> str:
    """What our cheaper ways are, after the default, as one would write it."""
    said = [f"{name}: `{', '.join(f'{k}={v!r}' for k, v in way.items())}`" for name, way in list(ways.items())[1:]]
    return f" Ours besides the default: {'; '.join(said)}." if said else ""


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


def compared(points: list[Point], facts: dict[str, Any], lost: dict[str, list[str]]) -> list[list[object]]:
    """The rows of a job's table, peer by peer; what the default loses is added to what was lost."""
    rows: list[list[object]] = []
    names = list(dict.fromkeys(point["program"] for point in points if point["program"] != "hiddenbits"))
    for name in names:
        for theirs in (point for point in points if point["program"] == name):
            ways = at_size(points, theirs["rows"], next(iter(facts["ways"])))
            best = fastest(ways, theirs, facts["close"])
            for kind, words in losses_of(theirs, ways[0], best, facts["close"]).items():
                lost[kind].append(f"{theirs['job']}, {label(name)}, {theirs['rows']:,} rows: {words}.")
            rows.append([label(name), f"{theirs['rows']:,}", *cells(theirs, ways[0], best)])
    return rows


def at_size(points: list[Point], rows: int, default: str) -> list[Point]:
    """Ours at a size, the default first; a default that failed with fewer rows was not tried again."""
    ways = [point for point in points if point["program"] == "hiddenbits" and point["rows"] == rows]
    if default not in [way["way"] for way in ways]:
        failed = next(p for p in points if p["program"] == "hiddenbits" and p["way"] == default and "failure" in p)
        ways.insert(0, failed)
    return ways


def fastest(ways: list[Point], theirs: Point, close: float) -> Point | None:
    """The fastest of our ways that is as good as the peer, if there is one and something to reach."""
    if "failure" in theirs:
        return None
    good = [way for way in ways if "failure" not in way and way["quality"] >= theirs["quality"] - close]
    return min(good, key=lambda way: way["seconds"], default=None)


def losses_of(theirs: Point, default: Point, best: Point | None, close: float) -> dict[str, str]:
    """What the default loses, in words."""
    if "failure" in default:
        return {"failures": f"ours fails, {default['failure']}"}
    if "failure" in theirs:
        return {}
    lost = {}
    ours, its = (shown(point["quality"], point["job"]) for point in (default, theirs))
    if default["seconds"] > theirs["seconds"]:
        as_good = "none of ours is as good sooner"
        if best is not None and best["seconds"] < theirs["seconds"]:
            as_good = f"as good sooner: {best['way']}, {best['seconds']:.3g} s"
        times = f"{default['seconds']:.3g} s against {theirs['seconds']:.3g} s"
        lost["time"] = f"{times}, at a quality of {ours} against {its} ({as_good})"
    if default["quality"] < theirs["quality"] - close:
        lost["quality"] = f"{ours} against {its}"
    if default["peak_mb"] > MORE_MEMORY * theirs["peak_mb"]:
        lost["memory, by more than a tenth"] = f"{default['peak_mb']} MB against {theirs['peak_mb']} MB"
    return lost


def cells(theirs: Point, default: Point, best: Point | None) -> list[str]:
    return [
        shown(theirs.get("quality"), theirs["job"]),
        shown(default.get("quality"), theirs["job"]),
        *(seconds(point) for point in (theirs, default)),
        faster(theirs, default),
        "" if best is None else seconds(best) + ("" if best is default else f" ({best['way']})"),
        faster(theirs, best),
        *(f"{point['peak_mb']:,}" for point in (theirs, default)),
    ]


def seconds(point: Point) -> str:
    return f"fails: {point['failure']}" if "failure" in point else f"{point['seconds']:.3g}"


def faster(theirs: Point, ours: Point | None) -> str:
    if ours is None or "failure" in theirs or "failure" in ours:
        return ""
    times = theirs["seconds"] / ours["seconds"]
    return f"{times:,.0f}" if times >= 100.0 else f"{times:.3g}"


def shown(quality: float | None, job: str) -> str:
    if quality is None:
        return ""
    return f"{quality:.4f}" if job in ("tetrachoric", "maps", "curved maps") else f"{quality:.3f}"


def classes() -> str:
    report, by_default = load("peers/classes"), load("peers/class_defaults")
    figures, peers = report["figures"], ", ".join(f"{name} {number}" for name, number in report["peers"].items())
    pairs = list(by_default["figures"].items())
    defaults: list[list[object]] = [
        [name, *f["seconds"], f["times_faster"], f"{min(f['higher_by']):+.2f} to {max(f['higher_by']):+.2f}"]
        for name, f in pairs
    ]
    slower = [name for name, f in pairs if f["times_faster"] < 1.0]
    lower = {name: sum(gap < -0.5 for gap in f["higher_by"]) for name, f in pairs}
    to_the_same = {f"levels: {name}": f for name, f in figures["levels"].items()}
    to_the_same |= {f"election, {name}, poLCA": f for name, f in figures["election"].items()}
    same: list[list[object]] = [
        [
            name,
            f"{f['rows']:,}",
            *f["passes"],
            *f["seconds"],
            f"{f['times_faster']} ({min(f['ratios'])} to {max(f['ratios'])})",
        ]
        for name, f in to_the_same.items()
    ]
    goals = {"complete, StepMix": 2.0, "missing, StepMix": 5.0, "poLCA": 10.0}
    missed = [
        f"{name} ({f['times_faster']:g}, goal {goal:g})"
        for name, f in to_the_same.items()
        for kind, goal in goals.items()
        if name.endswith(kind) and f["times_faster"] < goal
    ]
    return f"""Processor seconds on one thread, opening the table included; the programs in turn, medians of {report["turns"]} turns.

## Each program's defaults
Four classes, ten tables of 1,000 x 20 bits a design. StepMix makes one start, ours several, and ours has a prior. **Ours is slower** on: {"; ".join(slower) or "none"}. Tables where ours is lower by more than half a nat of the whole table (the prior's share included): {"; ".join(f"{name}: {count}" for name, count in lower.items() if count) or "none"}.

{table(["simulated tables", "our seconds, ten tables", "StepMix's", "times faster", "log-likelihood higher by, nats of the table"], defaults)}

{how(by_default)}

## From the same start to the same log-likelihood
Neither has a prior. Seconds are those to the first pass within {report["close"]:g} nats a row of the lower of the two ends. Goals: 2 times faster than StepMix on complete levels, 5 times with missing cells, 10 times faster than poLCA. **Missed**: {"; ".join(missed) or "none"}. On tables of one or two thousand rows most of our time is that of Python between the products.
"One-hot": StepMix is given columns that were coded before its fit, which is not in its seconds; by itself it codes them in every pass.

{table(["table and peer", "rows", "our passes", "its passes", "our seconds", "its seconds", "times faster"], same)}

{how(report)} Peers: {peers}.
"""


def numbers() -> str:
    report = load("peers/numbers")
    figures, peers = report["figures"], ", ".join(f"{name} {number}" for name, number in report["peers"].items())
    same = sorted(figures["same"].items(), key=lambda pair: -max(map(abs, pair[1]["differences"])))
    likelihoods: list[list[object]] = [
        [
            name.replace(", mixed columns", ""),
            f["rows"],
            f"{f['ends'][0]:.6f}",
            *(f"{gap:+.0e}" for gap in f["differences"]),
            f"{f['smallest']:.2g}",
        ]
        for name, f in same
    ]
    times, own = (
        sorted(figures[part].items(), key=lambda pair: pair[1]["times_faster"]) for part in ("times", "own starts")
    )
    to_the_same: list[list[object]] = [
        [
            name,
            *f["passes"],
            *f["seconds"],
            f["seconds_opened"],
            f"{f['times_faster']} ({min(f['ratios'])} to {max(f['ratios'])})",
        ]
        for name, f in times
    ]
    whole: list[list[object]] = [[name, *f["seconds"], f["times_faster"], f"{f['higher_by']:+.1e}"] for name, f in own]
    slower = [
        f"{name}{what} ({1.0 / f['times_faster']:.3g} times its time)"
        for pairs, what in ((times, ""), (own, ", own starts"))
        for name, f in pairs
        if f["times_faster"] < 1.0
    ]
    lower = [f"{name} ({f['higher_by']:+.2g} nats a row)" for name, f in own if f["higher_by"] < -report["close"]]
    return f"""No program has a prior, `reg_covar` is 0, and our floor of variances is not reached. StepMix has no counts; none has `covariance_type="tied_diag"`. Mixed: 3 binary, 3 nominal and 4 continuous columns; otherwise 10 continuous ones, 4 classes. Processor seconds on one thread, opening our table included; the programs in turn, medians of {report["turns"]} turns.

**Ours is slower** on: {"; ".join(slower) or "none"}. **Ours ends lower** by more than {report["close"]:g} on: {"; ".join(lower) or "none"}. On 500 rows much of our time is that of opening the table, of k-means, and of Python between the products.

## Whole fits
Two starts of each program's own, stopped by a tolerance of 1e-6 nats a row.

{table(["table and peer", "our seconds", "its seconds", "times faster", "our log-likelihood higher by, nats a row"], whole)}

## From the same start to the same log-likelihood
Seconds are those to the first pass within {report["close"]:g} nats a row of the lower of the two ends. "Opened": ours for a table that was opened before.

{table(["table and peer", "our passes", "its passes", "our seconds", "its seconds", "opened", "times faster"], to_the_same)}

## Log-likelihoods from the same start
Ours minus the peer's, in nats a row, at the start and at the ends of both fits. Smallest: the smallest variance of a class (of covariances: eigenvalue) as a share of the variance of its column; our floor is 1e-6.

{table(["table and model", "rows", "our end", "difference at the start", "difference at the end", "smallest"], likelihoods)}

{how(report)} Peers: {peers}.
"""


def pages() -> dict[Path, str]:
    beside = topic_page("peers_classes", "peers", "Latent classes beside StepMix and poLCA", classes())
    return {
        **topic_page("peers", "peers", "Every peer that installs, with 2,000, 20,000 and 200,000 rows", peers()),
        **beside,
        **topic_page("peers_numbers", "peers", "Classes of numbers beside GaussianMixture and StepMix", numbers()),
    }


if __name__ == "__main__":
    write(pages())
