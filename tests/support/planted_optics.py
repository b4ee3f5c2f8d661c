"""Optics with one mistake, planted in one composite."""

from typing import Any

import equinox as eqx

from cdl import Optic


class Planted(Optic[Any, Any, Any, Any]):
    """An optic that knows how it is composed, and makes a mistake where that is as told."""

    optic: Optic[Any, Any, Any, Any]
    name: str = eqx.field(static=True)
    mistake: tuple[str, str] = eqx.field(static=True)

    def forward(self, x: Any, /) -> tuple[Any, Any]:
        return self.optic.forward(x)

    def backward(self, residual: Any, dy: Any, /) -> Any:
        return self.optic.backward(residual, dy)

    def get(self, x: Any, /) -> Any:
        return self.told("get", self.optic.get(x))

    def put(self, x: Any, dy: Any, /) -> Any:
        return self.told("put", self.optic.put(x, dy))

    def told(self, side: str, answer: Any) -> Any:
        return ("a mistake", answer) if (self.name, side) == self.mistake else answer

    def __rshift__(self, other: Any) -> Any:
        return Planted(self.optic >> other.optic, f"({self.name} >> {other.name})", self.mistake)

    def __matmul__(self, other: Any) -> Any:
        return Planted(self.optic @ other.optic, f"({self.name} @ {other.name})", self.mistake)
