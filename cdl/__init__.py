"""cdl: write the data type, get the network.

A signature is a functor; an algebra reads one layer of it; `cata` reads a whole tree by definition, and `fold` many
trees at once, compiled and differentiable.
"""

# isort: off
# first, so that a test suite's import hook finds it while the modules below come in
from . import _typecheck as _typecheck

# errors
from ._errors import CdlError as CdlError, SignatureError as SignatureError, ForeignLayer as ForeignLayer
from ._errors import CarrierMismatch as CarrierMismatch, PayloadMismatch as PayloadMismatch
from ._errors import LengthMismatch as LengthMismatch, PortMismatch as PortMismatch, TreeTooLarge as TreeTooLarge
from ._errors import CheckpointError as CheckpointError, LawBroken as LawBroken

# layers of data
from .functor import Base as Base, Fix as Fix, Many as Many, functor as functor, fmap as fmap, strength as strength
from .functor import project as project, embed as embed
from .functor import List as List, ListF as ListF, Nil as Nil, Cons as Cons, to_list as to_list
from .functor import SnocList as SnocList, SnocF as SnocF, Lin as Lin, Snoc as Snoc, to_snoc as to_snoc
from .functor import NonEmpty as NonEmpty, Link as Link
from .functor import Tree as Tree, TreeF as TreeF, Leaf as Leaf, Fork as Fork
from .functor import LabelledTree as LabelledTree, LabelledTreeF as LabelledTreeF, Tip as Tip, Branch as Branch
from .functor import Rose as Rose, RoseF as RoseF, Node as Node
from .functor import Nat as Nat, NatF as NatF, Zero as Zero, Succ as Succ
from .functor import Stream as Stream, StreamF as StreamF, take as take
from .functor import Moore as Moore, MooreF as MooreF, Mealy as Mealy, MealyF as MealyF, respond as respond
from .functor import Free as Free, Pure as Pure, bind as bind, interpret as interpret
from .functor import Cofree as Cofree, extract as extract, extend as extend, duplicate as duplicate, trace as trace
from .functor import Monad as Monad, Monoid as Monoid, EilenbergMoore as EilenbergMoore
from .functor import ListMonad as ListMonad, MaybeMonad as MaybeMonad, Writer as Writer, FreeMonad as FreeMonad
from .functor import Approximant as Approximant, initial_chain as initial_chain, final_chain as final_chain

# reading and growing trees, by definition
from .algebra import Algebra as Algebra, algebra as algebra, product as product
from .algebra import Stacked as Stacked, stacked as stacked
from .algebra import cata as cata, para as para, zygo as zygo, mutu as mutu, histo as histo, prepro as prepro
from .algebra import decorate as decorate, inherited as inherited, hoist as hoist
from .algebra import zygo_algebra as zygo_algebra, mutu_algebra as mutu_algebra
from .algebra import histo_algebra as histo_algebra, past as past, Window as Window, prepro_algebra as prepro_algebra
from .algebra import Either as Either, Left as Left, Right as Right
from .algebra import ana as ana, apo as apo, futu as futu, choose as choose, likelihood as likelihood
from .algebra import hylo as hylo, dyna as dyna, chrono as chrono, elgot as elgot, coelgot as coelgot

# what annotations of trees and algebras mean to typeguard
from . import _annotations as _annotations

# machines, put together and as tables
from .algebra import stateless as stateless, delay as delay, series as series, parallel as parallel
from .algebra import feedback as feedback, as_mealy as as_mealy
from .algebra import Automaton as Automaton, tabulate as tabulate
from .algebra import bisimilar as bisimilar, distinguish as distinguish, minimise as minimise

# many trees at once, compiled
from .run import pack as pack, Forest as Forest, Corpus as Corpus, Bucket as Bucket, fold as fold
from .run import annotate as annotate, inherit as inherit, follow as follow
from .run import unfold as unfold, Grown as Grown, Lists as Lists, refold as refold
from .run import balance as balance, shard as shard, Shards as Shards, shard_mean as shard_mean

# many lists at once
from .run import Seq as Seq, Packed as Packed
from .run import check_monoid as check_monoid, with_resets as with_resets, linear_recurrence as linear_recurrence
from .run import matrices as matrices, max_plus as max_plus, min_plus as min_plus, transitions as transitions

# machines, compiled
from .run import run as run, start as start, Stepper as Stepper

# parametric maps, and weight tying
from .parametric import Para as Para, identity as identity, swap as swap, fanout as fanout
from .parametric import lift as lift, unroll as unroll, Untied as Untied, Place as Place, two_cells as two_cells

# maps with a way back, and learning
from .optic import Optic as Optic, Lens as Lens, to_lens as to_lens, to_optic as to_optic
from .optic import reverse as reverse, ParaOptic as ParaOptic
from .optic import DifferentiableMap as DifferentiableMap, R as R, D as D, SmoothMap as SmoothMap
from .optic import Z2Map as Z2Map, z2 as z2
from .optic import layers as layers, losses as losses, optimisers as optimisers, Optimiser as Optimiser
from .optic import Learner as Learner, supervised as supervised, dream as dream, autoencoder as autoencoder, gan as gan
from .optic import circuits as circuits

# all of these, drawn
from .drawing import draw as draw, Drawing as Drawing, to_discopy as to_discopy

# every law, to be checked on instances of one's own
from . import laws as laws

# and an architecture explained, with the laws that were run on it
from .explanation import explain as explain, Explanation as Explanation

# and trees that users have already: from dataclasses, JSON, brackets
from . import trees as trees
