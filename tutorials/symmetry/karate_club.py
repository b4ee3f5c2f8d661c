"""What structure buys on a graph: sides of the karate club, from the sides of a few members. Prints a table.

Members are put on a side by a graph network and by label propagation. Numbers are shares of right answers, in per cent,
on members whose side was not told.
"""

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from cdl_arch.data import karate
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from . import _club


KNOWN = (2, 4, 8, 16)


def club_rows(known: Sequence[int], seeds: int, steps: int) -> list[list[str]]:
    """The karate club, with members 0 and 33 known, and with so many that a seed draws."""
    leaders = np.array([0, karate.MEMBERS - 1])
    tasks = [[leaders] * seeds, *([_club.drawn(np.random.default_rng(s), n) for s in range(seeds)] for n in known)]
    ways: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
        "graph network": lambda some, seed: _club.learnt(some, 8, steps, seed),
        "label propagation": lambda some, seed: _club.propagated(some),
    }
    return [
        [
            name,
            *(
                spread([100 * _club.right(way(some, seed), some) for seed, some in enumerate(task)], 3)
                for task in tasks
            ),
        ]
        for name, way in ways.items()
    ]


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of both ways and all numbers of known members."""
    head = ["the karate club", "0 and 33 known", *(f"{many} members known" for many in KNOWN)]
    return {"karate-club": Table(head, club_rows(KNOWN, options.seeds, options.steps))}


PROGRAM = Program("symmetry.karate_club", arguments(__doc__, seeds=5, steps=200), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
