"""An algebra whose leaves read what a test changes."""

from collections.abc import Callable
from typing import Any

from cdl import algebra, Fork, Leaf, TreeF


TREE = Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(3.0)))


def reader(read: Callable[[Any], Any]) -> Any:
    """An algebra that changes each leaf by a function, and counts how often it is traced.

    A call of `cata` counts too, and the case reads the count: `fold` after it is traced anew, whatever else changed.
    """
    traced: list[Any] = []

    @algebra
    def changed(layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(label):
                traced.append(label)
                return read(label)
            case Fork(left, right):
                return left - right

    return changed, traced
