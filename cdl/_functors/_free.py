"""The free monad and the cofree comonad of a functor.

| the mathematics                   | here                                                             |
| --------------------------------- | ---------------------------------------------------------------- |
| `Free F A = A + F (Free F A)`     | `Free[T, A]`, either `Pure(a)` or a layer of `Free`s             |
| `Cofree F A = A × F (Cofree F A)` | `Cofree(head, tail)`: a value at a node, and the layer below it  |
| unit and bind of the monad        | `Pure`, `bind`                                                   |
| `[A, B] ≅ Alg(Free F A, (B, b))`  | `interpret(f, b)`, and back by `f = g ∘ Pure`                    |
| counit and comultiplication       | `extract`, `duplicate`; `extend(f)` maps over all contexts       |
| `[B, A] ≅ Coalg((B, c), Cofree F A)` | `observe(f, c)`, and back by `f = extract ∘ g`                  |

`Pure` is a layer of every functor, so `Free` needs no wrapper: a layer of `Free`s is one.
"""

from collections.abc import Callable
from typing import Any, cast, Generic, Never, TypeVar

from typing_extensions import dataclass_transform, TypeAliasType

from .base import as_value, Base, T, Value
from .mapping import fmap
from .recursion import Done, recursion
from .usage import with_types


A = TypeVar("A")
B = TypeVar("B")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)


class Pure(Base[Never, Never], Generic[A_co]):
    """`Pure(a)`: the tree that is only a variable."""

    value: A_co


Free = TypeAliasType("Free", "Pure[A] | Base[T, Free[T, A]]", type_params=(T, A))


@dataclass_transform(frozen_default=True)
class _Frozen:
    """Tells a type checker that subclasses are frozen dataclasses."""


@as_value
class Cofree(_Frozen, Value, Generic[T_co, A_co]):
    """A tree with an `A` at every node: the value here, and the layer of what is below."""

    head: A_co
    tail: Base[T_co, "Cofree[T_co, A_co]"]


@with_types
def bind(free: Free[T, A], f: Callable[[A], Free[T, B]]) -> Free[T, B]:
    """The tree with `f(a)` grafted at each variable `a`."""
    return cast("Free[T, B]", _over_free(f, lambda frame, go: frame.filled(go))(free))


@with_types
def interpret(f: Callable[[A], B], algebra: Callable[[Base[T, B]], B]) -> Callable[[Free[T, A]], B]:
    """The one map of algebras `Free F A → B` that is `f` on variables."""
    return _over_free(f, lambda frame, go: algebra(frame.filled(go)))


@with_types
def extract(cofree: Cofree[T, A]) -> A:
    """The value at the root."""
    return cofree.head


@with_types
def extend(f: Callable[[Cofree[T, A]], B]) -> Callable[[Cofree[T, A]], Cofree[T, B]]:
    """`f` of the whole context at every node."""
    up: Any = lambda frame, go: Cofree(f(frame.seed), frame.filled(go))
    return recursion(lambda _, cofree: cofree.tail, up)(0)


@with_types
def duplicate(cofree: Cofree[T, A]) -> Cofree[T, Cofree[T, A]]:
    """Each node's own context at that node: `extend` of the identity."""
    return extend(_same)(cofree)


@with_types
def observe(f: Callable[[S], A], coalgebra: Callable[[S], Base[T, S]]) -> Callable[[S], Cofree[T, A]]:
    """The one map of coalgebras `S → Cofree F A` whose heads are `f`: all that is ever seen from a state."""
    up: Any = lambda frame, go: Cofree(f(frame.seed), frame.filled(go))
    return recursion(lambda _, s: coalgebra(s), up)(0)


@with_types
def map_cofree(f: Callable[[A], B], cofree: Cofree[T, A]) -> Cofree[T, B]:
    """`f` at every node."""
    at_head: Callable[[Cofree[T, A]], B] = lambda context: f(context.head)
    return extend(at_head)(cofree)


@with_types
def map_free(f: Callable[[A], B], free: Free[T, A]) -> Free[T, B]:
    """`f` at every variable."""
    return bind(free, lambda a: Pure(f(a)))


@with_types
def one_step(layer: Base[T, A]) -> Free[T, A]:
    """A layer of variables as a free tree of depth one."""
    return cast("Free[T, A]", fmap(Pure, layer))


def _over_free(leaf: Callable[[Any], Any], up: Any) -> Any:
    down: Any = lambda _, free: Done(leaf(free.value)) if isinstance(free, Pure) else free
    return recursion(down, up)(0)


def _same(x: Any) -> Any:
    return x
