"""What a program reads: never less than the derivative shows, and no more where numbers are only moved."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.system._flow import Flow, flows, traced


def read(fn: Any, x: Any, zero: Any = None) -> tuple[Any, list[Flow]]:
    """The jacobian, and what the flow says, with a source for each number of `x`; and an argument that is zero."""
    closed, _ = traced(fn, [x] if zero is None else [x, zero])
    given = [Flow(np.eye(x.size, dtype=bool).reshape(x.size, *x.shape))]
    given += [] if zero is None else [Flow.of(None, zero.shape, x.size, zero=True)]
    return closed, flows(closed, given, x.size)


EXACT = {
    "moved": lambda x: jnp.concatenate([x[::-1].reshape(3, 2).T.reshape(-1)[1:4], jnp.broadcast_to(x[2], (2,))]),
    "alike": lambda x: jnp.tanh(x) * 2 + jnp.where(x > 0, jnp.roll(x, 1), 0.0),
    "relu": lambda x: jax.nn.relu(x[1:]) / x[:-1],
    "stacked": lambda x: jnp.stack([x[0], x[3] * x[4], jnp.array(1.0)]),
    "window": lambda x: jax.lax.dynamic_slice(x, (1,), (2,)),
    "summed": lambda x: x.sum()[None],
}
BOUNDED = {
    "softmax": lambda x: jax.nn.softmax(x),
    "scan": lambda x: jax.lax.scan(lambda c, r: (c + r, c * r), x[0], x)[1],
    "late": lambda x: jax.lax.scan(lambda c, _: (jnp.roll(c, 1), ()), x * jnp.array([1.0, 0, 0, 0, 0, 0]), None, 2)[0],
    "while": lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1][::-1] * x), (0, x))[1],
    "cond": lambda x: jax.lax.cond(x[0] > 0, lambda x: x[1], lambda x: x[2] * 2, x)[None],
    "sort": lambda x: jnp.sort(x),
    "cumsum": lambda x: jnp.cumsum(x),
    "square": lambda x: (x[:4].reshape(2, 2) @ x[2:].reshape(2, 2)).reshape(-1),
    "vmap": lambda x: jax.vmap(lambda r: r @ r)(x.reshape(3, 2)),
    "gelu": lambda x: jax.jit(jax.nn.gelu)(x),
}


@pytest.mark.parametrize("name", [*EXACT, *BOUNDED])
def test_a_program_reads_what_its_derivative_shows(getkey, name):
    fn, x = {**EXACT, **BOUNDED}[name], jr.normal(getkey(), (6,)) + 2
    _, (found,) = read(fn, x)
    expected = np.asarray(jax.jacfwd(fn)(x)).reshape(-1, 6).T != 0
    assert np.all(found.mask.reshape(6, -1) | ~expected)
    if name in EXACT and name != "alike":
        np.testing.assert_array_equal(found.mask.reshape(6, -1), expected)


def test_numbers_that_only_move_keep_apart_and_a_choice_reads_both_sides():
    x = jnp.arange(6.0)
    _, (found,) = read(EXACT["alike"], x)
    np.testing.assert_array_equal(found.mask, np.eye(6, dtype=bool) | np.roll(np.eye(6, dtype=bool), 1, axis=1))
    _, (found,) = read(BOUNDED["cond"], x)
    assert found.sources.tolist() == [True, True, True, False, False, False]
    _, (found,) = read(BOUNDED["late"], x)
    assert found.mask.shape == (6, 6)


ZERO: dict[str, tuple[Any, bool]] = {
    "product": (lambda x, d: x * d, True),
    "matrix": (lambda x, d: jnp.outer(x, x) @ d, True),
    "sum": (lambda x, d: x + d, False),
    "zeros": (lambda x, d: jnp.concatenate([d, -d, jnp.zeros(2)]).sum() + d / (x * x + 1), True),
    "gradient": (lambda x, d: jax.vjp(lambda x: jax.nn.relu(jnp.tanh(x) * 2), x)[1](d)[0], True),
    "choice": (lambda x, d: jnp.where(x > 0, d, 0.0), True),
    "no choice": (lambda x, d: jnp.where(d > 0, x, 0.0), False),
    "exponential": (lambda x, d: x * jnp.exp(d), False),
    "loop": (lambda x, d: jax.lax.fori_loop(0, 3, lambda i, d: d * x, d), True),
    "loop that adds": (lambda x, d: jax.lax.fori_loop(0, 3, lambda i, d: d + x, d), False),
    "below": (lambda x, d: d / x, True),
    "above": (lambda x, d: x / (d + 1), False),
}


@pytest.mark.parametrize("name", ZERO)
def test_what_is_multiplied_by_zero_is_not_read(name):
    fn, nothing = ZERO[name]
    _, (found,) = read(fn, jnp.arange(1.0, 7.0), jnp.zeros(6))
    assert found.zero is nothing
    assert not found.sources.any() if nothing else found.sources.any()
