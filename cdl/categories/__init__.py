"""Categories as values: what is composed, and what has to hold of it."""

# isort: off
from ._category import Arrow as Arrow, Category as Category, product_category as product_category
from ._functor import Functor as Functor, NatTrans as NatTrans, NatIso as NatIso
from ._monoidal import Monoidal as Monoidal
from ._numbers import MAT as MAT, SETS as SETS, DAGGER as DAGGER
from ._smooth import SMOOTH as SMOOTH
from ._slice import Over as Over, SLICE as SLICE
from ._learned import PARA as PARA, OPTIC as OPTIC, BACKPROPAGATION as BACKPROPAGATION
from ._pointed import Pointed as Pointed, POINTED as POINTED, GRADIENT as GRADIENT
