"""Where the places of one map talk to each other: by a weight that is data, or by a wire that is fixed.

| a product of what is read with        | is                                                                       |
| ------------------------------------- | ------------------------------------------------------------------------ |
| a parameter                           | what a layer does: how much it listens to each of its inputs             |
| what is read, too                     | a message, as from a token to another: attention, or a graph that is data |
| an array that nobody learns           | a message along a fixed wire, as of a graph that is given                |

So is a sum, a difference or another operation of two arrays of data, one of which is repeated along an axis of the
other and the other along one of it: it makes pairs of places, as attention that is written by sums does.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ._flow import ALIKE, Flow, flows


WEIGHED = "A product has data on both sides: how much one place listens to another depends on what they say."
WIRED = "A product of data with an array that is not a parameter: there are wires between places."
CROSSED = "Each place of the data meets each other one, number by number: what one hears depends on what another says."
LOOKED_UP = "Data are looked up by an index that is data: places hear of others along the edges of a graph."
TABLE = "Data are looked up by a fixed table of places, which may be the edges of a graph, or an order."
BY_INDEX = "Data are added by index: places send messages along the edges of a graph."


class Listener:
    """Is told the primitives of a map, and keeps what they say of messages, loops and convolutions."""

    def __init__(self, data: Sequence[int]) -> None:
        self.data, self.said = list(data), dict[str, None]()
        self.loops, self.tied, self.table = False, False, False

    @property
    def found(self) -> list[str]:
        """The messages, in sentences."""
        return list(self.said)

    def __call__(self, name: str, inputs: list[Flow]) -> None:
        reads = [not x.zero and bool(x.sources[self.data].any()) for x in inputs]
        if name == "dot_general" and all(reads):
            self.said[WEIGHED] = None
        elif name == "dot_general" and any(reads):
            other = inputs[reads.index(False)]
            if not other.zero and not other.sources.any():
                self.said[WIRED] = None
        elif name.startswith("scatter-") and any(reads[2:]):
            self.said[BY_INDEX] = None
        elif name == "gather" and reads[0]:
            if reads[1]:
                self.said[LOOKED_UP] = None
            self.table |= not inputs[1].sources.any() and _rows(inputs[1]) > 1
        elif name in ALIKE and sum(reads) > 1 and _pairs([x for x, read in zip(inputs, reads, strict=True) if read]):
            self.said[CROSSED] = None
        self.loops |= name in ("scan", "while")
        self.tied |= name == "conv_general_dilated"


def _rows(index: Flow) -> int:
    """How many places a table looks up."""
    return int(np.prod(index.mask.shape[1:-1]))


def _pairs(inputs: Sequence[Flow]) -> bool:
    """Whether each of two arrays has an axis along which the other is repeated."""
    shapes = [x.mask.shape[1:] for x in inputs]
    return any(_wider(a, b) and _wider(b, a) for a, b in combinations(shapes, 2) if len(a) == len(b))


def _wider(a: Sequence[int], b: Sequence[int]) -> bool:
    return any(m > n for m, n in zip(a, b, strict=True))


def listen(closed: Any, given: Sequence[Flow], sources: int, data: Sequence[int]) -> Listener:
    """What a traced map does with its data, which are these sources."""
    listener = Listener(data)
    flows(closed, given, sources, listener)
    return listener
