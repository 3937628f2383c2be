"""The models by their names on the command line. Slow packages are imported only when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenbits.evaluate import Family


def all_families() -> list[Family]:
    """Return the models that the command line fits."""
    from hiddenbits import evaluate

    return [known for known in evaluate.known_families().values() if known.word]


def family(word: str) -> Family:
    """Return the model with a word or an estimator's name."""
    families = all_families()
    for known in families:
        if word.lower() in (known.word, known.name.lower()):
            return known
    raise ValueError(f"Unknown model {word!r}. Choose one of: {', '.join(known.word for known in families)}.")


def make_estimator(word: str, n_components: int | None, random_state: int, settings: list[str]) -> Any:
    """Return an unfitted estimator; `settings` are texts such as max_iter=500 or chains.n_chains=50."""
    import hiddenbits

    model = family(word)
    estimator_class = getattr(hiddenbits, model.name)
    params_of_model = estimator_class().get_params()
    params: dict[str, Any] = {}
    if n_components is not None:
        if "n_components" not in params_of_model:
            raise ValueError(f"{model.word} has no components: remove --n-components.")
        params["n_components"] = n_components
    if "random_state" in params_of_model:
        params["random_state"] = random_state
    estimator = estimator_class(**params)
    for text in settings:
        name, equals, setting = text.partition("=")
        try:  # the estimator rejects unknown names
            groups = estimator._options()  # such as chains=, of which chains.n_chains=50 sets one value
            estimator.set_params(**{group: groups[group] for group in groups if name.startswith(f"{group}.")})
            estimator.set_params(**{name.replace(".", "__") if equals else "": _parsed(setting)})
        except (ValueError, AttributeError) as error:
            if equals and name.partition(".")[0] in params_of_model and isinstance(error, ValueError):
                raise
            names = ", ".join(sorted(params_of_model))
            raise ValueError(f"--set {text}: write name=value, where the name is one of: {names}.") from None
    return estimator


def _parsed(text: str) -> Any:
    """Parse a value: a number, true, false, none, a tuple of numbers, or else the text itself."""
    import ast

    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
