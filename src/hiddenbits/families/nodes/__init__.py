"""K nodes with a prior, and for each column a distribution at each node: what several families are made of."""
