"""Parametric maps, their 2-cells, and weight tying derived from them."""

# isort: off
from .para import Para as Para, identity as identity, swap as swap, fanout as fanout
from .unrolled import lift as lift, unroll as unroll, Untied as Untied, Place as Place
from .squares import square as square, Square as Square, discard as discard
from ._unrolled_coalgebras import unroll_coalgebra as unroll_coalgebra
from ._unrolled_machines import unroll_machine as unroll_machine
from ._cokleisli import CoKleisli as CoKleisli, parameter_space as parameter_space
from ._double_cell import DoubleCell as DoubleCell
from ._lax import lax_algebra as lax_algebra, LaxAlgebra as LaxAlgebra
from ._lax import free_algebra as free_algebra
from ._change import change as change, Change as Change, power as power, TANGENT as TANGENT
from . import two_cells as two_cells, actegory as actegory
