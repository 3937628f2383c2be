"""Images before a model: filters and patches that scikit-learn does not have.

All overlapping patches of one image, and the image from its patches, are scikit-learn's ``extract_patches_2d`` and
``reconstruct_from_patches_2d``.
"""

from .filters import BrightnessClamp, DifferenceOfGaussians
from .patches import PatchSampler

__all__ = [
    "BrightnessClamp",
    "DifferenceOfGaussians",
    "PatchSampler",
]
