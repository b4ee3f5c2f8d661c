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

import equinox as eqx
import jax
import numpy as np

from .._functors.recursion import recursion
from .para import Para


@dataclass(frozen=True)
class Part:
    """Weights that are used together: where they are in the algebra, how many numbers, and at which nodes."""

    name: str
    size: int
    leaves: tuple[int, ...]  # which of the arrays they are
    nodes: tuple[int, ...]  # in pre-order


def parts(para: Para[Any, Any, Any], tree: Any) -> list[Part]:
    """The parts of an algebra's weights, those first that most nodes of a tree use."""
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

    found = cut(list(range(len(paths))), 0) if paths else ()
    return sorted(found, key=lambda part: -len(part.nodes))


def at_nodes(para: Para[Any, Any, Any], tree: Any) -> list[frozenset[int]]:
    """For each node in pre-order, the numbers of the parameters' arrays that its value depends on directly.

    By shapes alone, unless the algebra looks at its values.
    """
    try:
        return _at_nodes(para, tree, traced_at)
    except TypeError:  # of JAX, where a value decides
        return _at_nodes(para, tree, run_at)


def used_by(fn: Callable[[Any], Any], params: Any) -> frozenset[int]:
    """The numbers of the arrays that the value of a function depends on."""
    return traced_at(lambda params, _: fn(params), params, None)[0]


def traced_at(fn: Callable[[Any, Any], Any], params: Any, layer: Any) -> tuple[frozenset[int], Any]:
    """What a function depends on of its parameters, and its value's shapes, at a layer with shapes at its places."""
    shapes, rest = eqx.partition(layer, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    trace: Any = jax.make_jaxpr(lambda params, shapes: fn(params, eqx.combine(shapes, rest)), return_shape=True)
    closed, value = trace(params, shapes)
    needed = {id(v) for v in closed.jaxpr.outvars}
    for eqn in reversed(closed.jaxpr.eqns):
        if any(id(v) in needed for v in eqn.outvars):
            needed |= {id(v) for v in eqn.invars}
    own = closed.jaxpr.invars[: len(jax.tree.leaves(params))]
    return frozenset(i for i, v in enumerate(own) if id(v) in needed), value


def run_at(fn: Callable[[Any, Any], Any], params: Any, layer: Any) -> tuple[frozenset[int], Any]:
    """The same, and the value itself, at a layer of values."""
    return traced_at(lambda params, _: fn(params, layer), params, None)[0], fn(params, layer)


def _at_nodes(para: Para[Any, Any, Any], tree: Any, at: Any) -> list[frozenset[int]]:
    found: dict[int, frozenset[int]] = {}

    def up(frame: Any, go: Any) -> Any:
        found[frame.index], value = at(para.fn, para.params, frame.filled(go))
        return value

    recursion(lambda _, tree: tree, up, finite=True)(0)(tree)
    return [found[i] for i in range(len(found))]
