"""Systems: machines with interfaces, put together by wiring diagrams."""

# isort: off
from ._interface import Port as Port, Interface as Interface
from ._wiring import Wiring as Wiring
from ._box import System as System, Box as Box, box as box
from ._wired import Wired as Wired
from ._oapply import oapply as oapply, wire as wire
from ._latency import Latency as Latency, latency as latency
from ._polynomial import Polynomial as Polynomial
from ._lens import DependentLens as DependentLens, lenses as lenses, hom as hom, curry as curry, uncurry as uncurry
from ._lens import of_automaton as of_automaton, to_automaton as to_automaton
from ._field import Field as Field, field as field, share as share, discretise as discretise
from ._rewiring import Rewiring as Rewiring, rewiring as rewiring, fixed as fixed, among as among, route as route
from ._rewiring import Rewired as Rewired, rewire as rewire
from ._managed import managed as managed
from ._classify import Classification as Classification, classify as classify
