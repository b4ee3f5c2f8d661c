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
    """The first of two: in `apo`, a finished tree; in `elgot`, a finished value."""

    value: A


@dataclass(frozen=True)
class Right(Generic[B]):
    """The second of two: a seed to go on from."""

    value: B


Either: TypeAlias = Union[Left[A], Right[B]]
