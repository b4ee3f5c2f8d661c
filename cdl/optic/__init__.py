"""Optics, reverse derivatives, and learning from gradients as their composition."""

# isort: off
from ._optic import Optic as Optic
from . import structure as structure
from ._lens import Lens as Lens, to_lens as to_lens, to_optic as to_optic
from ._reverse import reverse as reverse
from ._para_optic import ParaOptic as ParaOptic
from ._category import DifferentiableMap as DifferentiableMap, R as R, D as D
from ._smooth import SmoothMap as SmoothMap
from .z2 import Z2Map as Z2Map
from . import z2 as z2
from . import layers as layers, losses as losses, optimisers as optimisers
from .optimisers import Optimiser as Optimiser
from ._learner import Learner as Learner
from ._learners import supervised as supervised, dream as dream
from ._learners import autoencoder as autoencoder, gan as gan
from . import circuits as circuits
