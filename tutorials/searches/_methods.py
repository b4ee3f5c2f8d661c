"""The methods that are compared, and what is reported of a search from several seeds."""

import time
from typing import Any

import jax
import jax.random as jr
import numpy as np

from cdl_arch import search as of
from page_tables.markdown import spread


SHARE = 0.5  # what is left out
METHODS: dict[str, of.Method] = {
    "random": of.Random(),
    "half left out by δ": of.Pruned(of.isometry, SHARE),
    "half left out by the gradient norm": of.Pruned(of.gradient_norm, SHARE),
    "regularised evolution": of.Evolution(population=8, tournament=4),
    "REINFORCE": of.Controller(rate=8.0),
    "ENAS-like": of.Enas(),
    "DARTS-like": of.Darts(),
}


def searched(task: of.Task, method: of.Method, seeds: int, budget: int, reseeds: int) -> tuple[of.Search, list[str]]:
    """The searches from all seeds; and of them the trainings, the stable ones in percent, the accuracy of what was
    found in percent, trained anew from other seeds, and the seconds."""
    began = time.perf_counter()
    found = of.search(task, method, jr.split(jr.key(0), seeds), budget=budget, batch=4)
    again = of.retrained(task, found.best, jr.split(jr.key(1), reseeds))
    reached = percent(jax.block_until_ready(again.test))
    stable = percent(found.stable)
    seconds = time.perf_counter() - began
    trainings = f"{method.cost} + {found.validation.shape[1]}" if method.cost else str(found.validation.shape[1])
    return found, [trainings, spread(stable, 3), spread(reached, 3), f"{seconds:.0f}"]


def percent(shares: Any) -> list[float]:
    """The mean of each row in percent; NaN counts as 0."""
    return [float(share) for share in 100 * np.nan_to_num(np.asarray(shares, np.float64)).mean(1)]
