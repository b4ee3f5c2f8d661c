"""A function of numbers, at each place of a carrier: refused where it does not commute with the action.

Both sides of `f(m · x) = m · f(x)` are compared at normal numbers of several sizes, with the parameters that the
function has and with others: it has to commute after training, too.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._functors.words import first_line
from .._terms import name
from ..errors import CdlError
from ._action import Action, expect_action
from ._apart import apart_by_example, traced
from ._commuting import sides
from ._generator import Generator
from ._map import EquivariantMap
from ._sizes import axis_of, counted


Function: TypeAlias = Callable[[jax.Array], jax.Array]
TOLERANCE = 1e-4  # of the greatest value: what rounding does in single precision
SIZES = 0.3, 1.0, 3.0, 10.0, 1e-3, 1e2, 1e3, 1e6  # of the numbers at which a function is compared
_LEARNS = (
    "At its present ones it does, but training changes them. Leave out the parameters that differ from place to place, "
    "as with `use_weight=False, use_bias=False` of a layer of Equinox."
)


class Pointwise(EquivariantMap):
    """A function of numbers, applied at each place. It is refused where it does not commute with the action.

    Examples:
        >>> C4 = cdl.symmetry.groups.cyclic(4)
        >>> cdl.symmetry.Pointwise(jax.nn.relu, C4)(jnp.array([1.0, -2.0, 3.0, -4.0]))
        Array([1., 0., 3., 0.], dtype=float32)
    """

    function: Function
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)

    def __init__(self, function: Function, X: Action, channels: int | None = None) -> None:
        """**Arguments:** `function`: from an array to one of its shape, place by place, such as `jax.nn.relu`. `X`: the
        action that it has to commute with. `channels`: the length of a first axis, or `None` for none.

        A function whose parameters are traced, inside `jit` or `vmap`, is checked by its shapes alone.

        **Raises:** `CdlError` where it does not commute, with the greatest difference that was measured.
        """
        expect_action(X, "Pointwise")
        self.function, self.source, self.target = function, X, X
        self.in_channels = self.out_channels = counted(channels)
        lead = axis_of(self.in_channels)
        _keeps_shape(function, (*lead, *X.shape))
        with jax.ensure_compile_time_eval():
            for generator in () if traced(function) else X.generators:
                found = _defect(function, X, generator.name, lead)
                other = _defect(_disturbed(function), X, generator.name, lead)
                if max(found, other) > TOLERANCE:
                    learns = found <= TOLERANCE
                    advice = _LEARNS if learns else _instead(function, X, generator, lead)
                    raise CdlError(
                        f"{'With other values of its parameters, ' if learns else ''}`{name(function)}` does not "
                        f"commute with the generator `{generator.name}` of {X}: f(m · x) and m · f(x) differ by "
                        f"{other if learns else found:.2g}. {advice}"
                    )

    @property
    def __called__(self) -> str:
        return name(self.function)

    @property
    def execution(self) -> str:
        return "at each place"

    def _apply(self, x: jax.Array) -> jax.Array:
        return self.function(x)


def _disturbed(function: Function) -> Function:
    """The function with other parameters, where it has any: it has to commute after training, too."""
    rng = np.random.default_rng(1)
    move = lambda w: w + jnp.asarray(rng.normal(size=w.shape), w.dtype) if eqx.is_inexact_array(w) else w
    return jax.tree.map(move, function)


def _keeps_shape(function: Function, shape: tuple[int, ...]) -> None:
    """**Raises:** `CdlError` where a function gives an array of another shape."""
    called = name(function)
    try:
        given = jax.eval_shape(function, jax.ShapeDtypeStruct(shape, jnp.zeros(()).dtype))
    except CdlError:
        raise
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        if any(words in str(error) for words in ("requires a key", "without a key", "argument: 'key'")):
            raise CdlError(
                f"`{called}` draws random numbers ({first_line(error)}), and an equivariant map draws none: leave it "
                "out, or apply it outside of the map."
            ) from error
        raise CdlError(
            f"`{called}` fails on an array of shape {shape}. A function at each place takes one array, and gives one "
            f"of its shape; a linear layer between actions is `Equivariant`. The error is: {first_line(error)}"
        ) from error
    if not hasattr(given, "shape") or given.shape != shape:
        found = getattr(given, "shape", type(given).__name__)
        raise CdlError(f"`{called}` takes {shape} and gives {found}: it is not a function at each place.")


def _defect(function: Function, X: Action, generator: str, lead: tuple[int, ...]) -> float:
    """How far `f(m · x)` and `m · f(x)` are apart, over the greatest number of each: at normal numbers of several
    sizes. For an element of a Lie algebra, derivatives and elements `exp(t A)`.

    `lead` is the axis of channels: the function is called with these, and nothing else. Values that are not finite have
    to be so on both sides.
    """
    if not X.size:
        return 0.0
    shape = (*lead, *X.shape)
    count = -(-16 * X.size // max(1, math.prod(shape)))  # a channel is a sample
    sizes = np.array(SIZES).reshape((-1, 1, *(1 for _ in shape)))
    drawn = np.random.default_rng(0).normal(size=(len(SIZES), count, *shape)) * sizes
    xs = jnp.asarray(drawn.reshape((-1, *shape)), jnp.zeros(()).dtype)
    return max(apart_by_example(both.left, both.right) for both in sides(jax.vmap(function), X, X, xs, generator))


def _instead(function: Function, X: Action, generator: Generator, lead: tuple[int, ...]) -> str:
    """What would commute with the generator."""
    if generator.lie or not generator.by_row:
        gate = "`NormGate` takes the length, and " if all(x.orthogonal for x in X.generators) else ""
        gated = f"Multiply by a number that does not change: {gate}a map to `X.trivial()` gives such numbers."
        if generator.lie or not generator.by_column:
            return f"The generator mixes the numbers of several places, and functions at each place do not. {gated}"
        return (
            "The generator adds numbers that come to one place. Functions at each place commute with actions that "
            "pull, and odd ones also where these change signs: take `X.transposed`, or `futures(X)` of "
            f"`cdl_arch.symmetry.futures`. {gated}"
        )
    if np.any(generator.values < 0):
        return "The generator changes signs: an odd function, such as `jnp.tanh`, commutes with it."
    if np.any(generator.values != 1):
        return "The generator scales: a function with f(s x) = s f(x), such as `jax.nn.relu`, commutes with it."
    if len(generator.values) < generator.size and bool(jnp.any(function(jnp.zeros((*lead, *X.shape))) != 0)):
        return "The generator makes places zero: a function with f(0) = 0, such as `jnp.tanh`, commutes with it."
    return "The function is not the same at each place."
