"""The mathematics of each column type: binary, and nominal or ordinal (levels)."""
