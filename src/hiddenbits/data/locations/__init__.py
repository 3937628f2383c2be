"""Where files are: paths, addresses, secrets, and files read over a network."""
