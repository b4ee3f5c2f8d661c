"""What a coalgebra may give for one seed: its candidates, found by tracing it once.

| the mathematics                          | here                                                             |
| ---------------------------------------- | ---------------------------------------------------------------- |
| `γ : S → F S`                            | one candidate                                                    |
| `γ : S → D (F S)`, a chance of layers    | `choose(scores, …)`: candidates, with the logarithm of each one's weight |

Which constructors there are, how many places each has and what its payload is shaped like, is the same for every seed:
that is the static part. Payloads, seeds and scores are arrays.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ..._errors import CarrierMismatch, CdlError, ForeignLayer, PayloadMismatch, SignatureError
from ...algebra._algebra import name_of, wants_key
from ...algebra._unfolds import Choice, expect_layer
from ...functor._fmap import fill, holes, is_lazy
from ...functor._read import sorts, tag, tag_name
from .._shapes import one_of
from ..forests._variant import is_array


@dataclass(frozen=True)
class Candidate:
    """A layer that a coalgebra may give, without its arrays. `columns` says where its payload's leaves are kept."""

    constructor: type[Any]
    structure: Any  # of the layer, with a `_PLACE` for each seed, which is no leaf
    columns: tuple[int, ...]
    arity: int

    def layer(self, payload: Any, places: Any) -> Any:
        """The layer with these payload leaves, and these values at its places."""
        return fill(jax.tree.unflatten(self.structure, list(payload)), places)


@dataclass(frozen=True)
class Given:
    """What a coalgebra gives for a seed: a score for each candidate, its payload's leaves, the leaves of its seeds."""

    scores: Any
    payloads: list[list[Any]]
    seeds: list[list[list[Any]]]

    def chosen(self, growth: "Growth", choice: Any) -> tuple[Any, list[Any], list[list[Any]]]:
        """Of one candidate: the logarithm of its chance, its payload by column, and its seeds by place."""
        log_prob = jnp.zeros(())
        if self.scores is not None:
            each = jax.nn.log_softmax(self.scores)
            log_prob = jnp.sum(jnp.where(jnp.arange(len(each), dtype=jnp.int32) == choice, each, 0))
        payload = [jnp.zeros(x.shape, x.dtype) for x in growth.columns]
        for c, (candidate, leaves) in enumerate(zip(growth.candidates, self.payloads, strict=True)):
            for column, leaf in zip(candidate.columns, leaves, strict=True):
                payload[column] = jnp.where(choice == c, leaf, payload[column])
        seeds = []
        for place in range(growth.places):
            having = [c for c, candidate in enumerate(growth.candidates) if candidate.arity > place]
            leaves = self.seeds[having[0]][place]
            for c in having[1:]:
                leaves = [jnp.where(choice == c, x, y) for x, y in zip(self.seeds[c][place], leaves, strict=True)]
            seeds.append(leaves)
        return log_prob, payload, seeds


@dataclass(frozen=True)
class Growth:
    """A coalgebra, traced: its candidates, the form of its seeds, and the function, `weights` being the arrays that it
    holds or closes over."""

    candidates: tuple[Candidate, ...]
    columns: tuple[Any, ...]  # the shape and type of each column of payload
    seed: Any  # the structure of a seed
    leaves: tuple[Any, ...]  # the shape and type of each of its leaves
    keyed: bool
    call: Callable[..., Given]

    @property
    def places(self) -> int:
        """The most places that a candidate has."""
        return max(c.arity for c in self.candidates)

    @property
    def arities(self) -> Any:
        """How many places each candidate has, as a table."""
        return jnp.asarray([c.arity for c in self.candidates], jnp.int32)

    def choose(self, given: Given, key: Any) -> Any:
        """The number of a candidate: the best, or one drawn where there is a key; as `ana` does it."""
        if given.scores is None:
            return jnp.int32(0)
        number = jnp.argmax(given.scores) if key is None else jax.random.categorical(key, given.scores)
        return number.astype(jnp.int32)


class _Place:
    """Where a seed stands in a candidate's structure."""


_PLACE = _Place()
jax.tree_util.register_pytree_node(_Place, lambda _: ((), None), lambda *_: _PLACE)


def trace(coalg: Any, seed: Any, keyed: bool) -> tuple[Growth, list[Any]]:
    """A coalgebra's candidates, and its arrays. `seed`: one seed, as shapes or arrays.

    **Raises:** `CarrierMismatch` where it gives seeds of another form than it takes, `PayloadMismatch` where a payload
    is no number, `ForeignLayer` where it gives no layer, or a machine, `SignatureError` for several sorts.
    """
    leaves, structure = jax.tree.flatten(seed)
    leaves = one_of(leaves)
    keyed_itself = keyed and wants_key(coalg)
    found: list[Any] = []

    def call(leaves: list[Any], keys: list[Any]) -> Any:
        seed = jax.tree.unflatten(structure, leaves)
        given = coalg(seed, key=keys[0]) if keyed_itself else coalg(seed)
        scores, layers = (given.scores, given.layers) if isinstance(given, Choice) else (None, (given,))
        parts = [take_apart(coalg, expect_layer(layer)) for layer in layers]
        columns: dict[Any, int] = {}
        candidates, payloads, seeds = [], [], []
        for layer, (payload, form, places) in zip(layers, parts, strict=True):
            kinds = [(i, x.shape, x.dtype) for i, x in enumerate(payload)]
            for kind in kinds:
                columns.setdefault(kind, len(columns))
            candidates.append(Candidate(type(layer), form, tuple(columns[k] for k in kinds), len(places)))
            payloads.append(payload)
            seeds.append([_same_form(coalg, layer, i, structure, leaves, place) for i, place in enumerate(places)])
        found.append((tuple(candidates), tuple(jax.ShapeDtypeStruct(s, d) for _, s, d in columns)))  # type: ignore[no-untyped-call]
        return (scores if scores is None else _float(scores)), payloads, seeds

    keys = [jax.eval_shape(lambda: jax.random.key(0))] if keyed else []
    with _without_values(coalg):
        case, shape = jax.make_jaxpr(call, return_shape=True)(leaves, keys)
    candidates, columns = found[-1]
    run = open_jaxpr(case)

    def again(weights: list[Any], leaves: list[Any], keys: list[Any]) -> Given:
        flat = run(*weights, *jax.tree.leaves((leaves, keys)))
        return Given(*jax.tree.unflatten(jax.tree.structure(shape), flat))

    return Growth(candidates, columns, structure, tuple(leaves), keyed, again), [array(c) for c in case.consts]


def kinds(coalg: Any, seed: Any, keyed: bool) -> set[type[Any]]:
    """The constructors of the layers that a coalgebra may give."""
    found: set[type[Any]] = set()

    def call(seed: Any, key: Any) -> None:
        given = coalg(seed, key=key) if keyed and wants_key(coalg) else coalg(seed)
        found.update(type(expect_layer(x)) for x in (given.layers if isinstance(given, Choice) else (given,)))

    with _without_values(coalg):
        jax.eval_shape(call, seed, jax.random.key(0))
    return found


@contextlib.contextmanager
def _without_values(coalg: Any) -> Iterator[None]:
    """**Raises:** `CdlError` where a coalgebra asks what a seed's value is."""
    try:
        yield
    except jax.errors.ConcretizationTypeError as e:
        raise CdlError(
            f"`{name_of(coalg)}` decides by a seed's value which layer to give, as in `if n == 0:`, and one compiled "
            "program has no value to decide by: return `choose(scores, …)` with every layer that there may be, and "
            "the greatest score for the one that is meant."
        ) from e


def take_apart(coalg: Any, layer: Any) -> tuple[list[Any], Any, tuple[Any, ...]]:
    """The payload's leaves of a layer of seeds, the structure of the rest, and the seeds."""
    kind = type(layer)
    if is_lazy(kind):
        raise ForeignLayer(
            f"`{name_of(coalg)}` gives a `{kind.__name__}`, which has a function in it: such a value never ends. "
            "Run a machine with `run`, and unfold a stream for so many outputs."
        )
    if sorts(kind) > 1:
        raise SignatureError(
            f"`{kind.__name__}` is of a family of {sorts(kind)} sorts, and `unfold` grows trees of one sort: grow such "
            "trees with `ana`, one coalgebra for each sort."
        )
    places = holes(layer)
    payload, form = jax.tree.flatten(fill(layer, [_PLACE] * len(places)))
    for x in payload:
        if not is_array(x):
            raise PayloadMismatch(
                f"`{name_of(coalg)}` puts a `{type(x).__name__}` in a `{kind.__name__}` of `{tag_name(tag(kind))}`, "
                "and a compiled payload is a number or an array: number the values."
            )
    return [jnp.asarray(x) for x in payload], form, places


def _same_form(coalg: Any, layer: Any, place: int, structure: Any, leaves: list[Any], seed: Any) -> list[Any]:
    """The leaves of a seed that a coalgebra gives, which are to be as those that it takes."""
    own, form = jax.tree.flatten(seed)
    arrays = [jnp.asarray(x) for x in own]
    fits = form == structure and all(
        x.shape == y.shape and (x.dtype == y.dtype or _takes(y.dtype, x)) for x, y in zip(arrays, leaves, strict=True)
    )
    if not fits:
        raise CarrierMismatch(
            f"`{name_of(coalg)}` is no coalgebra: its seed goes in as "
            f"{show(jax.tree.unflatten(structure, leaves))} and comes out at place {place} of `{type(layer).__name__}` "
            f"as {show(jax.tree.unflatten(form, one_of(arrays)))}. Give every seed the same structure, shapes and "
            "dtypes."
        )
    return [x.astype(y.dtype) if x.dtype != y.dtype else x for x, y in zip(arrays, leaves, strict=True)]


def _takes(dtype: Any, x: Any) -> bool:
    """Whether a Python number may have this type."""
    return bool(jax.typeof(x).weak_type) and jnp.promote_types(dtype, x.dtype) == dtype


def _float(scores: Any) -> Any:
    scores = jnp.asarray(scores)
    return scores if jnp.issubdtype(scores.dtype, jnp.inexact) else scores.astype(jnp.result_type(float))


def array(x: Any) -> Any:
    """One of JAX's arrays."""
    return x if isinstance(x, jax.Array) else jnp.asarray(x)


def open_jaxpr(case: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A jaxpr as a function of its arrays and its inputs."""
    jaxpr = case.jaxpr.replace(constvars=(), invars=[*case.jaxpr.constvars, *case.jaxpr.invars])
    return jaxpr_as_fun(ClosedJaxpr(jaxpr, ()))


def show(shapes: Any) -> str:
    """A pytree of shapes, shortly."""
    return str(eqx.tree_pformat(shapes, struct_as_array=True))
