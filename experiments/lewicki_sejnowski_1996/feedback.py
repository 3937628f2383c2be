"""Does feedback from above resolve what is ambiguous below? Lines with pixels hidden, next to all states enumerated."""

from typing import Any

import numpy as np
from learning import SWEEPS, blocks_of
from lines import lines_network
from numpy.typing import NDArray

from hiddenbits.datasets import simulate_lines
from hiddenbits.families.noisy_or.enumeration import Enumerated
from hiddenbits.families.noisy_or.gibbs import Network, Ones, scan_layer, sweep
from hiddenbits.families.noisy_or.model import NoisyOr
from hiddenbits.families.noisy_or.params import NoisyOrParams

SEEDS = {"training rows and start": 100, "other rows, hidden pixels, chains": 1100}
HIDDEN = (0.0, 0.6)  # share of the pixels
AMBIGUOUS = 0.2, 0.8  # P(line) between these
WEAK = 1.0  # nats; feedforward terms below say little
CHAINS = 100

Floats = NDArray[np.float64]


def exact(params: NoisyOrParams, X: Floats) -> Floats:
    """P(unit on | pixels) of all units, every state enumerated."""
    model = NoisyOr(list(params.n_causes))
    return model.posterior(params, model.prepare(params), blocks_of(X, len(X))[0])


def drawn(params: NoisyOrParams, X: Floats, sweeps: int, chains: int, rng: np.random.Generator) -> Any:
    """States of the lowest layer after some sweeps from states that ignore the pixels, (chains, rows, units)."""
    block = blocks_of(np.tile(X, (chains, 1)), chains * len(X))[0]
    network = Network.of(params)
    data = Ones.of_block(network.layers[0], block)
    states = network.drawn(block.n_rows, rng)
    for _ in range(sweeps):
        sweep(network, data, states, rng)
    return states[0].reshape(chains, len(X), -1)


def without_above(params: NoisyOrParams) -> NoisyOrParams:
    """The lowest layer alone: its units have the same P(on), but are independent of each other."""
    tables = Enumerated(params)
    on = np.exp(tables.log_priors[0]) @ tables.states[0][:, :-1]
    return NoisyOrParams.of([params.layers[0]], on, (0.0, 1.0, 0.0, 0.0))


def terms(params: NoisyOrParams, X: Floats, rng: np.random.Generator) -> dict[str, float]:
    """How large the two parts of eq 7 are: what the layer above says, and what the pixels say."""
    network, block = Network.of(params), blocks_of(X, len(X))[0]
    data = Ones.of_block(network.layers[0], block)
    states = network.drawn(len(X), rng)
    for _ in range(SWEEPS):
        sweep(network, data, states, rng)
    above = network.odds_above(0, states)
    below = scan_layer(data, network.layers[0], states[0], above - data.zeros[:, :-1])[1] - above
    weak = np.abs(below) < WEAK
    return {
        "feedforward is larger": float(np.mean(np.abs(below) > np.abs(above))),
        "feedforward is weak": float(np.mean(weak)),
        "feedback decides where it is weak": float(np.mean((np.abs(above) > np.abs(below))[weak])),
    }


def log_loss(p: Floats, truth: Floats) -> float:
    return float(-np.mean(np.where(truth == 1, np.log(p), np.log1p(-p))))


def compared(params: NoisyOrParams, X: Floats, lines: Floats, rng: np.random.Generator) -> dict[str, Any]:
    """Rows with an ambiguous line: what is said of such lines with and without the layer above."""
    alone = without_above(params)
    without, with_above = exact(alone, X), exact(params, X)[:, : lines.shape[1]]
    unsure = (without > AMBIGUOUS[0]) & (without < AMBIGUOUS[1])
    rows = unsure.any(axis=1)
    found: dict[str, Any] = {"rows": len(X), "ambiguous rows": int(rows.sum()), "ambiguous lines": int(unsure.sum())}
    if not rows.any():
        return found
    truth = lines[unsure]
    for name, network, p in (("without", alone, without), ("with", params, with_above)):
        q = drawn(network, X[rows], SWEEPS, CHAINS, rng).mean(axis=0)
        said = np.clip(p[unsure], 1e-12, 1.0 - 1e-12)
        found[name] = {
            "right": float(np.mean((said > 0.5) == (truth == 1))),
            "log-loss": log_loss(said, truth),
            "still ambiguous": float(np.mean((said > AMBIGUOUS[0]) & (said < AMBIGUOUS[1]))),
            "Gibbs right": float(np.mean((q[unsure[rows]] > 0.5) == (truth == 1))),
            "Gibbs from exact": float(np.mean(np.abs(q - p[rows])[unsure[rows]])),
            "chance alone": float(np.mean(np.abs(rng.binomial(CHAINS, said) / CHAINS - said))),
        }
    return found


def measure(*, full: bool) -> dict[str, Any]:
    model, data = lines_network()
    params = model.params_
    line_of = [int(np.argmax((row > 0.5) @ data.patterns.T.astype(float))) for row in model.strengths_]
    other = simulate_lines(2000 if full else 300, seed=1100)
    found: dict[str, Any] = {"sweeps": SWEEPS, "chains": CHAINS, "between": AMBIGUOUS, "weak": WEAK, "hidden": {}}
    for share in HIDDEN:
        rng = np.random.default_rng([1100, 1])
        X = np.where(rng.random(other.X.shape) < share, np.nan, other.X)
        found["hidden"][str(share)] = compared(params, X, other.lines[:, line_of].astype(float), rng) | terms(
            params, X, rng
        )
    return found
