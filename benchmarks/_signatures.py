"""What a big signature costs: the same trees by 4 constructors, by all of Python's, and by these as a family of sorts.

Each is read by the child-sum Tree-LSTM with weights of its own for each constructor. Where fields have names, the
children of all of them are summed.
"""

import ast
import dataclasses
import types
from itertools import islice
from typing import Any, cast, Generic, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl_arch.data import python_ast, python_sorts, stdlib

from ._clock import compiled, Entry, in_turn
from ._problems import loss, Pair


X = TypeVar("X", covariant=True)


class Coarse:
    """The name of the functor `4 Many(X)`."""


def _kind(number: int) -> Any:
    base, generic, many = cast("Any", cdl.Base), cast("Any", Generic), cast("Any", cdl.Many)
    body = {"__annotations__": {"children": many[X]}, "__module__": __name__, "__doc__": "Any children."}
    return types.new_class(f"Kind{number}", (base[Coarse, X], generic[X]), exec_body=lambda names: names.update(body))


KINDS = [_kind(i) for i in range(4)]


class ChildSum(cdl.Algebra[Any, Pair]):
    """The child-sum Tree-LSTM of any signature whose places are `X` and `Many[X]`."""

    gates: dict[str, jax.Array]
    forget: dict[str, jax.Array]
    width: int = eqx.field(static=True)

    def __call__(self, layer: Any) -> Pair:
        gates, forget = self.gates[type(layer).__name__], self.forget[type(layer).__name__]
        none = jnp.zeros(self.width)
        keep = lambda child: jax.nn.sigmoid(forget @ child[0] + 1.0) * child[1]
        hidden, c = none, none
        for field in dataclasses.fields(layer):
            below = getattr(layer, field.name)
            if isinstance(below, cdl.Many):
                hidden, c = hidden + below.map(lambda child: child[0]).sum(none), c + below.map(keep).sum(none)
            else:
                hidden, c = hidden + below[0], c + keep(below)
        i, o, u = jnp.split(gates @ jnp.concatenate([hidden, jnp.ones(1)]), 3)
        c += jax.nn.sigmoid(i) * jnp.tanh(u)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


def signatures(width: int, trees: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of a step, forward and with the gradient, by the signature; and what each compiles to."""
    nodes = list(islice(_functions(), trees))
    fine = [python_ast.tree_of(node) for node in nodes]
    forests = {
        "4": cdl.pack(Union[tuple(KINDS)], [_coarse(tree) for tree in fine]),
        "all": cdl.pack(python_ast.python_ast_signature(), fine),
        "sorts": cdl.pack(python_sorts.python_family(False), [python_sorts.tree_of(node, False) for node in nodes]),
        "fields": cdl.pack(python_sorts.python_family(), [python_sorts.tree_of(node) for node in nodes]),
    }
    entries: dict[str, list[Entry]] = {"forward": [], "both": []}
    found: dict[str, Any] = {}
    for name, forest in forests.items():
        net = _net(forest, width)
        kinds: dict[str, Any] = {"forward": _value, "both": eqx.filter_value_and_grad(_value)}
        seconds = {}
        for which, f in kinds.items():
            seconds[which], program = compiled(f, net, forest)
            entries[which].append(Entry(name, lambda p=program, n=net, f=forest: p(n, f), rounds))
        met = len({v.constructor for v in forest.bucket.variants})
        found[name] = {"constructors": met, "nodes": forest.size, "fill": forest.fill, "compile": seconds}
    return found | {which: in_turn(some) for which, some in entries.items()}


def _value(net: Any, forest: Any) -> Any:
    values = cdl.fold((net,) * len(forest.family), forest) if len(forest.family) > 1 else (cdl.fold(net, forest),)
    return sum(loss(value[0]) for value in values if value is not None and value[0].shape[0])


def _functions() -> Any:
    for _, module in stdlib.syntax():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def _coarse(root: Any) -> Any:
    """The same tree by four constructors, the classes of syntax dealt out in turn."""
    nodes = [root]
    for node in nodes:
        nodes.extend(node.children.items)
    names = sorted({type(node).__name__ for node in nodes})
    made: dict[int, Any] = {}
    for node in reversed(nodes):
        below = cdl.Many([made[id(child)] for child in node.children.items])
        made[id(node)] = KINDS[names.index(type(node).__name__) % len(KINDS)](below)
    return made[id(root)]


def _net(forest: Any, width: int) -> ChildSum:
    rng = np.random.default_rng(0)
    names = sorted({v.constructor.__name__ for v in forest.bucket.variants})
    draw = lambda *shape: jnp.asarray(rng.uniform(-(width**-0.5), width**-0.5, shape).astype(np.float32))
    gates, forget = ({n: draw(*shape) for n in names} for shape in ((3 * width, width + 1), (width, width)))
    return ChildSum(gates, forget, width)
