"""Real tables: figures of established programs and of an independent prototype."""

import csv

import numpy as np
import pytest

from hiddenbits import LogisticPCA, open_table

pytestmark = pytest.mark.core


@pytest.mark.parametrize(("name", "away"), [("lsat", 0.023), ("wirs", 0.110)])
def test_slopes_of_short_tests(name, away, real_data):
    """How far the slopes of the default fit are from those of ltm: what the documentation says of them."""
    with (real_data / "reference" / f"{name}_2pl_ltm.csv").open() as file:
        slopes = np.array([float(line["value"]) for line in csv.DictReader(file) if line[""].startswith("Dscrmn")])
    model = LogisticPCA(1, random_state=0).fit(open_table(real_data / "survey" / f"{name}.csv"))
    assert np.abs(model.components_[0] / slopes - 1.0).max() == pytest.approx(away, abs=0.005)


def test_sat12_two_dimensions(real_data):
    """mirt: -9441.98."""
    table = open_table(real_data / "survey" / "sat12_binary.csv")
    model = LogisticPCA(2, ridge=0.01, tol=1e-7, random_state=0).fit(table)
    assert model.score_samples(table).sum() == pytest.approx(-9441.98, abs=0.5)


@pytest.mark.full
@pytest.mark.slow
def test_usps_twos(real_data):
    """929 images of the digit 2, two dimensions: 105.46 nats a row by the bound, 105.28 polished."""
    usps = np.load(real_data / "digits" / "usps.npz")
    twos = [usps[part][usps[f"{part}_label"] == 2] > 127 for part in ("train", "test")]
    X = np.concatenate(twos).astype(np.uint8)
    assert X.shape == (929, 256)
    model = LogisticPCA(2, ridge=0.001, refine=False, tol=1e-6, random_state=0).fit(X)
    assert -model.score(X) == pytest.approx(105.46, abs=0.03)
    assert -model.trace_[-1] / 929 == pytest.approx(106.01, abs=0.03)
    model = LogisticPCA(2, ridge=0.001, tol=1e-5, random_state=0).fit(X)
    assert -model.score(X) == pytest.approx(105.28, abs=0.03)
