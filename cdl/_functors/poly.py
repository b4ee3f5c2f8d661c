"""Polynomial functors as terms: what `functor` reads out of a signature's annotations.

| the mathematics      | the term             | its values at a set `X`                              |
| -------------------- | -------------------- | ---------------------------------------------------- |
| `A`                  | `Const(A)`           | an `A`                                               |
| `X`, or `X_s`        | `Id(s)`              | an `X` (of sort `s`, for many-sorted signatures)     |
| `F × G × …`          | `Product((F, G))`    | a tuple                                              |
| `C = F × G × …`      | `Record(C, names, …)`| an instance of the constructor `C`                   |
| `F + G + …`          | `Sum((F, G))`        | a constructor's instance, or `Inj(i, value)`         |
| `1 + F`              | `Maybe(F)`           | `None`, or a value of `F`                            |
| `1 + F + F² + …`     | `ListOf(F)`          | a tuple of any length                                |
| the same, unread     | `ManyOf(F)`          | a `Many`                                             |
| `[I, F]`             | `Exp(I, F)`          | a function from `I`                                  |

`str` of a term is its formula; `compose` substitutes one in another: the composite functor.
"""

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin, TypeAlias, TypeVar, Union

import jax

from ..errors import SignatureError
from .usage import with_types


@dataclass(frozen=True)
class Const:
    """The constant functor `A`: a payload. `of` is its annotation.

    Examples:
        >>> cdl.functors.functor(cdl.functors.ListF).summands[1].factors[0]
        Const(of=+A)
    """

    of: Any

    def __str__(self) -> str:
        return name(self.of)


@dataclass(frozen=True)
class Id:
    """The identity functor, or the projection to one sort of several.

    Examples:
        >>> cdl.functors.fmap_term(cdl.poly.Id(), abs, -3)
        3
    """

    sort: int = 0
    letter: str = field(default="X", compare=False)

    def __str__(self) -> str:
        return self.letter


@dataclass(frozen=True)
class Product:
    """The product `F × G × …`; the empty product is `1`.

    Examples:
        >>> pair = cdl.poly.Product((cdl.poly.Id(), cdl.poly.Const(str)))
        >>> str(pair), cdl.functors.fmap_term(pair, abs, (-3, "a"))
        ('X × str', (3, 'a'))
    """

    factors: tuple["Poly", ...]

    def __str__(self) -> str:
        return _product(self.factors)


@dataclass(frozen=True)
class Record:
    """A product whose values are the instances of a constructor.

    Examples:
        >>> nil, cons = cdl.functor(cdl.ListF).summands
        >>> cons.names, str(cons)
        (('head', 'tail'), 'A × X')
    """

    constructor: type[Any]
    names: tuple[str, ...]
    factors: tuple["Poly", ...]

    def __str__(self) -> str:
        return _product(self.factors)


@dataclass(frozen=True)
class Sum:
    """The sum `F + G + …`: of records for a signature, of anything for terms written by hand.

    Examples:
        >>> either = cdl.poly.Sum((cdl.poly.Id(), cdl.poly.Const(str)))
        >>> cdl.functors.fmap_term(either, abs, cdl.poly.Inj(0, -3))
        Inj(index=0, value=3)
    """

    summands: tuple["Poly", ...]

    def __str__(self) -> str:
        return " + ".join(map(str, self.summands)) or "0"

    @property
    def constructors(self) -> tuple[type[Any], ...]:
        """The constructors of a signature, in the order they were written."""
        return tuple(s.constructor for s in self.summands if isinstance(s, Record))


@dataclass(frozen=True)
class Maybe:
    """`1 + F`: an optional place.

    Examples:
        >>> maybe = cdl.poly.Maybe(cdl.poly.Id())
        >>> [cdl.functors.fmap_term(maybe, abs, value) for value in (-3, None)]
        [3, None]
    """

    of: "Poly"

    def __str__(self) -> str:
        return f"(1 + {self.of})"


@dataclass(frozen=True)
class ListOf:
    """`1 + F + F² + …`: a Python tuple, which an algebra may take apart.

    Examples:
        >>> cdl.functors.fmap_term(cdl.poly.ListOf(cdl.poly.Id()), abs, (-1, 2, -3))
        (1, 2, 3)
    """

    of: "Poly"

    def __str__(self) -> str:
        return f"List({self.of})"


@dataclass(frozen=True)
class ManyOf:
    """`1 + F + F² + …`: a `Many`, which an algebra may only map and reduce.

    Examples:
        >>> cdl.functors.fmap_term(cdl.poly.ManyOf(cdl.poly.Id()), abs, cdl.Many([-1, 2, -3]))
        Many([1, 2, 3])
    """

    of: "Poly"

    def __str__(self) -> str:
        return f"Many({self.of})"


@dataclass(frozen=True)
class Exp:
    """`[I, F]`: functions out of a fixed domain.

    Examples:
        >>> reader = cdl.poly.Exp(int, cdl.poly.Id())
        >>> cdl.functors.fmap_term(reader, abs, lambda i: -10 * i)(3)
        30
    """

    domain: Any
    of: "Poly"

    def __str__(self) -> str:
        return f"[{name(self.domain)}, {self.of}]"


Poly: TypeAlias = Union[Const, Id, Product, Record, Sum, Maybe, ListOf, ManyOf, Exp]
"""A polynomial functor as a term: any of the classes below.

Examples:
    >>> term: cdl.poly.Poly = cdl.functor(cdl.ListF)
    >>> str(term), isinstance(term, cdl.poly.Sum)
    ('1 + A × X', True)
"""


@dataclass(frozen=True)
class Inj:
    """A value of the summand number `index` of a sum written by hand.

    Examples:
        >>> number_or_word = cdl.poly.Sum((cdl.poly.Id(), cdl.poly.Const(str)))
        >>> cdl.functors.fmap_term(number_or_word, abs, cdl.poly.Inj(1, "a"))
        Inj(index=1, value='a')
    """

    index: int
    value: Any


def parts(term: Poly) -> tuple[Poly, ...]:
    """The terms directly inside a term."""
    match term:
        case Const() | Id():
            return ()
        case Product(factors) | Record(_, _, factors):
            return factors
        case Sum(summands):
            return summands
        case Maybe(of) | ListOf(of) | ManyOf(of) | Exp(_, of):
            return (of,)


def walk(term: Poly) -> Iterator[Poly]:
    """The term and every term inside it, outermost first.

    Examples:
        >>> [str(term) for term in cdl.poly.walk(cdl.functor(cdl.TreeF))]
        ['A + X²', 'A', 'A', 'X²', 'X', 'X']
    """
    yield term
    for part in parts(term):
        yield from walk(part)


@with_types
def compose(outer: Poly, inner: Poly) -> Poly:
    """`F ∘ G`: the inner term in each place of the outer. Records become plain products.

    Values of `F ∘ G` at `X` are values of `F` at `G X`, so a sum's summand is named by `Inj`.

    **Arguments:** `outer`, `inner`: the terms of `F` and `G`.

    Examples:
        >>> pair, maybe = (
        ...     cdl.poly.Product((cdl.poly.Id(), cdl.poly.Id())),
        ...     cdl.poly.Maybe(cdl.poly.Id()),
        ... )
        >>> str(cdl.poly.compose(pair, maybe)), str(cdl.poly.compose(maybe, pair))
        ('(1 + X)²', '(1 + X²)')
    """
    return _composed(outer, inner)


def _composed(outer: Poly, inner: Poly) -> Poly:
    match outer:
        case Const():
            return outer
        case Id():
            return inner
        case Product(factors) | Record(_, _, factors):
            return Product(tuple(_composed(f, inner) for f in factors))
        case Sum(summands):
            return Sum(tuple(_composed(s, inner) for s in summands))
        case Maybe(of):
            return Maybe(_composed(of, inner))
        case ListOf(of):
            return ListOf(_composed(of, inner))
        case ManyOf(of):
            return ManyOf(_composed(of, inner))
        case Exp(domain, of):
            return Exp(domain, _composed(of, inner))


def lettered(term: Poly, letters: Sequence[str]) -> Poly:
    """The term with a letter for the places of each sort.

    **Raises:** `SignatureError` where there is a place of a sort that has no letter.
    """
    again: Callable[[Poly], Poly] = lambda inner: lettered(inner, letters)
    match term:
        case Const():
            return term
        case Id(sort):
            if sort >= len(letters):
                raise SignatureError(
                    f"there is a place of sort {sort}, and the number of signatures is {len(letters)}: give one for "
                    "each sort of the family, in a tuple, in the order of the tuple in `Base[T, tuple[…]]`."
                )
            return Id(sort, letters[sort])
        case Product(factors):
            return Product(tuple(map(again, factors)))
        case Record(kind, names, factors):
            return Record(kind, names, tuple(map(again, factors)))
        case Sum(summands):
            return Sum(tuple(map(again, summands)))
        case Exp(domain, of):
            return Exp(domain, again(of))
        case Maybe(of) | ListOf(of) | ManyOf(of):
            return type(term)(again(of))


def by_sort(letter: str, sorts: int) -> tuple[str, ...]:
    """`X` for one sort, and for several `X₀`, `X₁` and so on."""
    return (letter,) if sorts == 1 else tuple(letter + subscript(sort) for sort in range(sorts))


def superscript(n: int) -> str:
    """A number as an exponent is written."""
    return str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def subscript(n: int) -> str:
    """A number as an index is written."""
    return str(n).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _product(factors: tuple[Poly, ...]) -> str:
    """`A × X²`: equal factors side by side are written as a power, also those of a tuple."""
    factors = tuple(_flat(factors))
    words: list[str] = []
    count = 0
    for i, f in enumerate(factors):
        count += 1
        if i + 1 < len(factors) and factors[i + 1] == f:
            continue
        word = f"({f})" if isinstance(f, Sum) and len(f.summands) > 1 else str(f)
        words.append(word if count == 1 else word + superscript(count))
        count = 0
    return " × ".join(words) or "1"


def _flat(factors: tuple[Poly, ...]) -> Iterator[Poly]:
    for f in factors:
        if isinstance(f, Product):
            yield from _flat(f.factors)
        else:
            yield f


def name(annotation: Any) -> str:
    """A payload's annotation as a short word."""
    if isinstance(annotation, TypeVar):
        return annotation.__name__.removesuffix("_co").removesuffix("_contra")
    if isinstance(annotation, list):
        return " × ".join(map(name, annotation)) or "1"
    if get_origin(annotation) in (Union, types.UnionType):
        return " | ".join(map(name, get_args(annotation)))
    if annotation is type(None):
        return "None"
    if get_origin(annotation) is None or (isinstance(annotation, type) and not get_args(annotation)):
        return str(getattr(annotation, "__name__", annotation)).replace(jax.Array.__name__, "Array")
    inner = ", ".join(name(a) for a in get_args(annotation))
    return f"{name(get_origin(annotation))}[{inner}]"
