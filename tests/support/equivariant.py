"""What the tests of equivariant networks have in common: defects, a few steps of training, and two maps compared."""

import contextlib
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import jaxtyping
import numpy as np
import optax
from agreement import close


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Calls without the test suite's check of types, as a user makes them."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def defect(network: Any, X: Any, Y: Any, x: jax.Array) -> float:
    """How far `f(m · x)` and `m · f(x)` are apart for the worst generator, over the greatest value."""
    call: Any = eqx.filter_jit(lambda network, x: network(x))
    y = call(network, x)
    found = [jnp.max(jnp.abs(call(network, X(name, x)) - Y(name, y))) for name in X.names]
    return float(max(found) / jnp.max(jnp.abs(y)))


def trained(network: Any, inputs: tuple[Any, ...], steps: int = 5) -> Any:
    """The network after some steps of Adam towards random outputs. `inputs`: of one call, without a batch."""
    wanted = jr.normal(jr.key(9), eqx.filter_eval_shape(network, *inputs).shape)
    optimiser = optax.adam(0.03)
    arrays, rest = eqx.partition(network, eqx.is_inexact_array)
    state = optimiser.init(arrays)
    loss = lambda arrays: jnp.mean(jnp.square(eqx.combine(arrays, rest)(*inputs) - wanted))

    @jax.jit
    def step(arrays: Any, state: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(arrays)
        with jax.numpy_dtype_promotion("standard"):
            change, state = optimiser.update(slope, state)
        return eqx.apply_updates(arrays, change), state, value

    losses = []
    for _ in range(steps):
        arrays, state, value = step(arrays, state)
        losses.append(float(value))
    assert losses[-1] < losses[0]
    return eqx.combine(arrays, rest)


def same(ours: Any, theirs: Any, network: Any, *inputs: jax.Array) -> None:
    """`ours(network, *inputs)` is `theirs(…)`, in value, and in gradient in the network and in the inputs."""

    def both(f: Any) -> Any:
        def total(given: Any) -> Any:
            value = f(*given)
            weights = jnp.asarray(np.random.default_rng(0).normal(size=value.shape), value.dtype)
            return jnp.sum(value * weights), value

        differentiated: Any = eqx.filter_jit(eqx.filter_value_and_grad(total, has_aux=True))
        return differentiated((network, *inputs))

    ((_, value), slope), ((_, expected), wanted) = both(ours), both(theirs)
    close(value, expected, 1e-10)
    close(slope, wanted, 1e-9)
    assert all(bool(jnp.any(x != 0)) for x in jax.tree.leaves(eqx.filter(slope[0], eqx.is_inexact_array)))
