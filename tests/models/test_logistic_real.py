"""Real tables: figures of established programs and of an independent prototype."""

import numpy as np
import pytest

from hiddenbits import LogisticPCA, open_table

pytestmark = pytest.mark.core


def test_lsat_one_dimension(real_data):
    """ltm and mirt agree on -2466.653 for the two-parameter model."""
    table = open_table(real_data / "survey" / "lsat.csv")
    model = LogisticPCA(1, method="quadrature", ridge=0.0, tol=1e-9, random_state=0).fit(table)
    assert model.score_samples(table).sum() == pytest.approx(-2466.653, abs=0.01)


def test_sat12_two_dimensions(real_data):
    """mirt: -9441.98."""
    table = open_table(real_data / "survey" / "sat12_binary.csv")
    model = LogisticPCA(2, method="quadrature", ridge=0.0, tol=1e-7, random_state=0).fit(table)
    assert model.score_samples(table).sum() == pytest.approx(-9441.98, abs=0.5)
    polished = LogisticPCA(2, ridge=0.01, tol=1e-7, random_state=0).fit(table)
    assert polished.score_samples(table).sum() == pytest.approx(-9441.98, abs=0.5)


@pytest.mark.slow
def test_usps_twos(real_data):
    """929 images of the digit 2, two dimensions: 105.46 nats a row by the bound, 105.28 polished."""
    usps = np.load(real_data / "digits" / "usps.npz")
    twos = [usps[part][usps[f"{part}_label"] == 2] > 127 for part in ("train", "test")]
    X = np.concatenate(twos).astype(np.uint8)
    assert X.shape == (929, 256)
    model = LogisticPCA(2, ridge=0.001, polish=False, tol=1e-6, random_state=0).fit(X)
    assert -model.score(X) == pytest.approx(105.46, abs=0.03)
    assert -model.trace_[-1] / 929 == pytest.approx(106.01, abs=0.03)
    model = LogisticPCA(2, ridge=0.001, tol=1e-5, random_state=0).fit(X)
    assert -model.score(X) == pytest.approx(105.28, abs=0.03)
