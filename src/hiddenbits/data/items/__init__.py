"""Lists of items and pairs of a row and an item: baskets, transactions, long files."""
