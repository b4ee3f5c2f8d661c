"""What a distinct case costs to compile: one signature, and algebras of which more and more cases differ.

Eight constructors of two children have a cell each, of the same size. Cases that differ in their weights alone are one
program; here some differ in more: the cell of number `k` turns its input round by `k` places.

Layers that grow are likewise one program: a coalgebra proposes more and more of them, each with a cell of its own.
"""

import types
from typing import Any, cast, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

import cdl

from ._clock import compiled
from ._problems import loss, Pair


X = TypeVar("X", covariant=True)
CONSTRUCTORS = 8
LAYERS = 8, 80  # that a coalgebra proposes
NODES = 40  # of a tree that grows


class Term:
    """The name of the functor: `A + 8 X²`."""


class Atom(cdl.Base[Term, Never]):
    """A number."""

    value: float


def _operation(number: int) -> Any:
    base, generic = cast("Any", cdl.Base), cast("Any", Generic)
    body = {"__annotations__": {"left": X, "right": X}, "__module__": __name__, "__doc__": "Two children."}
    return types.new_class(f"Op{number}", (base[Term, X], generic[X]), exec_body=lambda names: names.update(body))


OPERATIONS = [_operation(i) for i in range(CONSTRUCTORS)]
TermF: Any = Union[(Atom, *OPERATIONS)]


class Net(cdl.Algebra[Any, Pair]):
    """A binary Tree-LSTM for each constructor, of which `programs` are distinct."""

    cells: tuple[eqx.nn.Linear, ...]
    width: int = eqx.field(static=True)
    programs: int = eqx.field(static=True)

    def __call__(self, layer: Any) -> Pair:
        if isinstance(layer, Atom):
            h = jnp.full(self.width, layer.value)
            return h, h
        number = OPERATIONS.index(type(layer))
        (h, c), (k, d) = layer.left, layer.right
        z = jnp.roll(jnp.concatenate([h, k]), number % self.programs)
        i, o, u, f, g = jnp.split(self.cells[number](z), 5)
        c = jax.nn.sigmoid(i) * jnp.tanh(u) + jax.nn.sigmoid(f) * c + jax.nn.sigmoid(g) * d
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


class Grower(eqx.Module):
    """A coalgebra that proposes many layers, a quarter of them without children, each with a cell of its own."""

    scores: eqx.nn.Linear
    cells: tuple[eqx.nn.Linear, ...]
    layers: tuple[type[Any], ...] = eqx.field(static=True)

    def __init__(self, width: int, many: int, *, key: jax.Array) -> None:
        self.layers = tuple(Atom if i % 4 == 0 else _operation(i) for i in range(many))
        self.scores = eqx.nn.Linear(width, many, key=key)
        outs = (1 if layer is Atom else 2 * width for layer in self.layers)
        self.cells = tuple(eqx.nn.Linear(width, n, key=k) for n, k in zip(outs, jr.split(key, many), strict=True))

    def __call__(self, seed: jax.Array) -> Any:
        return cdl.choose(self.scores(seed), *map(self._layer, self.layers, self.cells, [seed] * len(self.layers)))

    @staticmethod
    def _layer(layer: Any, cell: Any, seed: jax.Array) -> Any:
        made = jnp.tanh(cell(seed))
        return layer(made[0]) if layer is Atom else layer(*jnp.split(made, 2))


def _grown_loss(coalg: Grower, seeds: jax.Array) -> jax.Array:
    grown = cdl.unfold(coalg, seeds, NODES, key=jr.key(0))
    return jnp.sum(grown.log_prob) + sum(jnp.sum(x) for x in grown.payload)


def compiling(width: int, trees: int) -> dict[str, Any]:
    """Seconds to trace and compile with 1, 2, 4 and 8 distinct programs, and to grow trees of more and more layers."""
    rng = np.random.default_rng(0)
    forest = cdl.pack(TermF, [_grown(rng, 40) for _ in range(trees)])
    cells = tuple(eqx.nn.Linear(2 * width, 5 * width, key=key) for key in jr.split(jr.key(0), CONSTRUCTORS))
    value = lambda net, forest: loss(cdl.fold(net, forest)[0])
    found: dict[str, Any] = {"sizes": len(forest.bucket.sizes)}
    for programs in (1, 2, 4, 8):
        found[str(programs)] = _seconds(value, Net(cells, width, programs), forest)
    seeds = jr.normal(jr.key(1), (trees, width))
    growers = {str(n): Grower(width, n, key=jr.key(2)) for n in LAYERS}
    return found | {"layers": {n: _seconds(_grown_loss, coalg, seeds) for n, coalg in growers.items()}}


def _seconds(value: Any, *inputs: Any) -> dict[str, float]:
    """To trace and compile a function, and it with its gradient."""
    both: Any = eqx.filter_value_and_grad(value)
    return {"forward": compiled(value, *inputs)[0], "both": compiled(both, *inputs)[0]}


def _grown(rng: np.random.Generator, leaves: int) -> Any:
    """A random tree: two neighbours become one, until one is left."""
    row: list[Any] = [Atom(float(x)) for x in rng.standard_normal(leaves)]
    while len(row) > 1:
        at = int(rng.integers(len(row) - 1))
        row[at : at + 2] = [OPERATIONS[int(rng.integers(CONSTRUCTORS))](*row[at : at + 2])]
    return row[0]
