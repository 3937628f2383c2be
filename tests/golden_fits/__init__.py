"""A net under changes that must not change numbers: small fits of every estimator, and the arrays they once gave."""
