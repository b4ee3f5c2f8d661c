"""What a traced function reads: for each number that comes out, the sources that it is computed from.

| the mathematics                                          | here                                                   |
| -------------------------------------------------------- | ------------------------------------------------------ |
| the sources of a number: a union over what it is made of | `Flow.mask`, `(sources, …)` of truth values            |
| `0 · x = 0`, so that nothing is read                     | `Flow.zero`: every number is zero, whatever comes in   |
| values that are moved keep their own sources             | a movement is done to the places of the numbers        |

The union is an upper bound: `x − x` counts as reading `x`. Where a primitive is not known here, all that comes out of
it reads all that goes into it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr


class Flow(NamedTuple):
    """Which sources each number of an array is computed from, and whether all of them are known to be zero."""

    mask: Any
    zero: bool = False

    @staticmethod
    def of(source: int | None, shape: tuple[int, ...], sources: int, zero: bool = False) -> "Flow":
        """An array of one source, or of none."""
        mask = np.zeros((sources, *shape), bool)
        if source is not None:
            mask[source] = True
        return Flow(mask, zero)

    @property
    def sources(self) -> Any:
        """Those of any of its numbers."""
        return self.mask.reshape(len(self.mask), -1).any(axis=1)


Seen = Callable[[str, list[Flow]], None]

MOVES = {"reshape", "transpose", "squeeze", "slice", "broadcast_in_dim", "rev", "concatenate", "stack"}
ALIKE = {  # number by number, of arrays of one shape
    *("add", "sub", "mul", "div", "max", "min", "pow", "rem", "atan2", "add_any", "and", "or", "xor", "not", "neg"),
    *("exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "sin", "cos", "tan", "asin", "acos", "atan", "sinh"),
    *("cosh", "erf", "erf_inv", "sqrt", "rsqrt", "cbrt", "abs", "sign", "floor", "ceil", "round", "square"),
    *("integer_pow", "is_finite", "eq", "ne", "lt", "le", "gt", "ge", "convert_element_type", "stop_gradient", "clamp"),
    *("select_n", "nextafter", "real", "imag", "copy", "copy_p", "shift_left", "shift_right_logical"),
}
PRODUCTS = {"mul", "dot_general", "conv_general_dilated", "and"}  # zero where one factor is
KEEP_ZERO = MOVES | {"neg", "add", "sub", "add_any", "tanh", "sin", "abs", "sign", "convert_element_type", "reduce_sum"}


def traced(fn: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, list[list[Any]]]:
    """The program of a function of arrays, or of their types, and the arrays in each of its arguments.

    What is not an array stays as it is.
    """
    known, rest = eqx.partition(list(given), lambda x: isinstance(x, jax.Array | np.ndarray | jax.ShapeDtypeStruct))

    def arrays(*known: Any) -> list[Any]:
        return jax.tree.leaves(fn(*eqx.combine(list(known), rest)))

    return jax.make_jaxpr(arrays)(*known), [jax.tree.leaves(x) for x in known]


def flows(closed: Any, given: Sequence[Flow], sources: int, seen: Seen = lambda name, inputs: None) -> list[Flow]:
    """The flows of what a function gives, from those of what it is given.

    **Arguments:** `closed`: the function, as `jax.make_jaxpr` gives it. `sources`: how many there are. `seen`: is told
    the name of each primitive, with the flows that go into it.
    """
    jaxpr = closed.jaxpr
    consts = [_constant(x, sources) for x in closed.consts]
    known: dict[Any, Flow] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *given], strict=True))

    def read(x: Any) -> Flow:
        return _constant(x.val, sources) if hasattr(x, "val") else known[x]

    for eqn in jaxpr.eqns:
        found = _of(eqn, [read(x) for x in eqn.invars], sources, seen)
        known.update(zip(eqn.outvars, found, strict=True))
    return [read(x) for x in jaxpr.outvars]


def _of(eqn: Any, inputs: list[Flow], n: int, seen: Seen) -> list[Flow]:
    name, params = eqn.primitive.name, eqn.params
    shapes = [tuple(x.aval.shape) for x in eqn.outvars]
    if name in ("scan", "while"):
        seen(name, inputs)
    if name == "scan":
        k, c = params["num_consts"], params["num_carry"]
        rows = [Flow(x.mask.any(axis=1), x.zero) for x in inputs[k + c :]]
        found = _loop(params["jaxpr"], inputs[:k], inputs[k : k + c], rows, n, seen)
        return [*found[:c], *(_wide(x, shape) for x, shape in zip(found[c:], shapes[c:], strict=True))]
    if name == "while":
        k, b = params["cond_nconsts"], params["body_nconsts"]
        found = _loop(params["body_jaxpr"], inputs[k : k + b], inputs[k + b :], [], n, seen)
        until = flows(params["cond_jaxpr"], [*inputs[:k], *found], n, seen)
        return [_also(x, until) for x in found]
    if name == "cond":
        each = zip(*(flows(x, inputs[1:], n, seen) for x in params["branches"]), strict=True)
        return [_also(_either(list(x)), inputs[:1]) for x in each]
    inner = next((params[x] for x in ("jaxpr", "call_jaxpr", "fun_jaxpr") if x in params), None)
    if inner is not None:
        return flows(inner if hasattr(inner, "consts") else ClosedJaxpr(inner, ()), inputs, n, seen)
    seen(name, inputs)
    if (
        (name in PRODUCTS and any(x.zero for x in inputs))
        or (name in KEEP_ZERO and all(x.zero for x in inputs))
        or (name == "div" and inputs[0].zero)
        or (name == "select_n" and all(x.zero for x in inputs[1:]))
    ):
        return [Flow.of(None, shape, n, zero=True) for shape in shapes]
    if name in MOVES:
        return [_moved(eqn, inputs, [], n)]
    if name == "dynamic_slice" and all(hasattr(x, "val") for x in eqn.invars[1:]):
        return [_moved(eqn, inputs[:1], [x.val for x in eqn.invars[1:]], n)]
    if name in ALIKE:
        return [Flow(np.any([_wide(x, shapes[0]).mask for x in inputs], axis=0))]
    return [_also(Flow.of(None, shape, n), inputs) for shape in shapes]


def _loop(body: Any, consts: list[Flow], carry: list[Flow], rows: list[Flow], n: int, seen: Seen) -> list[Flow]:
    """What comes out of a loop, after as many turns as bring in another source."""
    while True:
        found = flows(body, [*consts, *carry, *rows], n, seen)
        after = [_either([a, b]) for a, b in zip(carry, found[: len(carry)], strict=True)]
        if all(a.zero == b.zero and np.array_equal(a.mask, b.mask) for a, b in zip(carry, after, strict=True)):
            return [*after, *found[len(carry) :]]
        carry = after


def _moved(eqn: Any, inputs: list[Flow], where: list[Any], n: int) -> Flow:
    """The flow of numbers that are moved: the primitive is done to their places."""
    sizes = [int(np.prod(x.mask.shape[1:])) for x in inputs]
    starts = np.cumsum([0, *sizes])
    places = [jnp.arange(a, a + k).reshape(x.mask.shape[1:]) for x, a, k in zip(inputs, starts, sizes, strict=False)]
    to = np.asarray(eqn.primitive.bind(*places, *where, **eqn.params))
    return Flow(np.concatenate([x.mask.reshape(n, -1) for x in inputs], axis=1)[:, to])


def _either(each: list[Flow]) -> Flow:
    return Flow(np.any([x.mask for x in each], axis=0), all(x.zero for x in each))


def _also(flow: Flow, others: Sequence[Flow]) -> Flow:
    """With all sources of others, in every number."""
    extra = np.any([x.sources for x in others], axis=0) if others else np.zeros(len(flow.mask), bool)
    return Flow(flow.mask | extra.reshape(-1, *(1,) * (flow.mask.ndim - 1)), flow.zero and not extra.any())


def _wide(flow: Flow, shape: tuple[int, ...]) -> Flow:
    """Over axes in front."""
    mask = flow.mask.reshape(len(flow.mask), *(1,) * (len(shape) + 1 - flow.mask.ndim), *flow.mask.shape[1:])
    return Flow(np.broadcast_to(mask, (len(mask), *shape)), flow.zero)


def _constant(value: Any, n: int) -> Flow:
    known = not isinstance(value, Tracer) and not jnp.issubdtype(jnp.asarray(value).dtype, jax.dtypes.extended)
    return Flow.of(None, tuple(np.shape(value)), n, zero=known and not np.any(np.asarray(value)))
