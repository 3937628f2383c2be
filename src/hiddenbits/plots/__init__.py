"""Plots of fitted models, with matplotlib (``pip install 'hiddenbits[plot]'``).

Every function draws on the given axes or on a new figure and returns the axes; it neither shows nor saves the figure.
"""

from hiddenbits.plots.causes import causes
from hiddenbits.plots.compare import compare
from hiddenbits.plots.hinton import hinton
from hiddenbits.plots.images import images
from hiddenbits.plots.item_curves import item_curves
from hiddenbits.plots.map import map  # noqa: A004
from hiddenbits.plots.posterior import posterior, posterior_density
from hiddenbits.plots.profiles import profiles
from hiddenbits.plots.projections import projections
from hiddenbits.plots.residual_pairs import residual_pairs
from hiddenbits.plots.spectrum import spectrum
from hiddenbits.plots.strips import components, strips
from hiddenbits.plots.trace import trace
from hiddenbits.plots.wright_map import wright_map

__all__ = [
    "causes",
    "compare",
    "components",
    "hinton",
    "images",
    "item_curves",
    "map",
    "posterior",
    "posterior_density",
    "profiles",
    "projections",
    "residual_pairs",
    "spectrum",
    "strips",
    "trace",
    "wright_map",
]
