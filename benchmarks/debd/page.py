"""Write docs/debd.md from the figures in benchmarks/debd/results, and what README.md says of it."""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.debd import choices, others
from benchmarks.debd.published import AHEAD, DENSITIES, DOUBTFUL, METHODS, OTHER_VERSION, PUBLISHED, Those, shown
from benchmarks.debd.recipes import LIMITS, NAMES
from benchmarks.debd.spflow_peer import spflow_table
from benchmarks.page_parts import table
from experiments.common import filled

ROOT = Path(__file__).parents[2]
PAGE, README = ROOT / "docs" / "debd.md", ROOT / "README.md"
FAMILIES = (
    "IndependentBits",
    "BernoulliMixture",
    "CombinationMachine",
    "TreeMixture",
    "HiddenTree",
    "TopographicMap",
    "TreeMap",
    "BayesianNetwork",
)
Reports = dict[str, dict[str, Any]]

SURE = frozenset(DOUBTFUL)
SUREST = SURE | OTHER_VERSION
TRACTABLE, ANY = Those(left_out=SURE), Those(any_density=True, left_out=SURE)
EVERYTHING = {"tractable": Those(), "any density": Those(any_density=True)}
COUNTED = {
    "tractable, any question: all figures as printed": EVERYTHING["tractable"],
    "tractable, without (?)": TRACTABLE,
    "tractable, without (?) and (other version?)": Those(left_out=SUREST),
    "tractable, without (?) and (other version?), with CM (unverified)": Those(left_out=SUREST, unverified=True),
    "any density: all figures as printed": EVERYTHING["any density"],
    "any density, without (?)": ANY,
    "any density, without (?) and (other version?)": Those(any_density=True, left_out=SUREST),
    "any density, without (?), with CM (unverified)": Those(any_density=True, left_out=SURE, unverified=True),
}


def ours(report: dict[str, Any], those: Those) -> float:
    """Return our test figure of the same kind as those; an estimate is no figure to be ahead with."""
    test = report["test"]
    figure = test["with_networks" if those.any_density else "ensemble"]
    return float(figure) if test["likelihood"] == "exact" else float("-inf")


def gain(reports: Reports, name: str, those: Those) -> float:
    """Return how far ours is ahead of the best of those."""
    return ours(reports[name], those) - those.best(name)[1]


def tally(reports: Reports, those: Those) -> dict[str, list[str]]:
    """Return the tables on which ours is ahead of the best of those figures, level with it, and behind."""
    found: dict[str, list[str]] = {"ahead": [], "tie": [], "behind": []}
    for name, report in reports.items():
        found[those.verdict(name, ours(report, those))].append(name)
    return found


def counts(reports: Reports) -> str:
    rows: list[list[object]] = []
    for words, those in COUNTED.items():
        found = tally(reports, those)
        rows.append([words, *(len(names) for names in found.values()), ", ".join(found["ahead"] + found["tie"])])
    return table(["against the best of", "ahead", "tie", "behind", "tables that are ahead or tied"], rows)


def by_method(reports: Reports) -> str:
    """Return how many tables ours is ahead on, method by method."""
    rows: list[list[object]] = []
    for method in (*METHODS, *DENSITIES):
        those = EVERYTHING["any density" if method in DENSITIES else "tractable"]
        there = {
            name: ours(report, those) - PUBLISHED[name][method]
            for name, report in reports.items()
            if method in PUBLISHED[name]
        }
        ahead, behind = (sum(sign * gain > AHEAD for gain in there.values()) for sign in (1, -1))
        rows.append([method, f"{ahead} of {len(there)}", behind])
    return table(["method", "ours ahead", "ours behind"], rows)


def signed(gain: float) -> str:
    return f"**{gain:+.3f}**" if gain > AHEAD else f"{gain:+.3f}"


def best(name: str, those: Those) -> str:
    method, _ = those.best(name)
    return f"{method} {shown(name, method)}"


def losses(reports: Reports) -> str:
    """Return the tables on which ours is behind, the largest loss first."""
    gaps = {name: gain(reports, name, ANY) for name in reports}
    rows: list[list[object]] = []
    for name in sorted(tally(reports, ANY)["behind"], key=gaps.__getitem__):
        report, single = reports[name], max(one["valid"] for one in reports[name]["singles"].values())
        family = next(f for f, one in report["singles"].items() if one["valid"] == single)
        heaviest = max(report["with_networks"]["members"], key=lambda member: member["weight"])
        rows.append(
            [
                name,
                signed(gaps[name]),
                best(name, ANY),
                signed(gain(reports, name, TRACTABLE)),
                best(name, TRACTABLE),
                f"{family}{size(report['singles'][family]['settings'])}",
                f"{report['with_networks']['valid'] - single:+.3f}",
                f"{heaviest['weight']:.2f}, {heaviest['key'].split('_')[0]}",
            ]
        )
    head = ["table", "ours - best density", "whose", "ours - best tractable", "whose", "our best single fit on `valid`"]
    return table([*head, "the mixture gains, on `valid`", "largest weight"], rows)


def tractable(reports: Reports) -> str:
    rows: list[list[object]] = []
    for name, report in reports.items():
        test = report["test"]
        more = [m for m in PUBLISHED[name] if m in Those().of(name) and m not in METHODS]
        rows.append(
            [
                name,
                f"{test['ensemble']:.3f} ± {test['standard_error']:.3f}",
                *(shown(name, method) for method in METHODS),
                ", ".join(f"{method} {shown(name, method)}" for method in more),
                best(name, TRACTABLE),
                signed(gain(reports, name, TRACTABLE)),
            ]
        )
    return table(["table", "ours", *METHODS, "a better circuit", "best", "ours - best"], rows)


def densities(reports: Reports) -> str:
    rows: list[list[object]] = []
    for name, report in reports.items():
        mine = [f"{report['test'][which]:.3f}" for which in ("ensemble", "with_networks")]
        theirs = [*(shown(name, method) for method in DENSITIES), shown(name, "CM"), best(name, ANY)]
        rows.append([name, *mine, best(name, TRACTABLE), *theirs, signed(gain(reports, name, ANY))])
    head = ["table", "`Ensemble`", "with networks", "best circuit", *DENSITIES, "CM (unverified)"]
    head += ["best of the published", "with networks - best"]
    return table(head, rows)


def size(settings: dict[str, Any]) -> str:
    return f" ({settings['n_components']})" if "n_components" in settings else ""


def families(reports: Reports) -> str:
    rows: list[list[object]] = []
    for name, report in reports.items():
        singles, chosen = report["test"]["singles"], report["singles"]
        cells = [
            f"{singles[family]:.3f}{size(chosen[family]['settings'])}" if family in singles else ""
            for family in FAMILIES
        ]
        kept = report["ensemble"]["members"]
        rows.append([name, *cells, f"{report['test']['ensemble']:.3f}", f"{len(kept)} of {report['ensemble']['fits']}"])
    return table(["table", *FAMILIES, "Ensemble", "members"], rows)


def pictures(reports: Reports) -> str:
    """Return the table of the families that are no members; an estimate is marked, and so is a fit to some rows."""
    rows: list[list[object]] = []
    for name in reports:
        found, cells = others.read(name), []
        for family in others.FAMILIES:
            one = found.get(family)
            sign = "" if one is None or one["likelihood"] == "exact" else " (estimate)"
            cells.append("" if one is None else f"{one['test']:.3f} ({one['size']}){sign}")
        if found:
            most = max(one["rows"] for one in found.values())
            rows.append([name, *cells, f"{most:,}"])
    return table(["table", *others.FAMILIES, "rows fitted"], rows)


def first_words(reports: Reports) -> str:
    """Say what is lost, then what is won."""
    answers, dense = (tally(reports, those) for those in EVERYTHING.values())
    gaps = {name: gain(reports, name, ANY) for name in reports}
    worst = ", ".join(f"{name} {-gaps[name]:.1f} nats" for name in sorted(gaps, key=gaps.__getitem__)[:3])
    some, more = (
        max(len(tally(reports, those)["ahead"]) for words, those in COUNTED.items() if words.startswith(kind))
        for kind in ("tractable", "any density")
    )
    return (
        f"The best published density is ahead of our mixture of all fits on {len(dense['behind'])} of {len(reports)} tables; {len(dense['tie'])} are ties, and "
        f"ours is ahead on {len(dense['ahead'])}, or on up to {more} if doubtful figures do not count. The largest losses, without doubtful figures: {worst}. Some published models can, like our `Ensemble`, "
        f"compute any marginal and complete missing cells. The best of these is ahead of it on {len(answers['behind'])} tables; {len(answers['tie'])} are "
        f"ties, and ours is ahead on {len(answers['ahead'])}, or on up to {some} if doubtful figures do not count."
    )


def network_of_jester(reports: Reports) -> str:
    """Say how our network compares with the published one, on jester and on the tables where that is not doubted."""
    gaps = {
        name: report["test"]["singles"]["BayesianNetwork"] - PUBLISHED[name]["BN"]
        for name, report in reports.items()
        if "BayesianNetwork" in report["test"]["singles"]
    }
    jester = gaps.pop("jester", None)
    if jester is None:
        return "has not been run there."
    return (
        f"scores {jester:+.2f} nats next to that figure; on the other {len(gaps)} tables the difference lies between "
        f"{min(gaps.values()):+.2f} and {max(gaps.values()):+.2f}, with a median of {float(np.median(list(gaps.values()))):+.2f}."
    )


def pages() -> dict[Path, str]:
    reports = {name: report for name in NAMES if "test" in (report := choices.read(name))}
    if not reports:
        raise SystemExit("No table has test figures yet: run --fit, --choose and --test first.")
    seconds = sum(report["seconds"] for report in reports.values())
    some = next(iter(reports.values()))
    packages = ", ".join(f"{name} {number}" for name, number in some["versions"].items())
    doubted, elsewhere = (
        ", ".join(f"{m} on {name}" for name, m in sorted(those)) for those in (DOUBTFUL, OTHER_VERSION)
    )
    rest = Those(left_out=SUREST).best("jester")
    page = f"""# The standard benchmark of binary density estimation

{first_words(reports)}

This page is written by `python -m benchmarks.debd --page` from `benchmarks/debd/results/` and `benchmarks/debd/published.py`. There are twenty tables, each split as
published: models are fitted to `train`; sizes, settings and the weights of the mixture are chosen on `valid`; `test` was scored once, after that. Figures are
mean log-likelihoods of a test row in nats; higher is better. "Ahead" and "behind" mean by more than {AHEAD} nats; a smaller difference is a tie.

`test` is not untouched, though: an earlier version of this page had scored an earlier ensemble on all tables, and sketches of the curved map were scored on `test` of jester and audio. Which families
were added since, and which tables got more fits of them, was decided with those figures in sight. Settings and weights were chosen on `valid`, and the mixtures on this page were scored once.

There are two mixtures, each with weights fitted to `valid` and an exact likelihood: the weighted mean of those of its members.
- *Ensemble*: an `Ensemble` of fits of our families. It answers any question: marginals, missing cells, draws. One kind of member is a curved map with a tree inside (`benchmarks/debd/tree_map.py`): a
  `TopographicMap` in which each bit also depends on one other bit, turned into a `TreeMixture`.
- *With networks*: the same members and some Bayesian networks with decision trees (`benchmarks/debd/network.py`), which are not part of the package. It has a likelihood of whole rows, but no marginals, as
  BN, MADE and VAE have none, and is compared with these.

## What we lose
{losses(reports)}

Figures marked (?) are left out here. "Ours" is the mixture with networks against densities, and the `Ensemble` against tractable models. The last three columns refer to the mixture with networks on `valid`:
our best single fit there, what the mixture gains over it, and the member with the largest weight.
{chr(10).join(f"- *{name}*: {words}" for name, words in LIMITS.items())}

## How the counts depend on what is counted
{counts(reports)}

Two groups are counted separately. *Tractable, any question*: circuits (sum-product networks, cutset networks, PSDDs, hidden trees) against our `Ensemble`. Their marginals are exact, so they can complete missing cells, as ours can.
*Any density*: these and also BN, MADE and VAE, which give a likelihood of whole rows but no exact marginals, against our mixture with networks.

Some figures need care:
- *(?)*, doubtful: {doubted}. XCNets' two figures are far above all others; VAE's figure is also printed for webkb. They are left out wherever this page says "best" without further comment.
- *(other version?)*: {elsewhere} may belong to another version of that table. The next best circuit there is {rest[0]} with {rest[1]:.2f}. A network of the kind of BN, learned by us, {network_of_jester(reports)}
- *Unverified*: the figures of CM (continuous mixtures, Correia et al. 2023) were written down from memory and not compared with the paper. Only the count that names them includes them.
- VAE's figures are lower bounds from five importance samples. Two of the published methods were trained on other splits; our source does not say which.

## Method by method
{by_method(reports)}

These counts use all figures as printed.

## Tractable, any question
± is the standard error over test rows. Most of it comes from the differences between rows, so it is much larger than the standard error of a difference between two models on the same rows.

{tractable(reports)}

"A better circuit" is the best figure of any other circuit up to 2021, if it is above those in the columns before it.

## Any density
{densities(reports)}

## Sources of the published figures
We computed independent bits and Chow-Liu trees on these files (Laplace smoothing 1). Published: LearnSPN (Gens & Domingos 2013), Strudel
and LearnPSDD ensembles (Dang et al. 2020), XPC ensembles (Di Mauro et al. 2021), Prometheus (Jaini et al. 2018); HCLT (Liu & Van den Broeck 2021, the mean of five runs in their logs);
BN (Bayesian networks with tree-structured conditionals, WinMine), MADE, VAE and the other circuits from the UAI 2019 tutorial on tractable models (Vergari, Di Mauro & Van den Broeck,
slides 71 and 114) and Peharz et al. (2019, table 1). LearnSPN's figure for jester belongs to another version of the table and is left out.

## Next to spflow
spflow 1.1 has hidden Chow-Liu trees (HCLT) and continuous mixtures (CM) in PyTorch. We ran it on the same machine as ours, one thread each, with sizes chosen on `valid` and `test` scored once. It is a first look only:
tables that are not listed have not been run, a training was stopped after a minute of processor time (CM before it converged), and its documentation gives no recipe for training HCLT, so that we
chose one (EM on batches of 2,048 rows). `TopographicMap` has the settings of audio. Written by `python -m benchmarks.debd.spflow_peer --full --seconds 60`.

{spflow_table()}

## Our families alone
Test figures of each family's best fit on `valid`, with its number of classes, units, states or dimensions in brackets. The number of passes is limited, and the limit was
also chosen on `valid`. TreeMap is the map with a tree inside, BayesianNetwork the network; neither is a class of the package. "Members" counts the fits that have weight in the ensemble, out of all fits.

{families(reports)}

The other families are made for exploring a table more than for density estimation. We fitted each at two sizes with exact likelihood, to at most
{others.MOST_ROWS:,} rows of `train`, and show the better one on `valid`. Tables that are not listed have not been run (`--others`).

{pictures(reports)}

All fits of members took {seconds / 60:.0f} minutes in total on one core. {packages}; {some["cores"]} cores, {some["machine"]}. Settings, seeds, passes, seconds and weights
of every chosen fit are in `benchmarks/debd/results/`.
"""
    return {PAGE: page, README: filled(README.read_text(), "debd", first_words(reports))}
