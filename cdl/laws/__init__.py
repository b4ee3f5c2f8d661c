"""Every law as a function: give it your own instance, and it raises `LawBroken` with the two sides that differ.

A law is checked at the values it is given, so feed it from a property test. Values are compared part by part, by `==`.
Two numbers in floating point may differ by `tolerance`, times the right one where that is above 1; the default, 0, is
exact, and right for whole numbers.

`by` is what you check in the place of cdl's own: for a law of folds, any fold; for the law of systems, what runs them.
"""

# isort: off
from ._functor import functor as functor, strength as strength, natural_on_layers as natural_on_layers
from ._folds import algebra_map as algebra_map, lambek as lambek, reflection as reflection, fusion as fusion
from ._folds import banana_split as banana_split
from ._folds import para as para, zygo as zygo, mutu as mutu, histo as histo, decorate as decorate
from ._unfolds import coalgebra_map as coalgebra_map, unfold_fusion as unfold_fusion, apo as apo, futu as futu
from ._unfolds import hylo as hylo, dyna as dyna, chrono as chrono
from ._machines import machine_map as machine_map, run as run
from ._free import free as free, cofree as cofree, comonad as comonad
from ._monad import monoid as monoid, monad as monad
from ._monad import eilenberg_moore as eilenberg_moore, eilenberg_moore_map as eilenberg_moore_map
from ._parametric import bicategory as bicategory, reparametrisation as reparametrisation, two_cell as two_cell
from ._lifted import lifting as lifting, lax_algebra as lax_algebra
from ._cokleisli import co_kleisli as co_kleisli, from_para as from_para
from ._double import double_cell as double_cell, double_category as double_category
from ._double import stacked_squares as stacked_squares
from ._monoidal import monoidal_optics as monoidal_optics
from ._optics import sliding as sliding, optics as optics, reverse_functor as reverse_functor
from ._symmetric_monoidal import category as category, functor_of_categories as functor_of_categories
from ._symmetric_monoidal import natural_transformation as natural_transformation
from ._symmetric_monoidal import natural_isomorphism as natural_isomorphism
from ._symmetric_monoidal import symmetric_monoidal as symmetric_monoidal
from ._reverse_derivative import reverse_derivative as reverse_derivative, left_additive as left_additive
from ._actions import action as action, equivariant as equivariant
from ._distributive import distributive as distributive, equivariant_fold as equivariant_fold
from ._systems import system as system
from ._interfaces import LawfulFunctor as LawfulFunctor, LawfulMonad as LawfulMonad, LawfulComonad as LawfulComonad
