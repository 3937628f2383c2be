"""The shapes of learned fields: Gabor functions, circular blobs, and which fields are globular."""

from .fields import BlobFits, GaborFits, fit_blobs, fit_gabors, globular

__all__ = ["BlobFits", "GaborFits", "fit_blobs", "fit_gabors", "globular"]
