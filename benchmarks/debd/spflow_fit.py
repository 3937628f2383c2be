"""One fit of spflow or of hiddenbits, in a process and an environment of its own; see spflow_peer.py.

python spflow_fit.py fit FOLDER      reads work.npz (train, valid) and options.json, writes model.* and fit.json
python spflow_fit.py score FOLDER    reads test.npy and model.*, writes score.json
"""

import copy
import json
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

FOLDER = Path(sys.argv[2])
OPTIONS = json.loads((FOLDER / "options.json").read_text())
ROWS = 500  # scored at a time


def hidden_chow_liu_tree(train, valid):
    """EM in batches as spflow has it, until `valid` has not risen for some epochs or time is up; the best one counts."""
    import torch
    from spflow.learn import expectation_maximization_batched
    from spflow.zoo.hclt import learn_hclt_binary

    begin = time.process_time()
    model = learn_hclt_binary(train, num_hidden_cats=OPTIONS["states"])
    batches = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(train), batch_size=OPTIONS["batch"], shuffle=True
    )
    best, kept, fell, epoch, reason = -math.inf, None, 0, 0, "no rise on valid"
    while fell < OPTIONS["patience"]:
        if time.process_time() - begin > OPTIONS["seconds"]:
            reason = "time is up"
            break
        expectation_maximization_batched(model, batches, num_epochs=1)
        epoch += 1
        now = float(scores(model, valid).mean())
        fell = 0 if now > best else fell + 1
        if now > best:
            best, kept = now, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return model, epoch, reason, time.process_time() - begin


def continuous_mixture(train, valid):
    """As spflow does it by default, with as many epochs as there is time for; it stops on `valid` itself."""
    from spflow.zoo.cms import learn_continuous_mixture_factorized as learn

    settings = {
        "leaf": "bernoulli",
        "latent_dim": OPTIONS["dimensions"],
        "num_points_train": OPTIONS["points"],
        "num_points_eval": OPTIONS["points_at_the_end"],
        "seed": 0,
    }
    taken = []
    for epochs in (1, 1, 3):  # the first for what is loaded late; then how long an epoch takes
        begin = time.process_time()
        learn(train[:1000], val_data=valid[:100], num_epochs=epochs, **settings)
        taken.append(time.process_time() - begin)
    seconds = (taken[2] - taken[1]) / 2 * len(train) / 1000
    epochs = max(1, min(300, int(OPTIONS["seconds"] / seconds)))
    begin = time.process_time()
    model = learn(train, val_data=valid, num_epochs=epochs, **settings)
    return model, epochs, f"at most {epochs} epochs", time.process_time() - begin


def scores(model, X):
    import torch

    with torch.no_grad():
        return torch.cat([model.log_likelihood(part).reshape(len(part), -1).sum(1) for part in X.split(ROWS)])


def by_spflow(fit):
    import torch

    sys.setrecursionlimit(50_000)  # it walks a tree by recursion: dna is deeper than Python's default allows
    torch.set_num_threads(1)
    torch.manual_seed(0)

    def table(X):
        return torch.tensor(X, dtype=torch.float32)

    if not fit:
        model = torch.load(FOLDER / "model.pt", weights_only=False)  # written by ourselves a moment ago
        return scores(model, table(np.load(FOLDER / "test.npy"))).mean()
    work = np.load(FOLDER / "work.npz")
    train, valid = table(work["train"]), table(work["valid"])
    way = hidden_chow_liu_tree if OPTIONS["family"] == "HCLT" else continuous_mixture
    model, epochs, reason, seconds = way(train, valid)
    torch.save(model, FOLDER / "model.pt")
    return {"valid": float(scores(model, valid).mean()), "epochs": epochs, "stop_reason": reason, "seconds": seconds}


def by_hiddenbits(fit):
    import hiddenbits

    if not fit:
        return hiddenbits.load(FOLDER / "model.hb").score(np.load(FOLDER / "test.npy"))
    work = np.load(FOLDER / "work.npz")
    family, settings = getattr(hiddenbits, OPTIONS["family"]), OPTIONS["settings"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        family(**settings | {"max_iter": 2}).fit(work["train"][:200])  # what is compiled or loaded late is there now
    begin = time.process_time()
    model = family(**settings).fit(work["train"])
    seconds = time.process_time() - begin
    model.save(FOLDER / "model.hb")
    valid = float(model.score(work["valid"]))
    return {"valid": valid, "epochs": int(model.n_iter_), "stop_reason": model.stop_reason_, "seconds": seconds}


by = by_spflow if OPTIONS["family"] in ("HCLT", "CM") else by_hiddenbits
if sys.argv[1] == "fit":
    (FOLDER / "fit.json").write_text(json.dumps(by(True)))
else:
    (FOLDER / "score.json").write_text(json.dumps(float(by(False))))
