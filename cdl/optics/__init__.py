"""Optics, and reverse derivatives: maps with a way back."""

# isort: off
from .._optics import Optic as Optic, Lens as Lens, to_lens as to_lens, to_optic as to_optic, reverse as reverse
from .._optics import ParaOptic as ParaOptic, DifferentiableMap as DifferentiableMap, R as R, D as D
from .._optics import SmoothMap as SmoothMap, Z2Map as Z2Map
from . import structure as structure, z2 as z2
