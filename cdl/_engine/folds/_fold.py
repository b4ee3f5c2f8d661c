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
    """`cata(alg)` at every tree of a forest, or at every list, in one compiled program: a catamorphism, batched.

    It is compiled once for the forest's bucket and number of trees. It works under `jit`, `grad`, and `vmap` over
    models. It is differentiable in the algebra's arrays, in the arrays that its cases close over, and in the forest's
    payload.

    **Arguments:** `alg`: how to read one layer, for one node; the same object as for `cata`. For a family of sorts, a
    tuple of algebras, in the order of the sorts. `data`: a `Forest`, from `pack` or a `Corpus`; or a `Seq` or `Packed`,
    for an algebra of lists or a `Monoid`. `key`: for algebras that take one; the node numbered `i` in pre-order of tree
    `t` gets `fold_in(fold_in(key, t), i)`. `how`: the strategy, where the default does not suit: `Levels` for a forest,
    `Scan` for lists, `Bracketing` for a monoid. One that is not for the data is refused.

    **What a case reads from outside** is what it closes over, its globals, the classes of its layers, and the arrays
    and lists in them. `fold` looks at these at each call, so it sees what `cata` sees:

    - JAX arrays of real numbers are inputs of the program. A new value does not recompile.
    - Numbers, text, NumPy arrays, containers, and the attributes of ordinary objects are compared with those of the
      last call. Where one has changed, the algebra is traced again.
    - Objects of libraries, and functions under `jit`, are not looked into.
    - A case is traced once for all nodes. What it draws from `random`, counts, or prints with `print` happens then.
      Take random numbers from a key.
    - An algebra that is made anew for each call is traced anew, and what it closes over is kept, as by `jax.jit`. Make
      it once.
    - Under a `jit` of yours everything is read once, when it is traced.

    **Types:**

    - A value has one dtype at all nodes, and cases that give arrays of two dtypes are refused with `CarrierMismatch`. A
      Python number takes the dtype of what it meets, and is refused where it would not be the same number there. So
      does what JAX makes of one alone, such as `jnp.array(0)`. The case above then reads that dtype: where a leaf gives
      `0` and a node a float, `jnp.full_like(v, 0.5)` is 0.5 at every node, and 0 in the definition.
    - Results are rounded to that dtype, and whole numbers wrap around: a Python `int` is an `int32`, or an `int64` with
      `jax_enable_x64`. A division by zero gives infinity or NaN, and of whole numbers any number. Python raises an
      error there.
    - In a case a payload is a traced array. An `if` on it is refused, and so are `v is True`, `case Flag(True)`,
      `isinstance(v, int)`, `v == "so"` and `str(v)`. These are answered for the traced array, without an error:
      `f"{v}"`, `"%s" % v`, `repr(v)`, and in a helper `type(v)`, and `isinstance` of an array of real numbers.
      `isinstance(v, str)` is false. Decide by `jnp.where`, or by a constructor for each case.
    - Both sides of a `jax.lax.cond` are computed at every node, and a loop in either has to end there. A node has the
      value and the gradient of the side that it takes. With `jnp.where`, the gradient is NaN where the other side has
      an infinite slope, as everywhere in JAX.
    - The dictionaries of a value have their keys sorted, as in JAX.

    **Returns:** the value at each root, `(trees, …)`, in the order of the trees. For a family, a tuple with one such
    array for each sort, and `None` for a sort that no node of the forest has.

    **Raises:** `CarrierMismatch` where two constructors' cases differ in structure, shape or dtype, or a case gives
    nothing, or anything other than numbers; `SignatureError` where the algebras are not those of the forest's sorts, in
    their order; `CdlError` where anything other than trees or lists is given, where `how` is not for the data, where a
    case branches on a value, or reads more from outside than can be compared at each call, and in forward mode without
    `forward=True` in `how`, which in a `jit` of yours is a `TypeError` of JAX's.

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
        Array([0.5, 3. ], dtype=float32, weak_type=True)
    """
    if isinstance(data, Seq | Packed):
        return fold_seq(alg, data, key, fitting("fold", alg, data, key, how))
    expect_forest("fold", data, "alg")
    found = values("fold", alg, data, key, fitting("fold", alg, data, key, how), at_roots=True)
    return found if isinstance(alg, tuple) else found[0]
