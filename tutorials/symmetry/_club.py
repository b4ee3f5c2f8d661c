"""Sides of the karate club from the sides of a few members: label propagation, and a small graph network."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from cdl_arch.data import karate
from cdl_arch.symmetry import GraphNetwork

from ._fitting import fitted


def adjacency() -> np.ndarray:
    """Who meets whom, `float32[34, 34]`."""
    found = np.zeros((karate.MEMBERS, karate.MEMBERS), np.float32)
    i, j = karate.edges().T
    found[i, j] = found[j, i] = 1
    return found


def propagated(known: np.ndarray) -> np.ndarray:
    """The sides of all members: means of the neighbours' again and again, where those of `known` are held fixed.

    **Arguments:** `known`: the numbers of the members whose side is told.
    """
    sides, A = karate.sides(), adjacency()
    fixed = np.where(sides == 1, 1.0, -1.0)
    x = np.zeros(karate.MEMBERS)
    for _ in range(500):
        x[known] = fixed[known]
        x = A @ x / A.sum(1)
    x[known] = fixed[known]
    return (x > 0).astype(np.int64)


def logits(net: GraphNetwork) -> jax.Array:
    """What a network says of the members, each of which has a unit vector as its features: `float[34, 2]`."""
    return net(mixing(), jnp.eye(karate.MEMBERS)).T


def mixing() -> jax.Array:
    """`D^(-1/2) (A + 1) D^(-1/2)`, as Kipf and Welling (2017) have it."""
    A = adjacency() + np.eye(karate.MEMBERS, dtype=np.float32)
    degree = A.sum(1)
    return jnp.asarray(A / np.sqrt(degree[:, None] * degree))


def learnt(known: np.ndarray, width: int, steps: int, seed: int) -> np.ndarray:
    """The sides of all members by a graph network that learns from those of `known`."""
    net = GraphNetwork((karate.MEMBERS, width, 2), key=jr.key(seed))
    data = [known, karate.sides()[known].astype(np.int32)]
    net = fitted(net, _loss, data, steps=steps, batch=len(known), rate=0.01, seed=seed)
    return np.argmax(np.asarray(logits(net)), -1)


def drawn(rng: np.random.Generator, many: int) -> np.ndarray:
    """As many members of each side, in all `many`."""
    sides = karate.sides()
    return np.concatenate([rng.choice(np.flatnonzero(sides == side), many // 2, replace=False) for side in (0, 1)])


def right(found: np.ndarray, known: np.ndarray) -> float:
    """The share of the other members whose side is right."""
    others = np.setdiff1d(np.arange(karate.MEMBERS), known)
    return float(np.mean(found[others] == karate.sides()[others]))


def _loss(net: Any, batch: Any, key: jax.Array) -> jax.Array:
    known, sides = batch
    return optax.softmax_cross_entropy_with_integer_labels(logits(net)[known], sides).mean()
