"""`annotate`: the value of a fold at every node of a forest, compiled."""

from typing import Any, overload, TypeVar

from jaxtyping import PRNGKeyArray

from ..._functors import Base, List, Monoid, SnocList
from ..._functors.usage import with_usage
from ..._schemes import Algebra
from ..calls._strategies import Bracketing, Levels, Scan, Strategy
from ..forests._forest import Forest
from ..lists._scan import annotate_seq
from ..lists._seq import Seq
from ..lists._seq_packed import Packed
from ._options import expect_forest, fitting
from ._states import values


T = TypeVar("T")
U = TypeVar("U")
A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
M = TypeVar("M")


@overload
def annotate(
    alg: Algebra[Base[List[E], A], A],
    data: Seq[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> Seq[A]: ...
@overload
def annotate(
    alg: Algebra[Base[List[E], A], A],
    data: Packed[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> Packed[A]: ...
@overload
def annotate(
    alg: Algebra[Base[SnocList[E], A], A],
    data: Seq[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> Seq[A]: ...
@overload
def annotate(
    alg: Algebra[Base[SnocList[E], A], A],
    data: Packed[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> Packed[A]: ...
@overload
def annotate(alg: Monoid[M], data: Seq[M], *, how: Bracketing | None = None) -> Seq[M]: ...
@overload
def annotate(alg: Monoid[M], data: Packed[M], *, how: Bracketing | None = None) -> Packed[M]: ...
@overload
def annotate(
    alg: Algebra[Base[T, A], A],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> A: ...
@overload
def annotate(
    alg: tuple[Algebra[Base[T, tuple[A, B]], A], Algebra[Base[U, tuple[A, B]], B]],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> tuple[A, B]: ...
@overload
def annotate(
    alg: tuple[Algebra[Any, Any], ...],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> tuple[Any, ...]: ...
@with_usage
def annotate(
    alg: Any,
    data: Any,
    *,
    key: PRNGKeyArray | None = None,
    how: Strategy | None = None,
) -> Any:
    """`decorate(alg)` at every tree of a forest, or every list: the value at every node, in one compiled program.

    **Arguments** and **raises:** as `fold`.

    **Returns:** the values, `(rows, …)`, with as many rows as the bucket has room for. The rows of tree i are
    `forest.nodes(i)`, in pre-order, the root first. Rows past the last node are zero. For a family, a tuple of these,
    one for each sort, with zeros at the nodes of other sorts.

    For a `Seq` or `Packed`, another of the same lengths. Row `t` is the value of the suffix that begins with element
    `t` for `Cons`, and of the prefix that ends with it for `Snoc` and for a monoid. Padding is zero.

    Examples:
        >>> @cdl.algebra
        ... def total(layer):
        ...     return (
        ...         jnp.asarray(layer.label)
        ...         if isinstance(layer, cdl.Leaf)
        ...         else layer.left + layer.right
        ...     )
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))])
        >>> cdl.annotate(total, forest)[forest.nodes(0)]
        Array([3., 1., 2.], dtype=float32)
    """
    if isinstance(data, Seq | Packed):
        return annotate_seq(alg, data, key, fitting("annotate", alg, data, key, how))
    expect_forest("annotate", data, "alg")
    found = values("annotate", alg, data, key, fitting("annotate", alg, data, key, how), at_roots=False)
    return found if isinstance(alg, tuple) else found[0]
