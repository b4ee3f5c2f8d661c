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
    """The name of the functor `A + X²`.

    Examples:
        >>> tree: cdl.Fix[cdl.Tree[int]] = cdl.Fork(cdl.Leaf(1), cdl.Fork(cdl.Leaf(2), cdl.Leaf(3)))
        >>> tree.right.left
        Leaf(2)
    """


class Leaf(Base["Tree[A]", Never], Generic[A]):
    """The summand `A`: a label, and nothing below it.

    Examples:
        >>> cdl.Fork(cdl.Leaf("a"), cdl.Leaf("b")).left.label
        'a'
    """

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
"""`A + X²`: the constructors `Leaf` and `Fork`.

Examples:
    >>> str(cdl.functor(cdl.TreeF))
    'A + X²'
"""


class LabelledTree(Generic[A]):
    """The name of the functor `1 + A × X²`.

    Examples:
        >>> branch: cdl.Fix[cdl.functors.LabelledTree[str]] = cdl.Branch("a", cdl.Tip(), cdl.Tip())
        >>> branch.label
        'a'
    """


class Tip(Base[Never, Never]):
    """The summand `1`: no tree.

    Examples:
        >>> size = cdl.algebra(lambda t: 0 if isinstance(t, cdl.Tip) else t.left + 1 + t.right)
        >>> cdl.cata(size)(cdl.Branch("a", cdl.Tip(), cdl.Branch("b", cdl.Tip(), cdl.Tip())))
        2
    """


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
"""`1 + A × X²`: the constructors `Tip` and `Branch`.

Examples:
    >>> str(cdl.functor(cdl.LabelledTreeF))
    '1 + A × X²'
"""


class Rose(Generic[A]):
    """The name of the functor `A × Many(X)`.

    Examples:
        >>> leaf = cdl.Node("b", cdl.Many())
        >>> rose: cdl.Fix[cdl.Rose[str]] = cdl.Node("a", cdl.Many([leaf, leaf]))
        >>> cdl.cata(cdl.algebra(lambda node: 1 + node.kids.sum(0)))(rose)
        3
    """


class Node(Base["Rose[A]", X], Generic[A, X]):
    """A label and any number of children.

    Examples:
        >>> cdl.fmap(len, cdl.Node("label", cdl.Many(["one", "three"])))
        Node('label', Many([3, 5]))
    """

    label: A
    kids: Many[X]


RoseF: TypeAlias = Node[A, X]
"""`A × Many(X)`: the one constructor `Node`.

Examples:
    >>> str(cdl.functor(cdl.RoseF))
    'A × Many(X)'
"""


class Nat:
    """The name of the functor `1 + X`; its initial algebra is the natural numbers.

    Examples:
        >>> two: cdl.Fix[cdl.functors.Nat] = cdl.functors.Succ(
        ...     cdl.functors.Succ(cdl.functors.Zero())
        ... )
        >>> cdl.cata(cdl.algebra(lambda n: 1 + n.pred if isinstance(n, cdl.functors.Succ) else 0))(
        ...     two
        ... )
        2
    """


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
"""`1 + X`: the constructors `Zero` and `Succ`.

Examples:
    >>> str(cdl.functor(cdl.functors.NatF))
    '1 + X'
"""
