"""How many operations a function makes, counted in its traced program.

| in the program                           | counts                                             |
| ---------------------------------------- | -------------------------------------------------- |
| a product of matrices                    | a multiplication and an addition for each term     |
| a loop over `n` elements                 | its body, `n` times                                |
| a choice of branches                     | the dearest of them                                |
| what gives an array another shape        | nothing                                            |
| anything else                            | one for each number of its largest array           |

A loop whose length is found as it runs counts as one turn.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr


SHAPES = {"broadcast_in_dim", "expand_dims", "reshape", "squeeze"}


def operations(f: Callable[..., Any], *inputs: Any) -> int:
    """How many operations a function makes of inputs of these shapes."""
    return _count(jax.make_jaxpr(f)(*inputs).jaxpr)


def _count(jaxpr: Jaxpr) -> int:
    return sum(map(_of_equation, jaxpr.eqns))


def _of_equation(equation: Any) -> int:
    name, inner = equation.primitive.name, list(inside(equation.params))
    sizes = [math.prod(x.aval.shape) for x in (*equation.invars, *equation.outvars)]
    if name == "dot_general":
        (over, _), _ = equation.params["dimension_numbers"]
        terms = math.prod(equation.invars[0].aval.shape[axis] for axis in over)
        return int(2 * terms * sizes[-1])
    if inner:
        counts = [_count(jaxpr) for jaxpr in inner]
        return max(counts) if name == "cond" else int(equation.params.get("length", 1)) * sum(counts)
    return 0 if name in SHAPES else max(sizes, default=0)


def inside(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The programs within an equation."""
    for value in params.values():
        for x in value if isinstance(value, tuple | list) else (value,):
            if isinstance(x, ClosedJaxpr | Jaxpr):
                yield x.jaxpr if isinstance(x, ClosedJaxpr) else x
