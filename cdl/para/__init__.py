"""Parametric maps, their 2-cells, and weight tying derived from them."""

# isort: off
from .._para import Para as Para, identity as identity, swap as swap, fanout as fanout, lift as lift
from .._para import unroll as unroll, Untied as Untied, Place as Place
from .._para import unroll_coalgebra as unroll_coalgebra, unroll_machine as unroll_machine
from .._para import square as square, Square as Square, discard as discard, lax_algebra as lax_algebra
from .._para import LaxAlgebra as LaxAlgebra, free_algebra as free_algebra
from .._para import CoKleisli as CoKleisli, parameter_space as parameter_space, DoubleCell as DoubleCell
from .._para import change as change, Change as Change, TANGENT as TANGENT, power as power
from . import two_cells as two_cells, actegory as actegory
