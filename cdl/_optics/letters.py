"""The letters of optics. A change of an `X` is a `DX`; where none is named it is an `X` itself."""

from typing_extensions import TypeVar


X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")
V = TypeVar("V")
W = TypeVar("W")
M = TypeVar("M")  # a residual
P = TypeVar("P")  # parameters
Q = TypeVar("Q")
T = TypeVar("T")  # a target
DX = TypeVar("DX", default=X)
DY = TypeVar("DY", default=Y)
DP = TypeVar("DP", default=P)
DZ = TypeVar("DZ")
DV = TypeVar("DV")
DW = TypeVar("DW")
DQ = TypeVar("DQ")
