"""Keys: what the nodes of a table are sorted by, in the order of a bucket's variants. Found once for all batches."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._functors.base import anew
from ...errors import CdlError
from ._bucket import Bucket
from ._flatten import Flat, Ints
from ._variant import Variant


SHORT = 1 << 16  # numbers below this are 16 bits wide, which NumPy sorts in linear time


@dataclass(frozen=True)
class Keys:
    """What depends on a node and on the variants of a bucket alone.

    `variants[v]` is the bucket's number of the table's variant v, and `rank` has the rank of each node's variant.
    `region` is that of the edge that ends at the node: 0 for a slot, 1 for the first `Many`, and so on. `degrees[r]` is
    how many edges the node has in region r, `None` where no node has one.
    """

    bucket: Bucket
    variants: NDArray[np.int64]
    rank: NDArray[Any]
    region: NDArray[np.int64]
    degrees: tuple[Ints | None, ...]

    def fits(self, bucket: Bucket) -> bool:
        """Whether a bucket has the same variants, with the same payload."""
        return self.bucket.variants == bucket.variants and self.bucket.payload == bucket.payload


def keys_of(flat: Flat, bucket: Bucket) -> Keys:
    """**Raises:** `CdlError` where the bucket does not have the table's variants, with the same payload."""
    number = {v: i for i, v in enumerate(bucket.variants)}
    for v, leaves in zip(flat.variants, flat.forms, strict=True):
        _expect(v, leaves, bucket, number)
    variants = np.array([number[v] for v in flat.variants], np.int64)
    count, tallest = len(bucket.variants), int(flat.height.max(initial=0))
    kind = np.uint16 if (tallest + 1) * count < SHORT else np.int64
    rank = np.array(bucket.rank, kind)[variants][flat.variant]
    below = np.array([v.slots > 0 for v in flat.variants], bool)[flat.variant]
    degrees: list[Ints | None] = []
    for region in range(1 + bucket.manys):
        group = np.where(below, region, region - 1)
        real = (group >= 0) & (group < flat.degrees.shape[1])
        some = np.where(real, flat.degrees[np.arange(len(group)), np.where(real, group, 0)], 0).astype(np.int32)
        degrees.append(some if some.any() else None)
    shift = (flat.parent >= 0) & ~below[flat.above]
    return Keys(bucket, variants, rank, flat.group + shift.astype(np.int64), tuple(degrees))


def _expect(v: Variant, leaves: tuple[Any, ...], bucket: Bucket, number: dict[Variant, int]) -> None:
    if v not in number:
        raise CdlError(
            f"`{v}` is not among the variants of the bucket ({', '.join(map(str, bucket.variants))}): leave "
            f"`bucket` out.{anew([v.constructor], [w.constructor for w in bucket.variants])}"
        )
    if leaves != (there := bucket.payload[number[v]]):
        raise CdlError(f"the payload of `{v}` is {leaves} and the bucket's is {there}: leave `bucket` out.")
