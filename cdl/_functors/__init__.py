"""Layers of data: functors as signatures, their terms, and the built-in ones."""

# isort: off
from .base import Base as Base, Fix as Fix, embed as embed, project as project
from .base import Fix1of2 as Fix1of2, Fix2of2 as Fix2of2
from .read import constructors as constructors, functor as functor
from .mapping import fmap as fmap, fmap_term as fmap_term, holes as holes, strength as strength
from .many import Many as Many
from ._list import List as List, ListF as ListF, Nil as Nil, Cons as Cons, to_list as to_list
from ._list import SnocList as SnocList, SnocF as SnocF, Lin as Lin, Snoc as Snoc, to_snoc as to_snoc
from ._list import NonEmpty as NonEmpty, Link as Link
from ._tree import Tree as Tree, TreeF as TreeF, Leaf as Leaf, Fork as Fork
from ._tree import LabelledTree as LabelledTree, LabelledTreeF as LabelledTreeF, Tip as Tip, Branch as Branch
from ._tree import Rose as Rose, RoseF as RoseF, Node as Node, Nat as Nat, NatF as NatF, Zero as Zero, Succ as Succ
from ._machine import Stream as Stream, StreamF as StreamF, take as take
from ._machine import Moore as Moore, MooreF as MooreF, Mealy as Mealy, MealyF as MealyF, respond as respond
from ._free import Free as Free, Pure as Pure, bind as bind, interpret as interpret, map_free as map_free
from ._free import Cofree as Cofree, extract as extract, duplicate as duplicate, extend as extend, observe as observe
from ._free import map_cofree as map_cofree, one_step as one_step
from ._monad import Monad as Monad, EilenbergMoore as EilenbergMoore
from ._monads import Monoid as Monoid, ListMonad as ListMonad, MaybeMonad as MaybeMonad
from ._monads import Writer as Writer, FreeMonad as FreeMonad
from ._chains import Approximant as Approximant, initial_chain as initial_chain, final_chain as final_chain
