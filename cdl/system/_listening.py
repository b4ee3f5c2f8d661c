"""Where the places of one map talk to each other: by a weight that is data, or by a wire that is fixed.

| a product of what is read with        | is                                                                       |
| ------------------------------------- | ------------------------------------------------------------------------ |
| a parameter                           | what a layer does: how much it listens to each of its inputs             |
| what is read, too                     | a message, as from a token to another: attention, or a graph that is data |
| an array that nobody learns           | a message along a fixed wire, as of a graph that is given                |
"""

from collections.abc import Sequence
from typing import Any

from ._flow import Flow, flows


WEIGHED = "A product has data on both sides: how much one place listens to another depends on what they say."
WIRED = "A product of data with an array that is not a parameter: there are wires between places."
BY_INDEX = "Data are added by index: places send messages along the edges of a graph."


class Listener:
    """Is told the primitives of a map, and keeps what they say of messages, loops and convolutions."""

    def __init__(self, data: Sequence[int]) -> None:
        self.data, self.said = list(data), dict[str, None]()
        self.loops, self.tied = False, False

    @property
    def found(self) -> list[str]:
        """The messages that there are, in sentences."""
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
        self.loops |= name in ("scan", "while")
        self.tied |= name == "conv_general_dilated"


def listen(closed: Any, given: Sequence[Flow], sources: int, data: Sequence[int]) -> Listener:
    """What a traced map does with its data, which are these sources."""
    listener = Listener(data)
    flows(closed, given, sources, listener)
    return listener
