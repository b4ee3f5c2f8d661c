"""Which weights are used where: the parameters of an algebra, in the parts that its cases use whole.

| the mathematics                                      | here                                                    |
| ---------------------------------------------------- | ------------------------------------------------------- |
| `P = P₁ × … × Pₖ`, so that a case uses a factor or not | `parts(…)`: the largest such factors, as `Part`s         |
| `Δ : P → Pⁿ` at each factor                          | `Part.nodes`: the nodes of the tree that use it         |

What a case uses is read off its jaxpr, back from its value: a weight that the value does not depend on is not used.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..functor._recursion import recursion
from ._para import Para


@dataclass(frozen=True)
class Part:
    """Weights that are used together: where they are in the algebra, how many numbers, and at which nodes."""

    name: str
    size: int
    leaves: tuple[int, ...]  # which of the arrays they are
    nodes: tuple[int, ...]  # in pre-order


def parts(para: Para[Any, Any, Any], tree: Any) -> list[Part]:
    """The parts of an algebra's weights that the nodes of a tree use, in the order of the algebra's arrays."""
    named = jax.tree_util.tree_leaves_with_path(para.params)
    used = at_nodes(para, tree)
    users = [tuple(i for i, leaves in enumerate(used) if leaf in leaves) for leaf in range(len(named))]
    sizes = [math.prod(np.shape(x)) for _, x in named]
    paths = [path for path, _ in named]

    def cut(leaves: list[int], depth: int) -> Iterator[Part]:
        if len({users[i] for i in leaves}) == 1:
            where = jax.tree_util.keystr(paths[leaves[0]][:depth]).lstrip(".")
            yield Part(where or "P", sum(sizes[i] for i in leaves), tuple(leaves), users[leaves[0]])
            return
        below: dict[Any, list[int]] = {}
        for i in leaves:
            below.setdefault(paths[i][depth], []).append(i)
        for some in below.values():
            yield from cut(some, depth + 1)

    return list(cut(list(range(len(paths))), 0)) if paths else []


def at_nodes(para: Para[Any, Any, Any], tree: Any) -> list[frozenset[int]]:
    """For each node in pre-order, the numbers of the parameters' arrays that its value depends on directly."""
    found: dict[int, frozenset[int]] = {}

    def up(frame: Any, go: Any) -> Any:
        layer = frame.filled(go)
        found[frame.index] = used_by(lambda params: para.fn(params, layer), para.params)
        return para.fn(para.params, layer)

    recursion(lambda _, tree: tree, up, finite=True)(0)(tree)
    return [found[i] for i in range(len(found))]


def used_by(fn: Callable[[Any], Any], params: Any) -> frozenset[int]:
    """The numbers of the arrays that the value of a function depends on."""

    def value(params: Any) -> Any:
        return [jnp.asarray(x) for x in jax.tree.leaves(fn(params))]

    jaxpr = jax.make_jaxpr(value)(params).jaxpr
    needed = {id(v) for v in jaxpr.outvars}
    for eqn in reversed(jaxpr.eqns):
        if any(id(v) in needed for v in eqn.outvars):
            needed |= {id(v) for v in eqn.invars}
    return frozenset(i for i, v in enumerate(jaxpr.invars) if id(v) in needed)
