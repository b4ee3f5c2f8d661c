"""cdl: write the data type, get the network.

A signature is a functor; an algebra reads one layer of it; `cata` reads a whole tree by definition, and `fold` many
trees at once, compiled and differentiable. Here are the names of every day; all of them, by subject, are in the modules
listed first.
"""

# isort: off
import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

# first, so that a test suite's import hook finds it while the modules below come in
from . import testing as testing
from ._front_door import refuse_name as _refuse_name

# the modules, in reading order
from . import errors as errors, functors as functors, poly as poly, monads as monads, schemes as schemes
from . import _annotations as _annotations  # what annotations of trees and algebras mean to typeguard
from . import compiled as compiled, monoids as monoids, machines as machines
from . import para as para, optics as optics, categories as categories, learning as learning
from . import drawing as drawing, symmetry as symmetry, system as system
from . import laws as laws, explanation as explanation, io as io
from . import trees as trees, checks as checks

# errors
from .errors import CdlError as CdlError

# layers of data
from .functors import Base as Base, Fix as Fix, Many as Many, functor as functor, fmap as fmap
from .functors import List as List, ListF as ListF, Nil as Nil, Cons as Cons, to_list as to_list
from .functors import Tree as Tree, TreeF as TreeF, Leaf as Leaf, Fork as Fork
from .functors import LabelledTreeF as LabelledTreeF, Tip as Tip, Branch as Branch
from .functors import Rose as Rose, RoseF as RoseF, Node as Node

# reading and growing trees, by definition
from .schemes import Algebra as Algebra, algebra as algebra, stacked as stacked
from .schemes import cata as cata, decorate as decorate, inherited as inherited
from .schemes import ana as ana, choose as choose, likelihood as likelihood, hylo as hylo

# many trees at once, and many lists, compiled
from .compiled import pack as pack, Forest as Forest, Corpus as Corpus, fold as fold, annotate as annotate
from .compiled import inherit as inherit, follow as follow, unfold as unfold, Grown as Grown, refold as refold
from .compiled import Seq as Seq, Packed as Packed

# machines
from .machines import Moore as Moore, MooreF as MooreF, Mealy as Mealy, MealyF as MealyF
from .machines import stateless as stateless, delay as delay, series as series, parallel as parallel
from .machines import feedback as feedback, Automaton as Automaton, run as run

# parametric maps, maps with a way back, and learning
from .para import Para as Para, lift as lift, unroll as unroll
from .optics import Optic as Optic, Lens as Lens, to_optic as to_optic, reverse as reverse, ParaOptic as ParaOptic
from .learning import Learner as Learner, supervised as supervised

# all of these, drawn and explained
from .drawing import draw as draw
from .explanation import explain as explain

__version__ = "0.1.0.dev0"


if _TYPE_CHECKING:  # type checkers know the names, and refuse others
    from . import metric as metric
else:

    def __getattr__(name: str) -> object:
        """`metric`, which comes in at its first use, since lineax takes long.

        **Raises:** `AttributeError`, which says in which module a name is that is not here.
        """
        if name == "metric":
            return _import_module(".metric", __name__)
        return _refuse_name(_sys.modules[__name__], name)
