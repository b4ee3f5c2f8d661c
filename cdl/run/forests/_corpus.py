"""`Corpus`: trees that are flattened once, and from which any batch is packed."""

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..._errors import CdlError
from ...functor._usage import with_usage
from ._bucket import Bucket
from ._family import family
from ._flatten import flatten, MAX_NODES
from ._forest import Forest
from ._pack import Packer
from ._refuse import expect_bucket, listed


class Corpus:
    """Trees flattened and validated once, from which any batch is packed in a few whole-array operations.

    `corpus[indices]` is a `Forest` of those trees, in that order; `corpus[0:9]` is one of a slice. Every batch has the
    sizes of chunk and the variants of the corpus, and a capacity out of a few: an epoch runs in few programs.
    `corpus.pack(indices, bucket=…)` is one of a bucket that is given: an epoch runs in one.
    """

    @with_usage
    def __init__(self, signature: Any, trees: Iterable[Any], *, max_nodes: int = MAX_NODES) -> None:
        """**Arguments** and **raises:** as `pack`."""
        found = family("Corpus", signature)
        self._packer = Packer(found, flatten(found, listed("Corpus", trees), max_nodes))

    def __len__(self) -> int:
        return len(self._packer.flat.start) - 1

    @property
    def nodes(self) -> NDArray[np.int64]:
        """How many nodes each tree has."""
        return np.diff(self._packer.flat.start)

    def __iter__(self) -> NoReturn:
        raise CdlError(
            "a corpus is not a list of trees: `corpus[[0, 1]]` is the forest of two of them, and "
            "`corpus[:]` that of all."
        )

    def __getitem__(self, indices: Sequence[int] | NDArray[Any] | slice) -> Forest:
        return self.pack(range(len(self))[indices] if isinstance(indices, slice) else indices)

    @with_usage
    def pack(self, indices: Sequence[int] | NDArray[Any], *, bucket: Bucket | None = None) -> Forest:
        """The forest of the trees with these numbers, in the program of another forest if its `bucket` is given.

        **Raises:** `IndexError` for numbers of no tree, `CdlError` where the trees do not fit the bucket.
        """
        which = np.asarray(indices)
        if which.ndim != 1 or (which.dtype.kind not in "iu" and len(which)):
            raise IndexError(
                f"a corpus is indexed by a slice or a list of numbers of trees, and got `{which.dtype}` of shape "
                f"{which.shape}: write `corpus[[i]]`, or `np.flatnonzero` of a mask."
            )
        which = which.astype(np.int64)
        if len(which) and not (0 <= which.min() and which.max() < len(self)):
            raise IndexError(
                f"trees are numbered from 0 to {len(self) - 1}; {which.min()} to {which.max()} were asked for."
            )
        expect_bucket(bucket)
        return self._packer.forest(which, bucket)
