"""An output of a case that the case also reads: of whatever it is made, its gradient is the definition's."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from agreement import agrees
from indexed_cells import Bare, forest_of, H, More, Some, That, This, Word

from cdl import Algebra, Many


TREES = [This(That(Word(0.3, 1), Bare()), Some(Many([Word(0.2, 2), Bare()]))), More(Many([Word(-0.5, 0)])), Bare()]


class TwoStates(Algebra[Any, tuple[jax.Array, jax.Array]]):
    """A state and what is made of it. At `Word` and at `Many`s the state is made of `first`."""

    first: str = eqx.field(static=True)
    shared: jax.Array
    own: dict[str, jax.Array]

    def start(self, name: str) -> jax.Array:
        match self.first:
            case "constant":
                return jnp.cos(jnp.arange(float(H)))
            case "weight":
                return jnp.tanh(self.shared)
            case "own weight":
                return jnp.tanh(self.own[name])
            case _:
                return self.shared

    def __call__(self, layer: Any) -> tuple[jax.Array, jax.Array]:
        name = type(layer).__name__
        match layer:
            case Word(weight, _):
                state = jnp.sin(self.shared * weight) if self.first == "payload" else self.start(name)
                return state, state * self.own[name] + weight
            case Some(items) | More(items):
                state = self.start(name)
                return state, items.map(lambda x: x[0] * x[1] * state).sum(jnp.zeros(H)) + state
            case This(left, right) | That(left, right):
                state = jnp.tanh(left[0] * self.own[name] + right[0])
                return state, state * left[1] + right[1]
            case _:
                return self.start(name), self.own[name]


@pytest.mark.parametrize("first", ["constant", "weight", "own weight", "payload", "weight as it is"])
def test_the_gradient_goes_through_what_the_output_is_made_of(first):
    with jax.enable_x64(True):
        own = {
            kind.__name__: jnp.linspace(0.1, 1 + i, H) for i, kind in enumerate((Bare, Word, This, That, Some, More))
        }
        agrees(forest_of(TREES), TREES, TwoStates(first, jnp.linspace(0.2, 0.9, H), own), 1e-10)
