"""What is computed: two Tree-LSTMs (Tai, Socher and Manning, 2015), on random binary trees and on real ones.

| at a node with children `k`                  | `binary`                                | `child_sum`              |
| -------------------------------------------- | --------------------------------------- | ------------------------ |
| `i, o = σ(…)`, `u = tanh(…)`                 | affine in `[h₁, h₂]`; at a leaf in `x`  | `W Σ hₖ + b`             |
| `fₖ = σ(…)`                                  | affine in `[h₁, h₂]`                    | `V hₖ + a`               |
| `c = i ⊙ u + Σ fₖ ⊙ cₖ`, `h = o ⊙ tanh c`    | the same                                | the same                 |

In `child_sum` every kind of node has `a` and `b` of its own, and either all share `W` and `V` or each has its own. The
loss is `½ Σ |h|²` over the roots, so that every root's cotangent differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import cdl
from cdl_arch.data.python_ast import functions, python_ast_signature

from ._table import Table


Pair = tuple[Array, Array]
Sizes = dict[str, tuple[int, ...]]  # of each array, in widths


@dataclass
class Problem:
    """Trees and weights. `weights` are NumPy arrays by name, which cdl's algebra holds as well."""

    name: str
    width: int
    trees: list[Any]
    table: Table
    signature: Any
    net: Any
    weights: dict[str, Any]
    operations: float  # of matrix products, forward
    read: Callable[[Any, Any, cdl.Forest], dict[str, Any]]  # gradients by the names of `weights`


class Binary(cdl.Algebra[cdl.TreeF[Array, Pair], Pair]):
    """The binary Tree-LSTM."""

    leaf: Array
    leaf_bias: Array
    fork: Array
    fork_bias: Array

    def __call__(self, layer: cdl.TreeF[Array, Pair]) -> Pair:
        match layer:
            case cdl.Leaf(x):
                i, o, u = jnp.split(self.leaf @ x + self.leaf_bias, 3)
                c = jax.nn.sigmoid(i) * jnp.tanh(u)
            case cdl.Fork((h, c), (k, d)):
                i, o, u, f, g = jnp.split(self.fork @ jnp.concatenate([h, k]) + self.fork_bias, 5)
                c = jax.nn.sigmoid(i) * jnp.tanh(u) + jax.nn.sigmoid(f) * c + jax.nn.sigmoid(g) * d
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


class ChildSum(cdl.Algebra[Any, Pair]):
    """The child-sum Tree-LSTM of a signature whose constructors have one field, `children`."""

    gates: tuple[Array, ...]  # one for all kinds, or one for each
    forget: tuple[Array, ...]
    gates_bias: tuple[Array, ...]
    forget_bias: tuple[Array, ...]
    kinds: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, layer: Any) -> Pair:
        kind = self.kinds.index(type(layer).__name__)
        cell = kind % len(self.gates)
        keep = lambda child: jax.nn.sigmoid(self.forget[cell] @ child[0] + self.forget_bias[kind]) * child[1]
        none = jnp.zeros_like(self.forget_bias[kind])
        hidden = layer.children.map(lambda child: child[0]).sum(none)
        c = layer.children.map(keep).sum(none)
        i, o, u = jnp.split(self.gates[cell] @ hidden + self.gates_bias[kind], 3)
        c += jax.nn.sigmoid(i) * jnp.tanh(u)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


class Cell(eqx.Module):
    """What one kind of node has in `ChildSum`."""

    gates: Array
    forget: Array
    gates_bias: Array
    forget_bias: Array


class StackedChildSum(cdl.Algebra[Any, Pair]):
    """`ChildSum` with weights for each kind, which are held in stacks."""

    cells: cdl.schemes.Stacked[Cell]

    def __call__(self, layer: Any) -> Pair:
        cell = self.cells[type(layer)]
        keep = lambda child: jax.nn.sigmoid(cell.forget @ child[0] + cell.forget_bias) * child[1]
        none = jnp.zeros_like(cell.forget_bias)
        hidden = layer.children.map(lambda child: child[0]).sum(none)
        c = layer.children.map(keep).sum(none)
        i, o, u = jnp.split(cell.gates @ hidden + cell.gates_bias, 3)
        c += jax.nn.sigmoid(i) * jnp.tanh(u)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


def binary(width: int, trees: int) -> Problem:
    """Uniformly random binary trees of 20 to 60 leaves, each leaf with a random vector."""
    rng = np.random.default_rng(0)
    grown = [random_tree(rng, int(rng.integers(20, 61)), width) for _ in range(trees)]
    table = Table(grown, lambda t: (t.left, t.right) if isinstance(t, cdl.Fork) else (), ["Leaf", "Fork"])
    weights = _weights(rng, width, {"leaf": (3, 1), "leaf_bias": (3,), "fork": (5, 2), "fork_bias": (5,)})
    net = Binary(**jax.tree.map(jnp.asarray, weights))
    leaves = len(table) - table.inner
    weights["inputs"] = np.stack([t.label for t in _leaves(grown)])
    operations = 2.0 * width * width * (3 * leaves + 10 * table.inner)
    return Problem("binary", width, grown, table, cdl.TreeF, net, weights, operations, _read_binary)


def child_sum(width: int, trees: int, *, own: bool, stacked: bool = False) -> Problem:
    """Functions of Python's standard library; weights for each kind of node, or one set for all. `stacked`: those of
    each kind are held in stacks."""
    rng = np.random.default_rng(0)
    found = functions(trees)
    children = lambda t: t.children.items
    kinds = sorted({type(t).__name__ for t in _nodes(found)})
    table = Table(found, children, kinds)
    cells = len(kinds) if own else 1
    shapes: tuple[Sizes, Sizes] = {"gates": (3, 1), "forget": (1, 1)}, {"gates_bias": (3,), "forget_bias": (1,)}
    drawn = [_weights(rng, width, shapes[0]) for _ in range(cells)], [_weights(rng, width, shapes[1]) for _ in kinds]
    weights: dict[str, Any] = {k: [w[k] for w in drawn[0]] for k in shapes[0]}
    weights |= {k: [w[k] for w in drawn[1]] for k in shapes[1]}
    net: Any = ChildSum(**{k: tuple(map(jnp.asarray, w)) for k, w in weights.items()}, kinds=tuple(kinds))
    if stacked:
        constructors = {c.__name__: c for c in cdl.functor(python_ast_signature()).constructors}
        cells = Cell(**{k: jnp.stack(w) for k, w in weights.items()})
        net = StackedChildSum(cdl.schemes.Stacked(cells, tuple(constructors[kind] for kind in kinds)))
    operations = 2.0 * width * width * (3 * table.inner + table.edges)
    name = "stacked" if stacked else "own" if own else "shared"
    return Problem(name, width, found, table, python_ast_signature(), net, weights, operations, _read_child_sum)


def problem(name: str, width: int, trees: int) -> Problem:
    """A problem by its name: `binary`, `shared`, `own`, or `stacked`, which is `own` with its weights in stacks."""
    if name == "binary":
        return binary(width, trees)
    return child_sum(width, trees, own=name != "shared", stacked=name == "stacked")


def random_tree(rng: np.random.Generator, leaves: int, width: int) -> Any:
    """A binary tree, each shape of so many leaves as likely as another (Rémy's algorithm)."""
    link = [0]  # node 2k-1 is a fork, over link[2k-1] and link[2k]; even nodes are leaves
    for n in range(1, leaves):
        place, side = divmod(int(rng.integers(4 * n - 2)), 2)
        link += [0, 0]
        link[2 * n - side], link[2 * n - 1 + side] = 2 * n, link[place]
        link[place] = 2 * n - 1

    def build(node: int) -> Any:
        if node % 2 == 0:
            return cdl.Leaf(rng.standard_normal(width, np.float32))
        return cdl.Fork(build(link[node]), build(link[node + 1]))

    return build(link[0])


def loss(hidden: Any) -> Any:
    """Of the hidden states at the roots, in JAX or in PyTorch."""
    return 0.5 * (hidden * hidden).sum()


def _weights(rng: np.random.Generator, width: int, sizes: Sizes) -> dict[str, Any]:
    bound = width**-0.5
    shapes = {k: tuple(width * s for s in size) for k, size in sizes.items()}
    return {k: rng.uniform(-bound, bound, shape).astype(np.float32) for k, shape in shapes.items()}


def _nodes(trees: Sequence[Any]) -> list[Any]:
    nodes = list(trees)
    for node in nodes:
        nodes.extend(node.children.items)
    return nodes


def _leaves(trees: Sequence[Any]) -> list[Any]:
    """All leaves from left to right, tree after tree."""
    found, waiting = [], list(reversed(trees))
    while waiting:
        node = waiting.pop()
        if isinstance(node, cdl.Leaf):
            found.append(node)
        else:
            waiting += [node.right, node.left]
    return found


def _read_binary(net: Any, payload: Any, forest: cdl.Forest) -> dict[str, Any]:
    rows = np.flatnonzero(np.any(np.asarray(forest.payload[0]) != 0, axis=1))  # those of leaves
    place = np.lexsort((np.asarray(forest.order)[rows], np.asarray(forest.tree)[rows]))
    names = ("leaf", "leaf_bias", "fork", "fork_bias")
    return {n: getattr(net, n) for n in names} | {"inputs": np.asarray(payload[0])[rows[place]]}


def _read_child_sum(net: Any, payload: Any, forest: cdl.Forest) -> dict[str, Any]:
    del payload, forest
    if isinstance(net, StackedChildSum):
        return {n: list(getattr(net.cells.cells, n)) for n in ("gates", "forget", "gates_bias", "forget_bias")}
    return {n: list(getattr(net, n)) for n in ("gates", "forget", "gates_bias", "forget_bias")}
