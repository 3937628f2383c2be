"""Pictures of fitted models, with matplotlib (``pip install 'hiddenbits[plot]'``).

Every function draws on the axes it is given or on new ones, returns the axes, and leaves showing and saving to you.
"""

from hiddenbits.plots.compare import compare
from hiddenbits.plots.hinton import hinton
from hiddenbits.plots.images import images
from hiddenbits.plots.map import map  # noqa: A004
from hiddenbits.plots.posterior import posterior, posterior_density
from hiddenbits.plots.projections import projections
from hiddenbits.plots.spectrum import spectrum
from hiddenbits.plots.strips import components, strips
from hiddenbits.plots.trace import trace
from hiddenbits.plots.zoom import zoom

__all__ = [
    "compare",
    "components",
    "hinton",
    "images",
    "map",
    "posterior",
    "posterior_density",
    "projections",
    "spectrum",
    "strips",
    "trace",
    "zoom",
]
