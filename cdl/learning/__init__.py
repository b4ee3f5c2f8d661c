"""Learning: layers, losses and optimisers are optics, and a learner is their composite."""

# isort: off
from . import layers as layers, losses as losses, optimisers as optimisers
from .optimisers import Optimiser as Optimiser
from ._learner import Learner as Learner
from ._learners import supervised as supervised, dream as dream, autoencoder as autoencoder, gan as gan
from . import circuits as circuits
