"""The value of an algebra at every row of a forest, and its derivative.

Reverse mode is a rule of its own in two passes (see `_passes`); forward mode runs the same loops without it.
"""

from typing import Any, get_args

import equinox as eqx
import jax

from ..._errors import CdlError, ForeignLayer, SignatureError
from ...algebra._algebra import foreign, name_of, reads, wants_key
from ...algebra._expect import expect_algebras
from ...functor import Monoid
from ...functor._base import anew
from ...functor._read import signature_name
from ...functor._words import number_of, short
from .._compiled import compiled
from .._traced import reverse_only
from ..forests._forest import Forest
from ._case import read, Reading
from ._passes import Passes
from ._residual import filled, Remat, wanted
from ._walk import Arrays


def at_rows(
    of: str, alg: Any, forest: Forest, *, key: Any = None, forward: bool = False, remat: Any = "cheap"
) -> tuple[Any, ...]:
    """The value at every row, for each sort. `of`: the function that asks for them."""
    if isinstance(alg, Monoid):
        raise CdlError(f"`{of}` reads a `Forest` with an algebra, and was given a `Monoid`, which reads sequences.")
    algs = alg if isinstance(alg, tuple) else (alg,)
    expect_algebras(of, algs, several="in a tuple")
    _check_sorts(of, algs, forest)
    if remat not in get_args(Remat):
        ways = ", ".join(f'"{way}"' for way in get_args(Remat))
        raise CdlError(f"`remat` is {short(remat)}, and a `Forest` is read with one of {ways}: give one of these.")
    with reverse_only(of, f"write `{of}(…, forward=True)`, which leaves that rule out, or use reverse mode"):
        states = _states(algs, forest, key, forward, remat)
    return tuple(states.get(s) for s in range(len(algs)))


def _check_sorts(of: str, algs: tuple[Any, ...], forest: Forest) -> None:
    if len(algs) != len(forest.family):
        raise SignatureError(
            f"the forest has {number_of('sort', len(forest.family))}, and `{of}` was given "
            f"{number_of('algebra', len(algs))}: give one for each sort, in a tuple, in the order in which `pack` was "
            "given the signatures."
        )
    for sort, (alg, functor) in enumerate(zip(algs, forest.family, strict=True)):
        read = reads(alg)
        if read and not set(read) & set(functor.constructors):
            wanted, found = map(signature_name, (functor.constructors, read))
            raise SignatureError(
                f"sort {sort} of the forest is `{wanted}`, and `{name_of(alg)}` reads `{found}`: give the algebras in "
                "the order in which `pack` was given the signatures."
                f"{anew(functor.constructors, read)}"
            )
        for v in forest.bucket.variants:
            if read and v.sort == sort and v.constructor not in read:
                raise ForeignLayer(foreign(v.constructor, read))


@compiled
def _states(algs: Any, forest: Forest, key: Any, forward: bool, remat: Remat) -> dict[int, Any]:
    """The value at every row, for each sort that the forest has."""
    if not forest.bucket.variants:
        raise CdlError("an empty forest has no constructor to find the carrier's structure at: give `pack` a `bucket`.")
    keyed = key is not None and any(map(wants_key, algs))
    reading = Reading(algs, forest.bucket, jax.eval_shape(jax.random.fold_in, key, 0) if keyed else None)
    storage, found = read(reading)
    weights = [p.weights for p in found]
    args = (jax.lax.stop_gradient(key) if keyed else None, forest.schedule)
    rule = _plain if forward else _rule

    def passes(key: Any, integers: Any) -> Passes:
        return Passes(eqx.combine(integers, forest), found, storage, key, remat)

    states = rule((weights, list(forest.payload)), *args, passes=passes)
    return {s: c.given_back([states[i] for i in storage.columns(s)]) for s, c in storage.carriers.items()}


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
    given = filled(given, states)
    brought = over.cotangents(*inputs, states, tables, given)
    return over.parameters(*inputs, states, tables, given, brought, wanted(inputs, perturbed))
