"""The jobs, who does each of them, and with which settings; and what of PEERS.md cannot be run at all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers import drawn, judged

TIMES = (1, 10, 100)
MOST = 30.0  # seconds of processor time for peers that train as long as they are let; they are judged by where they are then


@dataclass(frozen=True)
class Peer:
    """A program: what pip installs (nothing: it is in this environment, or in R), its script, its settings."""

    name: str
    script: str
    install: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    loading: float = 15.0  # seconds that it may take to start, read and compile, besides those of the fit


@dataclass(frozen=True)
class Job:
    """A table at several sizes, our ways of doing it, the default first, and the peers; `close` is as good as equal."""

    name: str
    draw: Callable[[int], drawn.Drawn]
    judge: type[judged.Judge]
    rows: int
    components: int
    quality: str
    close: float
    ways: dict[str, dict[str, Any]]
    peers: tuple[Peer, ...]


MIRT = Peer("mirt", "mirt_fit.py", ("mirt", "1.2.0"), {"dimensions": 2, "iterations": 500, "most": 60.0})
TRAINED = {"seed": 0, "threads": 2, "units": 10, "places": 60, "most": MOST}
NEIGHBORS = "share of the rows, at most 5,000 of them, whose class is that of most of their ten neighbors on the map"
LOGISTIC_WAYS: dict[str, dict[str, Any]] = {"default": {}, "without refinement": {"refine": False}}

JOBS = {
    job.name: job
    for job in (
        Job(
            "mixture",
            drawn.mixture,
            judged.MixtureJudge,
            2_000,
            10,
            "mean log-likelihood of the rows that were fitted, in nats, which both maximize",
            0.01,
            {"no prior": {"prior_strength": 0.0}},
            (Peer("StepMix", "stepmix_fit.py", ("stepmix", "3.0.0"), {"classes": 10, "restarts": 4, "tol": 1e-6}),),
        ),
        Job(
            "clear classes",
            drawn.clear_classes,
            judged.MixtureJudge,
            2_000,
            4,
            "mean log-likelihood of the rows that were fitted, in nats",
            0.01,
            {"default": {}, "one start": {"n_init": 1}},
            (
                Peer(
                    "StepMix by default",
                    "stepmix_fit.py",
                    ("stepmix", "3.0.0"),
                    {"classes": 4, "restarts": 1, "tol": 1e-10},
                ),
            ),
        ),
        Job(
            "machine",
            drawn.influences,
            judged.MachineJudge,
            2_000,
            10,
            "mean log-likelihood of held-out rows, in nats, exact",
            0.01,
            {
                "default": {},
                "noise": {"start": "noise"},
                "noise, loosely": {"start": "noise", "tol": 1e-3},
                "short noise": {"start": "noise", "max_iter": 30},
            },
            (
                Peer(
                    "BernoulliRBM", "bernoulli_rbm_fit.py", (), {**TRAINED, "rate": 0.1, "batch": 100, "epochs": 10_000}
                ),
                Peer(
                    "rbms",
                    "rbms_fit.py",
                    ("rbms", "0.5.0", "torch==2.13.0"),
                    {**TRAINED, "rate": 0.3, "batch": 2000, "chains": 2000, "sweeps": 1, "epochs": 10_000},
                ),
            ),
        ),
        Job(
            "plane",
            drawn.plane,
            judged.LogisticJudge,
            2_000,
            2,
            "mean log-likelihood of held-out rows, in nats, with the two dimensions integrated out",
            0.005,
            LOGISTIC_WAYS,
            (
                MIRT,
                Peer(
                    "logisticpca",
                    "logisticpca_fit.py",
                    ("logisticpca", "0.4.0"),
                    {"dimensions": 2, "tol": 1e-5},
                ),
                Peer("H2O GLRM", "h2o_fit.py", ("h2o", "3.46.0.12", "pandas"), {"dimensions": 2}, loading=45.0),
            ),
        ),
        Job(
            "ability",
            drawn.ability,
            judged.LogisticJudge,
            2_000,
            1,
            "mean log-likelihood of held-out rows, in nats, with the ability integrated out",
            0.005,
            {**LOGISTIC_WAYS, "maximum likelihood": {"exact": True}},
            (
                Peer("girth", "girth_fit.py", ("girth", "0.8.0")),
                Peer("fit_mirt", "fit_mirt_fit.py", ("mirt", "1.2.0"), {"dimensions": 1}),
            ),
        ),
        Job(
            "tetrachoric",
            drawn.thresholded,
            judged.TetrachoricJudge,
            2_000,
            0,
            "minus the root mean square distance from the true correlations",
            0.001,
            {"default": {}},
            (
                Peer("psych", "psych_tetrachoric.R"),
                Peer("ordinalcorr", "ordinalcorr_fit.py", ("ordinalcorr", "0.9.0")),
                Peer("gcimpute", "gcimpute_fit.py", ("gcimpute", "0.0.4")),
            ),
        ),
        Job(
            "maps",
            drawn.mixture,
            judged.MapJudge,
            2_000,
            2,
            NEIGHBORS,
            0.01,
            LOGISTIC_WAYS,
            (Peer("prince", "prince_fit.py", ("prince", "0.23.0")),),
        ),
        Job(
            "curved maps",
            drawn.mixture,
            judged.MapJudge,
            2_000,
            2,
            NEIGHBORS,
            0.01,
            {"default": {}},
            (Peer("umap-learn", "umap_fit.py", ("umap-learn", "0.5.12"), loading=90.0),),
        ),
    )
}

# What PEERS.md names and nothing above runs: tried by name, so that the table says what pip or R answers today.
NOT_ON_PYPI = {"ProSper": "prosper", "tvo": "tvo"}
NOT_IN_R = {"R mirt": "mirt", "R logisticPCA": "logisticPCA"}
