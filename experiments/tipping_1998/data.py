"""The rows of the experiments: the paper's recipe, and real tables where they are at hand."""

import numpy as np

from hiddenbits import datasets


def synthetic(seed: int, flip: float = 0.05, n_columns: int = 16) -> datasets.SimulatedPrototypes:
    """Three prototypes, 200 copies of each, bits inverted with probability `flip`."""
    return datasets.simulate_prototypes(3, n_columns, flip=flip, random_state=seed)


def twos(side: int = 16) -> np.ndarray:
    """All 929 USPS images of the digit 2, made smaller by majority over squares of pixels."""
    digits = datasets.load_usps(2)
    images = np.concatenate([digits.train, digits.test])
    step = 16 // side
    squares = images.reshape(-1, side, step, side, step).mean(axis=(2, 4))
    return (squares.reshape(-1, side * side) > 0.5 - 1e-9 if step > 1 else images).astype(np.uint8)
