"""Statistics files from strangers: each is refused with one clear error that says what to do, or is what it says."""

import dataclasses
import pickle

import numpy as np
import pytest

import hiddenbits
from hiddenbits import BernoulliMixture, IndependentBits, Statistics, StatisticsError, StoreError, merge
from hiddenbits.store import read, write
from tests.federated.hospitals import rows
from tests.store.damage import contents, damaged_copies

pytestmark = pytest.mark.core

X = rows(0, 400, 6)


def statistics(kind, site="north", X=X, **settings):
    """Statistics to start from, or of a later round, of either estimator."""
    settings = {"random_state": 0, **settings}
    model = IndependentBits(**settings) if kind.startswith("independent") else BernoulliMixture(3, **settings)
    names = [f"question {j}" for j in range(X.shape[1])] if "names" in kind else None
    table = hiddenbits.open_table(X, names=names)
    if "start" not in kind:
        model.update(model.stats(table, site=site))
    return model.stats(table, site=site)


KINDS = ("mixture-start", "mixture", "mixture-names", "independent-start-names", "independent")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def same(a, b):
    fields = ("estimator", "hyperparameters", "n_features", "names", "sites", "rows")
    assert all(getattr(a, name) == getattr(b, name) for name in fields)
    assert (a.params is None) == (b.params is None)
    for one, other in [(a.sums, b.sums)] + ([] if a.params is None else [(a.params, b.params)]):
        assert type(one) is type(other)
        assert all(np.array_equal(v, other.to_arrays()[k]) for k, v in one.to_arrays().items())


def test_a_file_gives_back_what_was_saved(kind, tmp_path):
    one = statistics(kind)
    one.save(tmp_path / "one.hb")
    same(Statistics.load(tmp_path / "one.hb"), one)
    same(pickle.loads(pickle.dumps(one)), one)
    one.save(tmp_path / "again.hb")
    assert (tmp_path / "one.hb").read_bytes() == (tmp_path / "again.hb").read_bytes()


def test_rows_leave_no_fingerprint(tmp_path):
    """Tables with the same counts give the same bytes to start from: nothing but counts is in them."""
    other = X.copy()
    at = np.flatnonzero(~np.isnan(X[:, 0]))
    other[at, 0] = X[np.roll(at, 7), 0]
    assert not np.array_equal(other[at], X[at])
    statistics("mixture-start").save(tmp_path / "a.hb")
    statistics("mixture-start", X=other).save(tmp_path / "b.hb")
    assert (tmp_path / "a.hb").read_bytes() == (tmp_path / "b.hb").read_bytes()


def test_repr_says_what_it_is():
    assert repr(statistics("mixture-start")) == (
        "<Statistics of BernoulliMixture to start from: 400 rows, 6 columns, site 'north'>"
    )
    assert "at log-likelihood -" in repr(statistics("independent"))
    assert statistics("mixture-start").log_likelihood is None


# ---- files that were altered, with a fitting checksum


def change(name, value):
    """Set one number of an array."""

    def alter(meta, arrays):
        arrays[name].reshape(-1)[0] = value

    return alter


def scale(name, factor):
    def alter(meta, arrays):
        arrays[name] *= factor

    return alter


def put(name, make):
    def alter(meta, arrays):
        arrays[name] = make(arrays[name])

    return alter


def say(key, value):
    def alter(meta, arrays):
        meta[key] = value

    return alter


def hyper(name, value):
    def alter(meta, arrays):
        meta["hyperparameters"][name] = value

    return alter


ANY = {
    "NaN": (change("sums.ones", np.nan), "holds NaN or infinity"),
    "infinity": (change("sums.ones", np.inf), "holds NaN or infinity"),
    "negative": (change("sums.ones", -3.0), "are not counts"),
    "ones above observed": (change("sums.ones", 1e4), "are not counts"),
    "no weight": (scale("sums.weight", 0.0), "no weight"),
    "negative weight": (scale("sums.weight", -1.0), "no weight"),
    "too little weight": (scale("sums.weight", 0.5), "are not counts"),
    "weight of another shape": (put("sums.weight", lambda a: a[None]), "no weight|wrong shapes"),
    "single precision": (put("sums.ones", lambda a: a.astype(np.float32)), "not float64"),
    "whole numbers": (put("sums.ones", lambda a: a.astype(np.int64)), "not float64"),
    "a column too few": (put("sums.ones", lambda a: a[:-1].copy()), "wrong shapes"),
    "one dimension more": (put("sums.ones", lambda a: a[None]), "wrong shapes"),
    "an array missing": (lambda meta, arrays: arrays.pop("sums.ones"), "not complete"),
    "an array too many": (lambda meta, arrays: arrays.update({"sums.rows_themselves": np.ones(3)}), "not complete"),
    "a foreign array": (lambda meta, arrays: arrays.update(X=np.ones((3, 3))), "do not belong"),
    "another number of columns": (say("n_features_in", 7), "column|shapes"),
    "columns that are no number": (say("n_features_in", "6"), "not a number"),
    "no rows": (say("rows", 0), "no rows"),
    "rows that are no count": (say("rows", 400.0), "no rows"),
    "no sites": (say("sites", []), "site's name"),
    "a site twice": (say("sites", ["a", "a"]), "one is there twice"),
    "a site that is no text": (say("sites", [7]), "site's name"),
    "a site with a line break": (say("sites", ["a\nb"]), "site's name"),
    "sites that are no list": (say("sites", "ab"), "not a list"),
    "too few names": (say("feature_names_in", ["a"]), "one name for each column"),
    "another estimator's name": (say("estimator", "os.system"), "is not an estimator"),
    "no estimator": (say("estimator", ["BernoulliMixture"]), "is not an estimator"),
    "a key missing": (lambda meta, arrays: meta.pop("rows"), "not complete"),
    "a key too many": (say("comment", "hello"), "not complete"),
    "a hyperparameter out of range": (hyper("prior_strength", -5.0), "prior_strength"),
    "a hyperparameter too many": (hyper("shell", "rm"), "does not know"),
    "no hyperparameters": (say("hyperparameters", None), "not a mapping"),
}
LATER = {
    "parameters out of range": (change("params.prior_mean", 1.5), "between 0 and 1"),
    "parameters of another shape": (put("params.prior_mean", lambda a: a[:-1].copy()), "shapes|each column"),
    "a parameter missing": (lambda meta, arrays: arrays.pop("params.prior_mean"), "not complete"),
    "an impossible likelihood": (change("sums.bound", 1e6), "above 0"),
}
MIXTURE = {
    "classes that do not add up to the weight": (scale("sums.classes", 1.01), "are not counts"),
    "a class below zero": (change("sums.classes", -2.0), "are not counts"),
    "more observed cells than rows": (scale("sums.observed", 1.5), "are not counts"),
    "a class too many": (put("sums.classes", lambda a: np.append(a, 0.0)), "wrong shapes"),
}
START = {
    "a fingerprint of the rows": (change("sums.fingerprint", 3.0), "fingerprint"),
    "rows that were not declared": (scale("sums.rows", 2.0), "not the rows"),
    "more observed cells than rows": (scale("sums.observed", 1.5), "are not counts"),
}
CASES = [
    pytest.param(kind, *alteration, id=f"{kind}: {what}")
    for kind, alterations in {
        "mixture-start": ANY | START,
        "mixture": ANY | LATER | MIXTURE,
        "independent": ANY | LATER,
    }.items()
    for what, alteration in alterations.items()
]


@pytest.mark.parametrize(("kind", "alter", "message"), CASES)
def test_unlawful_files_are_refused(kind, alter, message, tmp_path):
    path = tmp_path / "received.hb"
    statistics(kind).save(path)
    stored = read(path)
    alter(stored.meta, stored.arrays)
    write(path, stored.kind, stored.meta, stored.arrays)
    with pytest.raises(StoreError, match=message) as caught:
        Statistics.load(path)
    assert "Ask the site to send them again." in str(caught.value)
    assert str(path) in str(caught.value)


def test_other_kinds_of_files_are_refused(tmp_path):
    path = tmp_path / "model.hb"
    BernoulliMixture(2, random_state=0).fit(X).save(path)
    with pytest.raises(StoreError, match="holds a BernoulliMixture, not statistics"):
        Statistics.load(path)
    statistics("mixture").save(path)
    with pytest.raises(StoreError, match="contains 'statistics'"):
        hiddenbits.load(path)
    raw = path.read_bytes()
    for length in (2**62, 2**40, len(raw)):
        path.write_bytes(length.to_bytes(8, "little") + raw[8:])
        with pytest.raises(StoreError, match="cut short"):
            Statistics.load(path)
    path.write_bytes((65 * 2**20).to_bytes(8, "little") + b"{" + b" " * (66 * 2**20))
    with pytest.raises(StoreError, match="header has more than the limit"):
        Statistics.load(path)


def loaded_or_message(path):
    try:
        return Statistics.load(path)
    except StoreError as error:
        return str(error)


@pytest.mark.slow
def test_damaged_files_are_refused_or_are_what_they_say(tmp_path, short):
    times = 150 if short else 300
    outcomes = {"refused": 0, "valid": 0, "untouched": 0}
    path = tmp_path / "received.hb"
    for number, kind in enumerate(KINDS):
        statistics(kind).save(path)
        original = path.read_bytes()
        for what, raw, resummed in damaged_copies(original, np.random.default_rng([1, number]), times):
            path.write_bytes(raw)
            loaded = loaded_or_message(path)
            if isinstance(loaded, str):
                assert loaded, what
                assert "\n" not in loaded, what
                outcomes["refused"] += 1
                continue
            _, meta, arrays = contents(raw if resummed else original)
            assert loaded.estimator == meta["estimator"], what
            defaults = getattr(hiddenbits, loaded.estimator)().get_params()  # for hyperparameters that were dropped
            assert loaded.hyperparameters == {**defaults, **meta["hyperparameters"]}, what
            found = {f"sums.{k}": v for k, v in loaded.sums.to_arrays().items()}
            found |= {} if loaded.params is None else {f"params.{k}": v for k, v in loaded.params.to_arrays().items()}
            assert found.keys() == arrays.keys(), what
            assert all(np.array_equal(found[name], arrays[name]) for name in arrays), what
            merge([loaded])
            outcomes["valid" if resummed else "untouched"] += 1
    assert sum(outcomes.values()) == times * len(KINDS)
    assert outcomes["refused"] > 10 * times // 3
    assert outcomes["valid"] > 5
    assert outcomes["untouched"] > 5


# ---- what does not belong together


def refusal(*several):
    with pytest.raises(StatisticsError) as caught:
        merge(several)
    return str(caught.value)


def test_what_does_not_belong_together_is_not_merged():
    north = statistics("mixture")
    assert "no statistics to merge" in refusal()
    assert "'north' appears twice" in refusal(north, statistics("mixture"))
    assert "'b' appears twice" in refusal(
        merge([statistics("mixture", "a"), statistics("mixture", "b")]), statistics("mixture", "b")
    )
    assert "has a IndependentBits, site 'south' a BernoulliMixture" in refusal(
        statistics("independent"), statistics("mixture", "south")
    )
    message = refusal(north, statistics("mixture", "south", prior_strength=2.0))
    assert "site 'north' has prior_strength=1.0, site 'south' 2.0. Every site must use the same" in message
    assert "site 'north' has 6 columns, site 'south' 5" in refusal(north, statistics("mixture", "south", X=X[:, :5]))
    assert "site 'south' has column names, the other has none" in refusal(north, statistics("mixture-names", "south"))
    names = statistics("mixture-names")
    swapped = dataclasses.replace(names, sites=("south",), names=(names.names[1], names.names[0], *names.names[2:]))
    assert "column 0 is 'question 0' at site 'north', 'question 1' at site 'south'" in refusal(names, swapped)
    assert "site 'south' is at the start, the other is not" in refusal(north, statistics("mixture-start", "south"))
    other = statistics("mixture", "south", X=rows(1, 400, 6))  # started from other counts
    assert "computed with different parameters" in refusal(north, other)
    with pytest.raises(TypeError, match="Expected Statistics"):
        merge([north, {"ones": 1}])


def test_unlawful_statistics_are_not_merged_or_used():
    """Also where no file was in between; one that is invalid would vanish in the sum."""
    north, south = statistics("mixture"), statistics("mixture", "south")
    bad = south.sums.scaled(1.0)
    bad.ones[0, 0] = -1.0
    south = dataclasses.replace(south, sums=bad)
    assert "The statistics of 'south' are not valid: the statistics are not counts" in refusal(north, south)
    model = BernoulliMixture(3, random_state=0)
    model.update(model.stats(X, site="south"))
    with pytest.raises(StatisticsError, match="not valid"):
        model.update(south)
    assert model.n_iter_ == 0


def test_sums_that_overflow_are_refused():
    one, other = statistics("independent-start-names", "a"), statistics("independent-start-names", "b")
    huge = [dataclasses.replace(s, sums=s.sums.scaled(2e97)) for s in (one, other)]
    huge = [dataclasses.replace(s, sums=dataclasses.replace(s.sums, rows=np.asarray(400.0))) for s in huge]
    merge([dataclasses.replace(huge[0])])
    assert "beyond 1e+100" in refusal(*huge)


def test_parameters_may_differ_by_the_rounding_of_another_processor():
    north, south = statistics("mixture"), statistics("mixture", "south")
    nearby = south.params.scaled(1 + 1e-13)
    nearby = dataclasses.replace(nearby, weights=south.params.weights)
    merged = merge([north, dataclasses.replace(south, params=nearby)])
    assert np.array_equal(merged.params.probabilities, north.params.probabilities)
    apart = dataclasses.replace(south.params, probabilities=south.params.probabilities * (1 - 1e-6))
    assert "different parameters" in refusal(north, dataclasses.replace(south, params=apart))


def test_an_estimator_takes_only_its_own():
    north = statistics("mixture-start")
    for model, message in {
        BernoulliMixture(3, random_state=1): "random_state=1, site 'north' 0",
        BernoulliMixture(4, random_state=0): "n_components=4, site 'north' 3",
        IndependentBits(random_state=0): "has a IndependentBits, site 'north' a BernoulliMixture",
    }.items():
        with pytest.raises(StatisticsError, match=message):
            model.update(north)
        assert not hasattr(model, "params_")
    fitted = BernoulliMixture(3, random_state=0).fit(X[:, :5])
    with pytest.raises(StatisticsError, match="5 columns, site 'north' 6"):
        fitted.update(statistics("mixture"))
