"""Lists, one layer at a time: the functors `1 + A × X` and `1 + X × A`, and lists that are never empty.

| the mathematics     | here                                      | read from  | its finite trees          |
| ------------------- | ----------------------------------------- | ---------- | ------------------------- |
| `1 + A × X`         | `ListF[A, X]`, either `Nil` or `Cons`     | the end    | lists                     |
| `1 + X × A`         | `SnocF[A, X]`, either `Lin` or `Snoc`     | the start  | lists, grown at the end   |
| `A × (1 + X)`       | `Link[A, X]`                              | the end    | lists of at least one     |

`Cons` holds the first element and the rest, so an algebra has the rest's value in hand when it meets the first: the
last element is read first. `Snoc` holds what came before and the last. The direction is the functor's, never a flag.
"""

from collections.abc import Iterable
from typing import Generic, Never, TypeAlias, TypeVar, Union

from .base import Base, Fix
from .usage import with_usage


A = TypeVar("A", covariant=True)  # an element
X = TypeVar("X", covariant=True)  # a recursive place
E = TypeVar("E")


class List(Generic[A]):
    """The name of the functor `1 + A × X`; its initial algebra is the finite lists.

    Examples:
        >>> letters: cdl.Fix[cdl.List[str]] = cdl.to_list("ab")
        >>> letters
        Cons('a', Cons('b', Nil()))
    """


class Nil(Base[Never, Never]):
    """The summand `1`: the list has ended, without a place for an `X`.

    Examples:
        >>> cdl.to_list([])
        Nil()
    """


class Cons(Base["List[A]", X], Generic[A, X]):
    """The summand `A × X`: an element, and one place for an `X`.

    Examples:
        >>> cdl.fmap(len, cdl.Cons("head", "the tail"))
        Cons('head', 8)
    """

    head: A
    tail: X


ListF: TypeAlias = Union[Nil, Cons[A, X]]
"""`1 + A × X`: the constructors `Nil` and `Cons`.

Examples:
    >>> str(cdl.functor(cdl.ListF))
    '1 + A × X'
"""


class SnocList(Generic[A]):
    """The name of the functor `1 + X × A`; its initial algebra is the finite lists, read from the start.

    Examples:
        >>> grown: cdl.Fix[cdl.functors.SnocList[str]] = cdl.functors.to_snoc("ab")
        >>> grown
        Snoc(Snoc(Lin(), 'a'), 'b')
    """


class Lin(Base[Never, Never]):
    """The summand `1`: nothing has been read.

    Examples:
        >>> cdl.functors.Snoc(cdl.functors.Lin(), 1) == cdl.functors.to_snoc([1])
        True
    """


class Snoc(Base["SnocList[A]", X], Generic[A, X]):
    """The summand `X × A`: what came before, and the element after it.

    Examples:
        >>> cdl.functors.to_snoc("a")
        Snoc(Lin(), 'a')
    """

    init: X
    last: A


SnocF: TypeAlias = Union[Lin, Snoc[A, X]]
"""`1 + X × A`: the constructors `Lin` and `Snoc`.

Examples:
    >>> str(cdl.functor(cdl.functors.SnocF))
    '1 + X × A'
"""


class NonEmpty(Generic[A]):
    """The name of the functor `A × (1 + X)`; its initial algebra is the lists of at least one element.

    Examples:
        >>> pair: cdl.Fix[cdl.functors.NonEmpty[str]] = cdl.functors.Link(
        ...     "a", cdl.functors.Link("b")
        ... )
        >>> pair.tail.head
        'b'
    """


class Link(Base["NonEmpty[A]", X], Generic[A, X]):
    """An element, and the rest of the list where there is any.

    Examples:
        >>> cdl.functors.Link(1, cdl.functors.Link(2, None))
        Link(1, Link(2, None))
    """

    head: A
    tail: X | None = None


@with_usage
def to_list(elements: Iterable[E]) -> Fix[List[E]]:
    """The list of these elements, first to last.

    Examples:
        >>> cdl.to_list([1, 2])
        Cons(1, Cons(2, Nil()))
    """
    tree: Fix[List[E]] = Nil()
    for element in reversed(list(elements)):
        tree = Cons(element, tree)
    return tree


@with_usage
def to_snoc(elements: Iterable[E]) -> Fix[SnocList[E]]:
    """The same elements as a list that is read from the start.

    Examples:
        >>> cdl.functors.to_snoc([1, 2])
        Snoc(Snoc(Lin(), 1), 2)
    """
    tree: Fix[SnocList[E]] = Lin()
    for element in elements:
        tree = Snoc(tree, element)
    return tree
