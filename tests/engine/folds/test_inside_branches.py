"""Reductions of a `Many` inside branches and loops of JAX, and branches that most rows of a chunk do not take."""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import agrees, inherits
from few import few

from cdl import Algebra, Base, fmap, Many, pack


X = TypeVar("X", covariant=True)


class Pairs:
    """The name of the functor `R + Many X × X`."""


class End(Base[Pairs, Never]):
    value: float


class Pair(Base[Pairs, X], Generic[X]):
    many: Many[X]
    one: X


PairsF = Union[End, Pair[X]]
ONES = np.array([1.0, 2.0, 0.5])


class Net(Algebra[Any, Any]):
    """A case with weights, of a `Many` and one child."""

    scale: jax.Array
    weight: jax.Array
    case: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, layer: Any) -> Any:
        if isinstance(layer, End):
            return self.scale * layer.value
        return self.case(self.weight, layer.many, layer.one)


def net(case: Callable[..., Any]) -> Net:
    return Net(jnp.array(2.0), jnp.array(1.5), case)


def pair(many: list[Any], one: Any) -> Any:
    return Pair(
        Many([End(x) if isinstance(x, float) else x for x in many]), End(one) if isinstance(one, float) else one
    )


# the first row of a chunk takes the other branch than the second; in some, the root does not read `one`
TREES = [
    pair([1.0], pair([5.0], 1.0)),
    pair([10.0, 3.0], -1.0),
    pair([20.0], 1.0),
    pair([pair([7.0, -2.0], 1.0)], pair([5.0], -1.0)),
    pair([], 0.0),
]

REDUCED: dict[str, Callable[..., Any]] = {
    "sum": lambda w, many: many.map(lambda x: w * x).sum(0.0),
    "max": lambda w, many: many.max(0.0) * w,
    "attend": lambda w, many: many.attend(lambda x: w * x / 10, 0.0),
    "list": lambda w, many: many.map(lambda x: jnp.stack([w, x])).sum(jnp.zeros(2)).sum(),
}

AROUND: dict[str, Callable[..., Any]] = {
    "cond": lambda w, many, one, of: jax.lax.cond(one > 0, lambda: of(w, many), lambda: one),
    "switch": lambda w, many, one, of: jax.lax.switch((one > 0).astype(int), [lambda: one, lambda: of(w, many) * one]),
    "nested": lambda w, many, one, of: jax.lax.cond(
        one > 0, lambda: jax.lax.cond(one > 3, lambda: of(w, many), lambda: one * w), lambda: of(w * w, many) + one
    ),
    "vmap": lambda w, many, one, of: jax.vmap(lambda r: of(w * r, many))(ONES).sum(),
    "scan": lambda w, many, one, of: jax.lax.scan(lambda c, r: (c + of(w * r, many), None), 0.0 * w, ONES)[0],
    "loop": lambda w, many, one, of: jax.lax.fori_loop(0, 2, lambda i, c: c + of(w, many) * (i + 1), 0.0 * w),
    "map": lambda w, many, one, of: jax.lax.map(lambda r: of(w * r, many), ONES).sum(),
    "vmap of cond": lambda w, many, one, of: jax.vmap(
        lambda r: jax.lax.cond(r > 0.7, lambda: of(w * r, many), lambda: r)
    )(ONES).sum(),
    "checkpoint": lambda w, many, one, of: jax.checkpoint(lambda w: of(w, many))(w),
}  # fmt: skip


PAIRS = [(around, how) for how in REDUCED for around in AROUND]
FIRST = [
    ("cond", "max"), ("switch", "attend"), ("nested", "list"), ("vmap of cond", "attend"), ("scan", "max"),
    ("loop", "sum"), ("vmap", "sum"), ("checkpoint", "sum"),
]  # fmt: skip


@pytest.mark.parametrize(("around", "how"), few(PAIRS, *map(PAIRS.index, FIRST)))
def test_a_reduction_inside_is_the_definition_s(around, how):
    with jax.enable_x64(True):
        alg = net(lambda w, many, one: AROUND[around](w, many, one, REDUCED[how]))
        agrees(pack(PairsF, TREES), TREES, alg, 1e-10)


GUARDED: dict[str, Callable[..., Any]] = {
    "root": lambda w, many, one: jax.lax.cond(one > 0, lambda: jnp.sqrt(one) * w, lambda: one * w),
    "of a weight times what is infinite": lambda w, many, one: jax.lax.cond(
        one == 0, lambda: w, lambda: jnp.dot(jnp.stack([w, w]), jnp.stack([1 / one, one]))
    ),
    "a product": lambda w, many, one: jax.lax.cond(
        one == 0, lambda: w, lambda: (jnp.full((1, 2), w) @ jnp.stack([1 / one, one]))[0]
    ),
    "root of a product": lambda w, many, one: jax.lax.cond(
        one > 0, lambda: jnp.sqrt(jnp.full((1, 2), w) @ jnp.stack([one, 0.0 * one]))[0], lambda: w * one
    ),
    "at children": lambda w, many, one: many.map(
        lambda x: jax.lax.cond(x > 0, lambda: jnp.log(x) * w, lambda: x)
    ).sum(0.0) + one,
    "of children": lambda w, many, one: jax.lax.cond(
        one > 0, lambda: many.map(lambda x: jnp.sqrt(x * x) * w).sum(0.0) / one, lambda: one + w
    ),
    "root of a weight": lambda w, many, one: jax.lax.cond(
        one > 100, lambda: jnp.sqrt(w - 1.5) * one, lambda: one * w
    ),
    "root of a weight at children": lambda w, many, one: many.map(
        lambda x: jax.lax.cond(x > 100, lambda: jnp.sqrt(w - 1.5), lambda: x * w)
    ).sum(0.0) + one,
    "switch": lambda w, many, one: jax.lax.switch(
        jnp.sign(one).astype(int) + 1, [lambda: one * w, lambda: w, lambda: w * jnp.log(one) / one]
    ),
    "nested": lambda w, many, one: jax.lax.cond(
        one != 0, lambda: jax.lax.cond(one > 0, lambda: w * jnp.sqrt(one), lambda: w / one), lambda: one
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", few(GUARDED, 0, 3, 4, 6, 9))
def test_a_branch_that_is_not_taken_has_no_gradient(name):
    """Where it is infinite, or its slope is."""
    trees = [*TREES, pair([0.0, 2.0], 0.0), pair([pair([0.0], 0.0), 0.0], 4.0)]
    with jax.enable_x64(True):
        agrees(pack(PairsF, trees), trees, net(GUARDED[name]), 1e-10)


class Down(eqx.Module):
    """A step that hands to all children a number of them."""

    weight: jax.Array
    around: str = eqx.field(static=True)

    def __call__(self, x: Any, layer: Any) -> Any:
        if isinstance(layer, End):
            return layer
        below = AROUND[self.around](self.weight * x, layer.many, layer.one, REDUCED["sum"])
        return fmap(lambda _: below, layer)


@pytest.mark.parametrize("around", ["cond", "vmap"])
def test_a_step_down_reads_children_inside_a_branch(around):
    with jax.enable_x64(True):
        models = net(lambda w, many, one: w * many.sum(0.0) + one), Down(jnp.array(0.5), around)
        inherits(pack(PairsF, TREES), TREES, models, jnp.array([1.0, -0.5, 2.0, 1.0, 0.5]))
