"""What metrics, distributions and optimisers refuse: a row for each, with words to be told."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
import optax
import pytest
from equivariant import unchecked

import cdl
from cdl.errors import CdlError
from cdl.learning import layers, losses, optimisers, supervised
from cdl.metric import (
    Bernoulli,
    block_defect,
    Categorical,
    Cg,
    costate_losses,
    costates,
    Distribution,
    evolve,
    fisher,
    Gaussian,
    invariance_defect,
    isometry_defect,
    kfac,
    LevenbergMarquardt,
    log_loss,
    measured,
    natural,
    natural_descent,
    natural_estimate,
    natural_gradient,
    negative_log_likelihood,
    Poisson,
    pullback,
    residual_isometry_defect,
    SearchDistribution,
)


KEY = jr.key(0)
ODD: Any = 3


def two() -> Any:
    return jnp.ones(2)


def normal(w: Any) -> Gaussian:
    return Gaussian(w)


def stepped(rule: Any = None, *params: Any, **told: Any) -> Any:
    tx = natural(normal, damping=1.0) if rule is None else rule
    return tx.update(two(), tx.init(two()), *(params or [two()]), **told)


def line() -> Any:
    return pullback(lambda w: w[:1], two())


def search() -> SearchDistribution:
    return SearchDistribution.about(jnp.zeros(2))


def linear() -> eqx.nn.Linear:
    return eqx.nn.Linear(2, 3, key=KEY)


def layered(kind: Any = Gaussian, **options: Any) -> Any:
    return kfac(lambda net: kind(jax.vmap(net)(jnp.ones((4, 2)))), linear(), **options)


class Twice(eqx.nn.Linear):
    pass


def twice() -> Any:
    net: Any = Twice(2, 1, key=KEY)
    return kfac(lambda net: Gaussian(jax.vmap(net)(jnp.ones((3, 2)))), net)


def stacked() -> Any:
    nets = eqx.filter_vmap(lambda key: eqx.nn.Linear(2, 3, key=key))(jr.split(KEY, 3))
    return kfac(lambda n: Gaussian(eqx.filter_vmap(lambda m: m(jnp.ones(2)))(n)), nets)


def imaginary() -> Any:
    x = jnp.ones((4, 2), complex)
    with jax.numpy_dtype_promotion("standard"):
        return kfac(lambda net: Gaussian(jax.vmap(net)(x).real), linear())


def apart() -> Any:
    params, rest = eqx.partition(linear(), eqx.is_inexact_array)
    return kfac(lambda p: Categorical(eqx.combine(p, rest)(jnp.ones(2))[None]), params)


def compiled() -> Any:
    forest, reader = cdl.pack(cdl.TreeF, problems.TREES), problems.reader()
    net = eqx.filter_jit(lambda net: cdl.fold(net, forest))
    net(reader)  # traced before, without forward mode
    params = eqx.filter(reader, eqx.is_inexact_array)
    return fisher(lambda r: Categorical(net(r)), reader).mv(params)


def chain() -> Any:
    return layers.dense(2, 3, jnp.tanh, key=KEY).batched()


def tied() -> Any:
    return measured(chain().reparametrise(optimisers.descent(0.1).optic, chain().params))


def unmeasured() -> Any:
    learner = supervised(chain(), losses.cross_entropy(), natural_descent())
    return learner.step(learner.state, (jnp.ones((4, 2)), jnp.zeros(4, int)))


class Own(Distribution):
    centre: Any
    width: Any

    def log_density(self, y: Any, /) -> Any:
        return -jnp.abs(y - self.centre) / self.width

    def sample(self, key: Any, /) -> Any:
        return self.centre

    def fisher(self, v: Any, /) -> Any:
        return v

    def kl(self, other: Any, /) -> Any:
        return self.centre


def seen(family: Any, *targets: Any) -> Any:
    return negative_log_likelihood(family, np.array(targets))


def classes(*shape: int) -> Categorical:
    return Categorical(jnp.zeros(shape))


def defect(*own: Any, last: Any = jnp.sin) -> Any:
    whole = lambda m: jnp.sum(m[0])
    return block_defect([whole, *own], whole, (two(), last))


def pulled(take: Any = slice(None)) -> Any:
    """A costate of the second of two maps, cut short."""
    x, maps = jnp.ones((2, 4)), (jnp.sin, jnp.cos)
    back = costates(maps, jnp.sum, x)
    return [own(maps) for own in costate_losses((back[0], back[1][:1])[take], x)]


ROWS: list[tuple[Any, type[Exception], str]] = [
    # targets and parameters
    (lambda: seen(classes(2, 3), 0, 3), CdlError, "0 2 one 3"),
    (lambda: seen(Bernoulli(two()), 0.5, 1.0), CdlError, "`Bernoulli` 0.5"),
    (lambda: seen(Poisson(two()), 0, -1), CdlError, "`Poisson` -1"),
    (lambda: seen(classes(2, 3), 0, 0, 0), CdlError, "(2,) (3,)"),
    (lambda: seen(Gaussian(two()), 1j, 1j), CdlError, "complex128 real"),
    (lambda: seen(Gaussian(jnp.zeros(0))), CdlError, "`Gaussian` examples 0"),
    (lambda: Bernoulli(jnp.arange(3)), CdlError, "`logits` `Bernoulli` floating"),
    (lambda: Categorical(jnp.array(1.0)), CdlError, "last axis classes"),
    (lambda: Gaussian(jnp.zeros((2, 2)), jnp.ones(3)), CdlError, "(3,) broadcast (2, 2)"),
    (lambda: Gaussian(two(), 0.0), CdlError, "`scale` `Gaussian` 0"),
    (lambda: classes(2, 3).kl(classes(1, 3)), CdlError, "`Categorical` (2, 3) (1, 3)"),
    (lambda: seen(Own(jnp.ones(3), jnp.ones(4))), CdlError, "`Own` 3 `centre` 4 `width`"),
    (lambda: seen(Own(*jnp.ones((2, 3, 2))), *[[0.0, 0.0]] * 3), CdlError, "(3, 2) (3,)"),
    # a metric
    (lambda: fisher(lambda w: w, two()), CdlError, "(2,) Categorical(scores(params))"),
    (lambda: pullback(lambda w: jax.lax.complex(w, w), two()), CdlError, "`f` complex"),
    (lambda: pullback(lambda w: w[:1], two(), line()), CdlError, "[(1,)] `metric` [(2,)]"),
    (compiled, CdlError, "`jax.jit`"),
    (lambda: fisher(normal, two()).mv(jnp.ones(3)), CdlError, "f64[2] `mv`"),
    (lambda: line() @ two(), CdlError, "`@` (2,) `metric.mv(v)`"),
    # a natural gradient
    (lambda: natural_gradient(fisher(normal, two()), (two(), two())), CdlError, "2 float64[2]"),
    (lambda: natural_gradient(line(), two(), how=Cg()), CdlError, "singular gradient"),
    (
        lambda: natural_gradient(line(), two(), damping=1.0, within=fisher(normal, jnp.ones(3))),
        CdlError,
        "`within` float64[3]",
    ),
    *[
        (lambda size=size: natural_gradient(line(), two(), damping=size), CdlError, "`damping`")
        for size in (-1.0, np.nan)
    ],
    (lambda: natural(normal, 0.0), CdlError, "`rate` 0"),
    (lambda: natural(normal, metric="fischer"), CdlError, "`metric` 'fischer'"),
    (lambda: natural(normal, metric="kfac", chart=jnp.sinh), CdlError, "`chart`"),
    (lambda: natural(normal, metric="kfac", how=Cg(3)), CdlError, "K-FAC block `Cg("),
    (lambda: natural(normal, optax.constant_schedule(0.1)), CdlError, "`rate` `natural` `float`"),
    (lambda: stepped(None, None), CdlError, "params)`"),
    (lambda: stepped(natural(normal, damping=LevenbergMarquardt())), CdlError, "`value`"),
    (lambda: stepped(natural(normal, metric="ggn", damping=1.0)), CdlError, "`targets=`"),
    (lambda: stepped(natural(lambda p, x: Gaussian(p * x), damping=1.0)), CdlError, "`data=`"),
    # K-FAC
    (apart, CdlError, "module `params`"),
    (twice, CdlError, "`Twice` `eqx.nn.Linear`"),
    (stacked, CdlError, "[3,3,2] `jax.vmap`"),
    (imaginary, CdlError, "layer complex"),
    (lambda: layered().solve({"a": 1.0}, damping=1.0), CdlError, "2 float64[3,"),
    (lambda: layered().solve(linear(), damping=-1.0), CdlError, "`damping` -1"),
    # learners
    (tied, CdlError, "layers one after"),
    (unmeasured, CdlError, "`measured(model)` `log_loss(family)`"),
    (lambda: log_loss(ODD), CdlError, "`log_loss`"),
    (lambda: natural_descent(rate=-1.0), CdlError, "`rate`"),
    # evolution
    (lambda: evolve(search(), jnp.sum, KEY, population=3), CdlError, "`population` 3"),
    (lambda: natural_estimate(search(), jnp.ones((4, 3)), jnp.ones(4)), CdlError, "(4, 3) (4,)"),
    (lambda: evolve(search(), jnp.exp, KEY), CdlError, "loss f64[2]"),
    # defects
    (lambda: defect(lambda m: m[0].sum()), CdlError, "module 1 no parameters"),
    (lambda: pulled(slice(1)), CdlError, "1 2 modules"),
    (pulled, CdlError, "module 1 [1,4] [2,4]"),
    (lambda: invariance_defect(lambda c: 3, jnp.sum, jnp.sinh, two()), CdlError, "`rule` optax 3"),
    (lambda: isometry_defect(lambda x: x, jnp.arange(3)), CdlError, "floating Jacobian"),
    (lambda: residual_isometry_defect(0.0, 0.0, 3), CdlError, "`a` `b` 0"),
    (lambda: seen(classes(2, 3), 0.0, 1.0), CdlError, "float64"),
    (lambda: defect(), CdlError, "1 2 modules"),
    (lambda: natural(normal, damping=-1.0), CdlError, "`damping` -1"),
    (lambda: natural(normal, kl=0.0), CdlError, "`kl` 0"),
    (lambda: LevenbergMarquardt(factor=0.5), CdlError, "`factor` 0.5"),
    (lambda: fisher(normal, 3), CdlError, "floating"),
    (lambda: isometry_defect(lambda x: x, jnp.ones(3, complex)), CdlError, "input complex"),
    (lambda: kfac(lambda p: classes(2, 3), {"w": jnp.ones(3000)}), CdlError, "3000 dense"),
    (lambda: SearchDistribution.about(two(), 0.0), CdlError, "`scale` 0"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for _, _, words in ROWS])
def test_refusals(call, error, words):
    with unchecked(), pytest.raises(error) as told:
        call()
    assert all(word in str(told.value) for word in words.split()), told.value
