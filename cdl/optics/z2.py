"""Boolean circuits, which have derivatives too: polynomials over `Z₂`, the field of two elements."""

# isort: off
from .._optics.z2 import variables as variables, one as one, reverse as reverse
from .._optics.z2 import XOR as XOR, AND as AND, NOT as NOT, COPY as COPY, DISCARD as DISCARD, MIDDLE as MIDDLE
from .._optics.z2 import OR as OR
