"""Algebras of lists, for both directions: cells that do not commute, and one that has everything a case may have."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from cdl import Algebra, Cons, ListF, Nil
from cdl.functors import Lin, Snoc, SnocF


D, H = 3, 4
Layer = Any


class Net(eqx.Module):
    """The value of no element, and a cell from an element and a state to the next state."""

    start: Any
    cell: Any

    def read(self, layer: Layer, **key: Any) -> Any:
        match layer:
            case Nil() | Lin():
                return self.start
            case Cons(x, state) | Snoc(state, x):
                return self.cell(x, state, **key)


class FromEnd(Algebra[ListF[Any, Any], Any]):
    net: Net

    def __call__(self, layer: ListF[Any, Any]) -> Any:
        return self.net.read(layer)


class FromStart(Algebra[SnocF[Any, Any], Any]):
    net: Net

    def __call__(self, layer: SnocF[Any, Any]) -> Any:
        return self.net.read(layer)


class Noisy(Algebra[ListF[Any, Any], Any]):
    net: Net

    def __call__(self, layer: ListF[Any, Any], *, key: Any = None) -> Any:
        value = self.net.read(layer)
        return value if key is None else value + jr.normal(key, value.shape, value.dtype)


class NoisyFromStart(Noisy, Algebra[SnocF[Any, Any], Any]):
    def __call__(self, layer: SnocF[Any, Any], *, key: Any = None) -> Any:
        return super().__call__(layer, key=key)


class Elman(eqx.Module):
    across: jax.Array
    into: jax.Array
    bias: jax.Array

    def __call__(self, x: Any, state: Any) -> Any:
        return jnp.tanh(self.across @ state + self.into @ x + self.bias)


class Gru(eqx.Module):
    cell: eqx.nn.GRUCell

    def __call__(self, x: Any, state: Any) -> Any:
        return self.cell(x, state)


class Lstm(eqx.Module):
    cell: eqx.nn.LSTMCell

    def __call__(self, x: Any, state: Any) -> Any:
        return self.cell(x, state)


class Everything(eqx.Module):
    """Elements of several leaves, a count in the state, inner calls, loops and rules, weights in several places."""

    embedding: jax.Array
    first: jax.Array
    across: jax.Array
    scale: jax.Array

    def __call__(self, x: Any, state: Any) -> Any:
        count, (h, unused) = state
        word = jnp.tanh(self.first @ self.embedding[x["token"]])  # what does not depend on the state, and is curved
        inner = jax.jit(lambda a, b: jnp.where(a > b, a * self.scale, self.scale - b))
        mixed = inner(h, word) + x["x"][0] * h  # an element that meets the state as it is
        twice = jax.lax.scan(lambda s, w: (jnp.sin(self.across @ s + w), None), mixed, jnp.stack([word, self.scale]))[0]
        bent = jax.nn.relu(twice) + jnp.sum(x["x"]) * jax.nn.softplus(self.across[0] * h[0])
        return count + 1, (jnp.tanh(bent + jnp.asarray(count, h.dtype)), unused * 0.5)


def net(name: str, key: jax.Array, dtype: Any) -> Net:
    """A cell by its name, with the value it starts from."""
    keys = jr.split(key, 8)
    normal = lambda i, *shape: jr.normal(keys[i], shape, dtype)
    match name:
        case "elman":
            return Net(normal(0, H), Elman(normal(1, H, H), normal(2, H, D), normal(3, H)))
        case "gru":
            return Net(normal(0, H), Gru(eqx.nn.GRUCell(D, H, dtype=dtype, key=keys[1])))
        case "lstm":
            return Net((normal(0, H), normal(1, H)), Lstm(eqx.nn.LSTMCell(D, H, dtype=dtype, key=keys[2])))
        case _:
            cell = Everything(normal(0, 9, D), normal(1, H, D), normal(2, H, H), normal(3, H))
            return Net((0, (normal(4, H), normal(5, 2))), cell)


def elements(name: str, key: jax.Array, lengths: list[int], dtype: Any) -> list[Any]:
    """Lists for a cell, each stacked."""
    keys = [jr.fold_in(key, i) for i in range(len(lengths))]
    xs = [jr.normal(k, (n, D), dtype) for k, n in zip(keys, lengths, strict=True)]
    if name != "everything":
        return xs
    return [{"x": x, "token": jr.randint(k, (len(x),), 0, 9)} for k, x in zip(keys, xs, strict=True)]
