"""Runs in the environment of `rbms`: trains its Bernoulli machine, and writes its parameters along the way.

python rbms_fit.py work.npz path.npz      (X; units, seed, threads; rate, batch, chains, sweeps; epochs, places, most: see below)

Trains for `epochs` epochs' worth of steps, or until `most` seconds of processor time are gone, and notes the parameters at some
`places` of the way, close together at its beginning. `seconds` count from the first step, without the noting. The loop is that of
its `train` less the log that it writes to a file at every step, which would cost it a millisecond or more each time.
"""

import sys
import time

import numpy as np
import torch
from rbms.bernoulli_bernoulli.classes import BBRBM
from rbms.dataset.dataset_class import RBMDataset
from rbms.training.pcd import fit_batch_pcd

work = {name: array.item() if array.ndim == 0 else array for name, array in np.load(sys.argv[1]).items()}
X = work["X"].astype(np.float32)
batch, chains, sweeps = (int(work[name]) for name in ("batch", "chains", "sweeps"))
torch.set_num_threads(int(work["threads"]))
torch.manual_seed(int(work["seed"]))
none = np.zeros(len(X))
data = RBMDataset(X, none, np.ones(len(X)), none, "table", is_binary=True, device="cpu")
steps = -(-int(work["epochs"]) * len(X) // batch)
places = {round(place) for place in np.geomspace(1, steps, int(work["places"]))}


def beginning():
    """A machine, its chains and its optimizer, as `train` makes them."""
    machine = BBRBM.init_parameters(int(work["units"]), data, torch.device("cpu"), torch.float32)
    rows = machine.sample_state(chains=machine.init_chains(num_samples=chains), n_steps=sweeps)
    machine.init_grad()
    return machine, rows, torch.optim.SGD(machine.parameters(), lr=float(work["rate"]), maximize=True)


def one_step(machine, rows, optimizer):
    """A step as `train` takes it."""
    chosen = torch.randperm(len(data))[:batch]
    optimizer.zero_grad(set_to_none=False)
    rows, _ = fit_batch_pcd((data.data[chosen], data.weights[chosen]), rows, machine, gibbs_steps=sweeps, beta=1.0)
    optimizer.step()
    return rows


noted = {name: [] for name in ("seconds", "weights", "hidden", "visible")}
with torch.no_grad():
    machine, rows, optimizer = beginning()
    for _ in range(5):  # whatever is compiled late is compiled now
        rows = one_step(machine, rows, optimizer)
    torch.manual_seed(int(work["seed"]))
    machine, rows, optimizer = beginning()
    begun, started, away = time.perf_counter(), time.process_time(), 0.0
    for step in range(1, steps + 1):
        rows = one_step(machine, rows, optimizer)
        late = time.process_time() - started > float(work["most"])
        if step in places or late:
            now = time.perf_counter()
            noted["seconds"].append(now - begun - away)
            for name, tensor in zip(("weights", "visible", "hidden"), machine.parameters(), strict=True):
                noted[name].append(tensor.numpy().astype(np.float64))
            away += time.perf_counter() - now
        if late:
            break
np.savez(sys.argv[2], **noted)
