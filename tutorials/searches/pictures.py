"""Which method finds the best network for one budget? Prints two tables.

The space has residual networks of 12 blocks. Each block chooses its activation, skip, norm and gain. A search may train
so many candidates. What it found is trained anew from other seeds, and an accuracy that is NaN counts as 0.
"""

import argparse
import os

from cdl_arch.data import Absent, Dataset, dataset
from cdl_arch.search import Blocks, of_dataset, Task
from page_tables.results import arguments, Program, Table

from ._methods import METHODS, searched


HEAD = ["trainings", "stable in the search, %", "test accuracy of what was found, %", "seconds"]
ELSEWHERE = ("cifar10", "imagenet")
MOST = 2000  # pictures of a large set, of those to learn from and of those to test with


def task(data: Dataset, test: Dataset, steps: int, depth: int) -> Task:
    """A task: dense blocks for digits, convolutions for pictures in colour."""
    height, width, channels = data.images.shape[1:]
    conv = channels > 1
    space = Blocks(
        (height, width, channels),
        data.classes,
        width=16 if conv else 32,
        depth=depth,
        block="conv" if conv else "dense",
    )
    return of_dataset(space, data, test, most=MOST, steps=steps, rate=0.05)


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The tables, of all methods and sets of pictures."""
    size = options.seeds, options.budget, options.reseeds
    digits = [dataset("digits", part=part) for part in ("train", "test")]
    rows = [[name, *searched(_task(digits, options), method, *size)[1]] for name, method in METHODS.items()]
    others = []
    for name in ELSEWHERE:
        parts = [dataset(name, os.environ.get("CDL_DATA"), part, side=32) for part in ("train", "test")]
        for method in list(METHODS)[:2]:
            absent = any(isinstance(part, Absent) for part in parts)
            cells = ["not run"] * len(HEAD) if absent else searched(_task(parts, options), METHODS[method], *size)[1]
            others.append([name, method, *cells])
    return {
        "searches": Table(["digits", *HEAD], rows),
        "searches-elsewhere": Table(["pictures", "method", *HEAD], others, 2),
    }


def _task(parts: list[Dataset | Absent], options: argparse.Namespace) -> Task:
    data, test = [part for part in parts if isinstance(part, Dataset)]
    return task(data, test, options.steps, options.depth)


PROGRAM = Program("searches.pictures", arguments(__doc__, seeds=5, budget=20, reseeds=5, steps=200, depth=12), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
