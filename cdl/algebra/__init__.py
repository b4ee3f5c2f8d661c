"""Algebras and coalgebras, and the recursion schemes by definition."""

# isort: off
from ._algebra import Algebra as Algebra, algebra as algebra, product as product
from ._folds import cata as cata, para as para, zygo as zygo, mutu as mutu, histo as histo, prepro as prepro
from ._folds import decorate as decorate, hoist as hoist
from ._either import Either as Either, Left as Left, Right as Right
from ._unfolds import ana as ana, apo as apo, futu as futu
from ._choose import choose as choose
from ._refolds import hylo as hylo, dyna as dyna, chrono as chrono, elgot as elgot, coelgot as coelgot
