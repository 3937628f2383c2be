"""Several maps of logistic PCA, each with its share of the rows."""
