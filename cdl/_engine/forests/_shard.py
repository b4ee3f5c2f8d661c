"""Many devices: one part of a batch for each, and the weighted mean of a loss over all of them.

| the mathematics                        | here                                                                 |
| -------------------------------------- | -------------------------------------------------------------------- |
| a batch as a disjoint union of parts   | `shard(parts, mesh)`: part `i` on device `i`, whole                   |
| `Σᵢ aᵢ / Σᵢ wᵢ`                        | `shard_mean(loss)`, where `loss` gives `aᵢ` and `wᵢ` of one part       |
| parts of equal weight                  | `balance(nodes, parts)`                                              |

A forest is never cut: each device folds its own, and only the two sums and the gradient cross. So a model, and the loss
of one part, know nothing of devices; and the mean is that of the whole batch, however unevenly it was divided.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Any, cast, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int
from numpy.typing import ArrayLike, NDArray

from ..._functors.described import described
from ..._functors.usage import whole, with_usage
from ..._functors.words import number_of, short
from ...errors import CdlError
from ._forest import Forest


P: Any = PartitionSpec
M = TypeVar("M")
B = TypeVar("B")


class Shards(eqx.Module, Generic[B]):
    """The parts of a batch, one for each device along an axis of a mesh. Made by `shard`.

    `stacked` is one part, whose arrays have a leading axis of devices. `nodes` says how many nodes each device has.
    `mesh` has the devices of the mesh that `shard` was given, with axes that are `Auto`: a `jax.shard_map` over
    `stacked` takes this one.

    Examples:
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
        >>> shards: cdl.compiled.Shards = cdl.compiled.shard(
        ...     [forest], jax.make_mesh((1,), ("data",))
        ... )
        >>> shards.nodes.tolist()
        [4]
    """

    stacked: B
    nodes: Int[Array, " devices"]
    mesh: Mesh = eqx.field(static=True)
    axis: str = eqx.field(static=True)

    def __len__(self) -> int:
        return int(self.mesh.shape[self.axis])


@with_usage
def balance(nodes: ArrayLike, parts: int) -> list[NDArray[np.int64]]:
    """Divides trees among devices: the same number for each, and nearly the same number of nodes.

    The largest tree is placed first; each goes to the part that has the fewest nodes so far and is not full.

    **Arguments:** `nodes`: how many nodes each tree has: `corpus.nodes`, or those of some of its rows; or what each
    tree costs, whole numbers or fractions. `parts`: how many parts.

    **Returns:** for each part the numbers of its trees, ascending.

    **Raises:** `CdlError` where `nodes` is not a list of numbers from 0 up, and where the number of trees is not a
    multiple of the number of parts.

    Examples:
        >>> cdl.compiled.balance([9, 1, 2, 8], 2)
        [array([0, 1]), array([2, 3])]
    """
    given, parts = np.asarray(nodes), whole("parts", parts)
    weights = given.astype(float) if given.dtype.kind in "iuf" else np.full(1, np.nan)
    if given.ndim != 1 or not np.all((weights >= 0) & (weights < np.inf)):
        raise CdlError(
            f"`nodes` is {short(nodes)}, and it has a number for each tree, 0 or more: give `corpus.nodes`, for "
            "example, or what each tree costs."
        )
    if len(weights) % parts:
        raise CdlError(
            f"{parts} devices do not divide a batch of {len(weights)} trees: each folds the same number of trees, in "
            f"one program. Take {len(weights) // parts * parts} trees, or a mesh whose size divides the batch."
        )
    room = len(weights) // parts
    found: list[list[int]] = [[] for _ in range(parts)]
    open_parts = [(0.0, p) for p in range(parts)]
    for tree in np.argsort(-weights, kind="stable").tolist():
        load, p = heapq.heappop(open_parts)
        found[p].append(tree)
        if len(found[p]) < room:
            heapq.heappush(open_parts, (load + weights[tree].item(), p))
    return [np.sort(np.asarray(trees, np.int64)) for trees in found]


@with_usage
def shard(parts: Sequence[B], mesh: Mesh, *, axis: str = "data") -> Shards[B]:
    """Puts one part of a batch on each device of a mesh.

    **Arguments:** `parts`: a forest each, or any pytree with arrays such as a forest and its answers; of one structure
    and the same shapes, so forests of one bucket with the same number of trees. With several processes, those of the
    devices of this one, in the mesh's order. `axis`: that of the mesh which the batch is divided along.

    **Raises:** `CdlError` where there are not as many parts as devices, and where two parts differ in form.

    Examples:
        >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
        >>> shards = cdl.compiled.shard([forest], jax.make_mesh((1,), ("data",)))
        >>> shards.nodes.tolist()
        [4]
    """
    if not isinstance(parts, Sequence):
        raise CdlError(
            f"`shard` was given {described(parts)}: give a list with one part for each device, as in "
            "`shard([forest], mesh)`."
        )
    if axis not in mesh.shape:
        raise CdlError(
            f"the mesh has the axes {tuple(mesh.shape)}, and `{axis}` is none of them: give the one along which the "
            f"batch is divided, as in `axis={next(iter(mesh.shape))!r}`."
        )
    here = _positions(mesh, axis)
    if len(parts) != len(here):
        raise CdlError(
            f"the mesh has {number_of('device', len(here))} of this process along `{axis}`, and "
            f"{number_of('part', len(parts))} were given: give one for each, as in `balance(corpus.nodes, "
            f"{mesh.shape[axis]})`."
        )
    # JAX refuses a gradient outside of `jit` over axes that are `Explicit`, as `make_mesh` makes them: these are `Auto`
    mesh = Mesh(mesh.devices, mesh.axis_names)
    arrays, rest = zip(*(eqx.partition(part, eqx.is_array_like) for part in parts), strict=True)
    _expect_one_form(arrays, rest)
    place = dict(zip(here, range(len(here)), strict=True))
    stacked = jax.tree.map(lambda *xs: _spread(xs, mesh, axis, place), *arrays)
    counts = [np.int32(sum(forest.size for forest in _forests(part))) for part in parts]
    return Shards(eqx.combine(stacked, rest[0]), _spread(counts, mesh, axis, place), mesh, axis)


@with_usage
def shard_mean(
    loss: Callable[[M, B], tuple[Float[Array, ""], Float[Array, ""]]],
) -> Callable[[M, Shards[B]], Float[Array, ""]]:
    """The weighted mean of a loss over all devices, from the loss of one part.

    **Arguments:** `loss`: from the model and one part to a pair `(sum, weight)`, such as the sum of the losses of its
    trees, and the number of its trees.

    **Returns:** a function of the model and the shards, which gives `sum of the sums / sum of the weights`. Take its
    gradient first, and compile that (`eqx.filter_jit`), because the devices meet in one program. The model's arrays are
    copied to every device. Weights whose sum is 0 give what a division by 0 gives.

    **Raises:** `CdlError` for anything other than a function; when called, where the loss does not give a pair of
    numbers, and for anything other than `Shards`.

    Examples:
        >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0))])
        >>> shards = cdl.compiled.shard([forest], jax.make_mesh((1,), ("data",)))
        >>> mean = cdl.compiled.shard_mean(
        ...     lambda alg, part: (cdl.fold(alg, part).sum(), jnp.float32(len(part)))
        ... )
        >>> float(mean(total, shards))
        3.0
    """
    if not callable(loss):
        raise CdlError(
            f"`shard_mean` was given {described(loss)}: give the loss of a part, a function of the model and the part."
        )

    def mean(model: M, shards: Any) -> Float[Array, ""]:
        if not isinstance(shards, Shards):
            raise CdlError(
                f"the mean over devices reads `Shards`, and was given {described(shards)}: write `shard(parts, mesh)`."
            )
        weights, rest = eqx.partition(model, eqx.is_array)
        arrays, form = eqx.partition(shards.stacked, eqx.is_array)

        def of_one(weights: Any, arrays: Any) -> tuple[jax.Array, ...]:
            part = eqx.combine(jax.tree.map(lambda x: x[0], arrays), form)
            found = loss(eqx.combine(weights, rest), part)
            pair = isinstance(found, tuple | list) and len(found) == 2
            wrong = [i for i, x in enumerate(found) if not _is_one_number(x)] if pair else []
            if wrong or not pair:
                gave = (
                    f"a {('sum', 'weight')[wrong[0]]} that is {described(found[wrong[0]])}"
                    if pair
                    else described(found)
                )
                raise CdlError(
                    f"the loss of `shard_mean` gives a pair of numbers, and gave {gave}: return the sum "
                    "and its weight, such as `(losses.sum(), jnp.float32(len(losses)))`."
                )
            return tuple(jnp.asarray(x)[None] for x in found)

        specs = P(), P(shards.axis)
        on_each = jax.shard_map(of_one, mesh=shards.mesh, in_specs=specs, out_specs=P(shards.axis), check_vma=False)
        total, weight = on_each(weights, arrays)  # each device gives its own two numbers
        return jnp.sum(total) / jnp.sum(weight)

    return mean


def _is_one_number(x: Any) -> bool:
    return eqx.is_array_like(x) and jnp.ndim(x) == 0


def _positions(mesh: Mesh, axis: str) -> list[int]:
    """The places along an axis that this process has devices at."""
    along = mesh.axis_names.index(axis)
    own = jax.process_index()
    return sorted({int(at[along]) for at, device in np.ndenumerate(mesh.devices) if device.process_index == own})


def _spread(xs: Sequence[Any], mesh: Mesh, axis: str, place: dict[int, int]) -> jax.Array:
    """One array for each place along an axis, as one array over the mesh."""
    first = xs[0]
    if isinstance(first, jax.Array) and jnp.issubdtype(first.dtype, jax.dtypes.prng_key):
        data = _spread([jax.random.key_data(x) for x in xs], mesh, axis, place)
        return jax.random.wrap_key_data(data, impl=jax.random.key_impl(first))
    sharding = NamedSharding(mesh, P(axis))
    shape = mesh.shape[axis], *np.shape(first)
    where: Any = sharding.addressable_devices_indices_map(shape)
    own = {device: xs[place[index[0].start or 0]] for device, index in where.items()}
    pieces = [jax.device_put(jnp.asarray(x)[None], device) for device, x in own.items()]
    return jax.make_array_from_single_device_arrays(shape, sharding, pieces)


def _forests(part: object) -> list[Forest]:
    leaves = jax.tree.leaves(part, is_leaf=lambda x: isinstance(x, Forest))
    return [x for x in leaves if isinstance(x, Forest)]


def _expect_one_form(arrays: Sequence[Any], rest: Sequence[Any]) -> None:
    """**Raises:** `CdlError` naming the part that has another form than the first."""
    for i in range(1, len(arrays)):
        for one, other in zip(_forests(_whole(arrays[0], rest[0])), _forests(_whole(arrays[i], rest[i])), strict=False):
            if one.bucket != other.bucket or len(one) != len(other):
                raise CdlError(
                    f"part {i} is a forest of {len(other)} trees with a bucket of {other.bucket}, and part 0 of "
                    f"{len(one)} trees with one of {one.bucket}: pack all parts with the same number of trees and the "
                    "same `bucket`."
                )
        structures: list[Any] = [jax.tree.structure(a) for a in (arrays[0], arrays[i])]
        if structures[0] != structures[1] or not eqx.tree_equal(rest[0], rest[i]):
            found, wanted = (described(_whole(arrays[j], rest[j])) for j in (i, 0))
            raise CdlError(
                f"part {i} is {found} and part 0 {wanted}, and they differ in their structure or in what is not an "
                "array: give each device a part of one form."
            )
        forms = [list(map(_form, jax.tree.leaves(a))) for a in (arrays[0], arrays[i])]
        for wanted, found in zip(*forms, strict=True):
            if found != wanted:
                raise CdlError(
                    f"part {i} has an array {found} where part 0 has {wanted}, and the parts of a batch are to be "
                    "alike: give each the same number of rows, and the same types."
                )


def _form(x: Any) -> str:
    """The type and shape that an array, or a Python number, has on a device."""
    array = jnp.asarray(x)
    return f"`{array.dtype}{list(array.shape)}`"


def _whole(arrays: Any, rest: Any) -> Any:
    return cast(Any, eqx.combine(arrays, rest))
