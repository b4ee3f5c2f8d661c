"""Storage: where the leaves of the values at the nodes of each sort are kept."""

from ..arrays._carrier import Carrier
from ..arrays._platform import platform
from ..arrays.shapes import is_smooth, shaped
from ._slabs import Slabs


class Storage:
    """The carrier of each sort, and the columns in which their leaves are kept.

    A node has one sort. So leaves of different sorts share a column if they have the same number in their carriers, the
    same shape and the same type.
    """

    def __init__(self, carriers: dict[int, Carrier]) -> None:
        self.carriers = carriers
        every = [(i, x.shape, x.dtype) for c in carriers.values() for i, x in enumerate(c.leaves)]
        self._keys = list(dict.fromkeys(every))
        self.leaves = [shaped(shape, dtype) for _, shape, dtype in self._keys]
        self.smooth = [is_smooth(x) for x in self.leaves]
        self.slabs = Slabs(self.leaves, joined=platform().batched)

    def columns(self, sort: int) -> tuple[int, ...]:
        """Where the leaves of a sort's carrier are."""
        return tuple(self._keys.index((i, x.shape, x.dtype)) for i, x in enumerate(self.carriers[sort].leaves))
