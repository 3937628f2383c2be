"""What a fitted model leaves unexplained."""

from hiddenbits.diagnostics.pairs import residual_pairs

__all__ = ["residual_pairs"]
