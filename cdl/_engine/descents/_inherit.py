"""`inherit`: a pass from the roots down, compiled.

It is `inherited` at every tree of a forest, as one program for all forests of a bucket.
"""

import functools
from collections.abc import Callable
from typing import Any, overload, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..._functors import Base
from ..._functors.usage import with_usage
from ..._functors.words import number_of
from ..._schemes.algebras import name_of
from ..._schemes.expect import expect_steps
from ..._schemes.inheriting import UNSEEN
from ...errors import CarrierMismatch, SignatureError
from ..arrays._carrier import Carrier, cast
from ..arrays._given import expect_kept
from ..arrays._rows import chosen, masked, take
from ..arrays.shapes import Arrays, is_weak, of_lists, shaped
from ..calls._compiled import compiled
from ..calls._traced import reverse_only
from ..folds._options import expect_forest
from ..folds._pre_order import in_pre_order
from ..folds._residual import wanted
from ..folds._storage import Storage
from ..forests._forest import Forest
from ..jaxprs._one_reverse import forwards_only, of_rule
from ._descend import Descent
from ._step import Plain, Steps, WithoutValues


T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

TWICE = of_rule("inherit", "follow")


@overload
def inherit(step: Callable[[B, Base[T, tuple[()]]], Base[T, B]], forest: Forest, at_root: B, /) -> B: ...
@overload
def inherit(step: Callable[[B, Base[T, A]], Base[T, B]], forest: Forest, at_root: B, /, *, values: A) -> B: ...
@overload
def inherit(
    step: tuple[Callable[[Any, Any], Any], ...], forest: Forest, at_root: tuple[Any, ...], /, *, values: Any = None
) -> tuple[Any, ...]: ...
@with_usage
def inherit(step: Any, forest: Forest, at_root: Any, /, *, values: Any = None) -> Any:
    """`inherited(step, at_root)` at every tree of a forest, in one compiled program: what every node inherits.

    Differentiable in the step's arrays, in `at_root`, in `values` and in the forest's payload.

    **Arguments:** `step`: from what a node inherits, and its layer, to the layer of what its children inherit; for one
    node, the same function as for `inherited`. `at_root`: what each root inherits, with a leading axis of the trees, as
    `fold` gives. `values`: a value for every node, as `annotate` gives, which the step sees in the places of the
    children; without, it sees `()`. For a family of sorts, a tuple of each, in the order of the sorts.

    **Returns:** as `annotate`: `(rows, …)`, in pre-order, with zeros past the last node.

    **Raises:** `CarrierMismatch` where a step gives a layer of another constructor, or values that are not
    like those at the root; `SignatureError` where there are not as many steps as sorts; `CdlError` where something else
    than a forest is given.

    Examples:
        >>> def deeper(depth, layer):
        ...     return cdl.fmap(lambda below: depth + 1, layer)
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))])
        >>> cdl.inherit(deeper, forest, jnp.array([0]))[forest.nodes(0)]
        Array([0, 1, 1], dtype=int32)
    """
    many = isinstance(step, tuple)
    expect_forest("inherit", forest, "step", after=at_root, called="at_root")
    expect_steps("inherit", step if many else (step,))
    steps, tops = (step, at_root) if many else ((step,), (at_root,))
    given = values if many and values is not None else (values,) * len(steps)
    kinds = [WithoutValues if of_sort is None else Plain for of_sort in given]
    given = tuple(UNSEEN if of_sort is None else of_sort for of_sort in given)
    plain, names = tuple(kind(step) for kind, step in zip(kinds, steps, strict=False)), tuple(map(name_of, steps))
    handed, _ = descend("inherit", plain, names, forest, tops, given, leaves=False)
    return handed if many else handed[0]


def descend(
    of: str,
    steps: tuple[Any, ...],
    names: tuple[str, ...],
    forest: Forest,
    tops: tuple[Any, ...],
    values: tuple[Any, ...],
    *,
    leaves: bool,
    given: str = "`at_root`",
) -> tuple[tuple[Any, ...], Any]:
    """What every node inherits, for each sort, and what the steps give of the nodes' own, both in pre-order.

    `of`: the function that asks for them. `leaves`: whether there is a step where there are no children. `given`: what
    an error calls the `tops`.
    """
    if not len(steps) == len(tops) == len(values) == len(forest.family):
        raise SignatureError(
            f"the forest has {number_of('sort', len(forest.family))}, and there are {number_of('step', len(steps))}, "
            f"{number_of('value', len(tops))} at the root and {len(values)} at the nodes: give one of each for each "
            "sort, in their order."
        )
    for sort, (top, roots) in enumerate(zip(tops, forest.stored_roots, strict=True)):
        for x in jax.tree.leaves(top):
            if jnp.shape(x)[:1] != roots.shape:
                which = number_of("tree", len(roots)) + (f" of sort {sort}" if len(tops) > 1 else "")
                raise CarrierMismatch(
                    f"{given} has an array of shape {jnp.shape(x)}, and the forest {which}: give the values at the "
                    f"roots a leading axis of the trees, as `jnp.broadcast_to` does{of_lists(top)}."
                )
            expect_kept(x, given)
    for x in jax.tree.leaves(values):
        if jnp.shape(x)[:1] != (forest.bucket.nodes,):
            raise CarrierMismatch(
                f"`values` has an array of shape {jnp.shape(x)}, and this forest has {forest.bucket.nodes} rows: give "
                "what `annotate` returns for this forest."
            )
        expect_kept(x, "`values`")
    with reverse_only(of, "use reverse mode, `jax.grad`, `jax.vjp` or `jax.jacrev`"):
        return _descend(steps, names, forest, tops, values, leaves)


@compiled
def _descend(
    steps: tuple[Any, ...],
    names: tuple[str, ...],
    forest: Forest,
    tops: tuple[Any, ...],
    values: tuple[Any, ...],
    leaves: bool,
) -> tuple[tuple[Any, ...], Any]:
    empty = Storage({0: Carrier(jax.tree.structure(()), ())})
    over = Steps(
        steps, names, forest.bucket, _storage(values), _storage(tops), Storage({}) if leaves else empty, leaves
    )
    over = over.settled()
    handed, below, out = over.handed, over.below, over.out
    programs, weights = over.programs()
    trees = [take(forest.tree, roots) for roots in forest.stored_roots]
    by_tree: Callable[[Any, int], Any] = lambda x, s: (
        jnp.zeros((len(forest), *x.shape[1:]), x.dtype).at[trees[s]].set(x)
    )
    sorts = sum(by_tree(jnp.full(len(t), s), s) for s, t in enumerate(trees))
    at_roots = _columns(handed, tops, by_tree, jnp.asarray(sorts))
    pre_order = take(forest.start, forest.tree) + forest.order
    value_rows = _columns(below, values, lambda x, s: _of_sort(take(x, pre_order), forest, s), forest.sort)
    descent = functools.partial(Descent, programs, handed, below, out)
    inputs = weights, list(forest.payload), value_rows, at_roots
    down, outs = _rule(inputs, forest.schedule, descent=descent)
    above = take(forest.above, forest.row[: forest.bucket.nodes])
    at_nodes = tuple(
        in_pre_order(forest, s, handed.carriers[s].unflatten([down[c] for c in handed.columns(s)]), above)
        for s in range(len(tops))
    )
    return at_nodes, in_pre_order(forest, None, out.carriers[0].unflatten(outs))


@eqx.filter_custom_vjp
def _rule(
    inputs: tuple[Any, Any, Any, Any], integers: Forest, *, descent: Callable[[Forest], Descent]
) -> tuple[Arrays, Arrays]:
    return descent(integers).forward(*inputs)


@_rule.def_fwd  # type: ignore[untyped-decorator]
def _rule_forward(
    perturbed: Any, inputs: tuple[Any, Any, Any, Any], integers: Forest, *, descent: Callable[[Forest], Descent]
) -> tuple[tuple[Arrays, Arrays], tuple[Arrays, Any]]:
    del perturbed
    handed, outs, tables = descent(integers).forward_and_keep(*inputs)
    return forwards_only((handed, outs), TWICE), (handed, tables)


@_rule.def_bwd  # type: ignore[untyped-decorator]
def _rule_backward(
    kept: tuple[Arrays, Any],
    given: tuple[Arrays, Arrays],
    perturbed: Any,
    inputs: tuple[Any, Any, Any, Any],
    integers: Forest,
    *,
    descent: Callable[[Forest], Descent],
) -> tuple[Any, Any, Any, Any]:
    over = descent(integers)
    weights, payload, below, tops = over.backward(inputs, *kept, given, wanted(inputs, perturbed))
    above = over.forest.above
    root = over.forest.is_root(above)
    to_values = [None if b is None else masked(~root, take(b, above)) for b in below]
    return forwards_only((weights, payload, to_values, tops), TWICE)


def _storage(values: tuple[Any, ...]) -> Storage:
    """The carriers of values with a leading axis, one for each sort."""
    one: Callable[[Any], Any] = lambda x: shaped(x.shape[1:], x.dtype, is_weak(x))
    carriers = {}
    for s, x in enumerate(values):
        leaves, structure = jax.tree.flatten(x)
        carriers[s] = Carrier(structure, tuple(map(one, map(jnp.asarray, leaves))))
    return Storage(carriers)


def _columns(storage: Storage, values: tuple[Any, ...], rows: Callable[[Any, int], Any], sorts: jax.Array) -> Arrays:
    """The values of every sort, by row or by tree, as columns. `sorts`: which sort each row or tree is of."""
    columns: list[Any] = [None] * len(storage.leaves)
    for s, value in enumerate(values):
        for c, x in zip(storage.columns(s), jax.tree.leaves(value), strict=True):
            own = rows(cast(x, storage.leaves[c]), s)
            columns[c] = own if columns[c] is None else chosen(sorts == s, own, columns[c])
    return columns


def _of_sort(x: jax.Array, forest: Forest, sort: int) -> jax.Array:
    return masked(forest.sort == sort, x)
