"""A function that several passes call is traced once for each type of its arguments."""

import jax
import jax.numpy as jnp

from cdl._engine.jaxprs._jaxprs import Once


def test_what_two_passes_of_a_rule_call_is_traced_once():
    met = []

    def body(x):
        met.append(jnp.shape(x))
        return {"sin": jnp.sin(x), "none": None}

    once = Once(body)

    @jax.custom_vjp
    def f(x):
        return once(x)["sin"]

    f.defvjp(lambda x: (once(x)["sin"], x), lambda x, g: (g * jnp.cos(once(x)["sin"]),))
    x = jnp.linspace(0.0, 1.0, 3)
    loss = jax.jit(lambda x: f(x).sum())
    gradient = jax.jit(jax.grad(loss))(x)
    assert jnp.allclose(gradient, jnp.cos(jnp.sin(x)))
    assert met == [(3,)]
    assert once(x[:2])["none"] is None
    assert met == [(3,), (2,)]


def test_shapes_are_traced_as_arrays_of_their_type_are():
    met = []
    once = Once(lambda x: met.append(0) or 2 * x)
    _, out = once.jaxpr(jax.ShapeDtypeStruct((3,), jnp.float32))
    assert out.shape == (3,)
    assert (once(jnp.ones(3)) == 2).all()
    assert len(met) == 1
