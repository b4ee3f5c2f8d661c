"""Systems: machines with named ports, joined by wires; fields that share variables; diagrams that change."""

# isort: off
from ._interface import Port as Port, Interface as Interface
from ._wiring import Wiring as Wiring
from ._system import System as System
from ._box import box as box, Box as Box
from ._oapply import wire as wire, oapply as oapply
from ._wired import Wired as Wired
from ._field import field as field, Field as Field
from ._share import share as share
from ._clock import discretise as discretise
from ._solve import solve as solve
from ._rewiring import Rewiring as Rewiring, rewiring as rewiring
from ._rewired import rewire as rewire, Rewired as Rewired
from ._rewiring import among as among, fixed as fixed, route as route
from ._managed import managed as managed
from ._modes import modes as modes, Modal as Modal
from ._latency import latency as latency, Latency as Latency
from ._classify import classify as classify, Classification as Classification
from ._polynomial import Polynomial as Polynomial
from ._lens import DependentLens as DependentLens, lenses as lenses, hom as hom
from ._adjunction import curry as curry, uncurry as uncurry
from ._automata import of_automaton as of_automaton, to_automaton as to_automaton
