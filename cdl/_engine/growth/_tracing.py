"""Tracing a coalgebra for one seed, once: its candidates, and a function of its arrays and a seed.

What a coalgebra gives is taken apart: payloads are arrays, seeds are to be of the form that the coalgebra of their sort
takes, and what is left is the same for every seed.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..._functors.mapping import fill, is_lazy, sorted_holes
from ..._functors.read import tag, tag_name
from ..._functors.words import an
from ..._schemes.algebras import name_of, wants_key
from ..._schemes.likelihoods import expect_sorts
from ..._schemes.unfolds import Choice, expect_layer, real
from ...errors import CarrierMismatch, ForeignLayer, PayloadMismatch, SignatureError
from ..arrays._carrier import Carrier, cast, misfit
from ..arrays.shapes import of_lists, shaped
from ..calls._traced import noted
from ..forests._form import places as numbers_of
from ..forests._payload import expect_kind
from ..forests._variant import describe, is_array
from ..jaxprs._jaxprs import opened, renamed
from ..jaxprs._stacks import Picked, unpicked
from ._candidates import Candidate, Given, Growth


class _Place:
    """Where a seed stands in a candidate's structure."""


_PLACE = _Place()
jax.tree_util.register_pytree_node(_Place, lambda _: ((), None), lambda *_: _PLACE)


def fits(form: Carrier, seed: Any) -> bool:
    """Whether a seed is of a form, but for the types of Python numbers."""
    own = Carrier.of(seed)
    return own.alike(form) and misfit(form.leaves, own) is None


def trace(coalg: Callable[..., Any], sort: int, forms: tuple[Carrier, ...], keyed: bool) -> tuple[Growth, list[Any]]:
    """A coalgebra's candidates, and its arrays. `sort`: which one of its family's it grows, of seeds of these forms.

    **Raises:** `CarrierMismatch` where it gives seeds of another form than it takes, `PayloadMismatch` where a payload
    is not a number, or not of the kind that is annotated, `ForeignLayer` where it gives no layer, or a machine,
    `SignatureError` for another number of sorts, or where they are in another order.
    """
    own = forms[sort]
    keyed_itself = keyed and wants_key(coalg)
    found: list[Any] = []

    def call(leaves: list[Any], keys: list[Any]) -> Any:
        seed = jax.tree.unflatten(own.structure, leaves)
        given = coalg(seed, key=keys[0]) if keyed_itself else coalg(seed)
        scores, layers = (given.scores, given.layers) if isinstance(given, Choice) else (None, (given,))
        parts = [take_apart(coalg, expect_layer(layer), len(forms)) for layer in layers]
        columns: dict[Any, int] = {}
        candidates, payloads, seeds = [], [], []
        for layer, (payload, form, places) in zip(layers, parts, strict=True):
            kinds = [(i, x.shape, x.dtype) for i, x in enumerate(payload)]
            for kind in kinds:
                columns.setdefault(kind, len(columns))
            candidates.append(
                Candidate(type(layer), form, tuple(columns[k] for k in kinds), tuple(s for s, _ in places))
            )
            payloads.append(payload)
            seeds.append([_same_form(coalg, layer, i, forms, *place) for i, place in enumerate(places)])
        found.append((tuple(candidates), tuple(shaped(*column[1:]) for column in columns)))
        return [scores if scores is None else real(scores)], payloads, seeds

    keys = [jax.eval_shape(lambda: jax.random.key(0))] if keyed else []
    with _noted(coalg, own):
        case, shape = jax.make_jaxpr(call, return_shape=True)(list(own.leaves), keys)
    candidates, columns = found[-1]
    case = unpicked(renamed(case))
    run = opened(case)

    def again(weights: list[Any], leaves: list[Any], keys: list[Any]) -> Given:
        flat = run(*weights, *jax.tree.leaves((leaves, keys)))
        return Given(*jax.tree.unflatten(jax.tree.structure(shape), flat))

    return Growth(candidates, columns, (len(candidates),), again), list(map(array, case.consts))


def one(seeds: Any) -> Any:
    """The form of one of some seeds."""
    return jax.tree.map(lambda x: shaped(x.shape[1:], x.dtype), seeds)


def kinds(coalg: Callable[..., Any], seed: Any, keyed: bool) -> set[type[Any]]:
    """The constructors of the layers that a coalgebra may give."""
    found: set[type[Any]] = set()

    def call(seed: Any, key: Any) -> None:
        given = coalg(seed, key=key) if keyed and wants_key(coalg) else coalg(seed)
        found.update(type(expect_layer(x)) for x in (given.layers if isinstance(given, Choice) else (given,)))

    with _noted(coalg, Carrier.of(seed)):
        jax.eval_shape(call, seed, jax.random.key(0))
    return found


def _noted(coalg: Callable[..., Any], form: Carrier) -> contextlib.AbstractContextManager[None]:
    advice = (
        "seeds have the shape that it takes, along a leading axis of the trees (of one seed: `seed[None]`), and a "
        "layer that depends on their values is chosen, `choose(scores, …)`"
    )
    lists = of_lists(form.shapes)
    return noted(name_of(coalg), lambda: f"a seed of {form}", f"{advice}{lists}")


def take_apart(coalg: Callable[..., Any], layer: Any, count: int) -> tuple[list[Any], Any, list[tuple[int, Any]]]:
    """The payload's leaves of a layer of seeds, the structure of the rest, and the seeds with their sorts.

    `count`: how many sorts there are to be.
    """
    kind = type(layer)
    if is_lazy(kind):
        raise ForeignLayer(
            f"`{name_of(coalg)}` gives {an(kind.__name__)}, which has a function in it: such a value never ends. Run a "
            "machine with `run`, and unfold a stream for so many outputs."
        )
    expect_sorts(count, kind)
    places = sorted_holes(layer)
    payload, form = jax.tree.flatten(fill(layer, [_PLACE] * len(places)))
    for x in payload:
        if not is_array(x):
            raise PayloadMismatch(
                f"`{name_of(coalg)}` puts {an(type(x).__name__)} in {an(kind.__name__)} of `{tag_name(tag(kind))}`, "
                "and a compiled payload is a number or an array: number the values."
            )
    described, numbers, _ = describe(kind, layer)
    for at, x in zip(numbers_of(kind, described.shape, numbers), numbers, strict=True):
        expect_kind(at, x)
    return [jnp.asarray(x, jnp.result_type(x)) for x in payload], form, places


def _same_form(
    coalg: Callable[..., Any], layer: Any, place: int, forms: tuple[Carrier, ...], sort: int, seed: Any
) -> list[Any]:
    """The leaves of a seed that a coalgebra gives, which are to be as those that its sort's takes."""
    if fits(forms[sort], seed):
        return list(map(cast, jax.tree.leaves(seed), forms[sort].leaves))
    kind = type(layer).__name__
    for other in (s for s, form in enumerate(forms) if fits(form, seed)):
        raise SignatureError(
            f"`{name_of(coalg)}`, of `{tag_name(tag(type(layer)))}`, puts a seed of sort {other} at place {place} of "
            f"`{kind}`, which is of sort {sort}: give the coalgebras, and the seeds, in the order of the tuple in "
            "`Base[T, tuple[…]]`."
        )
    which = "its seed goes in as" if len(forms) == 1 else f"a seed of sort {sort} goes in as"
    found = Carrier.of(seed)
    raise CarrierMismatch(
        f"`{name_of(coalg)}` is not a coalgebra: {which} {forms[sort]} and comes out at place {place} of `{kind}` as "
        f"{found}. Give every seed the same structure, shapes and dtypes."
    )


def array(x: Any) -> Any:
    """One of JAX's arrays, or one of a stack of them."""
    return x if isinstance(x, jax.Array | Picked) else jnp.asarray(x)
