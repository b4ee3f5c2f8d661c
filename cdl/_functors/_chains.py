"""Where a recursive type comes from: the approximants of a functor's trees and of its behaviours.

| the mathematics                                  | here                                                      |
| ------------------------------------------------ | --------------------------------------------------------- |
| `0 → F 0 → F² 0 → …`, with the trees `μF` as union | `initial_chain`: the trees of fewer than `n` layers at `n` |
| `1 ← F 1 ← F² 1 ← …`, with the behaviours `νF` as limit | `final_chain`: what `n` observations can tell apart  |
| `F` at a finite set, and its size                | `values`, `size`                                          |

The constants of a functor are finite sets here, given by the letters of its formula: `{"A": "ab"}`. In the final chain
the one element of `1` is `()`: what has not been observed yet.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, TypeAlias, Union

from ..errors import SignatureError
from .base import rebuild
from .many import Many
from .poly import Const, Exp, Id, Inj, ListOf, ManyOf, Maybe, name, Poly, Product, Record, Sum
from .read import functor
from .usage import with_usage


Constants: TypeAlias = Mapping[str, Sequence[Any]]
Size: TypeAlias = Union[int, float]  # a number of elements, or `math.inf`


@dataclass(frozen=True)
class Approximant:
    """One set of a chain: how many elements it has, and what they are where there are few.

    Examples:
        >>> cdl.monads.initial_chain(cdl.functors.NatF, 2)[2]
        Approximant(size=2, values=(Zero(), Succ(Zero())))
    """

    size: Size
    values: tuple[Any, ...] | None


@dataclass(frozen=True)
class Graph:
    """A function from a finite set, as its pairs."""

    pairs: tuple[tuple[Any, Any], ...]

    def __call__(self, *arguments: Any) -> Any:
        return next(y for x, y in self.pairs if x == arguments)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{', '.join(map(repr, x))} ↦ {y!r}" for x, y in self.pairs) + "}"


@with_usage
def initial_chain(
    signature: Any, steps: int, constants: Constants | None = None, *, listed: int = 64
) -> list[Approximant]:
    """The sets `0, F 0, …, Fⁿ 0`, for `n = steps`: the `n`th holds the trees of at most `n` layers.

    **Arguments:** `signature`: a union of constructors, or a term. `constants`: the elements of each constant set, by
    its letter. `listed`: the most elements that are written out.

    **Raises:** `SignatureError` for a constant that is not given, or a signature of several sorts.

    Examples:
        >>> [trees.size for trees in cdl.monads.initial_chain(cdl.TreeF, 3, {"A": "ab"})]
        [0, 2, 6, 38]
    """
    return _chain(_term(signature), (), steps, constants or {}, listed)


@with_usage
def final_chain(
    signature: Any, steps: int, constants: Constants | None = None, *, listed: int = 64
) -> list[Approximant]:
    """The sets `1, F 1, …, Fⁿ 1`: the `n`th holds what `n` observations of a behaviour can see.

    **Arguments:** those of `initial_chain`.

    Examples:
        >>> [seen.size for seen in cdl.monads.final_chain(cdl.functors.NatF, 3)]
        [1, 2, 3, 4]
    """
    return _chain(_term(signature), ((),), steps, constants or {}, listed)


def size(term: Poly, of: Size, constants: Constants) -> Size:
    """How many elements `F X` has where `X` has `of`."""
    match term:
        case Const(annotation):
            return len(_elements(annotation, constants))
        case Id(sort):
            _refuse_sorts(sort)
            return of
        case Product(factors) | Record(_, _, factors):
            return _times(size(f, of, constants) for f in factors)
        case Sum(summands):
            return sum(size(s, of, constants) for s in summands)
        case Maybe(inner):
            return 1 + size(inner, of, constants)
        case ListOf(inner) | ManyOf(inner):
            return 1 if size(inner, of, constants) == 0 else math.inf
        case Exp(domain, inner):
            return _times([size(inner, of, constants)] * len(_arguments(domain, constants)))


def values(term: Poly, of: Sequence[Any], constants: Constants) -> Iterator[Any]:
    """The elements of `F X`, for the elements of `X`; only where there are finitely many."""
    inside: Callable[[Poly], Iterator[Any]] = lambda t: values(t, of, constants)
    match term:
        case Const(annotation):
            yield from _elements(annotation, constants)
        case Id():
            yield from of
        case Product(factors):
            yield from itertools.product(*map(inside, factors))
        case Record(constructor, names, factors):
            for fields in itertools.product(*map(inside, factors)):
                yield rebuild(constructor, dict(zip(names, fields, strict=True)))
        case Sum(summands):
            for i, s in enumerate(summands):
                yield from inside(s) if isinstance(s, Record) else (Inj(i, v) for v in inside(s))
        case Maybe(inner):
            yield from itertools.chain([None], inside(inner))
        case ListOf():
            yield ()
        case ManyOf():
            yield Many()
        case Exp(domain, inner):
            arguments = _arguments(domain, constants)
            for results in itertools.product(list(inside(inner)), repeat=len(arguments)):
                yield Graph(tuple(zip(arguments, results, strict=True)))


def _chain(term: Poly, start: tuple[Any, ...], steps: int, constants: Constants, listed: int) -> list[Approximant]:
    chain = [Approximant(len(start), start)]
    for _ in range(steps):
        count, known = size(term, chain[-1].size, constants), chain[-1].values
        few = count <= listed and known is not None
        chain.append(Approximant(count, tuple(values(term, known or (), constants)) if few else None))
    return chain


def _term(signature: Any) -> Poly:
    return signature if isinstance(signature, get_args(Poly)) else functor(signature)


def _elements(annotation: Any, constants: Constants) -> Sequence[Any]:
    letter = name(annotation)
    if letter not in constants:
        raise SignatureError(
            f"the constant `{letter}` has no elements: give them, `{{{letter!r}: …}}`, as a finite set."
        )
    return constants[letter]


def _arguments(domain: Any, constants: Constants) -> list[tuple[Any, ...]]:
    return list(itertools.product(*(_elements(a, constants) for a in domain)))


def _times(sizes: Any) -> Size:
    """The product, in which nothing times infinity is nothing."""
    factors = list(sizes)
    return 0 if 0 in factors else math.prod(factors)


def _refuse_sorts(sort: int) -> None:
    if sort:
        raise SignatureError("a signature of several sorts has no chain of sets: it is a functor of several variables.")
