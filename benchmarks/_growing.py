"""What is grown: the weights, the coalgebra and the algebra, and the trees.

| the problem | what is grown                                                       | what is made of it             |
| ----------- | ------------------------------------------------------------------- | ------------------------------ |
| `"unfold"`  | trees of so many leaves, by `choose`; a leaf's label is `L h`       | the labels                     |
| `"refold"`  | the same                                                            | `tanh (A x + B y)` up the tree |
| `"follow"`  | nothing: the trees are given, with labels                           | how likely each tree is        |

A fork of `n` leaves has seeds `tanh (P h)` with `n / 3 + 1` of them and `tanh (Q h)` with the rest. A label has a
normal distribution around `L h`. The loss is half the sum of squares of what is made, and the gradient is that of the
weights.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

import cdl

from ._problems import loss


LEAVES = 20, 60  # at least, and at most


class Model(eqx.Module):
    """The weights, in the order `P, Q, L, A, B`."""

    weights: tuple[Array, ...]

    def grow(self, seed: Any) -> Any:
        """One layer of seeds."""
        p, q, label, *_ = self.weights
        h, n = seed
        first = n // 3 + 1
        scores = jnp.stack([1.5 - n, n - 1.5])
        fork = cdl.Fork((jnp.tanh(p @ h), first), (jnp.tanh(q @ h), n - first))
        return cdl.choose(scores, cdl.Leaf(label @ h), fork)

    @property
    def read(self) -> Any:
        """One layer of values."""
        *_, a, b = self.weights

        @cdl.algebra
        def cell(layer: cdl.TreeF[Array, Array]) -> Array:
            match layer:
                case cdl.Leaf(x):
                    return x.reshape(-1)
                case cdl.Fork(x, y):
                    return jnp.tanh(a @ x + b @ y)

        return cell


def model_of(width: int) -> Model:
    """Weights of one width."""
    return Model(tuple(jr.normal(key, (width, width)) / width**0.5 for key in jr.split(jr.key(0), 5)))


def used(name: str, weights: Any) -> Any:
    """Those of the weights that a problem has."""
    return {"unfold": weights[:3], "follow": weights[:3], "refold": weights, "halves": weights[3:]}[name]


@dataclass
class Growing:
    """One problem: a seed for each tree, how many leaves each grows, and the labels that are given, tree by tree."""

    name: str
    model: Model
    seeds: tuple[Array, Array]
    leaves: Any
    labels: Any

    @property
    def nodes(self) -> Any:
        """How many nodes each tree has."""
        return 2 * self.leaves - 1

    def trees(self) -> list[Any]:
        """The trees that are grown, with their labels from left to right."""
        rest = iter(self.labels)

        def tree(n: int) -> Any:
            return cdl.Leaf(next(rest)) if n == 1 else cdl.Fork(tree(n // 3 + 1), tree(n - n // 3 - 1))

        return [tree(int(n)) for n in self.leaves]

    def made(self, model: Model, seeds: Any, forest: Any, total: int) -> Any:
        """What is made from some seeds, of trees that have so many nodes in `total`."""
        bounds: dict[str, Any] = {"nodes": int(self.nodes.max()), "total": total}
        if self.name == "follow":
            return cdl.follow(model.grow, forest, seeds, payload=_near)
        if self.name == "unfold":
            return cdl.unfold(model.grow, seeds, **bounds).payload[0]
        return cdl.refold(model.read, model.grow, seeds, **bounds)[0]


def growing(name: str, width: int, trees: int) -> Growing:
    """One problem at one width."""
    leaves = np.random.default_rng(0).integers(*LEAVES, trees, endpoint=True).astype(np.int32)
    labels = np.random.default_rng(1).standard_normal((int(leaves.sum()), width), np.float32)
    return Growing(name, model_of(width), (jr.normal(jr.key(1), (trees, width)), jnp.asarray(leaves)), leaves, labels)


def _near(proposed: Any, true: Any) -> Any:
    """How likely a leaf's label is."""
    return -loss(proposed.label - true.label) if isinstance(true, cdl.Leaf) else 0.0
