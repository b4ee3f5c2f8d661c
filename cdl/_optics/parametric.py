"""Parametrised optics as optics: the ways to make one, and how each is run over a batch.

A parametrised optic is an optic out of a pair `P × X`, parameters first. `over_batch` lifts the functor `(-)ⁿ` by its
strength: the parameters are copied to every row, so that on the way back their changes are added.

A layer may draw random numbers, as dropout does. `keyed(optic, key)` is the same optic with a key for each such layer;
a batch has one for each of its rows.
"""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, PRNGKeyArray

from .. import _terms as t
from .._functors.ordered import two
from .lens import Lens
from .optic import Named, Optic
from .reversal import pullback


AnyOptic = Optic[Any, Any, Any, Any]


@final
class Layer(Optic[Any, Any, Any, Any]):
    """`(f, R[f])` of a map `P × X → Y`; where `inputs` is false `X` is data, and its changes are `()`.

    It knows its name and how many numbers its parameters are, for pictures.
    """

    fn: Callable[[Any, Any], Any]
    name: str = eqx.field(static=True)
    size: int = eqx.field(static=True)
    inputs: bool = eqx.field(static=True)
    takes_key: bool = eqx.field(static=True, default=False)
    key: PRNGKeyArray | None = None

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        params, x = pair
        how = {} if self.key is None else {"key": self.key}
        if self.inputs:
            return pullback(lambda pair: self.fn(*pair, **how), pair)
        return pullback(lambda params: self.fn(params, x, **how), params)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        (change,) = residual(dy)
        return change if self.inputs else (change, ())

    def __term__(self) -> t.Term:
        return t.Box(t.Space(back=self.inputs), t.Space(), t.parameters(self.size), self.name)


@final
class Sequence(Optic[Any, Any, Any, Any]):
    """`(P × Q) × X → Z`, of two parametrised optics one after the other."""

    first: AnyOptic
    second: AnyOptic

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        (p, q), x = pair
        y, m = self.first.forward((p, x))
        z, n = self.second.forward((q, y))
        return z, (m, n)

    def backward(self, residual: Any, dz: Any, /) -> Any:
        m, n = residual
        dq, dy = self.second.backward(n, dz)
        dp, dx = self.first.backward(m, dy)
        return (dp, dq), dx

    def __term__(self) -> t.Term:
        return t.then(t.parametrised(self.first.__term__()), t.parametrised(self.second.__term__()))


@final
class Beside(Optic[Any, Any, Any, Any]):
    """`(P × Q) × (X × V) → Y × W`, of two parametrised optics side by side."""

    first: AnyOptic
    second: AnyOptic

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        (p, q), inputs = pair
        x, v = two("f @ g", inputs)
        y, m = self.first.forward((p, x))
        w, n = self.second.forward((q, v))
        return (y, w), (m, n)

    def backward(self, residual: Any, change: Any, /) -> Any:
        (m, n), (dy, dw) = residual, two("f @ g", change)
        dp, dx = self.first.backward(m, dy)
        dq, dv = self.second.backward(n, dw)
        return (dp, dq), (dx, dv)

    def __term__(self) -> t.Term:
        return t.beside(t.parametrised(self.first.__term__()), t.parametrised(self.second.__term__()))


@final
class Along(Optic[Any, Any, Any, Any]):
    """`Q × X → Y`, of a parametrised optic and a 2-cell: an optic from `Q` to `P`."""

    cell: AnyOptic
    optic: AnyOptic

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        p, m = self.cell.forward(pair[0])
        y, n = self.optic.forward((p, pair[1]))
        return y, (m, n)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        m, n = residual
        dp, dx = self.optic.backward(n, dy)
        return self.cell.backward(m, dp), dx

    def __term__(self) -> t.Term:
        return t.along(t.parametrised(self.optic.__term__()), t.plain(self.cell.__term__()))


@final
class Batched(Optic[Any, Any, Any, Any]):
    """Any parametrised optic, row by row."""

    optic: AnyOptic
    key: PRNGKeyArray | None = None

    def forward(self, pair: Any, /) -> tuple[Any, Any]:
        params, xs = pair
        if self.key is None:
            return jax.vmap(lambda x: self.optic.forward((params, x)))(xs)
        return jax.vmap(lambda key, x: keyed(self.optic, key).forward((params, x)))(_keys(self.key, xs), xs)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        dp, dx = jax.vmap(self.optic.backward)(residual, dy)
        return jax.tree.map(lambda change: jnp.sum(change, axis=0), dp), dx

    def __term__(self) -> t.Term:
        return t.parametrised(self.optic.__term__())


def over_batch(optic: AnyOptic) -> AnyOptic:
    """The same over an axis in front: `Batched`, taken inside, where a layer is differentiated as a whole."""
    match optic:
        case Layer(fn, name, size, inputs, takes_key):
            return Layer(_EachRow(fn), name, size, inputs, takes_key)
        case Sequence(first, second):
            return Sequence(over_batch(first), over_batch(second))
        case Beside(first, second):
            return Beside(over_batch(first), over_batch(second))
        case Along(cell, inner):
            return Along(cell, over_batch(inner))
        case Named(inner, name):
            return Named(over_batch(inner), name)
        case _:
            return Batched(optic)


@final
class _EachRow(eqx.Module):
    """A map `P × X → Y` at each row of an axis in front, with the same parameters."""

    fn: Callable[..., Any]

    def __call__(self, params: Any, xs: Any, key: PRNGKeyArray | None = None) -> Any:
        if key is None:
            return jax.vmap(self.fn, in_axes=(None, 0))(params, xs)
        return jax.vmap(lambda key, x: self.fn(params, x, key=key))(_keys(key, xs), xs)


def keyed(optic: AnyOptic, key: PRNGKeyArray) -> AnyOptic:
    """The same, where the layer numbered `i` of those that take a key has `fold_in(key, i)`.

    A lens goes forward twice, so the layers inside of one have no key.
    """
    number = itertools.count()

    def give(part: Any) -> Any:
        return dataclasses.replace(part, key=jr.fold_in(key, next(number))) if _takes_key(part) else part

    return jax.tree.map(give, optic, is_leaf=_is_whole)


def takes_key(optic: AnyOptic) -> bool:
    """Whether some layer takes a key, so that `keyed` changes something."""
    return any(map(_takes_key, jax.tree.leaves(optic, is_leaf=_is_whole)))


def _takes_key(part: Any) -> bool:
    return isinstance(part, Batched) or (isinstance(part, Layer) and part.takes_key)


def _is_whole(part: Any) -> bool:
    return isinstance(part, Layer | Batched | Lens)


def _keys(key: PRNGKeyArray, xs: Any) -> Array:
    """A key for each row."""
    return jr.split(key, jnp.shape(jax.tree.leaves(xs)[0])[0])
