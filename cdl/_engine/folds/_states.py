"""The value of an algebra at every row of a forest, and its derivative.

Reverse mode has a custom rule in two passes (see `_passes`); forward mode runs the same loops without it.
"""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from ..._functors import Monoid
from ..._functors.base import anew
from ..._functors.read import signature_name
from ..._schemes.algebras import foreign, name_of, reads, wants_key
from ..._schemes.expect import expect_algebras
from ...errors import CdlError, ForeignLayer, SignatureError
from ..arrays._rows import take
from ..arrays.shapes import Arrays, is_smooth
from ..calls._compiled import compiled
from ..calls._strategies import Levels
from ..calls._traced import reverse_only
from ..forests._forest import Forest
from ..jaxprs._one_reverse import forwards_only, of_forward, of_rule
from ._kernel import Tables
from ._options import expect_as_many
from ._passes import Passes
from ._pre_order import in_pre_order
from ._residual import wanted
from .case import read, Reading


Inputs = tuple[list[Arrays], Arrays]  # the weights of each program, and the payload
Making = Callable[[jax.Array | None, Forest], Passes]  # from the key and the forest's whole numbers; holds no array
Found = tuple[list[Arrays], jax.Array | None]  # values, for each sort, and the row at which each node has its own


def values(
    of: str,
    alg: Any,
    forest: Forest,
    key: jax.Array | None,
    how: Levels | None,
    *,
    at_roots: bool,
) -> tuple[Any, ...]:
    """The values at the roots, by tree, or at every node in pre-order, for each sort. `of`: the function that asks for
    them."""
    if isinstance(alg, Monoid):
        raise CdlError(f"`{of}` reads a `Forest` with an algebra, and was given a `Monoid`, which reads sequences.")
    algs = alg if isinstance(alg, tuple) else (alg,)
    expect_algebras(of, algs, several="in a tuple")
    _check_sorts(of, algs, forest)
    how = Levels() if how is None else how
    write = f"write `{of}(…, how=Levels(forward=True))`, which leaves that rule out, or use reverse mode"
    with reverse_only(of, write):
        found = _values(algs, forest, key, how.forward, how.remat == "cheap", at_roots)
    return tuple(found.get(s) for s in range(len(algs)))


def _check_sorts(of: str, algs: tuple[Any, ...], forest: Forest) -> None:
    expect_as_many(of, forest, "algebra", len(algs))
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
def _values(
    algs: tuple[Any, ...], forest: Forest, key: jax.Array | None, forward: bool, keep: bool, at_roots: bool
) -> dict[int, Any]:
    """The values at roots or nodes, for each sort that the forest has."""
    if not forest.bucket.variants:
        raise CdlError("an empty forest has no constructor to find the carrier's structure at: give `pack` a `bucket`.")
    keyed = key is not None and any(map(wants_key, algs))
    reading = Reading(algs, forest.bucket, jax.eval_shape(jax.random.fold_in, key, 0) if keyed else None, forward)
    storage, programs, weights = read(reading)
    args = (jax.lax.stop_gradient(key) if keyed else None, forest.schedule)
    rule = _plain if forward else _rule
    passes = functools.partial(Passes, programs, storage, keep)
    inputs = weights, list(forest.payload)
    by_sort, rows_of = rule(inputs, *args, passes=passes, at_roots=at_roots)
    found = {}
    for s, carrier in storage.carriers.items():
        columns, every = storage.columns(s), by_sort[s]
        if at_roots:
            here = take(forest.tree, forest.stored_roots[s]) if len(storage.carriers) > 1 else None
            own = [every[c] if here is None else take(every[c], here) for c in columns]
        else:
            slabs = {i: every[i] for i in dict.fromkeys(storage.slabs.slab_of[c] for c in columns)}
            slabs = in_pre_order(forest, s, slabs, rows_of)
            own = [storage.slabs.pick(c, slabs[storage.slabs.slab_of[c]]) for c in columns]
        found[s] = carrier.unflatten(own)
    return found


def _at(over: Passes, states: Arrays, at_roots: bool) -> Found:
    """The values at the roots, in columns, or those at all rows, in slabs, and the row at which each node has its
    value. Each sort has all of them, so that its cotangents tell what is read of it."""
    forest = over.forest
    if at_roots:
        roots = over.walk.child[forest.bucket.edges : -1]
        slabs = [take(x, roots) for x in states]
        columns = [over.slabs.pick(c, slabs[s]) for c, s in sorted(over.slabs.slab_of.items())]
        return [columns] * len(forest.family), None
    return [states] * len(forest.family), over.walk.rows_of(forest.row[: forest.bucket.nodes])


def _plain(
    inputs: Inputs,
    key: jax.Array | None,
    integers: Forest,
    *,
    passes: Making,
    at_roots: bool,
) -> Found:
    over = passes(key, integers)
    slabs, rows = _at(over, over.forward(*inputs), at_roots)
    return forwards_only(slabs, of_forward("fold" if at_roots else "annotate")), rows


@eqx.filter_custom_vjp
def _rule(
    inputs: Inputs,
    key: jax.Array | None,
    integers: Forest,
    *,
    passes: Making,
    at_roots: bool,
) -> Found:
    return _plain(inputs, key, integers, passes=passes, at_roots=at_roots)


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(
    perturbed: Any,
    inputs: Inputs,
    key: jax.Array | None,
    integers: Forest,
    *,
    passes: Making,
    at_roots: bool,
) -> tuple[Found, tuple[Arrays, Tables]]:
    del perturbed
    over = passes(key, integers)
    states, tables = over.forward_and_keep(*inputs)
    slabs, rows = _at(over, states, at_roots)
    return (forwards_only(slabs, of_rule("fold" if at_roots else "annotate")), rows), (states, tables)


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    residuals: tuple[Arrays, Tables],
    given: tuple[list[Arrays], Any],
    perturbed: Any,
    inputs: Inputs,
    key: jax.Array | None,
    integers: Forest,
    *,
    passes: Making,
    at_roots: bool,
) -> Inputs:
    states, tables = residuals
    over = passes(key, integers)
    of = over.slabs.leaves if at_roots else over.slabs.shapes
    known = [[g if is_smooth(x) else None for g, x in zip(some, of, strict=True)] for some in given[0]]
    found = over.backward(*inputs, states, tables, known, at_roots, wanted(inputs, perturbed))
    return forwards_only(found, of_rule("fold" if at_roots else "annotate"))
