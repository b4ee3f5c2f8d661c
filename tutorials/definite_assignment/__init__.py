"""Definite assignment: when this statement has finished normally, is the name certainly bound?

It is the question behind a checker's "possibly unbound". The exact answer is an algebra of the functor `DefiniteF`,
and a network is another algebra of it. The constructors are in `signature`: `signature.If(test, then, orelse)`.

| module      | what it gives                                     |
| ----------- | ------------------------------------------------- |
| `classify`  | yes or no for trees: a loss, batches, answers     |
| `baselines` | what a tree network has to beat                   |
| `figures`   | figures for the page of the first network         |
| `ship`      | trains the judge that comes with `cdl_arch.demo`  |

This is the code beside the page, `first_network.py`. The functor, the reader of syntax and the exact algebra come from
`cdl_arch.demo`.
"""

# isort: off
from cdl_arch.demo import signature as signature, Definite as Definite, DefiniteF as DefiniteF, SPINES as SPINES
from cdl_arch.demo import MAX_SIZE as MAX_SIZE, Pair as Pair, Reader as Reader, Tree as Tree, tree_of as tree_of
from cdl_arch.demo import UNREACHABLE as UNREACHABLE, BOUND as BOUND, MAYBE as MAYBE
from cdl_arch.demo import AFTER as AFTER, BREAK as BREAK, CONTINUE as CONTINUE, Table as Table, exact as exact
from ._states import Outcomes as Outcomes, outcomes as outcomes, state_after as state_after
from ._walk import RETURNED as RETURNED, RAISED as RAISED, Walk as Walk, walk as walk
from ._examples import Source as Source, Examples as Examples, collect as collect, balanced as balanced
