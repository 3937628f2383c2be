"""The models by the words that people type. Slow packages are imported only when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenbits.evaluate import Family


def all_families() -> list[Family]:
    """Return the models that the command line fits."""
    from hiddenbits import evaluate

    return [one for one in evaluate.known_families().values() if one.word]


def family(word: str) -> Family:
    """Return the model that a word or the name of an estimator stands for."""
    for one in all_families():
        if word.lower() in (one.word, one.name.lower()):
            return one
    known = ", ".join(one.word for one in all_families())
    raise ValueError(f"Unknown model {word!r}. Choose one of: {known}.")


def made(word: str, size: int | None, seed: int, settings: list[str]) -> Any:
    """Return an estimator, not fitted; `settings` are texts such as max_iter=500 or chains.n_chains=50."""
    import hiddenbits

    one = family(word)
    estimator = getattr(hiddenbits, one.name)
    known = estimator().get_params()
    given: dict[str, Any] = {}
    if size is not None:
        if "n_components" not in known:
            raise ValueError(f"{one.word} has no size: leave out --size.")
        given["n_components"] = size
    if "random_state" in known:
        given["random_state"] = seed
    found = estimator(**given)
    for text in settings:
        name, equals, value = text.partition("=")
        try:  # what is not known the estimator says itself
            found.set_params(**{one: given for one, given in found._options().items() if name.startswith(f"{one}.")})
            found.set_params(**{name.replace(".", "__") if equals else "": _value(value)})
        except (ValueError, AttributeError) as error:
            if equals and name.partition(".")[0] in known and isinstance(error, ValueError):
                raise
            listed = ", ".join(sorted(known))
            raise ValueError(f"--set {text}: give name=value, where the name is one of: {listed}.") from None
    return found


def _value(text: str) -> Any:
    """Parse a value: a number, true, false, none, a tuple of numbers, or else the text itself."""
    import ast

    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
