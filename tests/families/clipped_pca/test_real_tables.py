"""Real tables: the reference figures of MATHS.md's first section, and how faithful drawn tables are."""

import numpy as np
import pytest

from hiddenbits import ClippedPCA, IndependentColumns, open_table
from hiddenbits.families.clipped_pca.model import bit_covariances
from hiddenbits.maths.pair_counts import count_pairs

pytestmark = pytest.mark.core


@pytest.fixture
def twos(real_data):
    usps = np.load(real_data / "digits" / "usps.npz")
    return [(usps[part][usps[f"{part}_label"] == 2] > 127).astype(np.uint8) for part in ("train", "test")]


@pytest.mark.full
def test_usps_twos(twos):
    """Negative eigenvalues are neither few nor small; 16 dimensions by plain PCA: 78.9 nats a row of the test set."""
    train, test = twos
    model = ClippedPCA(16, factor_steps=0, random_state=0).fit(train)
    assert len(model.spectrum_) == 256 - 5  # constant columns
    assert (model.spectrum_ < 0).sum() == pytest.approx(125, abs=2)
    assert model.spectrum_[0] == pytest.approx(37.20, abs=0.05)
    assert model.spectrum_[-1] == pytest.approx(-13.87, abs=0.05)
    assert model.spectrum_.sum() == pytest.approx(251)
    assert -model.score(test) == pytest.approx(78.9, abs=0.3)
    assert -ClippedPCA(16, random_state=0).fit(train).score(test) == pytest.approx(78.9, abs=0.3)
    assert np.abs(model.sample(100_000, random_state=0).mean(axis=0) - train.mean(axis=0)).max() <= 0.006
    hidden = np.random.default_rng(0).random(test.shape) < 0.3
    guesses = model.complete(np.where(hidden, np.nan, test))
    assert ((guesses > 0.5) == test)[hidden].mean() == pytest.approx(0.875, abs=0.015)
    way = model.morph(train[0], train[1], steps=40).astype(int)
    assert np.abs(np.diff(way, axis=0)).sum(axis=0).max() <= 1


def test_lsat_comes_near_to_maximum_likelihood(real_data):
    """ltm and mirt: -2466.653, of a logistic model; the probit model is about the same. Plain PCA is far off."""
    table = open_table(real_data / "survey" / "lsat.csv")
    scores = [ClippedPCA(1, factor_steps=steps).fit(table).score_samples(table).sum() for steps in (5, 0)]
    assert scores[0] == pytest.approx(-2466.65, abs=0.5)
    assert scores[1] < -2485
    independent = IndependentColumns().fit(table).score_samples(table).sum()
    assert independent == pytest.approx(-2493.44, abs=0.1)
    assert ClippedPCA(2, factor_steps=0).fit(table).score_samples(table).sum() < independent


def tables(real_data):
    mushrooms = np.load(real_data / "tables" / "mushrooms.npz")["train"]
    spikes = np.load(real_data / "tables" / "spikes15.npz")
    return {
        "house84": open_table(real_data / "votes" / "house84.csv"),
        "lsat": open_table(real_data / "survey" / "lsat.csv"),
        "sat12": open_table(real_data / "survey" / "sat12_binary.csv"),
        "spikes15": open_table(next(iter(spikes.values()))),
        "mushrooms": open_table(mushrooms),
    }


def pair_correlations(rows):
    """Correlations of the bits of all pairs, over the rows in which both were observed."""
    table = open_table(rows)
    counts = count_pairs(table.grid(table.shape[0]).blocks[0])
    d = counts.n_columns
    first = np.broadcast_to(counts.ones, (d, d)) / counts.seen
    spread = np.sqrt(4 * first * (1 - first))
    with np.errstate(invalid="ignore"):
        return bit_covariances(counts, biases=True) / (spread * spread.T)


@pytest.mark.parametrize(
    ("name", "share"), [("house84", 0.95), ("lsat", 0.95), ("sat12", 0.95), ("spikes15", 0.95), ("mushrooms", 0.65)]
)
def test_drawn_tables_are_faithful(real_data, name, share):
    """As many rows as the table has: means within 4 standard errors, pairwise correlations within 3, in 95% of pairs.

    Not so mushrooms, whose columns are categories of which exactly one is on: no Gaussian has such correlations.
    """
    rows = tables(real_data)[name]
    drawn = ClippedPCA(2, random_state=0).fit(rows).sample(rows.shape[0], full=True)
    cells, n = rows.to_float(), rows.shape[0]
    p = (np.nansum(cells, axis=0) + 0.5) / ((~np.isnan(cells)).sum(axis=0) + 1)
    assert (np.abs(drawn.mean(axis=0) - np.nanmean(cells, axis=0)) <= 4 * np.sqrt(p * (1 - p) / n) + 1 / n).all()
    truth, ours = pair_correlations(rows), pair_correlations(drawn.astype(float))
    pairs = np.triu(np.isfinite(truth) & np.isfinite(ours), 1)
    within = np.abs(ours - truth) <= 3 * (1 - truth**2) / np.sqrt(n)
    assert within[pairs].mean() >= share
