"""Trees: binary with labels at the leaves or at the branches, and with any number of children.

| the mathematics   | here                                                | its finite trees                  |
| ----------------- | --------------------------------------------------- | --------------------------------- |
| `A + X²`          | `TreeF[A, X]`, either `Leaf` or `Fork`              | binary trees labelled at leaves   |
| `1 + A × X²`      | `LabelledTreeF[A, X]`, either `Tip` or `Branch`     | binary trees labelled at branches |
| `A × Many(X)`     | `RoseF[A, X]`, a `Node`                             | trees of any number of children   |
| `1 + X`           | `NatF[X]`, either `Zero` or `Succ`                  | the natural numbers               |
"""

from typing import Generic, Never, TypeAlias, TypeVar, Union

from .base import Base
from .many import Many


A = TypeVar("A", covariant=True)  # a label
X = TypeVar("X", covariant=True)  # a recursive place


class Tree(Generic[A]):
    """The name of the functor `A + X²`."""


class Leaf(Base["Tree[A]", Never], Generic[A]):
    """The summand `A`: a label, and nothing below it."""

    label: A


class Fork(Base["Tree[A]", X], Generic[A, X]):
    """The summand `X²`: two places, left and right.

    Examples:
        >>> cdl.fmap(len, cdl.Fork("two", "three"))
        Fork(3, 5)
    """

    left: X
    right: X


TreeF: TypeAlias = Union[Leaf[A], Fork[A, X]]


class LabelledTree(Generic[A]):
    """The name of the functor `1 + A × X²`."""


class Tip(Base[Never, Never]):
    """The summand `1`: no tree."""


class Branch(Base["LabelledTree[A]", X], Generic[A, X]):
    """The summand `A × X²`: a label and two places.

    Examples:
        >>> cdl.fmap(len, cdl.Branch("label", "two", "three"))
        Branch('label', 3, 5)
    """

    label: A
    left: X
    right: X


LabelledTreeF: TypeAlias = Union[Tip, Branch[A, X]]


class Rose(Generic[A]):
    """The name of the functor `A × Many(X)`."""


class Node(Base["Rose[A]", X], Generic[A, X]):
    """A label and any number of children.

    Examples:
        >>> cdl.fmap(len, cdl.Node("label", cdl.Many(["one", "three"])))
        Node('label', Many([3, 5]))
    """

    label: A
    kids: Many[X]


RoseF: TypeAlias = Node[A, X]


class Nat:
    """The name of the functor `1 + X`; its initial algebra is the natural numbers."""


class Zero(Base[Nat, Never]):
    """The summand `1`.

    Examples:
        >>> cdl.fmap(lambda n: n + 1, cdl.functors.Zero())
        Zero()
    """


class Succ(Base[Nat, X], Generic[X]):
    """The summand `X`: one more.

    Examples:
        >>> cdl.fmap(lambda n: n + 1, cdl.functors.Succ(4))
        Succ(5)
    """

    pred: X


NatF: TypeAlias = Union[Zero, Succ[X]]
