"""Images before and after a model: filters and patches that scikit-learn does not have, and shapes of learned fields.

All overlapping patches of one image, and the image from its patches, are scikit-learn's ``extract_patches_2d`` and
``reconstruct_from_patches_2d``.
"""

from hiddenbits.images.fields import BlobFits, GaborFits, fit_blobs, fit_gabors, globular
from hiddenbits.images.filters import BrightnessClamp, DifferenceOfGaussians
from hiddenbits.images.patches import PatchSampler

__all__ = [
    "BlobFits",
    "BrightnessClamp",
    "DifferenceOfGaussians",
    "GaborFits",
    "PatchSampler",
    "fit_blobs",
    "fit_gabors",
    "globular",
]
