"""What is pruning by a score worth? Prints two tables.

A pool of random networks of 12 blocks is trained on digits from five seeds, at two learning rates. Searches of ten
trainings are resampled from it, with and without a score that leaves out candidates before they are trained.
"""

import argparse

import jax.random as jr
import numpy as np
from jaxtyping import Array, Int

from cdl_arch.data import Dataset, dataset
from cdl_arch.search import (
    Blocks,
    bootstrap,
    gradient_norm,
    isometry,
    of_dataset,
    Pool,
    retrained,
    scored,
    Task,
)
from page_tables.results import arguments, Program, Table


RATES = (0.02, 0.05)
SHARES = (0.28, 0.5, 0.7)
SCORES = {"δ": isometry, "the gradient norm": gradient_norm}


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """What is found by searches, and how well each score foresees a training."""
    parts = [dataset("digits", part=part) for part in ("train", "test")]
    data = [part for part in parts if isinstance(part, Dataset)]
    space = Blocks((8, 8, 1), 10, depth=options.depth)
    codes = space.drawn(space.level(), options.pool, jr.key(0))
    columns: list[list[str]] = []
    foreseen: dict[str, list[str]] = {name: [name] for name in SCORES}
    for rate in RATES:
        task = of_dataset(space, *data, rate=rate, steps=options.steps)
        pool, scores = _pool(task, codes, options)
        columns.append(_searches(pool, scores, options))
        for name, row in foreseen.items():
            row += [f"{value:.2f}" for value in _foresight(scores[name], pool)]
    names = [f"{options.trainings // 2} trainings, random", f"{options.trainings} trainings, random"]
    names += [
        f"{options.trainings} trainings, {round(100 * share)} % left out by {by}" for by in SCORES for share in SHARES
    ]
    names += [f"{options.trainings // 2} trainings, 50 % left out by δ", f"{2 * options.trainings} trainings, random"]
    head = [f"rate {rate}: {what}" for rate in RATES for what in ("accuracy, %", "stable, %")]
    rows = [[name, *(cell for column in columns for cell in column[2 * i : 2 * i + 2])] for i, name in enumerate(names)]
    ahead = [f"rate {rate}: {what}" for rate in RATES for what in ("Spearman with accuracy", "AUC of a failure")]
    return {
        "resampled": Table(["a search", *head], rows),
        "foreseen": Table(["the score", *ahead], list(foreseen.values())),
    }


def _pool(task: Task, codes: Int[Array, "n places"], options: argparse.Namespace) -> tuple[Pool, dict[str, np.ndarray]]:
    out = retrained(task, codes, jr.split(jr.key(1), options.seeds))
    scores = {name: np.asarray(scored(by, task, codes, jr.key(2), options.inits)) for name, by in SCORES.items()}
    return Pool(*(np.asarray(field) for field in (out.validation, out.test, out.stable))), scores


def _searches(pool: Pool, scores: dict[str, np.ndarray], options: argparse.Namespace) -> list[str]:
    """Two cells for each row of the table: accuracy and stable trainings, both in percent."""
    k = options.trainings
    plans: list[tuple[int, str | None, float]] = [(k // 2, None, 0.0), (k, None, 0.0)]
    plans += [(k, by, share) for by in SCORES for share in SHARES]
    plans += [(k // 2, "δ", 0.5), (2 * k, None, 0.0)]
    cells = []
    for trainings, by, share in plans:
        found = bootstrap(pool, trainings, scores=None if by is None else scores[by], share=share, draws=options.draws)
        cells += [f"{100 * found.accuracy.mean():.1f}", f"{100 * found.stable.mean():.0f}"]
    return cells


def _foresight(scores: np.ndarray, pool: Pool) -> tuple[float, float]:
    """The rank correlation with the mean accuracy, and the chance that a failed network has the greater score."""
    last = np.nan_to_num(scores, nan=np.inf)
    accuracy = np.nan_to_num(pool.test).mean(1)
    failed = ~pool.stable.all(1)
    one, other = last[failed][:, None], last[~failed][None]
    auc = np.mean((one > other) + 0.5 * (one == other)) if failed.any() and not failed.all() else np.nan
    return float(np.corrcoef(_ranks(last), _ranks(accuracy))[0, 1]), float(auc)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Equal values have their mean rank."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[at]


PROGRAM = Program(
    "searches.resampled",
    arguments(__doc__, pool=100, seeds=5, inits=4, trainings=10, draws=2000, steps=200, depth=12),
    measured,
)

if __name__ == "__main__":
    print(PROGRAM.main())
