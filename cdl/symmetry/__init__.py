"""Symmetry: actions of monoids, all linear maps that commute with them, and layers tied by that."""

# isort: off
from ._action import Action as Action
from ._word import Word as Word, word_of as word_of, WORDS as WORDS
from ._generated import generated as generated
from . import groups as groups, monoids as monoids
from ._tying import Tying as Tying, Orbits as Orbits, Combinations as Combinations
from ._hom import hom as hom
from ._commuting import sides as sides, Sides as Sides
from ._defects import is_hom as is_hom, hom_defect as hom_defect
from ._measured import Measured as Measured
from ._measured import lie_derivative as lie_derivative, lie_error as lie_error, monoid_error as monoid_error
from ._attribution import attributed as attributed, Attribution as Attribution
from . import fields as fields
from ._map import EquivariantMap as EquivariantMap
from ._pointwise import Pointwise as Pointwise
from ._gate import NormGate as NormGate
from ._chain import Chain as Chain, chain as chain
from ._layer import Equivariant as Equivariant
from ._moving import Actions as Actions, flow as flow, moved as moved
from ._distributive import Distributive as Distributive
