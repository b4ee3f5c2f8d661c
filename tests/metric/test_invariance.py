"""Which optimisers make the same step in all coordinates; three that do, and differ."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from cdl.metric import (
    Blocks,
    Categorical,
    fisher,
    invariance_defect,
    modularity_defect,
    natural,
    natural_gradient,
    negative_log_likelihood,
    pullback,
)


def problem():
    """A network of two layers as a function of one vector of 17 numbers, its loss, and a point."""
    keys = jr.split(jr.key(0), 4)
    x, y = jr.normal(keys[0], (20, 2), jnp.float64), jnp.arange(20) % 3
    first, second = jr.normal(keys[1], (3, 3), jnp.float64), jr.normal(keys[2], (3, 4), jnp.float64)
    flat, back = ravel_pytree((first, second))

    def model(theta):
        first, second = back(theta)
        ones = jnp.ones((20, 1), jnp.float64)
        hidden = jnp.tanh(jnp.concatenate([x, ones], 1) @ first.T)
        return Categorical(jnp.concatenate([hidden, ones], 1) @ second.T)

    return model, lambda theta: negative_log_likelihood(model(theta), y), flat


def optimisers(model, rate):
    return {
        "covariant": lambda c: natural(lambda p: model(c(p)), rate, damping=1e-3, chart=c),
        "plain": lambda c: natural(lambda p: model(c(p)), rate, damping=1e-3),
        "sgd": lambda c: optax.sgd(rate),
        "adam": lambda c: optax.adam(rate),
        "sign": lambda c: optax.sign_sgd(rate),
    }


def defects(chart, at, rate=0.1):
    model, loss, _ = problem()
    rules = {name: rule for name, rule in optimisers(model, rate).items() if name not in ("adam", "sign")}
    found = jax.jit(lambda at: {n: invariance_defect(rule, loss, chart, at) for n, rule in rules.items()})(at)
    return {name: float(x) for name, x in found.items()}


@pytest.fixture(scope="module")
def theta():
    with jax.enable_x64(True):
        return problem()[2]


@jax.jit
def linearly(a, at):
    """The defects under a linear map."""
    model, loss, _ = problem()
    return {n: invariance_defect(rule, loss, lambda e: a @ e, at) for n, rule in optimisers(model, 0.1).items()}


def test_invariance_defect_under_linear_maps(theta):
    """Covariant damping is exact under all; gradient descent under rotations too; all under signed permutations."""
    mixing = jnp.eye(21) + 0.1 * jr.normal(jr.key(1), (21, 21), jnp.float64)
    turn = jnp.linalg.qr(jr.normal(jr.key(1), (21, 21), jnp.float64))[0]
    signed = jnp.diag(jnp.where(jnp.arange(21) % 2 == 0, 1.0, -1.0))[:, ::-1]
    for a, exact, least in (
        (mixing, {"covariant"}, 1e-2),
        (turn, {"covariant", "plain", "sgd"}, 1e-1),
        (signed, {"covariant", "plain", "sgd", "adam", "sign"}, 0),
    ):
        found = linearly(a, jnp.linalg.solve(a, theta))
        assert {name for name, x in found.items() if x < 1e-12} == exact
        assert all(x > least for name, x in found.items() if name not in exact)


def test_under_a_curved_map_the_defect_of_covariant_damping_falls_with_the_rate(theta):
    one, other = (defects(jnp.sinh, jnp.arcsinh(theta), rate) for rate in (1e-3, 1e-4))
    assert 0.95 < np.log10(one["covariant"] / other["covariant"]) < 1.05
    for name in ("plain", "sgd"):
        assert 0.9 < other[name] / one[name] < 1.1
        assert other[name] > 1e-3


def test_blocks_are_invariant_under_products_and_not_under_what_mixes(theta):
    model, loss, _ = problem()
    a, b = (jnp.eye(n) + 0.1 * jr.normal(jr.key(n), (n, n), jnp.float64) for n in (9, 12))
    mixing = jnp.eye(21) + 0.1 * jr.normal(jr.key(1), (21, 21), jnp.float64)
    join = lambda parts: jnp.concatenate(parts)
    rule = lambda c: natural(lambda p: model(join(c(p))), 0.1, damping=1e-3, chart=c, how=Blocks())
    product = lambda p: (a @ p[0], b @ p[1])
    split = lambda flat: (flat[:9], flat[9:])
    mixed = lambda p: split(mixing @ join(p))
    back = split(jnp.linalg.solve(mixing, theta))
    at = (jnp.linalg.solve(a, theta[:9]), jnp.linalg.solve(b, theta[9:]))
    both = jax.jit(
        lambda at, back: [
            invariance_defect(rule, lambda p: loss(join(p)), c, e) for c, e in ((product, at), (mixed, back))
        ]
    )
    exact, failing = both(at, back)
    assert exact < 1e-12
    assert failing > 0.1


def test_the_update_of_the_whole_is_not_that_of_its_modules(theta):
    model, loss, _ = problem()
    split = (theta[:9], theta[9:])
    at = lambda p: model(jnp.concatenate(p))
    whole, parts = natural(at, damping=1e-3), natural(at, damping=1e-3, how=Blocks())
    found = jax.jit(lambda p: modularity_defect(whole, parts, lambda p: loss(jnp.concatenate(p)), p))(split)
    assert 0.1 < float(found) < 2


def test_three_updates_are_invariant_and_differ(theta):
    """So invariance does not determine natural gradient. Čencov's theorem has another hypothesis."""
    model, loss, _ = problem()
    a = jnp.eye(21) + 0.1 * jr.normal(jr.key(1), (21, 21), jnp.float64)

    def updates(chart, e):
        g, here = jax.grad(lambda e: loss(chart(e)))(e), lambda e: model(chart(e))
        within = pullback(chart, e)
        natural_one = natural_gradient(fisher(here, e), g, damping=1e-3, within=within)
        return (
            natural_one,
            (1 + loss(chart(e)) ** 2) * natural_one,
            natural_gradient(pullback(here, e), g, damping=1e-3, within=within),
        )

    there = jax.jit(lambda e: [a @ u for u in updates(lambda e: a @ e, e)])(jnp.linalg.solve(a, theta))
    here = jax.jit(lambda t: updates(lambda t: t, t))(theta)
    norm = jnp.linalg.norm
    assert max(float(norm(u - v) / norm(v)) for u, v in zip(there, here, strict=True)) < 1e-9
    assert norm(here[1]) > 1.5 * norm(here[0])
    assert here[0] @ here[2] / norm(here[0]) / norm(here[2]) < 0.98


def test_steps_that_stay_have_no_defect():
    rest = lambda rate: lambda c: optax.sgd(rate)
    assert invariance_defect(rest(0.0), jnp.sum, lambda e: 2 * e, jnp.ones(2)) == 0
    assert modularity_defect(optax.sgd(0.0), optax.sgd(0.0), jnp.sum, jnp.ones(2)) == 0
    assert modularity_defect(optax.sgd(0.0), optax.sgd(0.1), jnp.sum, jnp.ones(2)) == np.inf
