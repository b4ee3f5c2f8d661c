"""A field as a system with a clock: each tick is one step of a method.

| the mathematics                         | here                                       |
| --------------------------------------- | ------------------------------------------ |
| one step of Runge and Kutta's method    | `discretise(field, state, step=)`          |
| of the midpoint method, of Euler's      | `method="midpoint"`, `method="euler"`      |

Fields are put together before they are discretised: systems that are joined after it read what was there a step ago,
and are of the first order whatever the method.
"""

from typing import Any, final, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from .._engine.arrays._given import arrays
from .._engine.arrays._lost import changes
from .._engine.arrays.shapes import is_smooth, same_structure, shown
from .._functors import MooreF
from .._functors.usage import with_usage
from .._functors.words import short
from ..errors import CdlError, PayloadMismatch, PortMismatch
from ._box import Box, box
from ._field import expect_rates, Field, Values
from ._interface import expect_join, Port
from ._numbers import known


def begins(field: Field, state: Values) -> Values:
    """Values for the variables of a field, of their types.

    **Raises:** `PortMismatch` where they are of other variables; `PayloadMismatch` where a type does not hold one.
    """
    if set(state) != set(field.variables):
        raise PortMismatch(
            f"the state has {short(sorted(state))}, and `{field.name}` has {short(sorted(field.variables))}: give a "
            "value for each."
        )
    given = {key: arrays(state[key], f"the value of `{key}`") for key in field.variables}
    for key, port in field.variables.items():
        if not same_structure(jax.tree.structure(given[key]), jax.tree.structure(port.struct)):
            raise PortMismatch(f"the state at `{key}` is {shown(given[key])}, and its variable is {port}: give that.")
        expect_join(
            f"the state at {key}", Port.of(jax.tree.map(_in_type, given[key], port.struct), port.unit), key, port
        )
    for key, port in field.variables.items():
        if any(jax.tree.leaves(jax.tree.map(lambda x, s: changes(x, s.dtype), given[key], port.struct))):
            raise PayloadMismatch(
                f"the state at `{key}` is {short(state[key])}, and {port}, its type, does not hold it: it would be "
                "another number."
            )
    return {
        key: jax.tree.map(lambda x, s: x.astype(s.dtype), given[key], p.struct) for key, p in field.variables.items()
    }


def expect_smooth(of: str, field: Field) -> Field:
    """A field whose variables can be moved by fractions. **Raises:** `CdlError` for one with others, such as counts."""
    for key, port in field.variables.items():
        if not all(map(is_smooth, jax.tree.leaves(port.struct))):
            raise CdlError(f"`{key}` of `{field.name}` is {port}, and `{of}` moves it by fractions: make it a `float`.")
    return field


def _in_type(x: Any, struct: Any) -> Any:
    """The shape of a number in the type of its variable, where that is real or the number is not complex."""
    lost = jnp.iscomplexobj(x) and not jnp.issubdtype(struct.dtype, jnp.complexfloating)
    return jax.ShapeDtypeStruct(x.shape, x.dtype if lost else struct.dtype)


@final
class Clocked(eqx.Module):
    """A field that goes one step of time with each tick; its inputs are held for the step."""

    field: Field
    step: float = eqx.field(static=True)
    method: str = eqx.field(static=True)

    def __call__(self, state: Values, /) -> MooreF[Any, Any, Any]:
        return MooreF(state, lambda inputs: self._after(state, inputs))

    def _after(self, s: Values, inputs: Any) -> Values:
        def rate(at: Values) -> Values:
            return self.field.rate(at, inputs if self.field.inputs else {})

        def moved(by: float, k: Values) -> Values:
            return jax.tree.map(lambda x, v: x + by * self.step * v, s, k)

        first = rate(s)
        if self.method == "euler":
            return moved(1.0, first)
        second = rate(moved(0.5, first))
        if self.method == "midpoint":
            return moved(1.0, second)
        third = rate(moved(0.5, second))
        fourth = rate(moved(1.0, third))
        return moved(1 / 6, jax.tree.map(lambda a, b, c, d: a + 2 * b + 2 * c + d, first, second, third, fourth))


@with_usage
def discretise(field: Field, state: Values, *, step: float, method: Literal["rk4", "midpoint", "euler"] = "rk4") -> Box:
    """A field as a system: each tick is a step of time, and the outputs are its variables.

    Without inputs it is run on ticks: `run(system, system.state, jnp.arange(n))` has `n + 1` values of each variable.

    **Arguments:** `state`: a value for each variable. `step`: how long a tick is, in the unit of time of the rates.
    `method`: of order 4, 2 or 1.

    **Raises:** `CdlError` for a step that is not positive and finite, or is known only when the program runs, and for
    variables of whole numbers;
    `PortMismatch` where the state is not one of the field, or its rates are not those of its variables.

    Examples:
        >>> decay = cdl.system.field(lambda s: {"n": -s["n"]}, {"n": float})
        >>> clocked = cdl.system.discretise(decay, {"n": 1.0}, step=0.01)
        >>> last = cdl.run(clocked, clocked.state, jnp.arange(100))[1]
        >>> bool(jnp.allclose(last["n"], jnp.exp(-1.0), rtol=1e-3))
        True
    """
    clocked = Clocked(expect_smooth("discretise", expect_rates(field)), known("`step` of `discretise`", step), method)
    return box(clocked, begins(field, state), inputs=field.inputs, outputs=field.variables, name=field.name)
