"""`fold`: the catamorphism of a whole forest, compiled.

It is `cata` at every tree, as one program for all forests of a bucket. Reverse mode is a rule of its own in two
passes (see `_passes`); forward mode runs the same loops without it.
"""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._errors import CdlError
from ..algebra import Algebra
from ..algebra._algebra import wants_key
from ..functor import Base
from ._case import read, Reading
from ._forest import Forest
from ._passes import Passes
from ._residual import Remat
from ._walk import Arrays


T = TypeVar("T")
A = TypeVar("A")


def fold(
    alg: Algebra[Base[T, A], A],
    forest: Forest,
    *,
    key: PRNGKeyArray | None = None,
    forward: bool = False,
    remat: Remat = "cheap",
) -> A:
    """`cata(alg)` at every tree of a forest, in one compiled program: a catamorphism, batched.

    Differentiable in the algebra's arrays, in those that its cases close over, and in the forest's payload; works
    under `jit`, `vmap` and `grad`. Compiled for the forest's bucket, once.

    **Arguments:** `alg`: how to read one layer, for one node; the same object as for `cata`. `forest`: from `pack` or
    a `Corpus`. `key`: for algebras that take one; the node numbered `i` in pre-order of tree `t` gets
    `fold_in(fold_in(key, t), i)`. `forward`: leaves out the reverse rule, so that forward mode (`jvp`) goes through;
    reverse mode then does not. `remat`: what the reverse pass computes again rather than keeps: `"none"`, `"cheap"`
    (all but matrix products) or `"all"`.

    **Returns:** the values at the roots, in the order of the trees: the carrier with a leading axis of their number.

    **Raises:** `CarrierMismatch` where two constructors' cases differ in structure, shape or dtype, or a case gives
    nothing.
    """
    states, structure = _states(alg, forest, key, forward, remat)
    return jax.tree.unflatten(structure, [s[forest.roots] for s in states])


@eqx.filter_jit
def _states(alg: Any, forest: Forest, key: Any, forward: bool, remat: Remat) -> tuple[Arrays, Any]:
    """The state at every row, as leaves, and the carrier's structure."""
    if not forest.bucket.variants:
        raise CdlError("an empty forest has no constructor to find the carrier's structure at: give `pack` a `bucket`.")
    reading = Reading(alg, forest.bucket, key is not None and wants_key(alg))
    carrier, found = read(reading)
    weights = [p.weights for p in found]
    args = (jax.lax.stop_gradient(key) if reading.keyed else None, _integers(forest))
    rule = _plain if forward else _rule

    def passes(key: Any, integers: Any) -> Passes:
        return Passes(eqx.combine(integers, forest), found, carrier, key, remat)

    return rule((weights, list(forest.payload)), *args, passes=passes), carrier.structure


def _integers(forest: Forest) -> Forest:
    """The forest without its payload."""
    return eqx.tree_at(lambda f: f.payload, forest, tuple(None for _ in forest.payload), is_leaf=lambda x: x is None)


def _plain(inputs: Any, key: Any, integers: Any, *, passes: Any) -> Arrays:
    return passes(key, integers).forward(*inputs)


@eqx.filter_custom_vjp
def _rule(inputs: Any, key: Any, integers: Any, *, passes: Any) -> Any:
    return passes(key, integers).forward(*inputs)


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(perturbed: Any, inputs: Any, key: Any, integers: Any, *, passes: Any) -> Any:
    del perturbed
    states, tables = passes(key, integers).forward_and_keep(*inputs)
    return states, (states, tables)


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: Any, given: Any, perturbed: Any, inputs: Any, key: Any, integers: Any, *, passes: Any
) -> Any:
    states, tables = residuals
    over = passes(key, integers)
    given = [jnp.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(given, states, strict=True)]
    given = over.only_smooth(given)
    wanted = jax.tree.map(lambda x, yes: bool(yes) and jnp.issubdtype(x.dtype, jnp.inexact), inputs, perturbed)
    brought = over.cotangents(*inputs, states, tables, given)
    return over.parameters(*inputs, states, tables, given, brought, wanted)
