"""The mathematics of each column type: binary, nominal or ordinal (levels), continuous (real), counts."""
