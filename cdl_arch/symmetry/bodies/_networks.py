"""Two networks that read a body: one whose steps commute with rotations, and one of as many parameters that is free.

| the mathematics                                   | here                                                    |
| ------------------------------------------------- | ------------------------------------------------------- |
| the carrier, `R^s × (R³)^v`, and SO(3) on it      | a pair of arrays, and `CARRIER`                         |
| a step that commutes with rotations               | `Turning`, of two `VectorLayer`s                        |
| the same carrier as numbers, and any step         | `Free`, of two perceptrons                              |
| what is read at the root: an invariant            | `read`                                                  |
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from cdl import Algebra, algebra, fold, Forest

from .._vectors import inner, VectorLayer
from ._data import bodies, BodyF, LAW, Mass, Rod, ROTATIONS


State = tuple[Float[Array, "..."], Float[Array, "..."]]
CARRIER = (None, ROTATIONS)


class Turning(Algebra[BodyF[State], State]):
    """A fold of scalars and vectors, each step of which commutes with rotations."""

    mass: VectorLayer
    rod: VectorLayer
    read: eqx.nn.MLP
    scalars: int = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    def __init__(self, scalars: int = 12, vectors: int = 6, hidden: int = 8, *, key: PRNGKeyArray) -> None:
        a, b, c = jr.split(key, 3)
        self.scalars, self.vectors = scalars, vectors
        self.mass = VectorLayer(ROTATIONS, (1, 1), (scalars, vectors), hidden, key=a)
        self.rod = VectorLayer(ROTATIONS, (2 * scalars, 2 * vectors + 1), (scalars, vectors), hidden, key=b)
        self.read = eqx.nn.MLP(scalars + vectors, "scalar", 32, 1, jax.nn.silu, key=c)
        check(self)

    def __call__(self, layer: BodyF[State]) -> State:
        dtype = self.mass.gate.weight.dtype
        match layer:
            case Mass(mass, arm):
                return self.mass(jnp.atleast_1d(jnp.asarray(mass, dtype)), jnp.asarray(arm, dtype)[None])
            case Rod((s, v), (t, w), rod):
                return self.rod(jnp.concatenate([s, t]), jnp.concatenate([v, w, jnp.asarray(rod, dtype)[None]]))

    def root(self, state: State) -> Float[Array, ""]:
        """The number that is read at a root: of the scalars, and of the lengths of the vectors."""
        scalars, vectors = state
        lengths = inner(ROTATIONS, vectors[:, :, None] * vectors[:, None, :])
        return self.read(jnp.concatenate([scalars, lengths]))


def check(net: Turning) -> float:
    """The greatest defect of a step. **Raises:** `CdlError` where one does not commute with rotations."""
    compiled = eqx.filter_jit(net)
    step: Any = algebra(lambda layer: compiled(jax.tree.map(jnp.asarray, layer)))
    return LAW.check(step, CARRIER, LAW.layers(step, bodies(1, (2, 2), 0)), tolerance=1e-6)


class Free(Algebra[BodyF[Any], Any]):
    """A fold of as many numbers, with perceptrons as steps."""

    mass: eqx.nn.MLP
    rod: eqx.nn.MLP
    read: eqx.nn.MLP

    def __init__(self, size: int, hidden: int, *, key: PRNGKeyArray) -> None:
        a, b, c = jr.split(key, 3)
        self.mass = eqx.nn.MLP(4, size, hidden, 1, jax.nn.silu, key=a)
        self.rod = eqx.nn.MLP(2 * size + 3, size, hidden, 1, jax.nn.silu, key=b)
        self.read = eqx.nn.MLP(size, "scalar", 32, 1, jax.nn.silu, key=c)

    def __call__(self, layer: BodyF[Any]) -> Any:
        dtype = self.mass.layers[0].weight.dtype
        match layer:
            case Mass(mass, arm):
                return self.mass(jnp.concatenate([jnp.atleast_1d(jnp.asarray(mass, dtype)), jnp.asarray(arm, dtype)]))
            case Rod(near, far, rod):
                return self.rod(jnp.concatenate([near, far, jnp.asarray(rod, dtype)]))

    def root(self, state: Any) -> Float[Array, ""]:
        """The number that is read at a root."""
        return self.read(state)


def free(like: Turning, *, key: PRNGKeyArray) -> Free:
    """The free network with a state of as many numbers, whose number of parameters is nearest."""
    size, wanted = like.scalars + 3 * like.vectors, parameters(like)
    make: Callable[[int], Free] = lambda hidden: Free(size, hidden, key=key)
    off: Callable[[int], int] = lambda hidden: abs(parameters(eqx.filter_eval_shape(make, hidden)) - wanted)
    return make(min(range(4, 40), key=off))


def parameters(net: Any) -> int:
    """How many numbers a network learns."""
    return sum(x.size for x in jax.tree.leaves(net) if eqx.is_array(x) or isinstance(x, jax.ShapeDtypeStruct))


def predict(net: Turning | Free, forest: Forest) -> Float[Array, " trees"]:
    """What a network says of each body: the logarithm of its radius of gyration, squared."""
    return jax.vmap(net.root)(fold(net, forest))
