"""Files made to do harm, or that no fit could have written: refused at loading, soon and with little memory."""

import numpy as np
import pytest

import hiddenbits
from hiddenbits.store import read, write
from tests.store import golden

pytestmark = pytest.mark.core


def changed(path, name, *, arrays=(), hyperparameters=(), **meta):
    """Write a golden file again with other arrays, hyperparameters or entries of its description; return the path."""
    path.write_bytes(golden.content(name))
    stored = read(path)
    said = {**stored.meta, "hyperparameters": {**stored.meta["hyperparameters"], **dict(hyperparameters)}, **meta}
    write(path, stored.kind, said, {**stored.arrays, **dict(arrays)})
    return path


UNUSABLE = {
    "error of ln Z with a shape": ("combination_chains", "params.partition_error", lambda a: a.reshape(1, 1)),
    "negative error of ln Z": ("combination_chains", "params.partition_error", lambda a: np.asarray(-1.0)),
    "ln Z beyond all bounds": ("combination", "params.log_partition", lambda a: np.asarray(1e308)),
    "weights of a machine": ("combination", "params.weights", lambda a: np.full_like(a, 1e308)),
    "weights of chains": ("combination_chains", "params.weights", lambda a: np.full_like(a, -1e308)),
    "weights of reals": ("combination_reals", "params.weights", lambda a: np.full_like(a, 1e308)),
    "bias of reals": ("combination_reals", "params.bias", lambda a: np.full_like(a, 1e308)),
    "fields": ("sparse_coding", "params.fields", lambda a: np.full_like(a, 1e308)),
    "noise": ("sparse_coding", "params.noise", lambda a: np.asarray(5e-324)),
    "probabilities of independent bits": ("independent", "params.probabilities", lambda a: np.full_like(a, 5e-324)),
    "probabilities of a mixture": ("mixture", "params.probabilities", lambda a: np.full_like(a, 5e-324)),
    "prior means": ("mixture", "params.prior_mean", lambda a: np.full_like(a, 5e-324)),
    "shares": ("mixture", "params.weights", lambda a: np.array([5e-324, 1.0])),
    "probabilities of a hidden tree": ("hidden_tree", "params.probabilities", lambda a: np.full_like(a, 5e-324)),
    "moves": ("hidden_tree", "params.moves", lambda a: np.broadcast_to([1.0, 5e-324], a.shape).copy()),
    "probabilities of trees": ("tree_mixture", "params.if_zero", lambda a: np.full_like(a, 5e-324)),
    "pairs of trees": ("tree_mixture", "params.prior_both", lambda a: np.full_like(a, 1e308)),
    "strengths": ("noisy_or", "params.strengths", lambda a: np.full_like(a, 5e-324)),
    "names": ("noisy_or", "params.names", lambda a: a + 1e308),
    "spectrum": ("clipped", "params.spectrum", lambda a: a * 0 + 1e308),
    "sums of an online fit": ("mixture_online", "running.classes", lambda a: np.full_like(a, 1e308)),
    "trace": ("mixture", "trace", lambda a: np.full_like(a, -1e308)),
}


@pytest.mark.parametrize(("name", "key", "change"), UNUSABLE.values(), ids=UNUSABLE)
def test_arrays_that_nothing_can_be_computed_with_are_refused(tmp_path, name, key, change):
    array = read(changed(tmp_path / "m.hb", name)).arrays[key]
    with pytest.raises(hiddenbits.exceptions.FileError, match="is not a valid"):
        hiddenbits.load(changed(tmp_path / "m.hb", name, arrays={key: change(array.copy())}))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mixture", {"threshold": 10**30}),
        ("mixture", {"max_iter": 2**63}),
        ("combination_reals", {"threshold": 0.5}),
        ("logistic_draws", {"n_draws": 10**7}),
        ("noisy_or_layers", {"n_components": [3, 10**30]}),
        ("mixture_online", {"weight_seen": 5e-324}),
        ("mixture_online", {"weight_seen": 1e308}),
        ("mixture_online", {"n_iter": 10**30}),
        ("mixture_online", {"running": [10**30, 0]}),
    ],
)
def test_hyperparameters_and_records_that_nothing_can_be_computed_with_are_refused(tmp_path, name, given):
    where = given if name == "mixture_online" else {"hyperparameters": given}
    with pytest.raises(hiddenbits.exceptions.FileError, match="is not a valid"):
        hiddenbits.load(changed(tmp_path / "m.hb", name, **where))


def test_what_could_not_be_read_is_not_written(tmp_path):
    model = hiddenbits.load(golden.FOLDER / "mixture.hb")
    model.max_iter = 10**30
    with pytest.raises(ValueError, match=r"max_iter=.*2\^53"):
        model.save(tmp_path / "m.hb")
    model.max_iter = 10
    model._params.probabilities[:] = 0.0
    with pytest.raises(ValueError, match=r"cannot be saved.*probabilities"):
        model.save(tmp_path / "m.hb")
    assert not list(tmp_path.iterdir())
