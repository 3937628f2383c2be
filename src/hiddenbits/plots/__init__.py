"""Pictures of fitted models, with matplotlib (``pip install 'hiddenbits[plot]'``): maps, posteriors, images, traces.

Every function draws on the axes it is given or on new ones, returns the axes, and leaves showing and saving to you.
"""

from hiddenbits.plots.images import images
from hiddenbits.plots.map import map  # noqa: A004
from hiddenbits.plots.posterior import posterior, posterior_density
from hiddenbits.plots.trace import trace

__all__ = ["images", "map", "posterior", "posterior_density", "trace"]
