"""Layers of data: signatures as polynomial functors, their trees, and the built-in ones."""

# isort: off
from ._functors import Base as Base, Fix as Fix, Fix1of2 as Fix1of2, Fix2of2 as Fix2of2, Many as Many
from ._functors import functor as functor, constructors as constructors, fmap as fmap, fmap_term as fmap_term
from ._functors import holes as holes, strength as strength, project as project, embed as embed
from ._functors import List as List, ListF as ListF, Nil as Nil, Cons as Cons, to_list as to_list
from ._functors import SnocList as SnocList, SnocF as SnocF, Lin as Lin, Snoc as Snoc, to_snoc as to_snoc
from ._functors import NonEmpty as NonEmpty, Link as Link
from ._functors import Tree as Tree, TreeF as TreeF, Leaf as Leaf, Fork as Fork, LabelledTree as LabelledTree
from ._functors import LabelledTreeF as LabelledTreeF, Tip as Tip, Branch as Branch, Rose as Rose, RoseF as RoseF
from ._functors import Node as Node
from ._functors import Nat as Nat, NatF as NatF, Zero as Zero, Succ as Succ, Stream as Stream, StreamF as StreamF
from ._functors import take as take
