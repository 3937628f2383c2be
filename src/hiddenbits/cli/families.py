"""The models by the words that people type, and what each is for. Imports nothing that is slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Family:
    """A model, as the command line and the report speak of it."""

    word: str
    estimator: str
    sizes: str
    hidden: str
    use: str


FAMILIES = (
    Family("independent", "IndependentBits", "", "nothing", "the baseline that every other picture must beat"),
    Family("classes", "BernoulliMixture", "classes", "one class a row", "kinds of customers, patients, texts"),
    Family("logistic", "LogisticPCA", "dimensions", "a few scales", "tests, surveys, votes; maps for the eye"),
    Family(
        "clipped", "ClippedPCA", "dimensions", "a few scales, cut at thresholds", "tetrachoric correlations; one pass"
    ),
    Family(
        "influences", "CombinationMachine", "units", "several on/off influences at once", "spikes, traits, features"
    ),
    Family(
        "causes", "NoisyOrNetwork", "causes", "causes, any of which can switch a bit on", "diagnoses, baskets, words"
    ),
    Family("trees", "TreeMixture", "classes", "one class a row, each with its own tree of links", "a high likelihood"),
    Family("hidden-tree", "HiddenTree", "states", "a state behind each column, tied by a tree", "a high likelihood"),
)


def family(word: str) -> Family:
    """Return the model that a word or the name of an estimator stands for."""
    for one in FAMILIES:
        if word.lower() in (one.word, one.estimator.lower()):
            return one
    known = ", ".join(one.word for one in FAMILIES)
    raise ValueError(f"There is no model called {word!r}. The models are: {known}.")


def made(word: str, size: int | None, seed: int, settings: list[str]) -> Any:
    """Return an estimator, not fitted; `settings` are texts such as max_iter=500."""
    import hiddenbits

    one = family(word)
    estimator = getattr(hiddenbits, one.estimator)
    known = estimator().get_params()
    given: dict[str, Any] = {}
    if size is not None:
        if "n_components" not in known:
            raise ValueError(f"{one.word} has no size: leave out --size.")
        given["n_components"] = size
    if "random_state" in known:
        given["random_state"] = seed
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            listed = ", ".join(sorted(known))
            raise ValueError(f"--set {text}: give name=value, where the name is one of: {listed}.")
        given[name] = _value(value)
    return estimator(**given)


def _value(text: str) -> Any:
    """Return the value that a text stands for: a number, true, false, none, a tuple of numbers, or the text."""
    import ast

    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
