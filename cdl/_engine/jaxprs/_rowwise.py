"""What a case may do for one node, and not for the rows of many at once.

| in a case                                 | at many rows                               | write                       |
| ----------------------------------------- | ------------------------------------------ | --------------------------- |
| `jax.pure_callback` without `vmap_method` | JAX is not told how                        | `vmap_method="sequential"`  |
| `io_callback(…, ordered=True)`            | rows have no order                         | `ordered=False`             |
| `checkify.check`                          | asks for `checkify.checkify` around it     | `eqx.error_if`              |
| `jnp.argmax` of complex numbers           | JAX's error, as in `cata`                  | `jnp.argmax(jnp.abs(x))`    |
| `jax.jvp` through a `Many`                | has no tangent at rows                     | `jax.jvp` of `fold`         |
| draws with a key of `rbg`                 | draws other numbers than at each alone     | a key of `threefry2x32`     |
| `eqx.error_if`, `io_callback` in a branch | each row takes every branch                | `eqx.error_if` outside      |
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
from jax.extend.core import Jaxpr, JaxprEqn, Literal

from ...errors import CdlError
from ..arrays._lost import kind_of
from ..arrays._random_keys import THREEFRY
from ._jaxprs import inside


def expect_rowwise(jaxpr: Jaxpr, where: str) -> None:
    """**Raises:** `CdlError` where a case does what cannot be done for many rows. Its arguments are a row's."""
    _expect(jaxpr, [True] * len(jaxpr.invars), False, where)


def _expect(jaxpr: Jaxpr, given: Sequence[bool], chosen: bool, where: str) -> None:
    """`given`: which arguments are a row's. `chosen`: whether some rows alone are to run this."""
    for eqn, own in _followed(jaxpr, given)[0]:
        if words := _refused(eqn, any(own), chosen, where):
            raise CdlError(words)
        for inner, args, some in _inside(eqn, own):
            _expect(inner, args, chosen or some, where)


def _refused(eqn: JaxprEqn, own: bool, chosen: bool, where: str) -> str:
    """Why an equation cannot be run at many rows; nothing where it can. `own`: whether it reads what is a row's."""
    name = eqn.primitive.name
    if name == "pure_callback" and own and eqn.params.get("vmap_method") is None:
        return (
            f"`jax.pure_callback` calls the host {where} for one node, and a compiled form for many rows at once: say "
            'how, by `jax.pure_callback(…, vmap_method="sequential")`.'
        )
    if name == "io_callback" and eqn.params["ordered"]:
        return (
            f"`io_callback` with `ordered=True` calls the host {where} in an order, and a compiled form computes many "
            "rows at once, in no order: write `ordered=False`, or read one tree at a time with `cata`."
        )
    if name == "check":
        return (
            f"`checkify.check` {where} asks for `checkify.checkify` around the program, which does not go through a "
            "compiled form: write `eqx.error_if(x, …, …)`, which is raised without it."
        )
    if name in ("argmax", "argmin") and kind_of(_type_of(eqn.invars[0])) == "c":
        return f"`{name}` takes complex numbers {where}, which have no order: write `jnp.{name}(jnp.abs(x))`."
    if own and (name == "rng_bit_generator" or (name == "random_bits" and _type_of(eqn.invars[0]) != _threefry())):
        return (
            f"random numbers are drawn {where} of a `{_type_of(eqn.invars[0])}`. JAX draws others for many rows at "
            "once than for each alone, so that the definition and a compiled form would differ: give "
            f'`key=jax.random.key(0, impl="{THREEFRY}")`.'
        )
    if name == "custom_vmap_call" and _is_tangent_of_many(eqn.params["rule"]):
        return (
            f"a derivative is taken through a `Many` {where}, which has none inside a case: differentiate the compiled "
            "form itself, or annotate the field `tuple[X, ...]`."
        )
    if chosen and name in ("unvmap_any", "io_callback"):
        called = "eqx.error_if" if name == "unvmap_any" else "io_callback"
        return (
            f"`{called}` is in a branch of `jax.lax.cond`, or in a loop, {where}, which a node takes by its values. A "
            "compiled form computes every branch for every node, and `cata` one: put it outside of the branch, as in "
            "`eqx.error_if(x, taken & wrong, …)`."
        )
    return ""


def _type_of(v: Any) -> Any:
    return v.aval.dtype


def _is_tangent_of_many(rule: Any) -> bool:
    """Whether a rule of JAX is of the tangents of a reduction of a `Many`."""
    held = (cell.cell_contents for cell in getattr(rule, "__closure__", None) or ())
    return not hasattr(rule, "reduction") and any(hasattr(x, "reduction") for x in held)


@functools.cache
def _threefry() -> Any:
    """The type of keys of which each draws the same alone and among others."""
    return jax.eval_shape(lambda: jax.random.key(0, impl=THREEFRY)).dtype


def _followed(jaxpr: Jaxpr, given: Sequence[bool]) -> tuple[list[tuple[JaxprEqn, list[bool]]], list[bool]]:
    """The equations, each with which of the numbers that it reads are a row's; and which results are."""
    found = {v for v, yes in zip(jaxpr.invars, given, strict=True) if yes}
    is_own: Any = lambda v: not isinstance(v, Literal) and v in found
    each = []
    for eqn in jaxpr.eqns:
        each.append((eqn, [*map(is_own, eqn.invars)]))
        if any(each[-1][1]) and not eqn.primitive.name.startswith("unvmap"):  # which gives one number for all rows
            found.update(eqn.outvars)
    return each, [*map(is_own, jaxpr.outvars)]


def _inside(eqn: JaxprEqn, own: list[bool]) -> Iterator[tuple[Jaxpr, list[bool], bool]]:
    """The jaxprs inside an equation, which of their arguments are a row's, and whether some rows alone run them."""
    if eqn.primitive.name == "cond":
        for branch in eqn.params["branches"]:
            yield branch.jaxpr, own[1:], own[0]
    elif eqn.primitive.name == "while":
        test, body = (eqn.params[f"{x}_jaxpr"].jaxpr for x in ("cond", "body"))
        at, of = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        consts, carry = own[at : at + of], own[at + of :]
        while (after := [x or y for x, y in zip(carry, _followed(body, consts + carry)[1], strict=True)]) != carry:
            carry = after
        yield body, consts + carry, _followed(test, own[:at] + carry)[1][0]
    else:
        for inner in inside(eqn):
            same = len(inner.invars) == len(own)
            yield inner, own if same else [any(own)] * len(inner.invars), False
