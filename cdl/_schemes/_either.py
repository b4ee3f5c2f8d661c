"""`A + B`: which of two things stands at a place.

| the mathematics | here                                       |
| --------------- | ------------------------------------------ |
| `A + B`         | `Either[A, B]`, `Left(a)` or `Right(b)`    |
"""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, Union


A = TypeVar("A", covariant=True)
B = TypeVar("B", covariant=True)


@dataclass(frozen=True)
class Left(Generic[A]):
    """The first of two: in `apo`, a finished tree; in `elgot`, a finished value.

    Examples:
        >>> rest = cdl.to_list([8, 9])
        >>> up_to_two = lambda n: cdl.Cons(
        ...     n, cdl.schemes.Right(n + 1) if n < 2 else cdl.schemes.Left(rest)
        ... )
        >>> cdl.schemes.apo(up_to_two)(1) == cdl.to_list([1, 2, 8, 9])
        True
    """

    value: A


@dataclass(frozen=True)
class Right(Generic[B]):
    """The second of two: a seed to go on from.

    Examples:
        >>> down = lambda n: cdl.schemes.Right(cdl.Cons(n, n - 1)) if n else cdl.schemes.Left(100)
        >>> total = cdl.algebra(lambda l: l.head + l.tail if isinstance(l, cdl.Cons) else 0)
        >>> cdl.schemes.elgot(total, down)(3)
        106
    """

    value: B


Either: TypeAlias = Union[Left[A], Right[B]]
"""`A + B`: a `Left` or a `Right`.

Examples:
    >>> first: cdl.schemes.Either[int, str] = cdl.schemes.Left(1)
    >>> first
    Left(value=1)
"""
