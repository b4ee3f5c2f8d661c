"""`Corpus`: trees that are flattened once, and from which any batch is packed."""

import textwrap
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from typing import Any, NoReturn

import jax
import numpy as np
from jax.core import Tracer
from jax.typing import DTypeLike
from jaxtyping import PRNGKeyArray
from numpy.typing import NDArray

from ..._functors.poly import Sum
from ..._functors.usage import whole, with_usage
from ..._functors.words import number_of, short
from ..._schemes.expect import expect_key
from ...errors import CdlError, IndexMismatch
from ..arrays._platform import Platform, platform, taken_for
from ..calls._ahead import ahead
from ._bucket import Bucket
from ._epoch import drawn
from ._family import family
from ._flatten import flatten, MAX_NODES
from ._forest import Forest
from ._pack import Packer
from ._refuse import listed
from ._regroup import joined, with_floats


def _formulas(family: tuple[Sum, ...]) -> str:
    return " and ".join(f"`{textwrap.shorten(str(f), 80, placeholder=' + …')}`" for f in family)


def _corpus(given: object) -> "Corpus":
    """**Raises:** `CdlError` for what is not a corpus."""
    if not isinstance(given, Corpus):
        raise CdlError(
            f"a corpus is added to another, and was given {short(given)}: make one of the trees, "
            "`corpus + Corpus(signature, trees)`."
        )
    return given


class Corpus:
    """Trees that are flattened and checked once. Each batch is then packed by a few operations on whole arrays.

    `corpus[indices]` is a `Forest` of those trees, in that order. So are `corpus[0:9]`, of a slice, and `corpus[mask]`,
    of the trees where a boolean array is true. `corpus + other` has the trees of both. `corpus.batches(size)` is an
    epoch of forests of one bucket, and `corpus.pack(indices, bucket=…)` a forest of a bucket that you give. Other
    batches have one of a few capacities, so a loop over them compiles a few times.

    Examples:
        >>> corpus = cdl.Corpus(
        ...     cdl.TreeF, [cdl.Leaf(1), cdl.Fork(cdl.Leaf(2), cdl.Leaf(3)), cdl.Leaf(4)]
        ... )
        >>> total = cdl.algebra(lambda t: t.label if isinstance(t, cdl.Leaf) else t.left + t.right)
        >>> cdl.fold(total, corpus[[2, 1]]).tolist()
        [4, 5]
        >>> [rows.tolist() for rows, forest in corpus.batches(2)]
        [[0, 1], [2]]
    """

    @with_usage
    def __init__(
        self, signature: Any, trees: Iterable[Any], *, dtype: DTypeLike | None = None, max_nodes: int = MAX_NODES
    ) -> None:
        """**Arguments** and **raises:** as `pack`."""
        found = family("Corpus", signature)
        flat = flatten(found, listed("Corpus", trees), max_nodes)
        self._packer = Packer(found, flat if dtype is None else with_floats(flat, dtype))

    def __len__(self) -> int:
        return len(self._packer.flat.start) - 1

    def __add__(self, other: "Corpus") -> "Corpus":
        """The trees of both, those of the first one first; `sum(corpora)` has those of all.

        **Raises:** `CdlError` where the other is not a corpus, where they are of different signatures, and where their
        payloads are of different types.
        """
        ours, theirs = self._packer, _corpus(other)._packer
        if ours.family != theirs.family:
            raise CdlError(
                f"the trees of one corpus are of {_formulas(ours.family)}, and those of the other of "
                f"{_formulas(theirs.family)}: add corpora of one signature."
            )
        found = object.__new__(Corpus)
        found._packer = Packer(ours.family, joined(ours.flat, theirs.flat))
        return found

    def __radd__(self, other: object) -> "Corpus":
        """`sum` of corpora begins with the number 0."""
        return self if isinstance(other, int) and other == 0 else _corpus(other) + self

    def __repr__(self) -> str:
        trees, nodes = number_of("tree", len(self)), number_of("node", int(self.nodes.sum()))
        return f"Corpus of {_formulas(self._packer.family)}: {trees}, {nodes}"

    @property
    def nodes(self) -> NDArray[np.int64]:
        """How many nodes each tree has."""
        return np.diff(self._packer.flat.start)

    def __iter__(self) -> NoReturn:
        raise CdlError(
            "a corpus is not a list of trees: `corpus[[0, 1]]` is the forest of two of them, and "
            "`corpus[:]` that of all."
        )

    def __getitem__(self, indices: Sequence[int] | NDArray[Any] | jax.Array | slice) -> Forest:
        which = range(len(self))[indices] if isinstance(indices, slice) else indices
        return self._packer.forest(self._numbers(which), None)

    @with_usage
    def pack(self, indices: Sequence[int] | NDArray[Any] | jax.Array, *, bucket: Bucket | None = None) -> Forest:
        """The forest of the trees with these numbers, in the program of another forest if its `bucket` is given.

        **Raises:** `IndexMismatch` for numbers of no tree, `CdlError` where the trees do not fit the bucket.
        """
        which = self._numbers(indices)
        return self._packer.forest(which, bucket)

    @with_usage
    def batches(
        self,
        size: int,
        *,
        key: PRNGKeyArray | None = None,
        indices: Sequence[int] | NDArray[Any] | jax.Array | None = None,
        drop_last: bool = False,
        prefetch: int = 2,
    ) -> Generator[tuple[NDArray[np.int64], Forest], None, None]:
        """An epoch: every tree once, `size` at a time. Yields the numbers of a batch's trees, and their forest.

        With a key for each epoch, `for rows, forest in corpus.batches(256, key=key)` goes through all trees in a new
        order, and `labels[rows]` are theirs.

        All forests have one bucket, so a training step compiles once. With a `key`, the bucket has room for the batches
        of other keys too: 16 epochs are drawn on trial. An epoch with a heavier batch than these gets a larger bucket,
        as do those after it, and compiles again at its first batch. A last batch of fewer trees compiles once more;
        `drop_last=True` avoids this. In a family, batches with other numbers of trees of each sort compile as well.

        A thread packs the next batches in NumPy while the device computes. It ends with the epoch, or when the loop is
        left by `break`. An error in the thread is raised in the loop.

        **Arguments:** `size`: how many trees a batch has. `key`: shuffles; the order is that of `indices` without one.
        `indices`: the trees to take, all by default. `drop_last`: leaves out a last batch of fewer than `size` trees.
        `prefetch`: how many batches to pack ahead; 0 packs without a thread.

        **Raises:** `CdlError` for an epoch without batches, or where `size` or `prefetch` is not a whole number;
        `IndexMismatch` where a number in `indices` is not that of a tree.
        """
        expect_key(key)
        depth = whole("prefetch", prefetch, 0)
        of = np.arange(len(self)) if indices is None else self._numbers(indices)
        batches = drawn(of, whole("size", size), key, drop_last)
        return self._packed(batches, self._packer.bucket_for(of, batches, key is not None), depth, platform())

    def _packed(
        self, batches: list[NDArray[np.int64]], bucket: Bucket, depth: int, of: Platform
    ) -> Generator[tuple[NDArray[np.int64], Forest], None, None]:
        def make(rows: NDArray[np.int64]) -> Any:
            with taken_for(of):  # the thread has another default device
                return rows, self._packer.arrays(rows, bucket)

        with closing(ahead(make, batches, workers=min(depth, 1), depth=depth)) as packed:
            for rows, arrays in packed:  # put on the device here: settings of JAX are those of a thread
                yield rows, self._packer.on_device(arrays)

    def _numbers(self, indices: Any) -> NDArray[np.int64]:
        """**Raises:** `IndexMismatch` for what are not numbers of trees."""
        if isinstance(indices, Tracer):
            raise CdlError("a corpus packs its trees on the host, outside of `jit`: take the batch there, and give it.")
        try:
            which = np.asarray(indices)
        except (TypeError, ValueError):  # of lists of several lengths, say
            which = np.asarray(None)
        if which.ndim == 1 and which.dtype != bool and any(isinstance(i, bool) for i in _listed(indices)):
            raise IndexMismatch("numbers of trees and truth values are not mixed: give `corpus[[i]]` or a mask.")
        if which.dtype == bool and which.ndim == 1 and which.size:
            if len(which) != len(self):
                raise IndexMismatch(
                    f"a mask has a truth value for each tree: there are {len(self)}, and it has {len(which)}."
                )
            return np.flatnonzero(which)
        large = which.ndim == 1 and all(type(x) is int for x in which.tolist())  # an array of objects, past 64 bits
        if which.ndim != 1 or (which.dtype.kind not in "iu" and len(which) and not large):
            found = f"`{which.dtype}` of shape {which.shape}" if which.dtype.kind in "biufc" else short(indices)
            raise IndexMismatch(
                f"a corpus is indexed by a slice, a list of numbers of trees or a mask, and got {found}: write "
                "`corpus[[i]]`."
            )
        if len(which) and not (0 <= which.min() and which.max() < len(self)):
            raise IndexMismatch(
                f"trees are numbered from 0 to {len(self) - 1}, and {short(_outside(which, len(self)))} was asked for."
            )
        return which.astype(np.int64)


def _listed(indices: Any) -> list[Any]:
    return indices if isinstance(indices, list) else list(indices) if isinstance(indices, tuple) else []


def _outside(which: np.ndarray[Any, Any], count: int) -> Any:
    """The first number of a tree that there is not."""
    return next(i for i in which.tolist() if not 0 <= i < count)
