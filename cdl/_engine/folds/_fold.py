"""`fold`: the catamorphism of a whole forest, compiled.

It is `cata` at every tree, as one program for all forests of a bucket.
"""

from typing import Any, overload, TypeVar

from jaxtyping import PRNGKeyArray

from ..._functors import Base, List, Monoid, SnocList
from ..._functors.usage import with_usage
from ..._schemes import Algebra
from ..calls._strategies import Bracketing, Levels, Scan, Strategy
from ..forests._forest import Forest
from ..lists._scan import fold_seq
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
def fold(
    alg: Algebra[Base[List[E], A], A],
    data: Seq[E] | Packed[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> A: ...
@overload
def fold(
    alg: Algebra[Base[SnocList[E], A], A],
    data: Seq[E] | Packed[E],
    *,
    key: PRNGKeyArray | None = None,
    how: Scan | None = None,
) -> A: ...
@overload
def fold(alg: Monoid[M], data: Seq[M] | Packed[M], *, how: Bracketing | None = None) -> M: ...
@overload
def fold(
    alg: Algebra[Base[T, A], A],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> A: ...
@overload
def fold(
    alg: tuple[Algebra[Base[T, tuple[A, B]], A], Algebra[Base[U, tuple[A, B]], B]],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> tuple[A, B]: ...
@overload
def fold(
    alg: tuple[Algebra[Any, Any], ...],
    data: Forest,
    *,
    key: PRNGKeyArray | None = None,
    how: Levels | None = None,
) -> tuple[Any, ...]: ...
@with_usage
def fold(
    alg: Any,
    data: Any,
    *,
    key: PRNGKeyArray | None = None,
    how: Strategy | None = None,
) -> Any:
    """Runs an algebra over every tree of a batch, from the leaves to the roots, in one compiled program.

    For each tree this is `cata(alg)` at the tree of `forest.trees()`, up to rounding: a catamorphism, batched. The
    program is compiled once for each bucket and number of trees. It works under `jit`, `grad`, and `vmap` over models,
    and is differentiable in the algebra's arrays, in arrays that its cases close over, and in the forest's payload.

    **Arguments:**

    - `alg`: the algebra, written for one node; the object that you pass to `cata`. For several sorts, a tuple with one
      for each sort.
    - `data`: a `Forest`, from `pack` or a `Corpus`; a `Seq` or `Packed` for an algebra of lists or a `Monoid`.
    - `key`: a random key, if the algebra takes one. Node `i`, in pre-order, of tree `t` gets
      `fold_in(fold_in(key, t), i)`.
    - `how`: the strategy, if the default does not suit: `Levels` for a forest, `Scan` for lists, `Bracketing` for a
      monoid.

    **Returns:** the values at the roots, with a leading axis `(trees,)`. For several sorts a tuple of these, with
    `None` for a sort that has no node.

    **Raises:**

    - `CarrierMismatch`: two cases return different structures, shapes or dtypes, or a case returns nothing.
    - `SignatureError`: the algebras do not match the forest's sorts, or their order.
    - `CdlError`: `data` or `how` is not of these kinds, or a case compares a payload with a string or `True`.

    A case is traced once, and then runs for all nodes: a payload is a traced array, and JAX's own errors come through
    with a note. A case reads its algebra: JAX arrays that a function closes over are inputs too, and anything else is
    what it was at the first trace. *What a case may do*, in the documentation, has the table.

    Examples:
        >>> from cdl.functors import TreeF
        >>> @cdl.algebra
        ... def total(layer: TreeF[float, jax.Array]) -> jax.Array:
        ...     return (
        ...         jnp.asarray(layer.label)
        ...         if isinstance(layer, cdl.Leaf)
        ...         else layer.left + layer.right
        ...     )
        >>> trees = [cdl.Leaf(0.5), cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))]
        >>> cdl.fold(total, cdl.pack(TreeF, trees))
        Array([0.5, 3. ], dtype=float32)
    """
    if isinstance(data, Seq | Packed):
        return fold_seq(alg, data, key, fitting("fold", alg, data, key, how))
    expect_forest("fold", data, "alg")
    found = values("fold", alg, data, key, fitting("fold", alg, data, key, how), at_roots=True)
    return found if isinstance(alg, tuple) else found[0]
