"""Recursion schemes, by definition: ways to read a tree, to grow one, and to do both at once."""

# isort: off
from ._schemes import Algebra as Algebra, algebra as algebra, product as product, Stacked as Stacked
from ._schemes import stacked as stacked
from ._schemes import cata as cata, para as para, zygo as zygo, mutu as mutu, histo as histo, prepro as prepro
from ._schemes import decorate as decorate, inherited as inherited, hoist as hoist
from ._schemes import zygo_algebra as zygo_algebra, mutu_algebra as mutu_algebra, histo_algebra as histo_algebra
from ._schemes import past as past, Window as Window, prepro_algebra as prepro_algebra
from ._schemes import Either as Either, Left as Left, Right as Right, ana as ana, apo as apo, futu as futu
from ._schemes import choose as choose, likelihood as likelihood
from ._schemes import hylo as hylo, dyna as dyna, chrono as chrono, elgot as elgot, coelgot as coelgot
