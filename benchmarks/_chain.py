"""The deepest tree: a list read by a GRU cell, as a tree of one node to a level, and by a plain `lax.scan`."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

import cdl

from ._clock import compiled, Entry, in_turn, seconds
from ._problems import loss


class Reader(cdl.Algebra[cdl.ListF[Array, Array], Array]):
    """A GRU cell at every element."""

    cell: eqx.nn.GRUCell

    def __call__(self, layer: cdl.ListF[Array, Array]) -> Array:
        match layer:
            case cdl.Nil():
                return jnp.zeros(self.cell.hidden_size)
            case cdl.Cons(head, tail):
                state: Array = self.cell(head, tail)
                return state


def chain(length: int, width: int, rounds: int) -> dict[str, Any]:
    """Times of both, forward and with the gradient of the weights, after asserting that they are equal."""
    elements = np.asarray(jr.normal(jr.key(1), (length, width)))
    chain: Any = cdl.Nil()
    for x in elements[::-1]:
        chain = cdl.Cons(x, chain)
    took, forest = seconds(lambda: cdl.pack(cdl.ListF, [chain]))
    cell = eqx.nn.GRUCell(width, width, key=jr.key(0))

    def scan(cell: eqx.nn.GRUCell, elements: Array) -> Array:
        return jax.lax.scan(lambda h, x: (cell(x, h), None), jnp.zeros(width), elements, reverse=True)[0]

    fold = lambda cell, forest: cdl.fold(Reader(cell), forest)[0]
    inputs = {"cdl": (cell, forest), "scan": (cell, jnp.asarray(elements))}
    found: dict[str, Any] = {"length": length, "width": width, "pack": 1e3 * took, "compile": {}, "fill": forest.fill}
    for kind, made in {"forward": _same, "both": _with_gradient}.items():
        runs: dict[str, Any] = {}
        for name, f in {"cdl": fold, "scan": scan}.items():
            took, program = compiled(made(f), *inputs[name])
            found["compile"].setdefault(name, {})[kind] = took
            runs[name] = lambda p=program, n=name: p(*inputs[n])
        values = [jax.tree.leaves(eqx.filter(run(), eqx.is_array)) for run in runs.values()]
        for a, b in zip(*values, strict=True):
            assert jnp.allclose(a, b, rtol=1e-4, atol=1e-4 * float(jnp.abs(a).max())), "fold and scan differ"
        found[kind] = in_turn([Entry(name, run, rounds) for name, run in runs.items()])
    return found


def _same(f: Any) -> Any:
    return f


def _with_gradient(f: Any) -> Any:
    return eqx.filter_value_and_grad(lambda cell, elements: loss(f(cell, elements)))
