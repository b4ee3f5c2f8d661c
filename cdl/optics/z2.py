"""Boolean circuits, which have derivatives too: polynomials over `Z₂`, the field of two elements."""

# isort: off
from .._optics.z2 import variables as variables, one as one, reverse as reverse
