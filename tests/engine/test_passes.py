"""A function cut into passes has the derivative of JAX, whatever it is made of."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest

from cdl._engine.growth._case import Case
from cdl._engine.jaxprs._parts import Part, trace


W, B, TABLE = jr.normal(jr.key(0), (3, 3)), jr.normal(jr.key(1), (3,)), jr.normal(jr.key(2), (5, 3))


@jax.custom_vjp
def tripled(x):
    return x * 2


tripled.defvjp(lambda x: (x * 2, jnp.sin(x)), lambda kept, g: (g * 3 + kept,))


def gated(w, b, table, x, n, key):
    z = jax.nn.sigmoid(w @ x + b)
    return [z * x + (1 - z) * jnp.tanh(w.T @ x)]


def given_weights(w, b, table, x, n, key):
    return [b, b * 2, x + b, b]


def of_weights_alone(w, b, table, x, n, key):
    soft = jax.nn.softplus(w)
    return [soft @ x, jnp.exp(b), soft[0] * x, soft.sum() * x[0]]


def looked_up(w, b, table, x, n, key):
    return [table[n] * x, n + 1, jax.nn.softmax(table @ x)]


def dropped(w, b, table, x, n, key):
    left, right = jr.split(key)
    kept = jr.bernoulli(left, 0.5, x.shape)
    return [jnp.where(kept, w @ x, 0), jr.normal(right, x.shape) * x + b, jr.fold_in(right, n)]


def again(w, b, table, x, n, key):
    def inner(w, x, key):
        return jnp.tanh(w @ x) * jr.uniform(key, x.shape)

    return [jax.checkpoint(inner)(w, x, jr.fold_in(key, n))]  # the key is no input, and none is kept


def scanned(w, b, table, x, n, key):
    last, every = jax.lax.scan(lambda h, row: (jnp.tanh(w @ h + row), h.sum()), x, table)
    return [last, every]


def branched(w, b, table, x, n, key):
    return [jax.lax.cond(n > 2, lambda x: jnp.log(jnp.abs(x)) * b, lambda x: w @ x, x)]


def ruled(w, b, table, x, n, key):
    return [tripled(w @ x) + tripled(b)]


def compared(w, b, table, x, n, key):
    return [jnp.where(x > b, jnp.tanh(w @ x), x / 2), jnp.argmax(table @ x + b.sum()), jnp.sign(w) @ x]


def seen_otherwise(w, b, table, x, n, key):
    return [x @ w.T, w.reshape(9)[:3] * x, w[1] @ x, table.T @ (table[1:4] @ x).sum(keepdims=True).repeat(5)]


def stopped(w, b, table, x, n, key):
    turns = 1 + (x[0] > 0).astype(int)
    last = jax.lax.fori_loop(0, turns, lambda _, h: jnp.tanh(w @ h), x)  # which has no reverse mode
    return [jax.lax.stop_gradient(last) * x + w @ x]


def of_no_row(w, b, table, x, n, key):
    return [w @ b, jnp.int32(3)]


def narrow(w, b, table, x, n, key):
    half = (w @ x).astype(jnp.bfloat16)
    return [half, half.astype(jnp.float32) * b, jax.lax.complex(x, x) * jnp.complex64(2j)]


FUNCTIONS: list[Any] = [
    gated,
    given_weights,
    of_weights_alone,
    compared,
    seen_otherwise,
    looked_up,
    dropped,
    again,
    scanned,
    stopped,
    branched,
    ruled,
    of_no_row,
    narrow,
]


@pytest.mark.parametrize("at_hand", [False, True], ids=["nothing at hand", "all outputs at hand"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__.replace("_", " "))
def test_what_is_kept_and_cut_has_the_derivative_of_the_whole(f, at_hand):
    count, weights = 6, [W, B, TABLE]
    rows = [jr.normal(jr.key(3), (count, 3)), jnp.arange(count, dtype=jnp.int32) % 5, jr.split(jr.key(4), count)]
    whole, held = trace(f, *weights, *(x[0] for x in rows))
    part = Part(whole.jaxpr, len(held) + len(weights))
    case = Case(part, held, range(len(part.outputs)) if at_hand else ())
    at_rows: Any = jax.vmap(f, in_axes=(None, None, None, 0, 0, 0), axis_size=count)

    def smooth(w, b, table, x):
        out = at_rows(w, b, table, x, *rows[1:])
        return [y for y, yes in zip(out, case.smooth, strict=True) if yes]

    out, pull = jax.vjp(smooth, *weights, rows[0])
    given = [jr.normal(jr.key(9 + i), x.shape).astype(x.dtype) for i, x in enumerate(out)]
    found, kept = case.forward(weights, rows, count)
    assert not any(jnp.issubdtype(x.dtype, jax.dtypes.prng_key) for x in kept)
    assert [x.shape[1:] for x in kept] == [x.shape for x in case.kept]
    known = [found[i] for i in case.known]
    to_weights, to_rows = case.backward(weights, rows, known, kept, given)
    for mine, theirs in zip([*to_weights, *to_rows], pull(given), strict=True):
        assert jnp.allclose(mine, theirs, rtol=2e-2 if f is narrow else 1e-5, atol=1e-5)
    for mine, theirs in zip(found, at_rows(*weights, *rows), strict=True):
        assert mine.dtype == theirs.dtype
        if not jnp.issubdtype(mine.dtype, jax.dtypes.prng_key):
            assert jnp.allclose(mine, theirs, atol=1e-6)


def test_an_output_at_hand_is_not_kept_beside():
    whole, held = trace(lambda w, x: [jnp.tanh(w @ x)], W, B)
    part = Part(whole.jaxpr, len(held) + 1)
    assert [len(Case(part, held, free).kept) for free in ((), (0,))] == [1, 0]
    assert Case(part, held, (0,)).known == [0]


@pytest.mark.parametrize("view", [lambda w: w.T, lambda w: w.reshape(9).reshape(3, 3), lambda w: w[::-1]])
def test_the_gradient_of_a_weight_that_is_seen_otherwise_is_no_matrix_for_each_row(view):
    whole, held = trace(lambda w, x: [jnp.tanh(x @ view(w))], W, B)
    case = Case(Part(whole.jaxpr, len(held) + 1), held)
    assert [x.shape for x in case.passes.back.outputs] == [(3,), (3,)]


def test_constants_of_a_case_are_no_weights():
    far = jnp.eye(3) * 2
    whole, held = trace(lambda w, x: [jnp.tanh(far @ (w @ (far @ x)))], W, B)
    case = Case(Part(whole.jaxpr, len(held) + 1), held)
    assert len(held) == 1
    assert len(case.passes.taps) == 1
