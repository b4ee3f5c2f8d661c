"""Optics, and reverse derivatives."""

# isort: off
from .optic import Optic as Optic
from . import structure as structure
from .lens import Lens as Lens, to_lens as to_lens, to_optic as to_optic
from .reversal import reverse as reverse
from .para_optic import ParaOptic as ParaOptic
from ._category import DifferentiableMap as DifferentiableMap, R as R, D as D
from ._smooth import SmoothMap as SmoothMap
from .z2 import Z2Map as Z2Map
from . import z2 as z2
