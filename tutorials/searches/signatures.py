"""Does a search find the functor signature that is known to be right? Prints a table.

Trees are written with four operations, of which two and two mean the same. There are 94 signatures with their cells,
and all are trained. The methods search among them with 20 trainings.
"""

import argparse

import jax.random as jr
import numpy as np

from cdl_arch.search import retrained, RIGHT, Signatures, tree_task
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._methods import METHODS, percent, searched


NAMED = {
    "the right one: two constructors": RIGHT,
    "as written: four constructors, which see places": (0, 1, 2, 3, 1, 1, 1, 1),
    "one constructor, which sees places": (0, 0, 0, 0, 1, 0, 0, 0),
    "two constructors, which see sums": (0, 0, 1, 1, 0, 0, 0, 0),
}


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """Every signature with its rank, and what the methods find."""
    space = Signatures(options.width)
    task = tree_task(space, options.trees, rate=0.03, steps=options.steps)
    codes = space.codes()
    reached = np.asarray(retrained(task, codes, jr.split(jr.key(0), options.reseeds)).test)
    means, known = np.array(percent(reached)), codes.tolist()
    rows = []
    for name, code in NAMED.items():
        at = known.index(list(code))
        rows.append(
            [name, spread(percent(reached[at][:, None]), 3), f"{1 + int((means > means[at]).sum())} of {len(means)}"]
        )
    rows.append([f"the mean of all {len(means)}", spread(means.tolist(), 3), "–"])
    rank = {code: 1 + int((means > mean).sum()) for code, mean in zip(map(tuple, known), means, strict=True)}
    others = []
    for name, method in METHODS.items():
        found, cells = searched(task, method, options.seeds, options.budget, options.reseeds)
        ranks = [rank[space.canonical(code)] for code in np.asarray(found.best)]
        others.append([name, cells[0], cells[2], ", ".join(map(str, sorted(ranks)))])
    return {
        "signatures": Table(["signature", "test accuracy, %", "rank"], rows),
        "signature-searches": Table(
            ["method", "trainings", "test accuracy of what was found, %", "its rank among 94, each seed"], others
        ),
    }


PROGRAM = Program(
    "searches.signatures",
    arguments(__doc__, seeds=5, budget=20, reseeds=5, trees=80, steps=200, width=8),
    measured,
)

if __name__ == "__main__":
    print(PROGRAM.main())
