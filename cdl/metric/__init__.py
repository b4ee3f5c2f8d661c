"""Metrics: how far one model is from another, and the gradient in these units."""

# isort: off
from ._distribution import Distribution as Distribution, negative_log_likelihood as negative_log_likelihood
from ._families import Categorical as Categorical, Bernoulli as Bernoulli, Gaussian as Gaussian, Poisson as Poisson
from ._pullback import Metric as Metric, pullback as pullback
from ._fisher import fisher as fisher, empirical_fisher as empirical_fisher, ggn as ggn
from ._kfac import kfac as kfac, Kfac as Kfac, Kronecker as Kronecker
from ._solve import solve as solve, Solver as Solver, Dense as Dense, Cg as Cg, Blocks as Blocks
from ._natural import natural as natural, NaturalState as NaturalState, LevenbergMarquardt as LevenbergMarquardt
