"""Where the time of the reverse pass goes, and what keeping more or less for it changes.

The products of matrices are counted from the schedule, with the rows and edges that fill up a chunk, and each shape is
timed by itself, many of them in one program. What a step takes beyond them is the rest: states gathered and written,
gates and their derivatives, segments summed, and the loops themselves.
"""

from collections import Counter
from typing import Any

import numpy as np

import cdl
from cdl._engine.forests._schedule import ROWS, SIZE, VARIANT

from ._clock import Entry, in_turn
from ._contestants import Cdl
from ._machine import product
from ._problems import Problem, problem


WAYS = ("cheap", "all")
Shape = tuple[int, int, int]


def reverse(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """Every way of `remat` in turn, and the products of a step by shape."""
    given = problem(name, width, trees)
    ways = {way: Cdl(given, way) for way in WAYS}
    times = in_turn(
        [Entry("forward", ways["cheap"].forward, rounds), *(Entry(w, c.both, rounds) for w, c in ways.items())]
    )
    parts = products(given, ways["cheap"].forest)
    pieces = 32
    rate = {shape: product(*shape, rounds, pieces) for shape in {s for part in parts.values() for s in part}}
    return {
        "operations": given.operations,
        "times": times,
        "compile": {way: c.seconds for way, c in ways.items()},
        "executed": {part: sum(2.0 * m * k * n * many for (m, k, n), many in c.items()) for part, c in parts.items()},
        "alone": {
            part: sum(2e-6 * m * k * n * many / rate[m, k, n] for (m, k, n), many in c.items())
            for part, c in parts.items()
        },
        "shapes": [(part, shape, many, rate[shape]) for part, c in parts.items() for shape, many in sorted(c.items())],
    }


def products(given: Problem, forest: cdl.Forest) -> dict[str, Counter[Shape]]:
    """How many products of each shape there are in the forward pass, and in the two passes of the reverse."""
    bucket, h = forest.bucket, given.width
    found: dict[str, Counter[Shape]] = {"forward": Counter(), "cotangents": Counter(), "parameters": Counter()}
    chunks = np.asarray(forest.chunk)
    chunks = chunks[chunks[:, ROWS] > 0]
    for (variant, size), many in Counter(map(tuple, chunks[:, [VARIANT, SIZE]].tolist())).items():
        leaf = bucket.variants[variant].leaf
        for m, k, n in _of_cell(given.name, h, leaf, bucket.sizes[size].rows, bucket.sizes[size].edges):
            found["forward"][m, k, n] += many
            found["cotangents"][m, n, k] += many
            found["parameters"][n, m, k] += many
    return found


def _of_cell(name: str, h: int, leaf: bool, rows: int, edges: int) -> list[Shape]:
    """The products of one chunk, forward."""
    if name == "binary":
        return [(rows, h, 3 * h)] if leaf else [(rows, 2 * h, 5 * h)]
    return [] if leaf else [(rows, h, 3 * h), (edges, h, h)]
