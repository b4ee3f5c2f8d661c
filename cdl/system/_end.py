"""The ends of wires: `"box.port"` is taken apart here alone.

| the text            | the end                                   |
| ------------------- | ----------------------------------------- |
| `"adder.first.out"` | `End("adder.first", "out")`               |
| `"x"`               | `End("", "x")`: a port of the whole       |
"""

from typing import NamedTuple


class End(NamedTuple):
    """An end of a wire: a port of a box, by its path, or one of the whole, whose `box` is `""`."""

    box: str
    port: str

    @staticmethod
    def of(text: str) -> "End":
        """The end that a text names."""
        box, _, port = text.rpartition(".")
        return End(box, port)

    def __str__(self) -> str:
        return f"{self.box}.{self.port}" if self.box else self.port
