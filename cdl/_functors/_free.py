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
    """`Pure(a)`: the tree that is only a variable.

    Examples:
        >>> cdl.monads.bind(cdl.monads.Pure("x"), lambda name: cdl.Leaf(name))
        Leaf('x')
    """

    value: A_co


Free = TypeAliasType("Free", "Pure[A] | Base[T, Free[T, A]]", type_params=(T, A))
"""Trees of `T` with variables of type `A`: the free monad. A variable is a `Pure`.

Examples:
    >>> x = cdl.monads.Pure("x")
    >>> formula: cdl.monads.Free[cdl.Tree[int], str] = cdl.Fork(x, cdl.Leaf(1))
    >>> formula
    Fork(Pure('x'), Leaf(1))
"""


@dataclass_transform(frozen_default=True)
class _Frozen:
    """Tells a type checker that subclasses are frozen dataclasses."""


@as_value
class Cofree(_Frozen, Value, Generic[T_co, A_co]):
    """A tree with an `A` at every node: the value here, and the layer of what is below.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> counted = cdl.monads.Cofree(1, Succ(cdl.monads.Cofree(0, Zero())))
        >>> counted.head, counted.tail.pred.head
        (1, 0)
    """

    head: A_co
    tail: Base[T_co, "Cofree[T_co, A_co]"]


@with_types
def bind(free: Free[T, A], f: Callable[[A], Free[T, B]]) -> Free[T, B]:
    """The tree with `f(a)` grafted at each variable `a`.

    **Arguments:** `free`: a tree with variables. `f`: from a variable to the tree that replaces it.

    Examples:
        >>> formula = cdl.Fork(cdl.monads.Pure("x"), cdl.monads.Pure("y"))
        >>> cdl.monads.bind(formula, lambda name: cdl.Leaf({"x": 1, "y": 2}[name]))
        Fork(Leaf(1), Leaf(2))
    """
    return cast("Free[T, B]", _over_free(f, lambda frame, go: frame.filled(go))(free))


@with_types
def interpret(f: Callable[[A], B], algebra: Callable[[Base[T, B]], B]) -> Callable[[Free[T, A]], B]:
    """The one map of algebras `Free F A → B` that is `f` on variables.

    **Arguments:** `f`: from a variable to its value. `algebra`: how to read one layer of values.

    Examples:
        >>> add = cdl.algebra(lambda t: t.left + t.right if isinstance(t, cdl.Fork) else t.label)
        >>> formula = cdl.Fork(cdl.monads.Pure("x"), cdl.Fork(cdl.Leaf(1), cdl.monads.Pure("y")))
        >>> cdl.monads.interpret({"x": 10, "y": 100}.get, add)(formula)
        111
    """
    return _over_free(f, lambda frame, go: algebra(frame.filled(go)))


@with_types
def extract(cofree: Cofree[T, A]) -> A:
    """The value at the root.

    Examples:
        >>> cdl.monads.extract(cdl.monads.Cofree(7, cdl.functors.Zero()))
        7
    """
    return cofree.head


@with_types
def extend(f: Callable[[Cofree[T, A]], B]) -> Callable[[Cofree[T, A]], Cofree[T, B]]:
    """`f` of the whole context at every node.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> counted = cdl.monads.Cofree(1, Succ(cdl.monads.Cofree(5, Zero())))
        >>> with_child = lambda w: w.head + w.tail.pred.head if isinstance(w.tail, Succ) else w.head
        >>> cdl.monads.extend(with_child)(counted)
        Cofree(6, Succ(Cofree(5, Zero())))
    """
    up: Any = lambda frame, go: Cofree(f(frame.seed), frame.filled(go))
    return recursion(lambda _, cofree: cofree.tail, up)(0)


@with_types
def duplicate(cofree: Cofree[T, A]) -> Cofree[T, Cofree[T, A]]:
    """Each node's own context at that node: `extend` of the identity.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> counted = cdl.monads.Cofree(1, Succ(cdl.monads.Cofree(5, Zero())))
        >>> cdl.monads.duplicate(counted).tail.pred.head
        Cofree(5, Zero())
    """
    return extend(_same)(cofree)


@with_types
def observe(f: Callable[[S], A], coalgebra: Callable[[S], Base[T, S]]) -> Callable[[S], Cofree[T, A]]:
    """The one map of coalgebras `S → Cofree F A` whose heads are `f`: all that is ever seen from a state.

    **Arguments:** `f`: from a state to the head of its node. `coalgebra`: from a state to a layer of states.

    Examples:
        >>> from cdl.functors import Succ, Zero
        >>> down = lambda n: Succ(n - 1) if n else Zero()
        >>> cdl.monads.observe(lambda n: n * n, down)(2)
        Cofree(4, Succ(Cofree(1, Succ(Cofree(0, Zero())))))
    """
    up: Any = lambda frame, go: Cofree(f(frame.seed), frame.filled(go))
    return recursion(lambda _, s: coalgebra(s), up)(0)


@with_types
def map_cofree(f: Callable[[A], B], cofree: Cofree[T, A]) -> Cofree[T, B]:
    """`f` at every node.

    **Arguments:** `f`: a function of heads. `cofree`: a tree with a head at every node.

    Examples:
        >>> cdl.monads.map_cofree(str, cdl.monads.Cofree(7, cdl.functors.Zero()))
        Cofree('7', Zero())
    """
    at_head: Callable[[Cofree[T, A]], B] = lambda context: f(context.head)
    return extend(at_head)(cofree)


@with_types
def map_free(f: Callable[[A], B], free: Free[T, A]) -> Free[T, B]:
    """`f` at every variable.

    **Arguments:** `f`: a function of variables. `free`: a tree with variables.

    Examples:
        >>> cdl.monads.map_free(str.upper, cdl.Fork(cdl.monads.Pure("x"), cdl.monads.Pure("y")))
        Fork(Pure('X'), Pure('Y'))
    """
    return bind(free, lambda a: Pure(f(a)))


@with_types
def one_step(layer: Base[T, A]) -> Free[T, A]:
    """A layer of variables as a free tree of depth one.

    Examples:
        >>> cdl.monads.one_step(cdl.Fork("x", "y"))
        Fork(Pure('x'), Pure('y'))
    """
    return cast("Free[T, A]", fmap(Pure, layer))


def _over_free(leaf: Callable[[Any], Any], up: Any) -> Any:
    down: Any = lambda _, free: Done(leaf(free.value)) if isinstance(free, Pure) else free
    return recursion(down, up)(0)


def _same(x: Any) -> Any:
    return x
