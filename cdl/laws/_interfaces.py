"""Lawful interfaces, for containers of your own: `returns.contrib.hypothesis.laws.check_all_laws` tests each law.

| extend              | and write                       | to be tested for                         |
| ------------------- | ------------------------------- | ---------------------------------------- |
| `LawfulFunctor`     | `map`                           | identity, composition                    |
| `LawfulMonad`       | `map`, `join`, `wrap`           | the laws of `laws.monad`                 |
| `LawfulComonad`     | `map`, `extract`, `duplicate`   | the laws of `laws.comonad`               |

`check_all_laws(Mine, container_strategy=…)` at the top of a test module writes one pytest test for each law. Hypothesis
is needed there alone. The laws compare as `cdl.laws` does, so containers may hold arrays.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final, Generic, Self, TypeVar

from returns.primitives.laws import Law, Law1, Law3, law_definition, Lawful, LawSpecDef

from ._hold import hold


A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@final
class _OfFunctors(LawSpecDef):
    @law_definition
    def identity(container: "LawfulFunctor[A]") -> None:
        """`F id = id`."""
        hold("`F id = id`", container.map(lambda x: x), container)

    @law_definition
    def composition(container: "LawfulFunctor[A]", f: Callable[[A], B], g: Callable[[B], C]) -> None:
        """`F g ∘ F f = F (g ∘ f)`."""
        hold("`F g ∘ F f = F (g ∘ f)`", container.map(f).map(g), container.map(lambda x: g(f(x))))


class LawfulFunctor(Generic[A], Lawful["LawfulFunctor[A]"]):
    """A container that a function can be mapped over.

    Examples:
        >>> class Box(cdl.laws.LawfulFunctor):
        ...     def __init__(self, x):
        ...         self.x = x
        ...
        ...     def map(self, f):
        ...         return Box(f(self.x))
        >>> [law.name for law in Box.laws()[cdl.laws.LawfulFunctor]]
        ['identity', 'composition']
    """

    _laws: ClassVar[Sequence[Law]] = (Law1(_OfFunctors.identity), Law3(_OfFunctors.composition))

    @abstractmethod
    def map(self, f: Callable[[A], B], /) -> "LawfulFunctor[B]":
        """The function at each element."""


@final
class _OfMonads(LawSpecDef):
    @law_definition
    def left_unit(container: "LawfulMonad[A]") -> None:
        """`μ ∘ η = id`."""
        hold("`μ ∘ η = id`", container.wrap(container).join(), container)

    @law_definition
    def right_unit(container: "LawfulMonad[A]") -> None:
        """`μ ∘ M η = id`."""
        hold("`μ ∘ M η = id`", container.map(container.wrap).join(), container)

    @law_definition
    def associativity(container: "LawfulMonad[A]") -> None:
        """`μ ∘ μ = μ ∘ M μ`, at each element three times inside itself."""
        pairs: Callable[[Any], Any] = lambda a: container.map(lambda b: container.map(lambda c: (a, b, c)))
        nested = container.map(pairs)
        hold("`μ ∘ μ = μ ∘ M μ`", nested.join().join(), nested.map(lambda inner: inner.join()).join())


class LawfulMonad(LawfulFunctor[A]):
    """A container that can be flattened.

    Examples:
        >>> class One(cdl.laws.LawfulMonad):
        ...     def __init__(self, x):
        ...         self.x = x
        ...
        ...     def map(self, f):
        ...         return One(f(self.x))
        ...
        ...     def wrap(self, element):
        ...         return One(element)
        ...
        ...     def join(self):
        ...         return self.x
        >>> [law.name for law in One.laws()[cdl.laws.LawfulMonad]]
        ['left_unit', 'right_unit', 'associativity']
    """

    _laws: ClassVar[Sequence[Law]] = (
        Law1(_OfMonads.left_unit),
        Law1(_OfMonads.right_unit),
        Law1(_OfMonads.associativity),
    )

    @abstractmethod
    def map(self, f: Callable[[A], B], /) -> "LawfulMonad[B]":
        """The function at each element."""

    @abstractmethod
    def wrap(self, element: Any, /) -> "LawfulMonad[Any]":
        """`η`: a container of this kind with one element in it; it does not depend on what this one holds."""

    @abstractmethod
    def join(self: "LawfulMonad[Any]") -> "LawfulMonad[Any]":
        """`μ`: a container of containers, flattened."""


@final
class _OfComonads(LawSpecDef):
    @law_definition
    def left_counit(container: "LawfulComonad[A]") -> None:
        """`extract ∘ duplicate = id`."""
        hold("`extract ∘ duplicate = id`", container.duplicate().extract(), container)

    @law_definition
    def right_counit(container: "LawfulComonad[A]") -> None:
        """`W extract ∘ duplicate = id`."""
        hold("`W extract ∘ duplicate = id`", container.duplicate().map(lambda w: w.extract()), container)

    @law_definition
    def associativity(container: "LawfulComonad[A]") -> None:
        """`duplicate ∘ duplicate = W duplicate ∘ duplicate`."""
        contexts = container.duplicate()
        law = "`duplicate ∘ duplicate = W duplicate ∘ duplicate`"
        hold(law, contexts.duplicate(), contexts.map(lambda w: w.duplicate()))


class LawfulComonad(LawfulFunctor[A]):
    """A container with one element in focus, which `extract` gives; `duplicate` puts each element in focus.

    Examples:
        >>> class One(cdl.laws.LawfulComonad):
        ...     def __init__(self, x):
        ...         self.x = x
        ...
        ...     def map(self, f):
        ...         return One(f(self.x))
        ...
        ...     def extract(self):
        ...         return self.x
        ...
        ...     def duplicate(self):
        ...         return One(self)
        >>> [law.name for law in One.laws()[cdl.laws.LawfulComonad]]
        ['left_counit', 'right_counit', 'associativity']
    """

    _laws: ClassVar[Sequence[Law]] = (
        Law1(_OfComonads.left_counit),
        Law1(_OfComonads.right_counit),
        Law1(_OfComonads.associativity),
    )

    @abstractmethod
    def map(self, f: Callable[[A], B], /) -> "LawfulComonad[B]":
        """The function at each element."""

    @abstractmethod
    def extract(self) -> A:
        """The element at the place one stands at."""

    @abstractmethod
    def duplicate(self) -> "LawfulComonad[Self]":
        """At each place, the container as it is seen from there."""
