"""`Many[X]`: any number of children, as an algebra sees them.

An algebra may map over the children and reduce them to one value; it may not count on how many there are. So the
same case runs on one node, where `Many` holds a tuple, and on a whole batch, where it stands for the edges of many
nodes at once and the reduction is one segment operation. `F X = A × Many(X)` is the rose tree.

| reduction                 | the value for children `x₁ … xₙ`, `n > 0`             | for none       |
| ------------------------- | ----------------------------------------------------- | -------------- |
| `sum(zero)`               | `x₁ + … + xₙ`                                         | `zero`         |
| `mean(zero)`              | `(x₁ + … + xₙ) / n`                                   | `zero`         |
| `max(zero)`               | the greatest, element by element                      | `zero`         |
| `min`, `prod`             | the least; the product                                | `zero`         |
| `var(zero)`, `std(zero)`  | the mean of `|x − mean|²`, and its square root        | `zero`         |
| `any`, `all`              | whether one is true; whether all are                  | `False`, `True` |
| `argmax(zero)`            | the number of the first greatest child                | `zero`         |
| `top(k, fill)`            | the `k` greatest in descending order, then `fill`      | `fill`, `k` times |
| `attend(score, zero)`     | `Σ softmax(score(x))ᵢ xᵢ`, for each head               | `zero`         |
| `fold(algebra)`           | `algebra(Cons(x₁, … algebra(Cons(xₙ, n₀))))`          | `n₀ = algebra(Nil())` |
"""

from collections.abc import Callable, Iterable
from typing import Any, cast, Generic, Never, NoReturn, Protocol, TYPE_CHECKING, TypeVar

import jax

from ..errors import CdlError
from ._reductions import arg_max, deviation, greatest, one_or_all, soft_max, truth, variance
from .items import Items, of_lists, UNSET
from .usage import whole, with_usage
from .values import assemble, disassemble, equal, fingerprint, show
from .words import short


A = TypeVar("A")
B = TypeVar("B")
A_co = TypeVar("A_co", covariant=True)


class Source(Protocol):
    """Where the children are, and how they are reduced."""

    def count(self) -> Any: ...

    def reduce(self, how: str, each: Callable[[Any], Any], zero: Any) -> Any: ...

    def expect(self, how: str, each: Callable[[Any], Any], zero: Any) -> None: ...

    def attend(self, each: Callable[[Any], Any], score: Callable[[Any], Any], zero: Any) -> Any: ...

    def fold(self, each: Callable[[Any], Any], algebra: Any) -> Any: ...

    def run(self, how: str, each: Callable[[Any], Any], step: Callable[[Any, Any], Any], start: Any) -> Any: ...


class Many(Generic[A_co]):
    """Any number of children, in order. `Many([x, y])` in a tree; in an algebra, `map` and then one reduction.

    `zero` is the value for a node without children, and is not added in for a node that has some. It has the structure
    and shapes of one (mapped) child. It may be left out where no tree has such a node.

    Examples:
        >>> cdl.fmap(len, cdl.Node("label", cdl.Many(["one", "three"])))
        Node('label', Many([3, 5]))
    """

    __cdl_many__ = True

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
        if name == "sort":
            raise AttributeError("a `Many` has no `sort`: use `top(k)`, the `k` greatest children in order.")
        raise AttributeError(
            f"a `Many` has no `{name}`: it has `map`, `count`, `softmax`, and the reductions {REDUCTIONS}."
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
        """The greatest, element by element. Children that are equally great share its gradient equally."""
        return self._source.reduce("max", self._each, zero)

    @with_usage
    def min(self: "Many[A]", zero: A = UNSET) -> A:
        """The least, element by element. Children that are equally small share its gradient equally."""
        return self._source.reduce("min", self._each, zero)

    @with_usage
    def prod(self: "Many[A]", zero: A = UNSET) -> A:
        """The product of the children."""
        return self._source.reduce("prod", self._each, zero)

    @with_usage
    def var(self: "Many[A]", zero: A = UNSET) -> A:
        """Their variance, element by element: the mean of the squared distances from the mean."""
        return cast("A", variance(self, zero))

    @with_usage
    def std(self: "Many[A]", zero: A = UNSET) -> A:
        """The square root of the variance. Where all children are equal its gradient is 0, and not infinite."""
        return cast("A", deviation(self, zero))

    @with_usage
    def any(self, zero: Any = False) -> Any:
        """Whether one is true, or not 0, element by element."""
        return one_or_all(self._true(), "any", zero)

    @with_usage
    def all(self, zero: Any = True) -> Any:
        """Whether all are true, or not 0, element by element."""
        return one_or_all(self._true(), "all", zero)

    @with_usage
    def argmax(self, zero: Any = UNSET) -> Any:
        """The number of the first child that is the greatest, from 0, element by element: an `int32`."""
        return arg_max(self, zero)

    @with_usage
    def top(self, k: int, fill: Any = UNSET) -> Any:
        """The `k` greatest, element by element, in descending order along a new first axis.

        **Arguments:** `k`: how many. `fill`: what stands past the last child where there are fewer, of the structure
        and shapes of one child; the least number of its type, if it is not given.
        """
        return greatest(self, whole("k", k), fill)

    @with_usage
    def softmax(self: "Many[A]", score: Callable[[A], Any]) -> "Many[tuple[Any, A]]":
        """Each child with its weight, `(softmax(score(x))ᵢ, xᵢ)`, to be mapped and reduced."""
        return cast("Many[tuple[Any, A]]", soft_max(self, score))

    @with_usage
    def attend(self: "Many[A]", score: Callable[[A], Any], zero: A = UNSET) -> A:
        """Their mean weighted by the softmax of `score`.

        `score` gives one number for a child; or one for each head, an array, and then the arrays of a child begin with
        the axes of the heads.
        """
        return self._source.attend(self._each, score, zero)

    @with_usage
    def fold(self: "Many[A]", algebra: Callable[[Any], B]) -> B:
        """The children folded, from the last, by an algebra of lists.

        **Raises:** `CarrierMismatch` for what is not one: a `Monoid`, say, or an algebra of lists read from the start.
        """
        return self._source.fold(self._each, of_lists(algebra))

    def _true(self) -> "Many[Any]":
        each: Callable[[Any], Any] = lambda x: jax.tree.map(truth, x)
        return self.map(each)

    def _expect(self, how: str, zero: Any) -> None:
        """**Raises:** `CarrierMismatch` where `zero` is not like a child, or a node without children needs it."""
        self._source.expect(how, self._each, zero)

    def _run(self, how: str, step: Callable[[Any, Any], Any], start: Callable[[Any], Any]) -> Any:
        """`step(x₁, … step(xₙ, start(x)))`, with a first value made from any child."""
        return self._source.run(how, self._each, step, start)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Many) and equal(self, other)

    def __hash__(self) -> int:
        return fingerprint(self)

    def __repr__(self) -> str:
        return show(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return assemble, (disassemble(self),)


REDUCTIONS = "`sum`, `mean`, `max`, `min`, `prod`, `var`, `std`, `any`, `all`, `argmax`, `top`, `attend` and `fold`"


def _refuse_listing(many: Many[Any]) -> NoReturn:
    """**Raises:** `CdlError`: the same in `cata` as in `fold`, so that what runs there runs here."""
    raise CdlError(
        "a `Many` is not a sequence: an algebra cannot loop over its children, index them or take their `len`, because "
        "`fold` reads those of many nodes at once. Use `map` and a reduction (`sum`, `max`, `attend`, `fold`, …), "
        "use `count` for their number, or annotate the field `tuple[X, ...]`. In a tree that you have, `items` lists "
        "them."
    )


def _same(x: Any) -> Any:
    return x


jax.tree_util.register_pytree_node(Many, lambda many: (many.items, None), lambda _, items: Many(items))


def source_of(many: Many[Any]) -> Source:
    """Where the children of a `Many` are."""
    return many._source
