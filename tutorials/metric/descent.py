"""How far do thirty steps come, and how long does one take? Prints two tables.

In the second, pixels are scaled so that the metric has a condition number that is 10⁴ times larger. Adam and gradient
descent have the rate that is best of some after the last step, and one row the best damping; the others are not tuned.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax

from cdl.metric import Cg, LevenbergMarquardt, natural
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._digits import digits, Problem


RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DAMPINGS = (1e-2, 1e-3, 1e-4)
Losses = tuple[np.ndarray, float]  # at the start and after each step; and milliseconds a step


def ways(problem: Problem, products: int) -> dict[str, list[Any]]:
    """The optimisers of each row, of which the best counts."""
    return {
        "natural gradient, CG, trust region": [natural(problem.model, 0.5, damping=1e-2, kl=0.15, how=Cg(products))],
        "the same, the best of three dampings": [
            natural(problem.model, 0.5, damping=damping, kl=0.15, how=Cg(products)) for damping in DAMPINGS
        ],
        "natural gradient, dense, trust region": [natural(problem.model, 0.5, damping=1e-2, kl=0.15)],
        "natural gradient, CG, Levenberg–Marquardt": [
            natural(problem.model, damping=LevenbergMarquardt(), how=Cg(3 * products))
        ],
        "Adam, the best of six rates": [optax.adam(rate) for rate in RATES],
        "gradient descent, the best of six rates": [optax.sgd(rate) for rate in RATES],
    }


def trained(problem: Problem, tx: Any, steps: int) -> Losses:
    """The losses of one training."""
    known: Any = optax.with_extra_args_support(tx)

    @jax.jit
    def step(theta: Any, state: Any) -> Any:
        value, g = jax.value_and_grad(problem.loss)(theta)
        with jax.numpy_dtype_promotion("standard"):  # optax multiplies numbers of different types
            change, state = known.update(g, state, theta, value=value, value_fn=problem.loss)
        return optax.apply_updates(theta, change), state, value

    theta, state = problem.start, known.init(problem.start)
    jax.block_until_ready(step(theta, state))
    losses, began = [], time.perf_counter()
    for _ in range(steps):
        theta, state, value = step(theta, state)
        losses.append(float(value))
    took = (time.perf_counter() - began) / steps * 1e3
    return np.array([*losses, float(problem.loss(theta))]), took


def table(problems: list[Problem], options: argparse.Namespace) -> Table:
    """Losses after some steps, and the time of one, of each way."""
    at = [n for n in (1, 5, 10, 30) if n < options.steps] + [options.steps]
    found: dict[str, list[Losses]] = {}
    for problem in problems:
        for name, several in ways(problem, options.products).items():
            tried = [trained(problem, tx, options.steps) for tx in several]
            last: Callable[[Losses], float] = lambda run: float(np.nan_to_num(run[0][-1], nan=np.inf))
            found.setdefault(name, []).append(min(tried, key=last))
    rows = [
        [name, *(spread([float(run[0][n]) for run in runs], 2) for n in at), f"{min(run[1] for run in runs):.1f} ms"]
        for name, runs in found.items()
    ]
    return Table(["the loss", *(f"after {n}" for n in at), "a step"], rows)


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """Both tables."""
    with jax.enable_x64(True):
        return {
            name: table([digits(seed, options.width, condition) for seed in range(options.seeds)], options)
            for name, condition in (("metric-descent", 1.0), ("metric-ill-conditioned", 1e4))
        }


PROGRAM = Program("metric.descent", arguments(__doc__, seeds=3, width=8, steps=30, products=10), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
