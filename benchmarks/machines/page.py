"""The figures of the combination machine: docs/performance/machines.md."""

from pathlib import Path

from benchmarks.page_parts import how, load, table, topic_page, write


def machines() -> str:
    report = load("machines/peers")
    names = {"bernoulli_rbm": "BernoulliRBM", "rbms": "rbms"}
    rows, missed, cut = [], [], []
    for f in report["figures"]:
        best = max((w for w in f["ours"].values() if w["test"] is not None), key=lambda way: way["test"])
        default = "grown" if "grown" in f["ours"] else "chains"
        for peer, p in f["peers"].items():
            reached = {way: o for way, o in p["ours"].items() if o["seconds_to_reach"] is not None}
            fastest = min(reached, key=lambda way: reached[way]["seconds_to_reach"], default=None)
            where, ours = f"{f['table']}, {f['units']} units, {names[peer]}", p["ours"][default]
            if p["steps_to_end"] == p["steps_in_all"]:
                cut.append(where)
            if ours["ahead_by"] is None or ours["ahead_by"] <= 0:
                missed.append(f"- {where}: the default ({default}) is not ahead ({ours['ahead_by']} nats a row).")
            for way in dict.fromkeys((default, fastest)):
                if way is None:
                    missed.append(f"- {where}: none of our methods reaches its likelihood.")
                elif way in reached and reached[way]["times_faster"] < 1:
                    missed.append(f"- {where}: {way} takes longer to reach its likelihood.")
            rows.append(
                [
                    f"{f['table']}, {f['units']}",
                    names[peer],
                    f"{p['test']:.3f}",
                    f"{f['ours'][default]['test']:.3f}",
                    f"{ours['ahead_by']:+.3f} ± {ours['standard_error']:.3f}",
                    f"{best['test']:.3f}",
                    f"{p['seconds_to_reach']:.3g} s of {p['seconds_in_all']:.3g}",
                    ", ".join(f"{w} {o['seconds_to_reach']:.3g} s ({o['times_faster']:g})" for w, o in reached.items()),
                    f"{f['ours'][default]['seconds']:.3g} s",
                ]
            )
    head = ["table, units", "peer", "its held-out", "ours, default", "ahead by", "ours, best method"]
    head += ["its time to its likelihood, of its total", "our time to it (times faster)", "our default, total"]
    theirs = ", ".join(f"{name} {number}" for name, number in report["rbms"].items())
    repeated = ", ".join(f["table"] for f in report["figures"] if f["turns"] > 1) or "none"
    many = ("", "")
    if any(f["units"] > 20 for f in report["figures"]):
        many = (", by our annealed importance sampling beyond", ' With more units it learns by sampling ("chains").')
    return f"""## Against BernoulliRBM and rbms
A combination machine is a restricted Boltzmann machine whose visible bits count as -1 and +1. The goal is to be ahead of both peers everywhere, and to reach their likelihood sooner. {"It is missed here:" + chr(10) * 2 + chr(10).join(missed) if missed else "It is met in all of these comparisons."}

Figures are mean log-likelihoods of held-out rows, in nats; ± is the standard error of the difference over rows. One function computes them for all programs: exact up to 20 units{many[0]}.
All programs have two threads. Times are of one run, medians of three for {repeated}.

Peers run with the best of several settings, chosen on validation rows (`python -m benchmarks.machines.settings`). They train for 15 to 60 s, by table, and count as stopped where the likelihood of the validation rows is highest.
Still improving when their time was over: {"; ".join(cut) or "none"}. Ours runs with its defaults to its end, which may take longer, and uses no validation rows: "ahead by" is not at equal time.

Up to 20 units our default adds unit after unit, with exact gradients ("grown"); with a limit of time it first makes a quick fit of all units.{many[1]} "Noise" starts with all units at once, with at most 200 iterations; "chains" are fits of few to many epochs.
"Time to its likelihood" is the time until a fit is within {report["close"]:g} nats a row of the peer's final value; below 1 "times faster" means slower. For the default it is the time of a whole fit with the shortest limit (`run_on(max_time=...)`) that gets there, found afterwards from a series of limits.
Methods that never get there are left out.

{table(head, rows)}

rbms is written for GPUs; its own settings (100 sweeps of 2,000 chains a step) take about a second a step here. {how(report)} {theirs}.
"""


def states() -> str:
    report = load("machines/states")
    f, spikes, ones = (report["figures"][name] for name in ("states", "spikes", "ones"))
    all_ones, wide, half = (ones[name] for name in ("all", "twice_the_columns", "half_the_rows"))
    return f"""## Sums over all states
ln Z and its gradient with {f["units"]} units and {f["columns"]} columns, {2 ** f["units"]:,} states, in seconds of one processor: plain matrix products take
{f["bare_cpu_seconds"]}, the split enumeration {f["split_cpu_seconds"]} ({f["split_over_bare"]} times the products; the goal is at most 3), its compiled version {f["kernel_cpu_seconds"]}
({f["bare_over_kernel"]} times faster than the products; the goal is 5). Their results differ by at most {max(f["largest_difference"], f["largest_difference_of_kernel"]):.0e}.

{spikes["units"]} units were fitted to {spikes["rows"]:,} words of 15 neurons in {spikes["seconds"]} s ({spikes["stop"]}). The divergence from the words is {spikes["kl_from_words_nats"]} nats (for
independent bits {spikes["kl_of_independent_bits"]}). The probabilities of all 32,768 words add up to 1 within {abs(spikes["sum_of_all_probabilities_less_1"]):.0e}.

The time of a data phase over `retail.dat` follows the ones: {all_ones["milliseconds"]} ms, {wide["milliseconds"]} ms if the number of columns is doubled with empty ones, and {half["milliseconds"]} ms
with half the rows. {how(report)}
"""


def mnist() -> str:
    report = load("machines/mnist")
    f = report["figures"]
    z = f["ln_z"]
    if z["trustworthy"]:
        verdict = f"held-out rows have {f['test_nats_a_row']} nats a row (standard error of ln Z {f['standard_error_of_ln_z']})"
    else:
        verdict = f"ln Z cannot be trusted ({z['why']}), so there is no likelihood"
    bases = "; ".join(
        f"from {name} {e['ln_z']} ± {e['error']}, {e['effective']} effective chains"
        for name, e in z["estimates"].items()
    )
    return f"""## {f["units"]} units on MNIST
{f["rows"]:,} rows of 784 packed bits, {f["epochs"]} epochs of persistent chains on two threads: {f["fit_seconds"]} s, peak memory {f["peak_mb_after_fit"]} MB after the
fit and {f["peak_mb"]} MB in all. ln Z by annealed importance sampling with {z["temperatures"]:,} temperatures: {bases}; {verdict}. Predicted from the other bits of
their row, {100 * f["single_bit_error_500_test_rows"]:.2f}% of held-out bits are wrong (500 rows). {how(report)}

![Rows drawn from the machine, and weights of its strongest units](../../benchmarks/machines/results/mnist.png)
"""


def pages() -> dict[Path, str]:
    return topic_page("machines", "machines", "Combination machines", machines(), states(), mnist())


if __name__ == "__main__":
    write(pages())
