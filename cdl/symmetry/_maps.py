"""Maps between two actions, as layers: what they take and give, one after the other, and functions at each place.

| the mathematics                                | here                                                               |
| ---------------------------------------------- | ------------------------------------------------------------------ |
| a map of algebras of `M × −`, `X → Y`          | an `EquivariantMap`: `source` is `X`, `target` is `Y`              |
| `X → Y → Z`                                    | `chain(f, g)`, where the middle is one action                      |
| a function of numbers, at each place           | `Pointwise(f, X)`: refused where it does not commute with `X`      |
| `x ↦ σ(a ‖x‖ + b) x`                           | `NormGate(X, …)`: for actions that keep lengths                    |
"""

import functools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from .. import _terms as t
from .._functors.words import first_line, short
from .._para import Para
from .._terms import name
from ..errors import CdlError
from ._action import Action, expect_action
from ._apart import traced
from ._commuting import sides
from ._generator import Generator
from ._given import acted
from ._sizes import axis_of, counted


Function: TypeAlias = Callable[[jax.Array], jax.Array]
TOLERANCE = 1e-4  # of the greatest value: what rounding does in single precision
SIZES = 0.3, 1.0, 3.0, 10.0, 1e-3, 1e2, 1e3, 1e6  # of the numbers at which a function is compared
_LEARNS = (
    "At its present ones it does, but training changes them. Leave out the parameters that differ from place to place, "
    "as with `use_weight=False, use_bias=False` of a layer of Equinox."
)


class EquivariantMap(eqx.Module):
    """A map from the carrier of one action to that of another, that commutes with their monoid.

    Arrays have a first axis of channels where `in_channels` or `out_channels` is a number.
    """

    source: eqx.AbstractVar[Action]
    target: eqx.AbstractVar[Action]
    in_channels: eqx.AbstractVar[int | None]
    out_channels: eqx.AbstractVar[int | None]

    def __call__(self, x: Any, /) -> jax.Array:
        """`[in_channels, *source.shape] → [out_channels, *target.shape]`. **Raises:** `CdlError` for another shape."""
        x = acted(x, f"an array given to `{type(self).__name__}`")
        wanted = (*axis_of(self.in_channels), *self.source.shape)
        if x.shape != wanted:
            more = " For a batch, use `jax.vmap`." if x.shape[1:] == wanted else ""
            raise CdlError(
                f"`{type(self).__name__}` takes an array of shape {wanted}, and gets one of {x.shape}.{more}"
            )
        return self._apply(x)

    @property
    def execution(self) -> str:
        """How the map is computed, in words, for `cdl.explain`."""
        return "as it is written"

    def para(self) -> Para[Any, Any, Any]:
        """The map as a parametric one: its parameters are its floating arrays."""
        return Para.of(self)

    def dense(self) -> Para[Any, Any, Any]:
        """The map with its linear parts untied: the parameters of these are all weights of dense layers."""
        return self.para()

    def __term__(self) -> t.Term:
        return self.para().__term__()

    @abstractmethod
    def _apply(self, x: jax.Array) -> jax.Array:
        """The map of an array whose shape is checked."""


class Pointwise(EquivariantMap):
    """A function of numbers, applied at each place. It is refused where it does not commute with the action."""

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


class NormGate(EquivariantMap):
    """`x ↦ σ(a ‖x‖ + b) x`, with `a` and `b` for each channel: nonlinear, and equivariant where lengths are kept.

    What comes out has the type of what goes in.
    """

    scale: jax.Array
    shift: jax.Array
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)

    def __init__(self, X: Action, channels: int | None = None, *, key: jax.Array) -> None:
        """**Raises:** `CdlError` where a generator is not orthogonal, and for a number of channels below 1."""
        orthogonal(X, "NormGate")
        self.source, self.target = X, X
        self.in_channels = self.out_channels = counted(channels)
        self.scale = jr.normal(key, axis_of(self.in_channels))
        self.shift = jnp.zeros(axis_of(self.in_channels))

    @property
    def execution(self) -> str:
        return "a length for each channel, and one product"

    def _apply(self, x: jax.Array) -> jax.Array:
        x = x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(self.scale.dtype)
        wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x  # squares of half precision overflow
        axes = tuple(range(x.ndim - len(self.source.shape), x.ndim))
        length = _length(wide, axes)
        column: Function = lambda p: p.astype(length.dtype).reshape((*p.shape, *(1 for _ in axes)))
        return x * jax.nn.sigmoid(column(self.scale) * length + column(self.shift)).astype(x.dtype)


def _length(x: jax.Array, axes: tuple[int, ...]) -> jax.Array:
    """The length of an array of real or complex numbers, by parts of 1 or less: squares would overflow."""
    limits: Any = jnp.finfo
    _, exponent = jnp.frexp(jax.lax.stop_gradient(jnp.max(jnp.abs(x), axes, keepdims=True, initial=0.0)))
    size = jnp.ldexp(jnp.ones_like(exponent, jnp.real(x).dtype), jnp.clip(exponent - 1, -100, 127))
    parts = x / size.astype(x.dtype)
    squares = jnp.sum(jnp.real(parts * jnp.conj(parts)), axes, keepdims=True)
    roots = jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)
    return jnp.minimum(size * roots, limits(roots.dtype).max)


class Chain(EquivariantMap):
    """Equivariant maps, one after the other. `maps` are these, and `para` and `dense` composites of theirs."""

    maps: tuple[EquivariantMap, ...]
    source: Action = eqx.field(static=True)
    target: Action = eqx.field(static=True)
    in_channels: int | None = eqx.field(static=True)
    out_channels: int | None = eqx.field(static=True)

    def para(self) -> Para[Any, Any, Any]:
        return functools.reduce(operator.rshift, [f.para() for f in self.maps])

    def dense(self) -> Para[Any, Any, Any]:
        return functools.reduce(operator.rshift, [f.dense() for f in self.maps])

    def _apply(self, x: jax.Array) -> jax.Array:
        for f in self.maps:
            x = f(x)
        return x


def chain(first: EquivariantMap, *rest: EquivariantMap | Function) -> Chain:
    """`x ↦ … g(f(x))`. A plain function is taken at each place of what comes before it, as `Pointwise`.

    **Raises:** `CdlError` where the target of one map is not the source of the next, and where a function does not
    commute with the action.
    """
    maps = [_map(first)]
    for given in rest:
        before = maps[-1]
        if not isinstance(given, EquivariantMap) and callable(given):
            maps.append(Pointwise(given, before.target, before.out_channels))
            continue
        after = _map(given)
        if after.source != before.target:
            raise CdlError(
                f"`{type(before).__name__}` gives {before.target}, and `{type(after).__name__}` takes {after.source}. "
                "These are not one action: compare their `.generators`."
            )
        if after.in_channels != before.out_channels:
            raise CdlError(
                f"`{type(before).__name__}` gives {before.out_channels} channels, and `{type(after).__name__}` takes "
                f"{after.in_channels}."
            )
        maps.append(after)
    first, last = maps[0], maps[-1]
    return Chain(
        maps=tuple(maps),
        source=first.source,
        target=last.target,
        in_channels=first.in_channels,
        out_channels=last.out_channels,
    )


def _map(given: Any) -> EquivariantMap:
    if not isinstance(given, EquivariantMap):
        raise CdlError(
            f"`chain` begins with an equivariant map, and goes on with maps or functions, not {short(given)}."
        )
    return given


def orthogonal(X: Action, what: str) -> None:
    """**Raises:** `CdlError` where a generator does not keep lengths."""
    expect_action(X, what)
    for generator in X.generators:
        if not generator.orthogonal:
            law = "A + Aᵀ = 0" if generator.lie else "Aᵀ A = 1"
            raise CdlError(
                f"`{what}` needs an action that keeps lengths, and the generator `{generator.name}` of {X} is not "
                f"orthogonal: `{law}` does not hold of its matrix."
            )


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
    return max(_difference(both.left, both.right) for both in sides(jax.vmap(function), X, X, xs, generator))


def _difference(left: jax.Array, right: jax.Array) -> float:
    """The greatest difference in an example, over the greatest number of the example."""
    same = (left == right) | (jnp.isnan(left) & jnp.isnan(right))
    gap = jnp.where(same, 0.0, jnp.abs(left - right))
    rows: Function = lambda side: side.reshape((len(left), -1))
    finite: Function = lambda side: rows(jnp.where(jnp.isfinite(side), jnp.abs(side), 0.0))
    scale = jnp.maximum(finite(left), finite(right)).max(1, initial=0.0)
    worst = rows(jnp.where(jnp.isnan(gap), jnp.inf, gap)).max(1, initial=0.0)
    return float(jnp.max(jnp.where(worst > 0, worst / jnp.where(scale > 0, scale, 1.0), 0.0), initial=0.0))


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
