"""What it is worth to know that space has no directions: three ways to learn, on bodies as they come and rotated.
Prints a table.

A network learns how far the masses of a body are spread, from bodies of 2 to 8 masses that lie along one axis. It is
tested on others, on these rotated, and on larger ones. An error is the root of the mean square, over the deviation of
the target.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import jax.random as jr

from cdl_arch.symmetry.bodies import bodies, free, parameters, rotated, Turning
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._bodies import error, learnt, Net


SMALL, LARGE = (2, 8), (9, 16)  # masses: of the bodies that are learnt from, and of larger ones


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of all ways and seeds."""
    kinds = (options.bodies // 8, SMALL, 1), (options.bodies // 16, LARGE, 2)
    tests = [f(bodies(n, of, seed)) for n, of, seed in kinds for f in (list, _turned)]
    found: dict[tuple[str, int], list[list[float]]] = {}
    for seed in range(options.seeds):
        trees, key = bodies(options.bodies, SMALL, 100 + seed), jr.key(seed)
        turning = Turning(key=key)
        other = free(turning, key=key)
        ways: dict[str, tuple[Net, Sequence[Any]]] = {
            "commutes with rotations": (turning, trees),
            "free": (other, trees),
            "free, trained on rotated bodies": (other, _turned(trees)),
        }
        for name, (start, some) in ways.items():
            net = learnt(start, some, steps=options.steps, seed=seed)
            found.setdefault((name, parameters(start)), []).append([error(net, test) for test in tests])
    head = ["the fold", "parameters", "2–8 masses", "the same, rotated", "9–16 masses", "the same, rotated"]
    rows = [
        [name, str(size), *(spread(column, 3) for column in zip(*errors, strict=True))]
        for (name, size), errors in found.items()
    ]
    return {"rotated-bodies": Table(head, rows)}


def _turned(trees: Sequence[Any]) -> list[Any]:
    return rotated(list(trees), 7)


PROGRAM = Program("symmetry.rotated_bodies", arguments(__doc__, seeds=5, steps=500, bodies=4096), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
