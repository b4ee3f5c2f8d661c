"""Algebras and coalgebras, and the recursion schemes by definition."""

# isort: off
from .algebras import Algebra as Algebra, algebra as algebra, product as product
from .stacks import Stacked as Stacked, stacked as stacked
from ._folds import cata as cata, para as para, zygo as zygo, mutu as mutu, histo as histo, prepro as prepro
from ._folds import decorate as decorate, hoist as hoist
from .inheriting import inherited as inherited
from ._as_cata import zygo_algebra as zygo_algebra, mutu_algebra as mutu_algebra
from ._as_cata import histo_algebra as histo_algebra, past as past, Window as Window, prepro_algebra as prepro_algebra
from ._either import Either as Either, Left as Left, Right as Right
from .unfolds import ana as ana, apo as apo, futu as futu
from ._choose import choose as choose
from .likelihoods import likelihood as likelihood
from ._refolds import hylo as hylo, dyna as dyna, chrono as chrono, elgot as elgot, coelgot as coelgot
from .compose import stateless as stateless, delay as delay, series as series, parallel as parallel
from .compose import feedback as feedback, as_mealy as as_mealy
from .automaton import Automaton as Automaton, tabulate as tabulate
from ._bisimilar import bisimilar as bisimilar, distinguish as distinguish, minimise as minimise
