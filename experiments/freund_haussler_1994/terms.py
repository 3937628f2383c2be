"""The gradient from the largest terms (section 3.1) next to chains: how close each comes, and in how many seconds.

Machines of 10 units are fitted to targets A and B by pursuit and some epochs of the paper's gradient; those of digits
by pursuit and persistent chains. The reference is exact up to 24 units. For 24 and 30 units there are long tempered
chains, which at 24 are themselves measured against the exact gradient.
"""

import time
from collections.abc import Callable
from typing import Any

import largest_terms as search
import numpy as np
import synthetic
from cells import Cells
from common import have_data
from digits import DECAY
from scipy.special import expit

import data
from hiddenbits import CombinationMachine
from hiddenbits.families.combination_machine.sampler import draw
from hiddenbits.families.combination_machine.tempered_chains import advance, expectations, start_chains
from hiddenbits.maths.state_sums import free_phase
from hiddenbits.maths.tempering import Tempered, base_bias

SEEDS = {"rows": {"targets": 1000, "digits": 0}, "starts": 0, "chains": 0, "geometry": 0}
UNITS = (16, 20, 24, 30)
MOST = (256, 4096, 32768)  # states that are kept
SWEEPS = (100, 1000)
N_CHAINS, EVERY = 200, 5  # chains; sweeps between two looks at them
EXACT, LONG = 24, (24, 30)
GEOMETRY = 200  # random machines, of 8 units over 20 columns


def machine_of(name: str, units: int) -> tuple[Any, np.ndarray]:
    """A machine that is still to be improved, and its rows."""
    if name != "digits":
        rows = synthetic.rows(name, SEEDS["rows"]["targets"]).train
        return CombinationMachine.paper(units, max_iter=100, random_state=SEEDS["starts"]).fit(rows), rows
    rows = data.digits(SEEDS["rows"]["digits"]).train
    model = CombinationMachine(
        units,
        method="chains",
        start="pursuit",
        max_iter=300,
        ridge=DECAY * data.ROWS,
        random_state=SEEDS["starts"],
    )
    return model.fit(rows), rows


def by_chains(model: Any, rows: np.ndarray, n_sweeps: int) -> np.ndarray:
    """E[h x] of plain Gibbs chains from rows of the table; the first half of the sweeps is left out."""
    rng = np.random.default_rng(SEEDS["chains"])
    machine = Tempered.of(model.weights_.T, model.thresholds_, model.bias_)
    state = start_chains(machine, N_CHAINS, rng, rows=rows[rng.integers(len(rows), size=N_CHAINS)])
    state, total, looks = advance(machine, state, n_sweeps // 2, rng), 0.0, n_sweeps // 2 // EVERY
    for _ in range(looks):
        state = advance(machine, state, EVERY, rng)
        total = total + expectations(machine, state).products.T
    return np.asarray(total / looks)


def by_long_chains(model: Any, rows: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """E[h x] of tempered chains, 20,000 rows, and what they say of their own mixing."""
    machine = Tempered.of(model.weights_.T, model.thresholds_, model.bias_, base_bias(rows.mean(axis=0)))
    rng = np.random.default_rng(SEEDS["chains"])
    drawn, mixing = draw(machine, 20_000, rng, n_first=500, n_sweeps=2000, rows=rows)
    x = 2.0 * drawn - 1.0
    on = expit(x @ model.weights_.T + model.thresholds_)
    return on.T @ x / len(x), {"well mixed": mixing.well_mixed, "why": mixing.why}


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    found = function()
    return found, time.process_time() - begin


def apart(joint: np.ndarray, reference: np.ndarray, of_data: np.ndarray) -> dict[str, float]:
    """Root mean square error of E[h x], and the cosine between the gradient of the weights and the reference's."""
    mine, right = of_data - joint, of_data - reference
    cosine = float((mine * right).sum() / np.sqrt((mine**2).sum() * (right**2).sum()))
    return {"error": float(np.sqrt(((joint - reference) ** 2).mean())), "cosine": cosine}


def one(name: str, units: int, most: tuple[int, ...] = MOST, sweeps: tuple[int, ...] = SWEEPS) -> dict[str, Any]:
    model, rows = machine_of(name, units)
    W, th, v, X = model.weights_, model.thresholds_, model.bias_, 2.0 * rows - 1.0
    of_data = expit(X @ W.T + th).T @ X / len(X)
    ways: dict[str, Any] = {}
    found: dict[str, Any] = {"units": units, "ways": ways}
    reference, log_z = None, None
    if units <= EXACT:
        if units > 14:
            free_phase(np.ascontiguousarray(W.T[:, :16]), th[:16], v)  # the compilation is not counted
        phase, seconds = timed(lambda: free_phase(np.ascontiguousarray(W.T), th, v).normalised())
        reference, log_z = phase.joint.T, phase.log_partition
        ways["all terms"] = {"error": 0.0, "cosine": 1.0, "share": 1.0, "seconds": seconds}
    if units in LONG and name == "digits":
        (joint, mixing), seconds = timed(lambda: by_long_chains(model, rows))
        reference = joint if reference is None else reference
        ways["long tempered chains"] = {**apart(joint, reference, of_data), **mixing, "seconds": seconds}
    assert reference is not None
    found["gradient"] = float(np.sqrt(((of_data - reference) ** 2).mean()))
    first = search.states_of_rows(X, W, th)
    for n in (n for n in most if n < 1 << units):
        (codes, g), seconds = timed(lambda n=n: search.search(first, W, th, v, n))
        means, more = timed(lambda c=codes, g=g: search.means(c, g, W, v))
        share = None if log_z is None else float(np.exp(means.log_sum - log_z))
        ways[f"{n:,} largest terms"] = {
            **apart(means.joint, reference, of_data),
            "share": share,
            "log_sum": means.log_sum,
            "seconds": seconds + more,
        }
    for n in sweeps:
        joint, seconds = timed(lambda n=n: by_chains(model, rows, n))
        ways[f"chains, {n:,} sweeps"] = {**apart(joint, reference, of_data), "seconds": seconds}
    return found


def geometry() -> dict[str, Any]:
    """How often the rule of section 3.1 finds the largest state of a machine over reals; and largest cuts of graphs."""
    rng = np.random.default_rng(SEEDS["geometry"])
    right = {"orthogonal weights": 0, "orthogonal weights, as printed": 0, "any weights": 0}
    for _ in range(GEOMETRY):
        any_weights = rng.standard_normal((8, 20))
        lengths = np.linalg.norm(any_weights, axis=1)
        orthogonal = np.linalg.qr(any_weights.T)[0].T * lengths[:, None]
        th = -0.5 * lengths**2 + 2.0 * rng.standard_normal(8)
        largest = search.largest_over_reals(orthogonal, th)
        right["orthogonal weights"] += bool((search.furthest_corner(orthogonal, th) == largest).all())
        printed = search.furthest_corner(orthogonal, th, printed=True)
        right["orthogonal weights, as printed"] += bool((printed == largest).all())
        found = search.furthest_corner(any_weights, th)
        right["any weights"] += bool((found == search.largest_over_reals(any_weights, th)).all())
    cuts = [search.max_cut(10, rng) for _ in range(20)]
    same = sum(cut["largest g"] == cut["half of the largest cut"] for cut in cuts)
    return {"machines": GEOMETRY, "right": right, "graphs": len(cuts), "largest cut found by g": int(same)}


def measure(cells: Cells, *, full: bool) -> dict[str, Any]:
    plan = [("A", 10), ("B", 10)] if full else [("A", 10)]
    if full and have_data("the largest terms of machines over digits"):
        plan += [("digits", units) for units in UNITS]
    less: dict[str, Any] = {} if full else {"sweeps": SWEEPS[:1]}
    return {
        "machines": {
            f"{name}, {units} units": cells.get(f"{name}, {units} units", lambda a=(name, units): one(*a, **less))  # type: ignore[misc]
            for name, units in plan
        },
        "geometry": cells.get("geometry", geometry),
    }
