"""Sequences: many lists of many lengths, as arrays.

| the mathematics                     | here                                                               |
| ----------------------------------- | ------------------------------------------------------------------ |
| lists `[x₀, …, x₍ₙ₋₁₎]`, a batch of them | `Seq(values, lengths)`: element `t` of list `b` is `values[b, t]`  |

An element is any pytree of arrays. What stands past a list's length is padding: no value and no gradient depends on it,
whatever it is.
"""

from collections.abc import Sequence
from typing import Any, Generic, overload, TYPE_CHECKING, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Int, PyTree

from ..._functors.usage import whole, with_usage
from ..._functors.words import number_of, short
from ...errors import LengthMismatch, PayloadMismatch
from ..arrays._given import expect_kept
from ..arrays.shapes import alike
from ..calls._standing import expect_one, not_a_list, standing


E = TypeVar("E")  # an element
A = TypeVar("A")
Rows = Union[np.ndarray[Any, Any], Array]


class Seq(eqx.Module, Generic[E]):
    """A batch of lists: `values`, a pytree of arrays `(batch, time, …)`, and the `lengths` of the lists.

    Inside `jit` a plain pytree. Made from lists of different lengths by `Seq.of`.

    **Raises:** `PayloadMismatch` where the arrays differ in their first two axes, `LengthMismatch` where lengths are
    not integers, or are negative, or longer than the data.

    Examples:
        >>> lists = cdl.Seq.of([jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0])])
        >>> lists.values.tolist(), lists.lengths.tolist()
        ([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]], [3, 1])
        >>> @cdl.algebra
        ... def total(layer: cdl.ListF[float, float]):
        ...     return layer.head + layer.tail if isinstance(layer, cdl.Cons) else 0.0
        >>> cdl.fold(total, lists).tolist()
        [6.0, 4.0]
    """

    values: PyTree[Array]
    lengths: Int[Array, " batch"]

    def __init__(self, values: Any, lengths: Any) -> None:
        self.values = jax.tree.map(as_array, values)
        batch, time = batch_and_time(self.values)
        self.lengths = checked_lengths(lengths, batch, time)

    @overload
    @staticmethod
    def of(sequences: Sequence[Rows], *, time: int | None = None) -> "Seq[Array]": ...
    @overload
    @staticmethod
    def of(sequences: Sequence[A], *, time: int | None = None) -> "Seq[A]": ...
    @staticmethod
    @with_usage
    def of(sequences: Sequence[Any], *, time: int | None = None) -> "Seq[Any]":
        """The batch of these lists, each given as the pytree of its elements stacked: arrays `(length, …)`.

        **Arguments:** `time`: how long the arrays are made, so that batches may share a program; the longest list's
        length if not given.
        """
        rows, lengths = stacked_rows(sequences)
        longest = int(lengths.max(initial=0))
        time = longest if time is None else whole("time", time, 0, LengthMismatch)
        if time < longest:
            raise LengthMismatch(
                f"the longest list has {longest} elements, and `time` is {time}: give {longest} at least."
            )

        def padded(*leaves: Any) -> np.ndarray[Any, Any]:
            out = np.zeros((len(leaves), time, *leaves[0].shape[1:]), leaves[0].dtype)
            for row, leaf in zip(out, leaves, strict=True):
                row[: len(leaf)] = leaf
            return out

        return Seq(jax.tree.map(padded, *rows), lengths)

    def __len__(self) -> int:
        expect_one(self.lengths, 1, "`len` is of", "seq")
        return int(self.lengths.shape[0])

    if not TYPE_CHECKING:  # type checkers know that there is none
        __getitem__ = not_a_list(
            "`Seq`", "`seq.values[i, : seq.lengths[i]]` are the elements of list `i`, where they are one array"
        )

    @property
    def time(self) -> int:
        """How long the arrays are."""
        expect_one(self.lengths, 1, "`time` is of", "seq")
        return batch_and_time(self.values)[1]

    @property
    def mask(self) -> Bool[Array, "batch time"]:
        """Where there is an element. **Raises:** `CdlError` for several, stacked, as do `len` and `fill`."""
        expect_one(self.lengths, 1, "`mask` is of", "seq")
        return jnp.arange(self.time, dtype=jnp.int32)[None] < self.lengths[:, None]

    @property
    def fill(self) -> float:
        """Elements over places for them, at most 1."""
        return float(np.sum(np.asarray(self.lengths))) / max(len(self) * self.time, 1)

    def __repr__(self) -> str:
        if not isinstance(self.lengths, jax.Array):
            return f"Seq of {type(self.lengths).__name__}"
        if other := standing(self.lengths, 1):
            return f"Seq: {other}"
        if isinstance(self.lengths, Tracer):
            return f"Seq: {number_of('list', len(self))}, traced; arrays of {self.time}"
        longest = int(np.max(np.asarray(self.lengths)))
        return (
            f"Seq: {number_of('list', len(self))}, the longest {longest}, fill {self.fill:.2f}; arrays of {self.time}"
        )


def as_array(x: object) -> Any:
    """The numbers as an array of JAX; none is changed on the way."""
    if isinstance(x, jax.Array):
        return x
    x = np.asarray(x)
    if x.dtype.kind not in "biufc" and not jnp.issubdtype(x.dtype, jnp.inexact):
        raise PayloadMismatch(f"`values` holds `{x.dtype}`, and an element is made of numbers: number the values.")
    expect_kept(x, "`values`")
    return jnp.asarray(x)


def batch_and_time(values: Any) -> tuple[int, int]:
    """The first two axes, which every array has in common."""
    named = jax.tree_util.tree_leaves_with_path(values)
    if not named:
        raise PayloadMismatch("`values` holds no array: give at least one, `(batch, time, …)`.")
    shapes = {jax.tree_util.keystr(path) or "values": tuple(jnp.shape(leaf)) for path, leaf in named}
    for name, shape in shapes.items():
        if len(shape) < 2:
            lone = (
                "; of lists of numbers, `Seq.of([np.array([1.0, 2.0]), …])` makes it"
                if isinstance(values, list)
                else ""
            )
            raise PayloadMismatch(
                f"`{name}` has shape {shape}, and elements lie along two axes: give arrays `(batch, time, …)`{lone}."
            )
    (first, shape), *others = shapes.items()
    for name, other in others:
        if other[:2] != shape[:2]:
            raise PayloadMismatch(
                f"`{first}` has {shape[0]} lists of {shape[1]} elements and `{name}` {other[0]} of {other[1]}: give "
                "every array the same first two axes, `(batch, time, …)`."
            )
    if not shape[0]:
        raise PayloadMismatch(f"`{first}` has shape {shape}, and no list: give a batch of at least one.")
    return shape[0], shape[1]


def checked_lengths(lengths: Any, batch: int, time: int) -> Any:
    """Lengths as int32; looked at where their values are known."""
    found = lengths if isinstance(lengths, jax.Array) else np.asarray(lengths)
    if not jnp.issubdtype(found.dtype, jnp.integer):
        kind = "not a number" if found.dtype.kind == "f" and np.isnan(np.asarray(found)).any() else str(found.dtype)
        raise LengthMismatch(f"`lengths` are {kind}, and a length is a whole number: give integers.")
    if found.shape != (batch,):
        raise LengthMismatch(
            f"`lengths` has shape {found.shape}, and there are {batch} lists: give one length for each."
        )
    if not isinstance(found, Tracer):
        known = np.asarray(found)
        if (least := known.min()) < 0:
            raise LengthMismatch(f"list {int(known.argmin())} has length {least}: no length is below 0.")
        if (long := known.max()) > time:
            raise LengthMismatch(
                f"list {int(known.argmax())} has length {long}, and the arrays have {time} elements: the length is too "
                "great, or `values` was cut."
            )
    return jnp.asarray(found, jnp.int32)


def _expect_arrays(number: int, row: Any) -> None:
    """**Raises:** `PayloadMismatch` where a list has anything other than arrays `(length, …)`."""
    leaves = jax.tree.leaves(row)
    if not leaves:
        raise PayloadMismatch(
            f"list {number} is {short(row)}, which has no array, so its elements have no shape: write an empty list "
            "as an array of length 0, `np.zeros((0, 3), np.float32)` for elements of shape `(3,)`."
        )
    for x in leaves:
        if not x.ndim:
            raise PayloadMismatch(
                f"list {number} has the lone value {x.item()!r} where an array `(length, …)` belongs: give each list "
                "as the array of its elements, `Seq.of([np.array([1.0, 2.0]), np.array([3.0])])`, or a pytree of these."
            )


def stacked_rows(sequences: Sequence[Any]) -> tuple[list[Any], Any]:
    """The lists as pytrees of NumPy arrays that fit each other, and their lengths."""
    if not len(sequences):
        raise PayloadMismatch("there is no list: give a batch of at least one.")
    rows = [jax.tree.map(np.asarray, s) for s in sequences]
    lengths = []
    for i, row in enumerate(rows):
        _expect_arrays(i, row)
        if not alike(row, rows[0]):
            shown = [jax.tree.structure(r) for r in (rows[0], row)]
            raise PayloadMismatch(f"list 0 is {shown[0]} and list {i} {shown[1]}: give every list the same structure.")
        for a, b in zip(jax.tree.leaves(rows[0]), jax.tree.leaves(row), strict=True):
            if a.shape[1:] != b.shape[1:] or a.dtype != b.dtype:
                raise PayloadMismatch(
                    f"list 0 has elements {a.dtype}{list(a.shape[1:])} and list {i} {b.dtype}{list(b.shape[1:])}: give "
                    "arrays `(length, …)` whose elements have one shape and type."
                )
        found = {len(leaf) for leaf in jax.tree.leaves(row)}
        if len(found) != 1:
            raise LengthMismatch(
                f"the arrays of list {i} are {' and '.join(map(str, sorted(found)))} long: give them one length."
            )
        lengths.append(found.pop())
    return rows, np.array(lengths, np.int32)
