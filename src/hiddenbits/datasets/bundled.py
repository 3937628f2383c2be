"""Small tables that come with the package: four real ones, two simulated ones; and ``hiddenbits example``."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from hiddenbits import open_table
from hiddenbits.array_types import Bytes
from hiddenbits.datasets.loaders import as_bunch
from hiddenbits.datasets.named import Votes
from hiddenbits.tables import Table


class Zoo(NamedTuple):
    """Animals: yes/no columns, the number of legs, and the type.

    Attributes
    ----------
    X : ndarray of shape (animals, 15) of uint8
        The yes/no columns.
    legs : ndarray of shape (animals,)
        Number of legs.
    type : ndarray of shape (animals,) of str
        Such as "mammal".
    names : tuple of str
        Names of the yes/no columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.datasets import Zoo
    >>> Zoo(np.array([[1]], np.uint8), np.array([4]), np.array(["mammal"]), ("hair",)).names
    ('hair',)
    """

    X: Bytes
    legs: NDArray[np.int64]
    type: NDArray[np.str_]
    names: tuple[str, ...]


class Survey(NamedTuple):
    """Answers of respondents; equal rows are counted.

    Attributes
    ----------
    X : dict of str to list
        The columns, with one answer per distinct row. ``pandas.DataFrame(X)`` makes a data frame.
    sample_weight : ndarray of shape (distinct rows,)
        How many respondents gave these answers.

    Examples
    --------
    >>> import numpy as np
    >>> from hiddenbits.datasets import Survey
    >>> Survey({"trust": ["high", "low"]}, np.array([7, 3])).sample_weight.sum()
    np.int64(10)
    """

    X: dict[str, list[str | int]]
    sample_weight: NDArray[np.int64]


PRODUCTS = {  # how often in ten a shopper for breakfast, a barbecue or baking buys each product
    "bread": (7, 4, 1),
    "butter": (6, 1, 8),
    "jam": (5, 0, 1),
    "coffee": (6, 1, 2),
    "milk": (7, 1, 6),
    "sausages": (1, 8, 0),
    "charcoal": (0, 6, 0),
    "mustard": (1, 6, 0),
    "beer": (1, 7, 1),
    "flour": (1, 0, 8),
    "sugar": (2, 1, 7),
    "eggs": (4, 1, 8),
}
SHARES = (0.5, 0.2, 0.3)


def load_baskets(*, as_frame: bool = False) -> Table | Bunch:
    """Return simulated shopping baskets: 1,000 baskets, 12 products.

    Shoppers belong to three classes, who shop for breakfast (half of them), a barbecue (.2) or baking (.3), and buy
    each product independently with the probability of their class.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, as scikit-learn's loaders do.

    Returns
    -------
    table : Table or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_baskets
    >>> load_baskets().shape
    (1000, 12)
    """
    rng = np.random.default_rng(1)
    classes = rng.choice(3, 1000, p=SHARES)
    p = np.array(list(PRODUCTS.values()))[:, classes].T / 10
    table = open_table((rng.random(p.shape) < p).astype(np.uint8), names=PRODUCTS)
    return as_bunch(table) if as_frame else table


def load_exam(*, as_frame: bool = False) -> Table | Bunch:
    """Return a simulated exam: 500 students, 20 questions, 1 for a correct answer.

    The logit of a correct answer is discrimination times (ability - difficulty); abilities are standard normal. Some
    students did not reach the last questions: these cells are missing.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, as scikit-learn's loaders do.

    Returns
    -------
    table : Table or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_exam
    >>> exam = load_exam()
    >>> exam.shape, exam.names[:2], exam.n_missing > 0
    ((500, 20), ('Q1', 'Q2'), True)
    """
    rng = np.random.default_rng(2)
    ability, difficulty = rng.normal(size=(500, 1)), np.linspace(-2, 2, 20)
    p = 1 / (1 + np.exp(-rng.uniform(0.7, 2.0, 20) * (ability - difficulty)))
    correct = (rng.random(p.shape) < p).astype(float)
    n_reached = np.where(rng.random(500) < 0.1, rng.integers(14, 20, 500), 20)
    correct[np.arange(20) >= n_reached[:, None]] = np.nan
    table = open_table(correct, names=[f"Q{j}" for j in range(1, 21)])
    return as_bunch(table) if as_frame else table


def load_votes(*, as_frame: bool = False) -> Votes | Bunch:
    """Return 16 votes of the House of Representatives of the United States in 1984, and the parties of its 435 members.

    1 is a vote, pair or announcement for, 0 against. A vote is missing if the member voted "present", did not vote, or
    made no position known. So a missing value is not simply an unknown vote: members may abstain for a reason.

    The parties (267 democrats, 168 republicans) are for comparison with the results of a model. In the file of
    ``hiddenbits example votes`` they are a column with two values, which a model treats as one more vote unless it is
    excluded: ``hiddenbits report votes.csv --by party``.

    Source: Congressional Voting Records (1987), UCI Machine Learning Repository, doi 10.24432/C5C01P, CC BY 4.0.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `party` with it in `frame`, as scikit-learn's loaders do.

    Returns
    -------
    votes : Votes or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_votes
    >>> votes = load_votes()
    >>> votes.X.shape, int((votes.party == "democrat").sum()), votes.names[3]
    ((435, 16), 267, 'physician-fee-freeze')
    """
    names, rows = _read_csv("votes")
    coded = {"y": 1.0, "n": 0.0, "": np.nan}
    X = np.array([[coded[cell] for cell in row[1:]] for row in rows])
    votes = Votes(X, np.array([row[0] for row in rows]), tuple(names[1:]))
    return as_bunch(dict(zip(votes.names, X.T, strict=True)), party=votes.party) if as_frame else votes


def load_zoo(*, as_frame: bool = False) -> Zoo | Bunch:
    """Return the animals of the zoo table: 101 animals, 15 yes/no columns, legs and type.

    The file of ``hiddenbits example zoo`` has legs and type as columns that are not binary: exclude them and color by
    one of them, ``hiddenbits report zoo.csv --drop legs --drop type --color type``, or fit `LogisticPCA`, which accepts
    them. The names of the animals are not part of the table. Equal rows are different animals.

    Source: Richard Forsyth, Zoo (1990), UCI Machine Learning Repository, doi 10.24432/C5R59V, CC BY 4.0. The source
    numbers the types from 1 to 7; we added the words.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `legs` and `type` with it in `frame`, as scikit-learn's
        loaders do.

    Returns
    -------
    zoo : Zoo or Bunch

    Examples
    --------
    >>> from hiddenbits.datasets import load_zoo
    >>> zoo = load_zoo()
    >>> zoo.X.shape, int((zoo.type == "mammal").sum())
    ((101, 15), 41)
    """
    names, rows = _read_csv("zoo")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    legs, types = columns.pop("legs"), columns.pop("type")
    X = np.ascontiguousarray(np.array(list(columns.values()), np.uint8).T)
    zoo = Zoo(X, np.array(legs, np.int64), np.array(types), tuple(columns))
    return as_bunch(dict(zip(columns, X.T, strict=True)), legs=zoo.legs, type=zoo.type) if as_frame else zoo


def load_carcinoma(*, as_frame: bool = False) -> Survey | Bunch:
    """Return ratings of 118 slides by seven pathologists, A to G: 1 for carcinoma of the cervix, 0 otherwise.

    There are 20 distinct rows.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `count` with it in `frame`, as scikit-learn's loaders do.

    Returns
    -------
    survey : Survey or Bunch

    References
    ----------
    Landis and Koch (1977), "An application of hierarchical kappa-type statistics in the assessment of majority
    agreement among multiple observers"; counts as in Agresti (2002), "Categorical Data Analysis", table 13.1.

    Examples
    --------
    >>> from hiddenbits.datasets import load_carcinoma
    >>> slides = load_carcinoma()
    >>> list(slides.X), int(slides.sample_weight.sum())
    (['A', 'B', 'C', 'D', 'E', 'F', 'G'], 118)
    >>> from hiddenbits import LatentClassAnalysis
    >>> frame = load_carcinoma(as_frame=True).frame
    >>> model = LatentClassAnalysis(3, random_state=0).fit(frame, sample_weight="count")
    >>> model.weights_.round(2)
    array([0.45, 0.38, 0.17])
    """
    survey = _counted("carcinoma")
    return as_bunch(survey.X, count=survey.sample_weight) if as_frame else survey


def load_gss82(*, as_frame: bool = False) -> Survey | Bunch:
    """Return the opinions of 1,202 white respondents to the General Social Survey of 1982 about surveys.

    PURPOSE of surveys (good, depends, waste of time), their ACCURACY (mostly true, not true), and the interviewer's
    impression: how well questions were understood (UNDERSTA: good, fair or poor) and how respondents took part
    (COOPERAT: interested, cooperative, impatient). There are 33 distinct rows.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `count` with it in `frame`, as scikit-learn's loaders do.

    Returns
    -------
    survey : Survey or Bunch

    References
    ----------
    McCutcheon (1987), "Latent Class Analysis", table 3.1.

    Examples
    --------
    >>> from hiddenbits.datasets import load_gss82
    >>> respondents = load_gss82()
    >>> {name: column[0] for name, column in respondents.X.items()}
    {'PURPOSE': 'Good', 'ACCURACY': 'Mostly true', 'UNDERSTA': 'Good', 'COOPERAT': 'Interested'}
    >>> int(respondents.sample_weight[0])
    419
    """
    survey = _counted("gss82")
    return as_bunch(survey.X, count=survey.sample_weight) if as_frame else survey


def load_lsat(*, as_frame: bool = False) -> Survey | Bunch:
    """Return the answers of 1,000 people to five items of the Law School Admission Test, section 6: 1 if right.

    There are 30 distinct rows.

    Parameters
    ----------
    as_frame : bool, default=False
        Return a Bunch with a pandas data frame in `data`, and `count` with it in `frame`, as scikit-learn's loaders do.

    Returns
    -------
    survey : Survey or Bunch

    References
    ----------
    Bock and Lieberman (1970), "Fitting a response model for n dichotomously scored items".

    Examples
    --------
    >>> from hiddenbits.datasets import load_lsat
    >>> answers = load_lsat()
    >>> list(answers.X)[0], int(answers.sample_weight.sum())
    ('item_1', 1000)
    >>> from hiddenbits import ItemResponseModel
    >>> frame = load_lsat(as_frame=True).frame
    >>> ItemResponseModel().fit(frame, sample_weight="count").slopes_.round(2).ravel()
    array([0.83, 0.72, 0.89, 0.69, 0.66])
    """
    survey = _counted("lsat")
    return as_bunch(survey.X, count=survey.sample_weight) if as_frame else survey


def _counted(name: str) -> Survey:
    """Return a table in the package whose last column counts equal rows."""
    names, rows = _read_csv(name)
    *columns, counts = (
        [int(cell) if cell.isdigit() else cell for cell in column] for column in zip(*rows, strict=True)
    )
    return Survey(dict(zip(names[:-1], columns, strict=True)), np.array(counts))


SIMULATED = {"baskets": load_baskets, "exam": load_exam}
EXAMPLES = (*SIMULATED, "votes", "zoo")


def example_rows(name: str) -> tuple[list[str], list[list[str]]]:
    """Return (names of the columns, rows of text) of an example, as ``hiddenbits example`` writes it.

    Parameters
    ----------
    name : {"baskets", "exam", "votes", "zoo"}
        The example. The first two are simulated.

    Examples
    --------
    >>> from hiddenbits.datasets import example_rows
    >>> example_rows("baskets")[0][:3]
    ['bread', 'butter', 'jam']
    """
    if name not in EXAMPLES:
        raise ValueError(f"There is no example {name!r}. Available: {', '.join(EXAMPLES)}.")
    if name not in SIMULATED:
        return _read_csv(name)
    table = SIMULATED[name]()
    cells = [["" if np.isnan(cell) else str(int(cell)) for cell in row] for row in table.to_float()]
    return list(table.names or ()), cells


def _read_csv(name: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table in the package."""
    text = (files("hiddenbits.datasets") / "files" / f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return header, rows
