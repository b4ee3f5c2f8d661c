"""How likely a coalgebra is to grow a given tree, by definition.

| the mathematics                                        | here                                |
| ------------------------------------------------------ | ----------------------------------- |
| `p(t) = Π p(constructor | seed)` over the nodes of `t` | `exp(likelihood(coalg, seed)(t))`   |

A coalgebra scores the layers it might give (`choose`), and `ana` draws one by the softmax of the scores. A tree says at
each node which one was drawn, and so which seeds are below: this is teacher forcing. In a family of sorts, each place
has a seed of its sort, and each sort a coalgebra.
"""

import functools
from collections.abc import Callable
from typing import Any, overload, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._functors import Base, Fix, Fix1of2, Fix2of2, holes
from .._functors.base import anew
from .._functors.described import described
from .._functors.mapping import sorted_holes
from .._functors.poly import ListOf, ManyOf, Maybe, Poly, Product, Record, walk
from .._functors.read import layout, sorts, tag, tag_name
from .._functors.usage import takes, with_usage
from .._functors.words import an, number_of
from ..errors import CdlError, ForeignLayer, SignatureError
from ._letters import expect_letters, picked, told_apart
from .algebras import name_of
from .expect import expect_coalgebras
from .unfolds import Choice, expect_layer


T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S")
R = TypeVar("R")

Payload: TypeAlias = Callable[[Any, Any], Any]
LogProb: TypeAlias = Float[Array, ""]
Coalgebra: TypeAlias = Callable[[Any], Any]
Coalgebras: TypeAlias = tuple[Coalgebra, Coalgebra, Coalgebra, *tuple[Coalgebra, ...]]  # of three sorts or more


@overload
def likelihood(
    coalg: Callable[[S], Base[T, S]], seed: S, /, *, payload: Payload | None = None
) -> Callable[[Fix[T]], LogProb]: ...
@overload
def likelihood(
    coalg: tuple[Callable[[S], Base[T, tuple[S, R]]], Callable[[R], Base[U, tuple[S, R]]]],
    seed: tuple[S, R],
    /,
    *,
    payload: Payload | None = None,
) -> tuple[Callable[[Fix1of2[T, U]], LogProb], Callable[[Fix2of2[T, U]], LogProb]]: ...
@overload
def likelihood(
    coalg: Coalgebras, seed: tuple[Any, ...], /, *, payload: Payload | None = None
) -> tuple[Callable[[Any], LogProb], ...]: ...
@with_usage
def likelihood(coalg: Any, seed: Any, /, *, payload: Any = None) -> Any:
    """The log-probability that `ana(coalg, key=…)` grows a tree's constructors and letters from a seed.

    **Arguments:** `coalg`, `seed`: those of `ana`; for a family of sorts, a tuple of each, in the order of the sorts.
    `payload`: from the layer that the coalgebra proposes, and the tree's, to the log-probability of the tree's
    payloads; without, payloads other than letters are taken as given.

    **Returns:** a function from trees; for a family, a tuple of them, one for the trees of each sort.

    A whole number or a truth value in a layer that the coalgebra proposes is a letter, constant or computed from the
    seed. The tree must have the same one: its log-probability is `-inf` otherwise. Several layers of one constructor
    are told apart by their letters. Where a constructor has one layer, `payload` scores its letters in place of this
    comparison. Real numbers are not letters.

    A score that is NaN is not refused, as it is by `unfold`: the log-probability is NaN.

    **Raises:** `ForeignLayer` at a constructor that the coalgebra never gives, or gives in two ways; `PayloadMismatch`
    where it proposes a fraction or a text for a letter that is annotated `int`, and there is no `payload`;
    `SignatureError` where there are not as many coalgebras as sorts, or they are in another order.

    Examples:
        >>> def coin(n):
        ...     return cdl.schemes.choose(
        ...         jnp.array([0.0, 0.0]), cdl.Leaf(n), cdl.Fork(n + 1, n + 1)
        ...     )
        >>> jnp.exp(cdl.schemes.likelihood(coin, 0)(cdl.Fork(cdl.Leaf(1), cdl.Leaf(1))))
        Array(0.125, dtype=float32)
    """
    expect_coalgebras("likelihood", coalg if isinstance(coalg, tuple) else (coalg,), several="in a tuple")
    expect_payload(payload)
    coalgs, seeds = of_sorts(coalg, seed)

    def total(sort: int, tree: Any) -> LogProb:
        waiting: list[tuple[tuple[int, Any], Any]] = [((sort, seeds[sort]), tree)]
        found = jnp.zeros(())
        while waiting:
            (here, seed), node = waiting.pop()
            if not isinstance(node, Base):
                raise ForeignLayer(
                    f"{described(node)} stands where a tree belongs: the seed comes first, "
                    "`likelihood(coalg, seed)(tree)`."
                )
            expect_sorts(len(coalgs), type(node))
            layer, score = scored(coalgs[here], seed, node, payload)
            found = found + score
            waiting.extend(zip(sorted_holes(layer), holes(node), strict=True))
        return found

    each = tuple(functools.partial(total, sort) for sort in range(len(coalgs)))
    return each if isinstance(coalg, tuple) else each[0]


def of_sorts(coalg: Any, seeds: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The coalgebra and the seeds of each sort. **Raises:** `SignatureError` where there are not as many of each."""
    if not isinstance(coalg, tuple):
        return (coalg,), (seeds,)
    if not isinstance(seeds, tuple) or len(seeds) != len(coalg):
        given = number_of("seed", len(seeds)) if isinstance(seeds, tuple) else f"{an(type(seeds).__name__)} of seeds"
        raise SignatureError(
            f"there are {len(coalg)} coalgebras, and {given}: give seeds for each sort, in a tuple, in the same order."
        )
    return coalg, seeds


def expect_sorts(count: int, kind: type[Any]) -> None:
    """**Raises:** `SignatureError` where a constructor's family has another number of sorts."""
    if sorts(kind) not in (0, count):
        raise SignatureError(
            f"`{kind.__name__}` is of a family of {sorts(kind)} sorts, and the number of coalgebras is {count}: give "
            "one for each sort, in a tuple, in the order of the tuple in `Base[T, tuple[…]]`."
        )


def scored(coalg: Callable[[Any], Any], seed: Any, node: Any, payload: Payload | None) -> tuple[Any, Any]:
    """The layer that a coalgebra proposes with a node's constructor and shape, and its log-probability."""
    given = coalg(seed)
    layers = given.layers if isinstance(given, Choice) else (expect_layer(given),)
    own, tags = tag(type(node)), [tag(type(layer)) for layer in layers]
    if own not in tags and None not in (own, *tags):
        raise SignatureError(
            f"`{name_of(coalg)}` gives layers of `{tag_name(tags[0])}`, and the node is {an(type(node).__name__)} of "
            f"`{tag_name(own)}`: give a coalgebra for each sort, in the order of the tuple in `Base[T, "
            f"tuple[…]]`.{anew([type(node)], map(type, layers))}"
        )
    same = [i for i, layer in enumerate(layers) if type(layer) is type(node) and _alike(layer, node)]
    name, kind = name_of(coalg), type(node).__name__
    if any(isinstance(term, ManyOf) for term in walk(layout(type(node)))):
        raise ForeignLayer(
            f"`{kind}` has a `Many`, and no layer says how likely its number of children is. Write `tuple[X, ...]`, "
            "and `choose` among several lengths; or a list of a sort of its own, with a constructor for its end. Read "
            "JSON, and other trees that have a `Many`, into such a signature first."
        )
    for i in same if payload is None else ():
        expect_letters(name, layers[i], node)
    # the numbers are an array, so that constructors that differ in them and in their weights are one program
    every: Any = jax.nn.log_softmax(given.scores) if isinstance(given, Choice) else jnp.zeros(1)
    scores = every[jnp.array(same, int)]
    # of one layer with a payload function, this function scores the letters
    read = len(same) > 1 or (len(same) == 1 and payload is None)
    if read and told_apart([layers[i] for i in same]):
        layer, score = picked([layers[i] for i in same], scores, node)
        return layer, score + _of_payload(payload, layer, node)
    if len(same) != 1:
        among, own_count = ", ".join(type(layer).__name__ for layer in layers), len(holes(node))
        counts = sorted({len(holes(layer)) for layer in layers if type(layer) is type(node)})
        lengths = ""
        if counts and own_count not in counts:
            lengths = (
                f" The tree's has {number_of('place', own_count)}, and those proposed {', '.join(map(str, counts))}."
            )
        raise ForeignLayer(
            f"of the layers that `{name}` proposes ({among}), {len(same)} are a `{kind}` of this shape: let it propose "
            "one for each constructor, or several that differ in a whole number or a truth value, such as a "
            f"letter.{lengths}{anew([type(node)], map(type, layers))}"
        )
    return layers[same[0]], scores[0] + _of_payload(payload, layers[same[0]], node)


def expect_payload(payload: Any) -> None:
    """**Raises:** `CdlError` where `payload` is neither left out nor a function of two layers."""
    if payload is not None and (not callable(payload) or not takes(payload, None, None)):
        raise CdlError(
            f"`payload` is {described(payload)}, and belongs to be one function of two layers of a constructor, the "
            "one that the coalgebra proposes and the tree's: write `def payload(mine, given):` and in it "
            "`match mine, given:`, with a case for each constructor whose payloads are scored, and `case _: return "
            "0.0`."
        )


def _of_payload(payload: Payload | None, layer: Any, node: Any) -> Any:
    """The log-probability of a node's payloads. **Raises:** `CdlError` where `payload` gives anything but a number."""
    if payload is None:
        return 0
    value = payload(layer, node)
    if not isinstance(value, int | float | np.number | np.ndarray | jax.Array) or jnp.ndim(value):
        raise CdlError(
            f"`{name_of(payload)}`, the `payload` function, gives {described(value)} at `{type(node).__name__}`, and "
            "the log-probability of a node's payloads is one number: end in `.sum()` where there are several, and "
            "give `0.0` where nothing is scored."
        )
    return value


def _alike(layer: Any, node: Any) -> bool:
    """Whether two layers of a constructor have children in the same places."""
    term = layout(type(node))
    return places_of(term, layer) == places_of(term, node)


def places_of(term: Poly, value: Any) -> Any:
    """Which children there are, where a value may have more of them or fewer."""
    match term:
        case Record(_, names, factors):
            return [places_of(f, getattr(value, n)) for n, f in zip(names, factors, strict=True)]
        case Product(factors):
            return [places_of(f, x) for f, x in zip(factors, value, strict=True)]
        case Maybe(of):
            return value is not None and [places_of(of, value)]
        case ListOf(of):
            return [places_of(of, x) for x in value]
        case _:
            return True
