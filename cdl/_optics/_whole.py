"""Programs of sums and products, run on whole numbers instead of floating ones.

| the mathematics                                   | here                                                       |
| ------------------------------------------------- | ---------------------------------------------------------- |
| maps of rings `Z → Z/2³² → Z₂`                    | an `int32`, which wraps around; its lowest bit             |
| a polynomial, at integers mod 2³²                 | `on_whole(fn, *types)`                                     |
| integers, and their lowest bits                   | `whole(tree)`, `bits(numbers, kinds, sound)`               |

A floating sum is exact up to a bound only, `2²⁴` for 32 bits, and then it loses its lowest bit. That bit is the one
that counts mod 2. A sum that wraps around keeps it, however long the sum is.
"""

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import Literal

from .._engine.arrays.shapes import shaped
from ..errors import CdlError


Kinds: TypeAlias = tuple[np.dtype[Any], ...]

RING = set("add add_any sub neg mul square integer_pow dot_general conv_general_dilated scatter-add".split())
SUMS = set("reduce_sum reduce_prod cumsum cumprod".split())
MOVES = set(
    "broadcast_in_dim reshape transpose squeeze concatenate pad slice dynamic_slice dynamic_update_slice gather rev "
    "select_n copy split iota stop_gradient convert_element_type".split()
)
CALLS = {  # an operation that is a program itself, and where it keeps that
    **{name: "jaxpr" for name in ("jit", "pjit", "checkpoint")},
    **{name: "call_jaxpr" for name in ("closed_call", "custom_jvp_call", "custom_vjp_call")},
}


def on_whole(fn: Callable[..., Any], *types: Any) -> tuple[Callable[..., Any], Any]:
    """A function of floating arguments as one of whole numbers, and the types of its values.

    The one of whole numbers gives its value, and whether all constants that it has are whole.

    **Arguments:** `types`: those of its arguments.

    **Raises:** `CdlError` naming the first operation that is neither a sum nor a product.
    """
    program, out = jax.make_jaxpr(fn, return_shape=True)(*types)
    consts = [_constant(x) for x in program.consts]

    def run(*args: Any) -> Any:
        found = _run(program.jaxpr, [const for const, _ in consts], jax.tree.leaves(args))
        return jax.tree.unflatten(jax.tree.structure(out), found), all_of(sound for _, sound in consts)

    return run, out


def whole(tree: Any) -> Any:
    """Floating numbers that are whole, mod 2; and whether they are, where only the running program knows.

    **Raises:** `CdlError` for another number that is known now.
    """
    leaves, structure = jax.tree.flatten(tree)
    found = [_bit(x) for x in leaves]
    return jax.tree.unflatten(structure, [bit for bit, _ in found]), all_of(sound for _, sound in found)


def all_of(conditions: Iterable[Any]) -> Any:
    """Whether all conditions hold; `True`, and no operation of a program, where there are none."""
    unknown = [jnp.all(x) for x in conditions if x is not True]
    return functools.reduce(operator.and_, unknown) if unknown else True


def _bit(x: Any) -> tuple[Any, Any]:
    """A number mod 2, and whether it is whole."""
    traced = isinstance(x, Tracer)
    given, floor = (x, jnp.floor) if traced else (np.asarray(x), np.floor)
    bit = given - 2 * floor(given / 2)
    sound = bit * (bit - 1) == 0
    if not traced and not np.all(sound):
        raise CdlError(
            "a bit is a floating number 0 or 1, added and multiplied mod 2, and "
            f"{given[np.logical_not(sound)][0]} is not a whole number."
        )
    return bit.astype(np.int32), sound if traced else True


def bits(numbers: Any, kinds: Kinds, sound: Any) -> Any:
    """Whole numbers as floating bits, each of its dtype; NaN unless they are sound. `None` is the change of what has
    none, as in `cdl.reverse`."""
    leaves, structure = jax.tree.flatten(numbers)
    known: Callable[[Any], Any] = lambda x: x if sound is True else jnp.where(sound, x, jnp.nan)
    found = [
        None if x.dtype == jax.dtypes.float0 else known((x & 1).astype(kind))
        for x, kind in zip(leaves, kinds, strict=True)
    ]
    return jax.tree.unflatten(structure, found)


def kinds(tree: Any) -> Kinds:
    """The dtypes of a tree's leaves."""
    return tuple(jnp.result_type(x) for x in jax.tree.leaves(tree))


def types(tree: Any, kinds: Kinds) -> Any:
    """The types of a tree whose leaves have these dtypes, where whole numbers stand for them."""
    leaves, structure = jax.tree.flatten(tree)
    made = [shaped(jnp.shape(x), kind) for x, kind in zip(leaves, kinds, strict=True)]
    return jax.tree.unflatten(structure, made)


def _run(jaxpr: Any, consts: Any, args: Any) -> list[Any]:
    known: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    read: Callable[[Any], Any] = lambda x: _constant(x.val)[0] if isinstance(x, Literal) else known[x]
    for eqn in jaxpr.eqns:
        values, params = [read(x) for x in eqn.invars], eqn.params
        if eqn.primitive.name in CALLS:
            inner = params[CALLS[eqn.primitive.name]]
            open_inner = getattr(inner, "jaxpr", inner)
            found = _run(open_inner, [_constant(x)[0] for x in getattr(inner, "consts", ())], values)
        else:
            _refuse_unless_of_the_ring(eqn)
            made = eqn.primitive.bind(*values, **{name: _param(name, value) for name, value in params.items()})
            found = made if eqn.primitive.multiple_results else [made]
        known.update(zip(eqn.outvars, found, strict=True))
    return [read(x) for x in jaxpr.outvars]


def _refuse_unless_of_the_ring(eqn: Any) -> None:
    """That an operation on floating numbers is one that all rings have, or only moves them."""
    name, params = eqn.primitive.name, eqn.params
    comes, goes = ([_floating(x.aval.dtype) for x in side] for side in (eqn.invars, eqn.outvars))
    if not any(comes + goes):
        return
    rounds = name == "convert_element_type" and not all(goes)
    fills = params.get("fill_value") not in (None, 0)
    if name not in RING | SUMS | MOVES or rounds or fills or params.get("y", 0) < 0:
        raise CdlError(
            f"a map of bits is made of sums and products, and `{name}` is neither: write it with `+`, `-`, `*`, `@` "
            "and sums or products along an axis. All of it is taken mod 2 already."
        )


def _constant(x: Any) -> tuple[Any, Any]:
    return _bit(x) if _floating(jnp.result_type(x)) else (x, True)


def _param(name: str, value: Any) -> Any:
    """What an operation on floating numbers is told about their type, as for whole numbers."""
    if name == "update_jaxpr":
        return _sum()
    typed = name in ("new_dtype", "preferred_element_type", "dtype") and value is not None
    return jnp.dtype(jnp.int32) if typed and _floating(value) else value


def _sum() -> Any:
    whole = jax.ShapeDtypeStruct((), jnp.int32)
    return jax.make_jaxpr(lambda x, y: x + y)(whole, whole).jaxpr


def _floating(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.inexact))
