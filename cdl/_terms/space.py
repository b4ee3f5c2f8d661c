"""The types of the sides of a term, inferred by unification.

A map says nothing of its types. Two ends that are joined have one type, and a type that is never found to be a product
is one wire.
"""

from dataclasses import dataclass

from ..errors import PortMismatch


@dataclass(eq=False)
class Space:
    """A type. An unknown type is one wire. Unification may make it a product, or equal to another. The empty
    product has no wire.

    Along a wire a value goes there, and a change of it `back`, where it has a way back. `numbers`: how many numbers its
    values are, where they are parameters; else 0.
    """

    parts: "tuple[Space, ...] | None" = None
    same: "Space | None" = None
    back: bool = True
    numbers: int = 0

    def found(self) -> "Space":
        return self if self.same is None else self.same.found()

    def each(self) -> "list[Space]":
        """Its wires."""
        here = self.found()
        return [here] if here.parts is None else [wire for part in here.parts for wire in part.each()]

    def wires(self) -> int:
        return len(self.each())

    def ways(self) -> int:
        """How many of its wires have a way back."""
        return sum(wire.back for wire in self.each())

    def size(self) -> int:
        """How many numbers its wires have together."""
        return sum(wire.numbers for wire in self.each())


def pair(x: Space, y: Space) -> Space:
    """Their product."""
    return Space((x, y))


def none() -> Space:
    """No wire."""
    return Space(())


def parameters(numbers: int, *, back: bool = True) -> Space:
    """A wire of parameters; none where there are no numbers."""
    return Space(numbers=numbers, back=back) if numbers else none()


def join(x: Space, y: Space) -> None:
    """Makes two types one.

    **Raises:** `PortMismatch` where they are products of different numbers of types, or one is a part of the other.
    """
    a, b = x.found(), y.found()
    if a is b:
        return
    if a.parts is None:
        if a in b.each():
            raise PortMismatch("a composite joins a type with a product that it is a part of: regroup its wires.")
        a.same = b
        for wire in b.each():
            wire.back = wire.back and a.back
        b.numbers = b.numbers or a.numbers
    elif b.parts is None:
        join(b, a)
    else:
        if len(a.parts) != len(b.parts):
            raise PortMismatch(
                f"a composite joins a product of {len(a.parts)} types with one of {len(b.parts)}: give both the same."
            )
        for left, right in zip(a.parts, b.parts, strict=True):
            join(left, right)
