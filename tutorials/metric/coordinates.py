"""Which optimisers make the same step in all coordinates? Prints four tables.

A number of the first is how far a step in new coordinates and the change back are from the change and a step, over the
length of the step: 0 is the same step. The second has three updates that are all invariant, and differ. The others have
the update of a network beside those of its two layers by themselves, and how much of the metric is between the layers.
"""

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array

from cdl.metric import (
    Blocks,
    Cg,
    Dense,
    fisher,
    invariance_defect,
    modularity_defect,
    natural,
    natural_gradient,
    pullback,
)
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._digits import digits, Problem


DAMPING = 1e-2
RATES = (0.1, 0.01, 0.001)
DAMPINGS = (1e-2, 1e-3, 1e-4)
Chart = Callable[[Any], Any]


def optimisers(problem: Problem, rate: float, join: Chart = lambda p: p) -> dict[str, Any]:
    """Each as a function of the chart, by name."""

    def ours(how: Any, covariant: bool) -> Any:
        def rule(chart: Chart) -> Any:
            model = lambda p: problem.model(join(chart(p)))
            return natural(model, rate, damping=DAMPING, chart=chart if covariant else None, how=how)

        return rule

    steps = Cg(3 * len(problem.start))
    return {
        "natural gradient, damping pulled back": ours(steps, True),
        "the same, layer by layer": ours(Blocks(steps), True),
        "natural gradient, damping with the identity": ours(steps, False),
        "gradient descent": lambda _: optax.sgd(rate),
        "Adam": lambda _: optax.adam(rate),
        "sign descent": lambda _: optax.sign_sgd(rate),
    }


def charts(problem: Problem, key: Any) -> dict[str, tuple[Chart, Any]]:
    """Changes of coordinates of a pair of vectors, one for each layer, and the point in each."""
    first, second = problem.start[: problem.first], problem.start[problem.first :]
    sizes = (len(first), len(second), len(problem.start))
    kinds = [jnp.eye(n) + jr.normal(jr.fold_in(key, n), (n, n)) / (4 * n**0.5) for n in sizes]
    a, b, mixing = kinds
    turn = jnp.linalg.qr(jr.normal(jr.fold_in(key, 0), (sizes[2], sizes[2])))[0]
    join: Chart = lambda p: jnp.concatenate(p)
    split: Chart = lambda flat: (flat[: sizes[0]], flat[sizes[0] :])
    order = jr.permutation(jr.fold_in(key, 1), sizes[2])
    signs = jr.rademacher(jr.fold_in(key, 2), (sizes[2],), problem.start.dtype)
    return {
        "linear": (lambda p: split(mixing @ join(p)), split(jnp.linalg.solve(mixing, problem.start))),
        "orthogonal": (lambda p: split(turn @ join(p)), split(turn.T @ problem.start)),
        "signs and places": (
            lambda p: split((signs * join(p))[order]),
            split(jnp.zeros_like(problem.start).at[order].set(problem.start) * signs),
        ),
        "linear, by layer": (
            lambda p: (a @ p[0], b @ p[1]),
            (jnp.linalg.solve(a, first), jnp.linalg.solve(b, second)),
        ),
    }


def invariance(problem: Problem, seed: int) -> dict[str, list[float]]:
    """The defects of each optimiser: under linear maps, and under `sinh` at each rate."""
    key = jr.key(seed)
    join: Chart = lambda p: jnp.concatenate(p)
    maps = charts(problem, key)
    bent = tuple(jnp.arcsinh(x) for x in (problem.start[: problem.first], problem.start[problem.first :]))
    loss = lambda p: problem.loss(join(p))
    sinh = lambda p: jax.tree.map(jnp.sinh, p)
    found: dict[str, list[float]] = {}
    for rate in RATES:
        for name, rule in optimisers(problem, rate, join).items():
            row = found.setdefault(name, [])
            if rate == RATES[0]:
                for chart, at in maps.values():
                    row.append(float(jax.jit(lambda p, c=chart, r=rule: invariance_defect(r, loss, c, p))(at)))
            row.append(float(jax.jit(lambda p, r=rule: invariance_defect(r, loss, sinh, p))(bent)))
    return found


def three(problem: Problem) -> list[list[float]]:
    """Three updates: the length of each over that of the first, and the cosine of the angle to it."""

    def updates(theta: Array) -> list[Array]:
        g, how = jax.grad(problem.loss)(theta), Cg(3 * len(theta))
        first = natural_gradient(fisher(problem.model, theta), g, damping=DAMPING, how=how)
        outputs = pullback(problem.model, theta)  # the Euclidean metric of the scores
        return [first, (1 + problem.loss(theta) ** 2) * first, natural_gradient(outputs, g, damping=DAMPING, how=how)]

    found = jax.jit(updates)(problem.start)
    size = jnp.linalg.norm
    return [[float(size(u) / size(found[0])), float(u @ found[0] / size(u) / size(found[0]))] for u in found]


def modules(problem: Problem) -> list[list[float]]:
    """The update of the whole and those of its two layers, by damping: how far apart, and the cosine. At the end, what
    part of `F` is between the layers."""
    matrix = jax.jit(lambda p: fisher(problem.model, p).as_matrix())(problem.start)
    between = 2**0.5 * jnp.linalg.norm(matrix[: problem.first, problem.first :]) / jnp.linalg.norm(matrix)
    return [*(whole_and_parts(problem, damping) for damping in DAMPINGS), [float(between)]]


def whole_and_parts(problem: Problem, damping: float) -> list[float]:
    """How far the two updates are apart, and the cosine."""
    at = problem.start[: problem.first], problem.start[problem.first :]
    join: Chart = lambda p: jnp.concatenate(p)
    model: Any = lambda p: problem.model(join(p))
    loss: Chart = lambda p: problem.loss(join(p))
    whole, parts = (natural(model, damping=damping, how=how) for how in (Dense(), Blocks(Dense())))
    update: Chart = lambda tx: join(tx.update(jax.grad(loss)(at), tx.init(at), at)[0])
    u, v = jax.jit(lambda: (update(whole), update(parts)))()
    apart = jax.jit(lambda p: modularity_defect(whole, parts, loss, p))(at)
    return [float(apart), float(u @ v / jnp.linalg.norm(u) / jnp.linalg.norm(v))]


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The tables."""
    with jax.enable_x64(True):
        problems = [digits(seed, options.width) for seed in range(options.seeds)]
        defects = [invariance(problem, seed) for seed, problem in enumerate(problems)]
        updates = [three(problem) for problem in problems]
        split = [modules(problem) for problem in problems]
    rows = [
        [name, *(_shown([d[name][i] for d in defects]) for i in range(len(row)))] for name, row in defects[0].items()
    ]
    head = ["linear", "orthogonal", "signs and places", "linear, by layer", *(f"`sinh`, rate {rate}" for rate in RATES)]
    names = ["`F⁻¹ g`", "`(1 + L²) F⁻¹ g`", "`(JᵀJ)⁻¹ g`"]
    return {
        "metric-invariance": Table(["one step of", *head], rows),
        "metric-three-updates": Table(
            ["update", "its length, over that of the first", "cosine with the first"],
            [[name, *(_shown([u[i][j] for u in updates]) for j in (0, 1))] for i, name in enumerate(names)],
        ),
        "metric-modules": Table(
            ["damping", "how far apart, over its length", "cosine"],
            [
                [f"{damping:.0e}", *(_shown([s[i][j] for s in split]) for j in (0, 1))]
                for i, damping in enumerate(DAMPINGS)
            ],
        ),
        "metric-between": Table(
            ["of the metric", "part of its size"], [["blocks between the layers", _shown([s[-1][0] for s in split])]]
        ),
    }


def _shown(values: list[float]) -> str:
    """The mean; what is a matter of rounding has one digit, and no spread."""
    if max(values) < 1e-9:
        return f"{max(values):.0e}"
    return spread(values, 2)


PROGRAM = Program("metric.coordinates", arguments(__doc__, seeds=3, width=8), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
