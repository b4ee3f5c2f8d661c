"""Monads and comonads of data: the free and the cofree one, monads as values, and the chains that build a type."""

# isort: off
from ._functors import Free as Free, Pure as Pure, bind as bind, interpret as interpret, map_free as map_free
from ._functors import one_step as one_step, Cofree as Cofree, extract as extract, extend as extend
from ._functors import duplicate as duplicate, observe as observe, map_cofree as map_cofree
from ._functors import Monad as Monad, Monoid as Monoid, EilenbergMoore as EilenbergMoore, ListMonad as ListMonad
from ._functors import MaybeMonad as MaybeMonad, Writer as Writer, FreeMonad as FreeMonad
from ._functors import Approximant as Approximant, initial_chain as initial_chain, final_chain as final_chain
