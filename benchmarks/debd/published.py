"""Figures of others: mean test log-likelihood a row, in nats, and what is known of how far each can be relied on.

Independent bits and Chow-Liu trees were computed on these files (Laplace smoothing 1, fitted to `train`). The rest are published:

- LearnSPN (Gens & Domingos 2013), Strudel and LearnPSDD ensembles (Dang et al. 2020), XPC ensembles (Di Mauro et al. 2021),
  Prometheus (Jaini et al. 2018). LearnSPN's figure for jester is worse than independence on these files, so it comes from
  another version of the table, and is left out.
- BN, Bayesian networks with tree-structured conditionals (WinMine); MADE; VAE, lower bounds from five importance samples; the other circuits
  (oBMM, XCNets, ID-SPN, SPGM, SPN-btb), of which only the best figure of a table is here: the UAI 2019 tutorial on tractable models (Vergari,
  Di Mauro & Van den Broeck), slides 71 and 114, and Peharz et al. 2019 (RAT-SPN), table 1.
- HCLT, hidden Chow-Liu trees: Liu & Van den Broeck 2021, the mean of five runs in their logs.
- CM, continuous mixtures (Correia et al. 2023): written down from memory of the paper. UNVERIFIED: in no count unless a line says so.
"""

from dataclasses import dataclass

METHODS = ("independent bits", "Chow-Liu", "LearnSPN", "Strudel", "LearnPSDD", "XPC", "Prometheus")
DENSITIES = ("BN", "MADE", "VAE")  # a likelihood, but no marginals: they cannot answer questions with blanks
UNVERIFIED = ("CM",)

_CIRCUITS = """
nltcs -9.23 -6.759 -6.11 -6.06 -5.99 -6.05 -6.01
msnbc -6.77 -6.540 -6.11 -6.04 -6.04 -6.18 -6.04
kdd -2.45 -2.295 -2.18 -2.13 -2.11 -2.15 -2.12
plants -31.27 -16.524 -12.97 -12.98 -13.02 -14.19 -12.81
audio -49.34 -44.375 -40.50 -41.50 -39.94 -40.91 -39.80
jester -63.88 -58.227 - -55.03 -51.29 -53.43 -52.80
netflix -64.56 -60.250 -57.02 -58.69 -55.71 -57.58 -56.47
accidents -45.56 -33.188 -30.03 -28.73 -30.16 -31.02 -27.91
retail -11.42 -10.947 -11.04 -10.81 -10.72 -10.94 -10.87
pumsb_star -75.86 -30.807 -24.78 -24.12 -26.12 -26.06 -22.75
dna -100.39 -87.735 -82.52 -86.22 -88.01 -86.61 -84.45
kosarek -13.33 -11.490 -10.98 -10.68 -10.52 -10.77 -10.59
msweb -11.36 -10.193 -10.25 -9.71 -9.89 -9.93 -9.86
book -41.12 -37.843 -35.88 -34.99 -34.97 -34.75 -34.40
eachmovie -83.61 -64.791 -52.48 -53.67 -58.01 -54.82 -51.49
webkb -179.98 -163.471 -158.20 -155.33 -161.09 -153.67 -155.21
reuters52 -108.12 -94.435 -85.06 -86.22 -89.61 -84.70 -84.59
20ng -172.39 -164.117 -155.92 -154.47 -155.97 -153.75 -154.17
bbc -277.10 -261.856 -250.68 -254.41 -253.19 -248.34 -248.50
ad -63.82 -16.918 -19.73 -16.38 -31.78 -15.50 -23.96
"""
_OTHER_CIRCUITS = {
    "msnbc": {"oBMM": -6.03},
    "plants": {"XCNets": -11.84, "ID-SPN": -12.54},
    "audio": {"XCNets": -39.39},
    "accidents": {"HCLT": -26.74},
    "pumsb_star": {"SPGM": -22.15},
    "dna": {"HCLT": -79.06},
    "msweb": {"XCNets": -9.62},
    "book": {"SPN-btb": -33.82},
    "eachmovie": {"XCNets": -50.34},
    "webkb": {"XCNets": -149.20},
    "reuters52": {"XCNets": -81.87},
    "20ng": {"XCNets": -151.02},
    "bbc": {"XCNets": -229.21},
    "ad": {"XCNets": -14.00},
}
_DENSITIES = """
nltcs -6.02 -6.04 -5.99 -5.99
msnbc -6.04 -6.06 -6.09 -6.05
kdd -2.19 -2.07 -2.12 -2.12
plants -12.65 -12.32 -12.34 -12.26
audio -40.50 -38.95 -38.67 -39.02
jester -51.07 -52.23 -51.54 -51.93
netflix -57.02 -55.16 -54.73 -55.31
accidents -26.32 -26.42 -29.11 -28.69
retail -10.87 -10.81 -10.83 -10.81
pumsb_star -21.72 -22.3 -25.16 -23.70
dna -80.65 -82.77 -94.56 -84.58
kosarek -10.83 - -10.64 -10.55
msweb -9.70 -9.59 -9.73 -9.60
book -36.41 -33.95 -33.19 -33.55
eachmovie -54.37 -48.7 -47.43 -48.69
webkb -157.43 -149.59 -146.9 -147.75
reuters52 -87.56 -82.80 -81.33 -81.17
20ng -158.95 -153.18 -146.9 -148.17
bbc -257.86 -242.40 -240.94 -240.19
ad -18.35 -13.65 -18.81 -14.42
"""


def _read(text: str, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    found = {}
    for line in text.strip().splitlines():
        name, *figures = line.split()
        found[name] = {m: float(f) for m, f in zip(methods, figures, strict=True) if f != "-"}
    return found


_MORE = _read(_DENSITIES, (*DENSITIES, *UNVERIFIED))
PUBLISHED: dict[str, dict[str, float]] = {
    name: {**figures, **_OTHER_CIRCUITS.get(name, {}), **_MORE[name]}
    for name, figures in _read(_CIRCUITS, METHODS).items()
}
# Far above everything else (XCNets), or printed for two tables (VAE: webkb has the same figure).
DOUBTFUL = {("plants", "XCNets"), ("bbc", "XCNets"), ("20ng", "VAE")}
# Far above the other circuits and networks: they may belong to another version of the table.
OTHER_VERSION = {("jester", "LearnPSDD"), ("jester", "BN")}
AHEAD = 0.01  # nats: less than that, either way, is a tie


@dataclass(frozen=True)
class Those:
    """Which figures count: those of models that answer any question, or of any density; without some of them."""

    any_density: bool = False
    left_out: frozenset[tuple[str, str]] = frozenset()
    unverified: bool = False

    def of(self, name: str) -> dict[str, float]:
        """Return the figures of a table that count, method by method."""
        out = set() if self.unverified else set(UNVERIFIED)
        out |= set() if self.any_density else set(DENSITIES)
        return {
            method: figure
            for method, figure in PUBLISHED[name].items()
            if method not in out and (name, method) not in self.left_out
        }

    def best(self, name: str) -> tuple[str, float]:
        """Return the best figure of the table and whose it is."""
        return max(self.of(name).items(), key=lambda pair: pair[1])

    def verdict(self, name: str, ours: float) -> str:
        gain = ours - self.best(name)[1]
        return "ahead" if gain > AHEAD else "behind" if gain < -AHEAD else "tie"


def shown(name: str, method: str) -> str:
    """Return a figure as the page prints it; doubtful ones are marked."""
    figure = PUBLISHED[name].get(method)
    if figure is None:
        return ""
    mark = " (?)" if (name, method) in DOUBTFUL else " (other version?)" if (name, method) in OTHER_VERSION else ""
    return f"{figure:.2f}{mark}"
