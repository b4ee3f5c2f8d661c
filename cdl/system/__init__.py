"""Systems: machines with interfaces, put together by wiring diagrams."""

# isort: off
from ._interface import Port as Port, Interface as Interface
from ._wiring import Wiring as Wiring
from ._box import System as System, Box as Box, box as box
from ._wired import Wired as Wired
from ._oapply import oapply as oapply, wire as wire
