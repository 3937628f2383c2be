"""The real tables as the loaders give them, and the simulated prototypes."""

import csv

import numpy as np
import pytest

from hiddenbits import LogisticPCA
from hiddenbits.datasets import load_senate109, load_survey, load_usps, simulate_prototypes

pytestmark = pytest.mark.core


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_usps(real_data):
    digits = load_usps()
    assert digits.train.shape == (7291, 256)
    assert digits.test.shape == (2007, 256)
    twos = load_usps(2)
    assert (twos.train.shape, twos.test.shape) == ((731, 256), (198, 256))
    np.testing.assert_array_equal(twos.train, digits.train[digits.train_label == 2])
    assert set(twos.test_label) == {2}
    gray = np.load(real_data / "digits" / "usps.npz")["train"]
    assert load_usps(threshold=12).train.sum() == (gray > 12).sum()
    with pytest.raises(ValueError, match="0 to 9"):
        load_usps(11)


def test_senate109(real_data):
    votes = load_senate109()
    assert votes.X.shape == (102, 645)
    assert {party: int((votes.party == party).sum()) for party in set(votes.party)} == {"D": 45, "R": 56, "Indep": 1}
    for row, cells in zip(read(real_data / "votes" / "senate109.csv"), votes.X, strict=True):
        given = [row[name] for name in votes.names]
        assert [("" if np.isnan(cell) else str(int(cell))) for cell in cells] == given
    assert np.isnan(votes.X).any()


def test_survey(real_data):
    table = load_survey("lsat")
    assert table.shape == (1000, 5)
    assert table.names == tuple(f"Item {j}" for j in range(1, 6))
    assert load_survey("sat12_binary").shape == (600, 32)
    with pytest.raises(FileNotFoundError, match=r"no survey 'nothing'.*lsat"):
        load_survey("nothing")


def test_without_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("HIDDENBITS_DATA", raising=False)
    for load in (load_senate109, load_usps):
        with pytest.raises(FileNotFoundError, match="HIDDENBITS_DATA"):
            load()
    with pytest.raises(FileNotFoundError, match=r"digits/usps\.npz.*zip\.train\.gz.*ElemStatLearn"):
        load_usps()
    monkeypatch.setenv("HIDDENBITS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no votes/senate109\.csv"):
        load_senate109()
    with pytest.raises(FileNotFoundError, match=r"no digits/usps\.npz.*zip\.train\.gz.*ElemStatLearn"):
        load_usps()
    with pytest.raises(FileNotFoundError, match="Available: none"):
        load_survey("lsat")


@pytest.mark.parametrize("seed", range(3))
def test_prototypes(seed):
    X, prototype = simulate_prototypes(4, 30, n_copies=500, flip=0.1, random_state=seed)
    assert X.shape == (2000, 30)
    for k in range(4):
        rows = X[prototype == k]
        p = rows.mean(axis=0)
        # Each column is one bit or its inverse with probability .1; five standard errors.
        assert (np.minimum(p, 1 - p) < 0.1 + 5 * np.sqrt(0.09 / 500)).all()
        assert np.minimum(p, 1 - p).mean() == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 15000))
    with pytest.raises(ValueError, match="not a probability"):
        simulate_prototypes(flip=1.5)


def test_prototypes_are_the_reference_recipe():
    """The bound that a prototype of this library reached on the rows of seed 0."""
    X, _ = simulate_prototypes(random_state=0)
    model = LogisticPCA(2, refine=False, ridge=0.0, tol=1e-8, random_state=0).fit(X)
    assert model.trace_[-1] / 600 == pytest.approx(-5.55006, abs=1e-4)
