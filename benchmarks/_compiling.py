"""What a distinct case costs to compile: one signature, and algebras of which more and more cases differ.

Eight constructors of two children have a cell each, of the same size. Cases that differ in their weights alone are one
program; here some differ in more: the cell of number `k` turns its input round by `k` places.
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


def compiling(width: int, trees: int) -> dict[str, Any]:
    """Seconds to trace and compile with 1, 2, 4 and 8 distinct programs."""
    rng = np.random.default_rng(0)
    forest = cdl.pack(TermF, [_grown(rng, 40) for _ in range(trees)])
    cells = tuple(eqx.nn.Linear(2 * width, 5 * width, key=key) for key in jr.split(jr.key(0), CONSTRUCTORS))
    value = lambda net, forest: loss(cdl.fold(net, forest)[0])
    kinds: dict[str, Any] = {"forward": value, "both": eqx.filter_value_and_grad(value)}
    found: dict[str, Any] = {"sizes": len(forest.bucket.sizes)}
    for programs in (1, 2, 4, 8):
        net = Net(cells, width, programs)
        found[str(programs)] = {kind: compiled(f, net, forest)[0] for kind, f in kinds.items()}
    return found


def _grown(rng: np.random.Generator, leaves: int) -> Any:
    """A random tree: two neighbours become one, until one is left."""
    row: list[Any] = [Atom(float(x)) for x in rng.standard_normal(leaves)]
    while len(row) > 1:
        at = int(rng.integers(len(row) - 1))
        row[at : at + 2] = [OPERATIONS[int(rng.integers(CONSTRUCTORS))](*row[at : at + 2])]
    return row[0]
