"""`Many[X]`: any number of children, as an algebra sees them.

An algebra may map over the children and reduce them to one value; it may not count on how many there are. So the
same case runs on one node, where `Many` holds a tuple, and on a whole batch, where it stands for the edges of many
nodes at once and the reduction is one segment operation. `F X = A × Many(X)` is the rose tree.

| reduction                 | the value for children `x₁ … xₙ`, `n > 0`             | for none       |
| ------------------------- | ----------------------------------------------------- | -------------- |
| `sum(zero)`               | `x₁ + … + xₙ`                                         | `zero`         |
| `mean(zero)`              | `(x₁ + … + xₙ) / n`                                   | `zero`         |
| `max(zero)`               | the greatest, element by element                      | `zero`         |
| `attend(score, zero)`     | `Σ softmax(score(x))ᵢ xᵢ`                             | `zero`         |
| `fold(algebra)`           | `algebra(Cons(x₁, … algebra(Cons(xₙ, n₀))))`          | `n₀ = algebra(Nil())` |
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Never, NoReturn, Protocol, TYPE_CHECKING, TypeVar

import jax

from ..errors import CdlError
from .items import Items, of_lists, UNSET
from .usage import with_usage
from .words import short


A = TypeVar("A")
B = TypeVar("B")
A_co = TypeVar("A_co", covariant=True)


class Source(Protocol):
    """Where the children are, and how they are reduced."""

    def count(self) -> Any: ...

    def reduce(self, how: str, each: Callable[[Any], Any], zero: Any) -> Any: ...

    def attend(self, each: Callable[[Any], Any], score: Callable[[Any], Any], zero: Any) -> Any: ...

    def fold(self, each: Callable[[Any], Any], algebra: Any) -> Any: ...


class Many(Generic[A_co]):
    """Any number of children, in order. `Many([x, y])` in a tree; in an algebra, `map` and then one reduction.

    `zero` is the value where there is no child, and is not added in where there are some. It has the structure and
    shapes of one (mapped) child. It may be left out where no tree has such a node.
    """

    def __init__(self, items: Iterable[A_co] = (), /, *others: Never) -> None:
        """**Arguments:** `items`: the children, in a list or another iterable.

        **Raises:** `CdlError` where they are given one by one.
        """
        if others or not isinstance(items, Iterable):
            raise CdlError(f"`Many` takes its children in a list, and was given {short(items)}: write `Many([x, y])`.")
        self.items: tuple[A_co, ...] = tuple(items)
        self._source: Source = Items(self.items)
        self._each: Callable[[Any], Any] = _same

    @staticmethod
    def over(source: Source, each: Callable[[Any], Any] | None = None) -> "Many[Any]":
        """A `Many` whose children are elsewhere: what `fold` gives to an algebra."""
        new: Many[Any] = object.__new__(Many)
        new._source, new._each = source, each or _same
        return new

    @property
    def listed(self) -> bool:
        """Whether its children are here, one by one, and not among those of many nodes, as in `fold`."""
        return isinstance(self._source, Items)

    def __getattr__(self, name: str) -> Any:
        if name == "items":
            _refuse_listing(self)
        raise AttributeError(
            f"a `Many` has no `{name}`: it has `map`, `count`, and the reductions `sum`, `mean`, `max`, `attend` and "
            "`fold`."
        )

    if not TYPE_CHECKING:  # so that type checkers know of none of these, and refuse them

        def __iter__(self) -> NoReturn:
            _refuse_listing(self)

        def __getitem__(self, at: Any) -> NoReturn:
            _refuse_listing(self)

        def __len__(self) -> NoReturn:
            _refuse_listing(self)

        def __contains__(self, child: Any) -> NoReturn:
            _refuse_listing(self)

        __reversed__ = __iter__

    @property
    def count(self) -> Any:
        """How many children there are: an `int`, or in `fold` a traced one."""
        return self._source.count()

    def map(self, f: Callable[[A_co], B], /) -> "Many[B]":
        """`f` at every child."""
        each = self._each
        if self.listed:
            return Many(f(x) for x in self.items)
        return Many.over(self._source, f if each is _same else lambda x: f(each(x)))

    def at(self, child: Any) -> A_co:
        """What `map` makes of one child."""
        return self._each(child)

    @with_usage
    def sum(self: "Many[A]", zero: A = UNSET) -> A:
        """The sum of the children; booleans are counted."""
        return self._source.reduce("sum", self._each, zero)

    @with_usage
    def mean(self: "Many[A]", zero: A = UNSET) -> A:
        """Their mean; that of whole numbers is a real number."""
        return self._source.reduce("mean", self._each, zero)

    @with_usage
    def max(self: "Many[A]", zero: A = UNSET) -> A:
        """The greatest, element by element."""
        return self._source.reduce("max", self._each, zero)

    @with_usage
    def attend(self: "Many[A]", score: Callable[[A], Any], zero: A = UNSET) -> A:
        """Their mean weighted by the softmax of `score`, which gives one number for a child."""
        return self._source.attend(self._each, score, zero)

    @with_usage
    def fold(self: "Many[A]", algebra: Callable[[Any], B]) -> B:
        """The children folded, from the last, by an algebra of lists.

        **Raises:** `CarrierMismatch` for what is not one: a `Monoid`, say, or an algebra of lists read from the start.
        """
        return self._source.fold(self._each, of_lists(algebra))

    def __eq__(self, other: object) -> bool:
        from .values import equal

        return isinstance(other, Many) and equal(self, other)

    def __hash__(self) -> int:
        from .values import fingerprint

        return fingerprint(self)

    def __repr__(self) -> str:
        from .values import show

        return show(self)

    def __reduce__(self) -> tuple[Any, ...]:
        from .values import assemble, disassemble

        return assemble, (disassemble(self),)


def _refuse_listing(many: Many[Any]) -> NoReturn:
    """**Raises:** `CdlError`: the same in `cata` as in `fold`, so that what runs there runs here."""
    raise CdlError(
        "a `Many` is not a sequence: an algebra cannot loop over its children, index them or take their `len`, because "
        "`fold` reads those of many nodes at once. Use `map` and a reduction (`sum`, `mean`, `max`, `attend`, `fold`), "
        "use `count` for their number, or annotate the field `tuple[X, ...]`. In a tree that you have, `items` lists "
        "them."
    )


def _same(x: Any) -> Any:
    return x


jax.tree_util.register_pytree_node(Many, lambda many: (many.items, None), lambda _, items: Many(items))
