"""Metrics: how far one model is from another, and the gradient in these units."""

# isort: off
from ._distribution import Distribution as Distribution, negative_log_likelihood as negative_log_likelihood
from ._families import Categorical as Categorical, Bernoulli as Bernoulli, Gaussian as Gaussian, Poisson as Poisson
from ._pullback import Metric as Metric, pullback as pullback
from ._fisher import fisher as fisher, empirical_fisher as empirical_fisher, ggn as ggn
from ._kfac import kfac as kfac, Kfac as Kfac, Kronecker as Kronecker
from ._solve import natural_gradient as natural_gradient, Solver as Solver, Dense as Dense, Cg as Cg, Blocks as Blocks
from ._natural import natural as natural, NaturalState as NaturalState, LevenbergMarquardt as LevenbergMarquardt
from ._measured import measured as measured, log_loss as log_loss, MeasuredChange as MeasuredChange
from ._measured import natural_descent as natural_descent
from ._invariance import invariance_defect as invariance_defect, modularity_defect as modularity_defect
from ._block_defect import costates as costates, costate_losses as costate_losses, block_defect as block_defect
from ._isometry import jacobian_moments as jacobian_moments, isometry_defect as isometry_defect
from ._isometry import residual_isometry_defect as residual_isometry_defect
from ._evolution import SearchDistribution as SearchDistribution, evolve as evolve, natural_estimate as natural_estimate
