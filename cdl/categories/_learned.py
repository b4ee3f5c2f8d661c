"""Parametric maps and optics as categories, and backpropagation as a functor.

| the mathematics                                    | here                                                            |
| -------------------------------------------------- | --------------------------------------------------------------- |
| `Para(Smooth)`, up to 2-cells that move parameters | `PARA`: maps are `cdl.para.Para`                                |
| `Optic(Smooth)`                                    | `OPTIC`: maps are `cdl.optics.Optic`, changes are as values are |
| `f ↦ (f, R[f])`, `Smooth → Optic(Smooth)`          | `BACKPROPAGATION`                                               |

`Para` is a bicategory: the two bracketings of a composite have their parameters in different brackets, and
`(f @ g) >> σ` has them in another order than `σ >> (g @ f)`. A category is what is left once such moves are forgotten.
So two maps of `PARA` are the same where their values are, and the arrays among their parameters are the same in some
order. `cdl.laws.bicategory` has the finer statement, along each 2-cell.
"""

from typing import Any

import jax
import numpy as np

from .._optics import Optic, reverse, structure
from .._para import identity, Para, swap
from ._category import Arrow
from ._functor import Functor
from ._kinds import kind, points
from ._monoidal import Monoidal
from ._smooth import associator, left_unitor, right_unitor, SMOOTH, smooth_ends, values


def _still(there: Any, back: Any) -> tuple[Any, Any]:
    """Two functions as parametric maps without parameters."""
    return Para((), lambda _, x: there(x)), Para((), lambda _, x: back(x))


def _seen(f: Arrow) -> Any:
    """The arrays among the parameters, in an order that is their own, and the values."""
    leaves = map(np.asarray, jax.tree.leaves(f.body.params))
    return sorted(leaves, key=lambda x: (x.shape, x.dtype.str, x.tobytes())), values(f)


PARA = Monoidal(
    name="Para(Smooth)",
    ends=smooth_ends,
    one=lambda _: identity(),
    then=lambda f, g: f >> g,
    observed=_seen,
    unit=(),
    pair=lambda x, y: (x, y),
    beside=lambda f, g: f.body @ g.body,
    associator=lambda *_: _still(*associator()),
    left_unitor=lambda x: _still(*left_unitor(x)),
    right_unitor=lambda x: _still(*right_unitor(x)),
    braiding=lambda *_: swap(),
)
"""Parametric maps: `PARA.arrow(Para.of(module), example_of_an_input)`.

Examples:
    >>> double = cdl.categories.PARA.arrow(cdl.Para(jnp.array(2.0), lambda p, x: p * x), 1.0)
    >>> cdl.categories.PARA.compose(double, double).body(5.0).item()
    20.0
"""


def _optic_ends(f: Optic[Any, Any, Any, Any], example: Any) -> tuple[Any, Any]:
    source = kind(example)
    return source, kind(jax.eval_shape(f.get, source))


def _observed(f: Arrow) -> Any:
    changes = points(f.target)
    return [(f.body.get(x), f.body.put(x, dy)) for x, dy in zip(points(f.source), changes, strict=True)]


OPTIC = Monoidal(
    name="Optic(Smooth)",
    ends=_optic_ends,
    one=lambda _: Optic.identity(),
    then=lambda f, g: f >> g,
    observed=_observed,
    unit=(),
    pair=lambda x, y: (x, y),
    beside=lambda f, g: f.body @ g.body,
    associator=lambda *_: (structure.associator(), structure.associator_back()),
    left_unitor=lambda _: (structure.left_unitor(), structure.left_unitor_back()),
    right_unitor=lambda _: (structure.right_unitor(), structure.right_unitor_back()),
    braiding=lambda *_: Optic.swap(),
)
"""Optics of smooth maps: `OPTIC.arrow(optic, example_of_an_input)`.

Examples:
    >>> square = cdl.categories.OPTIC.arrow(cdl.reverse(jnp.square), 1.0)
    >>> float(cdl.categories.OPTIC.compose(square, square).body.put(2.0, 1.0))
    32.0
"""


BACKPROPAGATION = Functor(SMOOTH, OPTIC, lambda x: x, lambda f: reverse(f.body))
"""`f ↦ (f, R[f])`: covariant, and it keeps objects and tensors.

Examples:
    >>> cube = cdl.categories.SMOOTH.arrow(lambda x: x**3, 1.0)
    >>> float(cdl.categories.BACKPROPAGATION(cube).body.put(2.0, 1.0))
    12.0
"""
