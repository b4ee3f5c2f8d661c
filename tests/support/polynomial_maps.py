"""Polynomial maps over the field of two elements as differentiable maps of another kind."""

from typing import Any, Self

from cdl.optics import DifferentiableMap, Z2Map


class Wrapped(DifferentiableMap["Wrapped"]):
    """A polynomial map whose composites, sums and derivatives are made by `of`."""

    def __init__(self, map: Z2Map) -> None:
        self.map = map
        self.source, self.target = map.source, map.target

    @classmethod
    def of(cls, map: Z2Map, *how: Any) -> Self:
        """This map in the class; `how`: the operation, `R`, `>>` or `+`, and its arguments."""
        return cls(map)

    def __call__(self, x: Any) -> Any:
        return self.map(x)

    def __rshift__(self, other: Any) -> Any:
        return self.of(self.map >> other.map, ">>", self.map, other.map)

    def __and__(self, other: Any) -> Any:
        return self.of(self.map & other.map)

    def __add__(self, other: Any) -> Any:
        return self.of(self.map + other.map, "+", self.map, other.map)

    def reversed(self) -> Any:
        return self.of(self.map.reversed(), "R", self.map)

    @classmethod
    def pick(cls, source: int, places: Any, /) -> Any:
        return cls(Z2Map.pick(source, places))

    @classmethod
    def zero(cls, source: int, target: int, /) -> Any:
        return cls(Z2Map.zero(source, target))

    def observed(self) -> Any:
        return self.map
