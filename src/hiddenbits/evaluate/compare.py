"""`compare`: which family fits a table, with evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiddenbits import Piece, Table, map_pieces, open_table, run_on, take_rows
from hiddenbits.evaluate.calibration import calibrated
from hiddenbits.evaluate.comparison import Comparison, Entry, Tried
from hiddenbits.evaluate.contenders import Contender, chosen_families
from hiddenbits.evaluate.kept import Kept, table_digest, versions
from hiddenbits.evaluate.measures import PIECE_CELLS
from hiddenbits.evaluate.progress import Tell, reporting
from hiddenbits.evaluate.runs import EDGE, Plan, Runner, Runs, weights_of
from hiddenbits.evaluate.scores import RowScores, chance, difference, joined, mean_of
from hiddenbits.evaluate.splits import splits
from hiddenbits.evaluate.trial import Trial

Floats = NDArray[np.float64]
ALL_MEASURES = ("single_bit_error", "code_length", "calibration")


def compare(
    X: Any,
    models: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    cv: Any = 0.25,
    sizes: Mapping[str, Sequence[Any]] | None = None,
    by: Literal["rows", "cells"] = "rows",
    one_standard_error: bool = True,
    validation: float = 0.2,
    hidden_share: float = 0.1,
    measures: Sequence[str] = ALL_MEASURES,
    n_measured: int = 2000,
    kinds: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: bool | Tell = True,
) -> Comparison:
    """Fit every family at several sizes, and judge each at its best size on rows that nothing has seen.

    Rows are dealt into training and test rows. Of the training rows some are held out to choose each family's size:
    larger and larger ones are tried until two in a row are worse than the best, and the smallest that cannot be told
    from the best is taken. The family is then fitted to all training rows at that size, and judged on the test rows.
    Runs where `run_on` says.

    Parameters
    ----------
    X : table of shape (rows, columns)
        Bits, or with `kinds` real numbers: array, sparse array, frame, path or Table.
    models : list of names or estimators, or dict, optional
        The families; by default all that apply to these columns. An estimator is fitted with its own settings, at the
        sizes of its family. A dict has a name for each.
    cv : float, int, splitter or list of pairs, default=0.25
        Which rows are test rows: a share of them; or a number of folds, each of which is held out once; or a
        scikit-learn splitter; or pairs of arrays (training rows, test rows).
    sizes : dict, optional
        Sizes to try, by name, the smallest first, all of them. An empty list takes an estimator as it is.
    by : {"rows", "cells"}, default="rows"
        Choose sizes on held-out training rows, or on hidden cells of the training rows.
    one_standard_error : bool, default=True
        Take the smallest size whose difference to the best is within one standard error of that difference; False
        takes the best.
    validation : float, default=0.2
        Share of the training rows that are held out to choose sizes.
    hidden_share : float, default=0.1
        Share of the cells that are hidden, to choose sizes by cells and to see how well cells are completed.
    measures : list, default=("single_bit_error", "code_length", "calibration")
        What to measure beside the likelihood, of bits; none of it takes part in the order.
    n_measured : int, default=2000
        Most test rows of each split for these measures, drawn at random, the same for all families.
    kinds : "real" or as for `open_table`, optional
        What the columns are, where they are no bits.
    sample_weight : array of shape (rows,), optional
        Weight of each row.
    seed : int, default=0
        Of splits, hidden cells, and estimators without a seed of their own.
    folder : path, optional
        Keep every finished fit there. The same call after a crash does none of them again. A fit is known by its rows,
        settings and package versions; any number of comparisons may share a folder.
    progress : bool or function, default=True
        Show a bar where somebody looks on (with rich, if it is installed); or call progress(words, done, most).

    Returns
    -------
    comparison : Comparison

    See Also
    --------
    select : the size of one family.

    Examples
    --------
    >>> from hiddenbits import evaluate
    >>> from hiddenbits.datasets import simulate_mixture
    >>> X = simulate_mixture(1500, 10, 3, seed=0).X
    >>> found = evaluate.compare(X, ["IndependentBits", "BernoulliMixture", "BinarySparseCoding"])
    >>> found.best
    'BernoulliMixture'
    >>> found.left_out["BinarySparseCoding"]
    'it is a density on reals, and these columns are bits: a probability cannot be set beside it'
    """
    if by not in ("rows", "cells"):
        raise ValueError(f"by={by!r} is not one of 'rows', 'cells'.")
    if unknown := set(measures) - set(ALL_MEASURES):
        raise ValueError(f"measures={sorted(unknown)!r}: there are {', '.join(ALL_MEASURES)}.")
    table = weighted(open_table(X, kinds=kinds), sample_weight)
    contenders, left_out = chosen_families(models, sizes or {}, table, seed)
    if not contenders:
        raise ValueError(f"No family is left to compare. {_sentences(left_out)}")
    dealt = splits(table, cv, seed)
    plan = Plan(by, one_standard_error, validation, hidden_share, tuple(measures), n_measured, seed)
    with run_on() as engine, reporting(progress) as tell:
        refuse_checkpoint(engine)
        most = len(dealt) * sum(len(c.sizes) * (len(c.sizes) > 1) + 1 for c in contenders)
        runs = Runs(table, plan, Runner(kept_in(folder, table), tell, most, seed), dealt)
        found: dict[str, tuple[Contender, list[Trial], list[Tried]]] = {}
        tried: list[Tried] = []
        for contender in contenders:
            trials, steps = runs.family(contender)
            tried += steps
            if (refused := next((trial.note for trial in trials if trial.scores is None), None)) is not None:
                left_out[contender.name] = refused.rstrip(".")
            else:
                found[contender.name] = (contender, trials, steps)
        if not found:
            raise ValueError(f"No family could be judged. {_sentences(left_out)}")
        tests = [take_rows(table, split.test) for split in dealt]
        weights = np.concatenate([weights_of(test) for test in tests])
        cells = np.concatenate([_cells(test) for test in tests])
    return Comparison(
        _entries(found, weights, cells),
        left_out,
        tuple(tried),
        {name: trials[0].model for name, (_, trials, _) in found.items() if hasattr(trials[0].model, "likelihood_")},
        len(dealt[0].train),
        len(weights),
        len(dealt),
        sum(map(len, runs.measured)),
    )


def weighted(table: Table, sample_weight: Any) -> Table:
    """Return the table with row weights on top of its own."""
    if sample_weight is None:
        return table
    given = table.with_weights(np.asarray(sample_weight, np.float64))
    return given if table.weights is None else given.with_weights(weights_of(given) * table.weights)


def refuse_checkpoint(engine: Any) -> None:
    """Refuse one checkpoint for many fits."""
    if engine.checkpoint is not None:
        raise ValueError("run_on(checkpoint=) serves one fit, and there are many here. Give folder= instead.")


def kept_in(folder: str | os.PathLike[str] | None, table: Table) -> Kept:
    """Return the folder of finished fits of a table."""
    return Kept(folder, {} if folder is None else {"table": table_digest(table), "versions": versions()})


def _sentences(reasons: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {why}." for name, why in reasons.items())


def _cells(table: Table) -> Floats:
    """Return the number of observed cells of each row."""

    def seen(piece: Piece) -> Floats:
        rows: Any = piece.table
        if not rows.only_bits:  # several numbers may stand for a cell
            return np.asarray(rows.seen().sum(axis=1), np.float64)
        _, observed = rows.source.read(0, rows.shape[0])
        return np.asarray(observed.row_sums(), np.float64)

    return np.concatenate(list(map_pieces(seen, table, max(1, PIECE_CELLS // table.shape[1]))))


def _entries(found: dict[str, Any], weights: Floats, cells: Floats) -> tuple[Entry, ...]:
    """Return the lines of the table, the best family first."""
    scores: dict[str, RowScores] = {
        name: joined([trial.scores for trial in trials]) for name, (_, trials, _) in found.items()
    }
    means = {name: mean_of(one, weights) for name, one in scores.items()}
    order = sorted(found, key=lambda name: -means[name].value)
    best = scores[order[0]]
    entries = []
    for name in order:
        contender, trials, steps = found[name]
        mean, error_and_bias = means[name], chance(scores[name], weights)
        bits = RowScores(-scores[name].values / np.log(2.0), scores[name].errors, 0.0, mean.kind)
        per_cell = mean_of(bits, weights, cells)
        apart = (0.0, 0.0) if name == order[0] else difference(scores[name], best, weights)
        chosen = [step.size for step in steps if step.chosen] or [str(size) for size in contender.sizes[:1]]
        notes = [trial.note for trial in trials if trial.note]
        if steps and chosen[0] == str(contender.sizes[-1]):
            notes.append(EDGE)
        counts = [trial.counts for trial in trials if trial.counts is not None]
        right = calibrated(np.sum(counts, axis=0)) if counts else None
        entries.append(
            Entry(
                name,
                contender.family.hidden,
                ", ".join(dict.fromkeys(chosen)),
                mean.value,
                mean.standard_error,
                mean.kind,
                *error_and_bias,
                *apart,
                per_cell.value,
                per_cell.standard_error,
                *_measured(trials, "single_bit_error"),
                *_measured(trials, "code_length"),
                None if right is None else right.value,
                None if right is None else right.by_chance,
                float(np.mean([trial.seconds for trial in trials])),
                sum(trial.seconds for trial in trials) + sum(step.seconds for step in steps),
                max(trial.memory for trial in trials),
                "; ".join(dict.fromkeys(notes)),
            )
        )
    return tuple(entries)


def _measured(trials: list[Trial], name: str) -> tuple[float | None, float | None]:
    """Return a measure over the test rows of all splits, and its standard error."""
    parts = np.array([trial.measures[name] for trial in trials if name in trial.measures])
    if not len(parts):
        return None, None
    share = parts[:, 2] / parts[:, 2].sum()
    return float(share @ parts[:, 0]), float(np.sqrt(share**2 @ parts[:, 1] ** 2))
