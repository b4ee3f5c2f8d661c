"""What structure buys: networks of equal size that know more or less of a picture. Prints a table.

Pictures are read by convolutions, by the same layers without shared weights, by dense layers, and by convolutions that
see the pixels in another order: as nearly as possible with one number of parameters, and trained alike. Numbers are
shares of right answers, in per cent, on pictures that were not learnt from. MNIST is read where `--mnist` names a
folder with its files.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.random as jr
import numpy as np

from cdl.errors import CdlError
from cdl_arch.data.pictures import digits, mnist, Pictures
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from . import _readers
from ._fitting import accuracy, cross_entropy, fitted, parameters


SIZES = (50, 150, 450, 1200)


def readers(side: int, width: int) -> dict[str, Callable[..., Any]]:
    """How each network is made, from a key."""
    wanted = parameters(_readers.convolution(side, width, key=jr.key(0)))
    return {
        "convolution": lambda key: _readers.convolution(side, width, key=key),
        "the same, untied": lambda key: _readers.untied(side, wanted, key=key),
        "dense layers": lambda key: _readers.dense(side, wanted, key=key),
        "convolution, pixels permuted": lambda key: _readers.permuted(side, width, key=key),
    }


def picture_rows(
    name: str, data: Pictures, sizes: Sequence[int], seeds: int, steps: int, width: int
) -> Iterator[list[str]]:
    """A row for each network: its parameters, and how often it is right after each number of pictures."""
    for title, make in readers(data.images.shape[1], width).items():
        shares: dict[int, list[float]] = {size: [] for size in sizes}
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(data.images))
            test = order[max(sizes) :][:2000]
            for size in sizes:
                seen = order[:size]
                net = fitted(
                    make(jr.key(seed)),
                    cross_entropy,
                    [data.images[seen], data.labels[seen]],
                    steps=steps,
                    batch=min(50, size),
                    rate=2e-3,
                    seed=seed,
                )
                shares[size].append(100 * accuracy(net, data.images[test], data.labels[test]))
        yield [name, title, str(parameters(make(jr.key(0)))), *(spread(found, 3) for found in shares.values())]


def pictures(load: Callable[[], Pictures], name: str, sizes: Sequence[int], *rest: int) -> list[list[str]]:
    """The rows of a data set, or one that says why there are none."""
    try:
        data = load()
    except CdlError as error:
        return [[name, f"not there: {error}", *["–"] * (1 + len(sizes))]]
    return list(picture_rows(name, data, sizes, *rest))


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of all pictures, networks and sizes."""
    given = (options.sizes, options.seeds, options.steps, options.width)
    rows = [*pictures(digits, "digits", *given), *pictures(lambda: mnist(options.mnist), "MNIST", *given)]
    head = ["pictures", "the network", "parameters", *(f"{size} pictures" for size in options.sizes)]
    return {"what-structure-buys": Table(head, rows, texts=2)}


def _parser() -> argparse.ArgumentParser:
    parser = arguments(__doc__, seeds=5, steps=400, width=32)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="pictures to learn from")
    parser.add_argument("--mnist", default="data/mnist", help="a folder with the files of MNIST")
    return parser


PROGRAM = Program("symmetry.what_structure_buys", _parser(), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
