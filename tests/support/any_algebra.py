"""An algebra for any signature of one sort, with weights of its own at each place, that no reordering leaves alone.

A state goes through the places of a layer one after the other, so that it shows in the value where two children or
two constructors are exchanged. Payloads come first, and are used again for each child of a `Many`.
"""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Algebra, algebra, Cons, functor, Many, Nil
from cdl.poly import Const, Record


H = 3
REDUCTIONS = ("sum", "max", "mean", "fold", "attend")


class Place(eqx.Module):
    """The weights of one field. `ways` is how a `Many` there is reduced: each way in turn."""

    across: jax.Array
    each: jax.Array
    vectors: jax.Array
    ways: tuple[str, ...] = eqx.field(static=True)


class AnyAlgebra(Algebra[Any, jax.Array]):
    """A start for each constructor, and a `Place` for each of its fields."""

    starts: dict[str, jax.Array]
    places: dict[str, Place]

    def __call__(self, layer: Any) -> jax.Array:
        name = type(layer).__name__
        record: Any = functor(type(layer)).summands[0]
        terms = zip(record.names, record.factors, strict=True)
        fields = [(self.places[f"{name}.{n}"], term, getattr(layer, n)) for n, term in terms]
        payload = self.starts[name]
        for place, term, value in fields:
            if isinstance(term, Const):
                for leaf in jax.tree.leaves(value):
                    payload = payload + jnp.sin(place.vectors[0] * jnp.sum(jnp.asarray(leaf, payload.dtype)))
        state = jnp.tanh(payload)
        for place, term, value in fields:
            if isinstance(value, Many):
                for way in place.ways:
                    state = jnp.tanh(place.across @ state + reduced(place, way, value, state, payload))
            elif not isinstance(term, Const):
                children = [] if value is None else value if isinstance(value, tuple) else [value]
                state = place.across @ state
                for number, child in enumerate(children):
                    state = jnp.tanh(place.across @ state + place.each[number % 2] @ child)
        return state


class NoisyAlgebra(AnyAlgebra):
    """The same with noise, where it is given a key."""

    def __call__(self, layer: Any, *, key: jax.Array | None = None) -> jax.Array:
        state = super().__call__(layer)
        return state if key is None else state + 0.5 * jr.normal(key, state.shape, state.dtype)


def reduced(place: Place, way: str, many: Many[jax.Array], state: jax.Array, payload: jax.Array) -> jax.Array:
    """One reduction of a `Many`, in which the row's own state and payload are used at each child."""
    mapped = many.map(lambda x: jnp.tanh(place.each[0] @ x + state) * jnp.cos(payload))
    zero = jnp.sin(place.vectors[1] + state)
    match way:
        case "attend":
            return mapped.attend(lambda x: x @ place.vectors[2], zero)
        case "fold":

            @algebra
            def from_the_last(layer: Any) -> jax.Array:
                match layer:
                    case Nil():
                        return zero
                    case Cons(head, tail):
                        return jnp.tanh(place.each[1] @ tail + head * payload)

            return mapped.fold(from_the_last)
        case "count":
            return zero * jnp.asarray(many.count, zero.dtype)
        case _:
            return getattr(mapped, way)(zero)


def any_algebra(
    signature: Any, key: jax.Array, dtype: Any, *, noisy: bool = False, ways: tuple[str, ...] = ()
) -> AnyAlgebra:
    """Random weights for a signature. `ways` are those of every `Many`; without, two of the five in turn."""
    found: list[Any] = list(functor(signature).summands)
    turns = itertools.cycle(zip(REDUCTIONS, REDUCTIONS[2:] + REDUCTIONS[:2], strict=True))
    keys = (jr.fold_in(key, i) for i in itertools.count())

    def array(*shape: int) -> jax.Array:
        return jr.normal(next(keys), shape, dtype)

    def place() -> Place:
        return Place(array(H, H), array(2, H, H), array(3, H), ways or next(turns))

    def places(record: Record) -> dict[str, Place]:
        return {f"{record.constructor.__name__}.{n}": place() for n in record.names}

    starts = {r.constructor.__name__: array(H) for r in found}
    kind = NoisyAlgebra if noisy else AnyAlgebra
    return kind(starts, {k: v for r in found for k, v in places(r).items()})
