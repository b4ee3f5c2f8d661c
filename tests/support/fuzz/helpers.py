"""What the programs call: each is written into a program that names it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

import cdl


D = 3  # how long vectors are


def weights(seed: int, names: list[str], dtype: str) -> dict[str, jax.Array]:
    """Three vectors for each name."""
    keys = jr.split(jr.key(seed), len(names))
    return {n: (0.7 * jr.normal(k, (3, D), np.dtype("f4"))).astype(dtype) for n, k in zip(names, keys, strict=True)}


def mix(h: Any, x: Any) -> Any:
    """Two numbers of 32 bits as one; it does not commute."""
    h = (h ^ (h >> 15)) * jnp.uint32(0x2C1B3C6D) + x
    return (h ^ (h >> 12)) * jnp.uint32(0x297A2D39)


def bits(payload: Any) -> Any:
    """The bits of a payload, and the types in it, as one number of 32 bits."""
    found = jnp.uint32(len(jax.tree.leaves(payload)))
    for leaf in jax.tree.leaves(payload):
        x = jnp.asarray(leaf)
        found = mix(found, jnp.uint32(sum(map(ord, str(x.dtype)))))
        for part in (x.real, x.imag) if jnp.iscomplexobj(x) else (x,):
            if jnp.issubdtype(part.dtype, jnp.inexact):
                part = jax.lax.bitcast_convert_type(part, f"uint{8 * part.dtype.itemsize}")
            for shift in (0, 32) if part.dtype.itemsize == 8 else (0,):
                for i, word in enumerate(jnp.ravel((part >> shift if shift else part).astype("uint32"))):
                    found = mix(found, word + jnp.uint32(i))
    return found


def number(payload: Any) -> Any:
    """A payload as one smooth number, of at least 32 bits."""
    found = jnp.full((), 0.25, "float32")
    for leaf in jax.tree.leaves(payload):
        x = jnp.asarray(leaf)
        x = x.real + 2 * x.imag if jnp.iscomplexobj(x) else x
        small = not jnp.issubdtype(x.dtype, jnp.inexact) or x.dtype.itemsize < 4
        x = jnp.sin(x.astype("float32") if small else x)
        found = 0.5 * found + jnp.sum(x)
    return found


def chain(zero: Any, join: Any) -> Any:
    """An algebra of lists, for `Many.fold`."""

    @cdl.algebra
    def read(layer: Any) -> Any:
        return zero if isinstance(layer, cdl.Nil) else join(layer.tail, layer.head)

    return read


def probe(value: Any) -> Any:
    """One number that depends on each number of floating point in a value."""
    leaves = [x for x in map(jnp.asarray, jax.tree.leaves(value)) if jnp.issubdtype(x.dtype, jnp.inexact)]
    wide = [x.real.astype(jnp.result_type(x.real.dtype, "float32")) for x in leaves]
    parts = [jnp.sum(x * jnp.cos(1.0 + jnp.arange(x.size).reshape(x.shape)).astype(x.dtype)) for x in wide]
    return sum(parts, jnp.zeros((), "float32"))


def moved(data: Any, by: Any) -> Any:
    """Trees or arrays with each number of floating point moved, by what depends on it."""
    return jax.tree.map(lambda x: x + (by * jnp.cos(3 * x)).astype(x.dtype) if eqx.is_inexact_array(x) else x, data)


def arrays(tree: Any) -> Any:
    """A tree whose payload is of arrays, each number of Python of the type that JAX gives it."""
    return jax.tree.map(lambda x: jnp.asarray(x) if hasattr(x, "dtype") else jnp.array(x, type(x)), tree)


def over(alg: Any, by: Any) -> Any:
    """A function of a layer that closes over an algebra and over an array, which it multiplies values by."""

    @cdl.algebra
    def closed(layer: Any) -> Any:
        times = lambda x: x * by.astype(x.dtype) if eqx.is_inexact_array(x) else x
        return jax.tree.map(times, alg(layer))

    return closed


def scaled(params: Any, by: Any) -> Any:
    return jax.tree.map(lambda x: x * by.astype(x.dtype) if eqx.is_inexact_array(x) else x, params)


def value(f: Any) -> Any:
    return f


def gradient(f: Any) -> Any:
    return eqx.filter_grad(lambda params: probe(f(params)))


def mapped(f: Any) -> Any:
    return lambda params: jax.vmap(lambda by: f(scaled(params, by)))(jnp.array([1.0, 0.5, -1.5]))


def pushed(f: Any) -> Any:
    one = jnp.array(1.0)
    return lambda params: jax.jvp(lambda by: f(scaled(params, by)), (one,), (one,))


def curved(f: Any) -> Any:
    """The Hessian times the parameters."""
    one = jnp.array(1.0)
    slope = eqx.filter_grad(lambda params: probe(f(params)))
    return lambda params: jax.jvp(lambda by: slope(scaled(params, by)), (one,), (one,))[1]
