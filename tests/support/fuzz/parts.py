"""Cells that take more than a line: what the texts of `cells.py` name. Each closes over another constant."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .helpers import D


class Recurrent(eqx.Module):
    """A cell of a recurrent network, that reads the vector and begins with another."""

    cell: Any

    def __call__(self, x: Any) -> Any:
        h = self.cell(x, (x, jnp.tanh(x))) if isinstance(self.cell, eqx.nn.LSTMCell) else self.cell(x, jnp.tanh(x))
        return h[0] + h[1] if isinstance(h, tuple) else h


class Several(eqx.Module):
    """The sum of cells, each times another number."""

    cells: Any

    def __call__(self, x: Any) -> Any:
        return sum(cell(x).astype(x.dtype) * (0.3 + i % 7 / 10) for i, cell in enumerate(self.cells))


class Attention(eqx.Module):
    layer: Any

    def __call__(self, x: Any) -> Any:
        rows = jnp.stack([x, jnp.sin(x)])
        return self.layer(rows, rows, rows)[0]


class Convolution(eqx.Module):
    layer: Any

    def __call__(self, x: Any) -> Any:
        return self.layer(x[None])[0]


def attending(x: Any) -> Any:
    wide = x.astype(jnp.result_type(x.dtype, "float32"))  # not every batch of 16 bits has a product on a CPU
    rows = jnp.stack([wide, jnp.sin(wide)])[:, None]
    return jax.nn.dot_product_attention(rows, rows, rows)[0, 0].astype(x.dtype)


def jitted_cell(c: int) -> Callable[[Any], Any]:
    by = jnp.arange(1.0, 1 + D) * c

    @jax.jit
    def cell(x: Any) -> Any:
        return jnp.sin(x * by.astype(x.dtype))

    return cell


def closing(c: int) -> Callable[[Any], Any]:
    by = np.arange(1.0, 1 + D, dtype="float32") * c
    return lambda x: jnp.sin(x * by.astype(x.dtype))


def ruled_forward(c: int) -> Callable[[Any], Any]:
    by = jnp.full(D, 1.0 + c)

    @jax.custom_jvp
    def cell(x: Any) -> Any:
        return jnp.tanh(x * by.astype(x.dtype))

    @cell.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return cell(*primals), 0.5 * tangents[0]

    return jax.jit(cell)


def ruled_backward(c: int) -> Callable[[Any], Any]:
    by = jnp.full(D, 1.0 + c)

    @jax.custom_vjp
    def cell(x: Any) -> Any:
        return jnp.tanh(x * by.astype(x.dtype))

    cell.defvjp(lambda x: (cell(x), x), lambda x, g: (g * jnp.cos(x) * by.astype(x.dtype),))
    return jax.jit(cell)


def ruled_batch(c: int) -> Callable[[Any], Any]:
    @jax.custom_batching.custom_vmap
    def cell(x: Any) -> Any:
        return jnp.sin(x * c)

    @cell.def_vmap
    def rule(size: int, batched: Any, x: Any) -> Any:
        return jnp.sin(x * c), True

    return cell


def calling(c: int) -> Callable[[Any], Any]:
    def host(x: Any) -> Any:
        return (np.sin(np.asarray(x)) * c).astype(x.dtype)

    return lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")


def word_jit(c: int) -> Callable[[Any], Any]:
    by = jnp.arange(4, dtype="uint32") + c

    @jax.jit
    def cell(h: Any) -> Any:
        return h * 7 + by[h % 4]

    return cell


def word_closure(c: int) -> Callable[[Any], Any]:
    by = np.arange(4, dtype="uint32") + np.uint32(c)
    return lambda h: h * 7 + jnp.asarray(by)[h % 4]


def word_callback(c: int) -> Callable[[Any], Any]:
    host = lambda h: (np.asarray(h, "uint64") * 3 + np.uint64(c)).astype("uint32")
    return lambda h: jax.pure_callback(host, jax.ShapeDtypeStruct(h.shape, h.dtype), h, vmap_method="expand_dims")


def word_jvp(c: int) -> Callable[[Any], Any]:
    by = jnp.full((), c, "uint32")
    cell = jax.custom_jvp(lambda h: h * 5 + by)
    cell.defjvp(lambda primals, tangents: (cell(*primals), tangents[0]))
    return jax.jit(cell)


def word_vmap(c: int) -> Callable[[Any], Any]:
    cell = jax.custom_batching.custom_vmap(lambda h: h * 11 + jnp.uint32(c))
    cell.def_vmap(lambda size, batched, h: (h * 11 + jnp.uint32(c), True))
    return cell
