"""Growing trees: `unfold` and `refold` beside PyTorch level by level, and beside what one writes by hand in JAX.

PyTorch runs twice: as it grows, each level's scores say which rows are leaves and which go on; or it is told this
beforehand, as one who has the trees can be. `follow` has the trees, and so is beside the second one alone. *Halves* is
a `refold` without a choice: lists cut in two until there is one element.

On all cores, each device grows its part of the trees, and the gradients are summed once.
"""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jax import Array

import cdl

from ._clock import Entry, in_turn
from ._cores import dealt
from ._growing import Growing, growing, model_of, used
from ._growth_torch import Torch, torch
from ._machine import cores
from ._problems import loss
from ._sequences import Jax, timed


FEW = 2  # trees that `ana` grows, one node at a time


def growth(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """One problem at one width, on one device."""
    if name == "halves":
        return _halves(width, trees, rounds)
    given = growing(name, width, trees)
    found = {**timed([_one(given), *_peers(given)], rounds), "nodes": int(given.nodes.sum()), "trees": trees}
    if name == "unfold":
        found["forward"] |= in_turn([Entry("ana", lambda: _by_definition(given), 1, trees / FEW)])
    return found


def growth_on_cores(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """The same, on a device for each core beside one device."""
    given = growing(name, width, trees)
    found = timed([_one(given), _on_each(given), *_peers(given)], rounds)
    return {**found, "nodes": int(given.nodes.sum()), "devices": cores()}


def _peers(given: Growing) -> list[Any]:
    """PyTorch, as it grows and told, if it is installed."""
    if torch is None:
        return []
    return [Torch(given, told=told) for told in ((True,) if given.name == "follow" else (False, True))]


def _one(given: Growing) -> Jax:
    """All trees on one device."""
    forest = cdl.pack(cdl.TreeF[Array, Any], given.trees()) if given.name == "follow" else None
    made = lambda model, seeds: given.made(model, seeds, forest, int(given.nodes.sum()))
    return Jax("cdl", given.model, given.seeds, made, lambda m: tuple(used(given.name, m.weights)))


def _on_each(given: Growing) -> Jax:
    """The loss on as many devices as there are cores, each with its part of the trees."""
    n = cores()
    rows = cdl.compiled.balance(given.nodes, n)
    total = max(int(given.nodes[part].sum()) for part in rows)
    forests: Any = [None] * n
    if given.name == "follow":
        forests = dealt(cdl.Corpus(cdl.TreeF[Array, Any], given.trees()), rows)
    parts = [(tuple(x[part] for x in given.seeds), forest) for part, forest in zip(rows, forests, strict=True)]
    shards = cdl.compiled.shard(parts, jax.make_mesh((n,), ("data",)))
    of_part = lambda model, part: (loss(given.made(model, part[0], part[1], total)), jnp.ones(()) / n)
    mean = cdl.compiled.shard_mean(of_part)
    return Jax("cores", given.model, shards, mean, lambda m: tuple(used(given.name, m.weights)), total=lambda x: x)


def _by_definition(given: Growing) -> Any:
    grow = cdl.ana(given.model.grow)
    return [jax.tree.leaves(grow(jax.tree.map(lambda x, t=t: x[t], given.seeds))) for t in range(FEW)]


def _halves(width: int, lists: int, rounds: int) -> dict[str, Any]:
    """Lists of one length, cut in two."""
    model, time = model_of(width), 64
    xs = jr.normal(jr.key(1), (lists, time, width))

    def in_two(x: Array) -> Any:
        n = x.shape[0]
        return cdl.Leaf(x) if n == 1 else cdl.Fork(x[: n // 2], x[n // 2 :])

    def by_hand(model: Any, xs: Array) -> Array:
        *_, a, b = model.weights
        while xs.shape[1] > 1:
            xs = jnp.tanh(xs[:, ::2] @ a.T + xs[:, 1::2] @ b.T)
        return xs[:, 0]

    weights = lambda m: tuple(used("halves", m.weights))
    everyone: list[Any] = [
        Jax("cdl", model, xs, lambda model, xs: cdl.refold(model.read, in_two, xs), weights),
        Jax("by hand", model, xs, by_hand, weights),
    ]
    return {**timed(everyone, rounds), "nodes": lists * (2 * time - 1), "trees": lists}
