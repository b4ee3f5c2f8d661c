"""Fisher metrics: formulas that are known, of flat models, of folds and of machines."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
from jax.flatten_util import ravel_pytree

import cdl
from cdl.metric import (
    Bernoulli,
    Categorical,
    Distribution,
    empirical_fisher,
    fisher,
    Gaussian,
    ggn,
    natural_gradient,
    negative_log_likelihood,
    pullback,
)


def close(left, right, tolerance):
    left, right = np.asarray(left), np.asarray(right)
    return np.abs(left - right).max() <= tolerance * np.abs(right).max()


def dense(metric, model, params, *more):
    return eqx.filter_jit(lambda params: metric(model, params, *more).as_matrix())(params)


def test_logistic_regression():
    x, _, w = problems.regression()
    p = jax.nn.sigmoid(x @ w)
    assert close(dense(fisher, lambda w: Bernoulli(x @ w), w), x.T @ (x * (p * (1 - p))[:, None]) / len(x), 1e-14)


def test_a_scale_that_is_learned_has_its_part_of_the_metric():
    x, _, w = problems.regression()
    matrix = dense(fisher, lambda p: Gaussian(x @ p["w"], jnp.exp(p["s"])), {"w": w, "s": jnp.array(0.2)})
    assert close(matrix[0], np.array([2.0, 0, 0, 0]), 1e-14)  # that of `log σ` is 2, and it has nothing of `w`


def test_fisher_is_the_mean_ggn_and_hessian_of_their_definitions():
    """The mean over targets that the model draws, the Gauss-Newton matrix, and the Hessian of the divergence; and the
    empirical metric, the mean of squared gradients at some targets, is another matrix."""
    x, targets = jr.normal(jr.key(0), (6, 3), jnp.float64), jnp.array([0, 1, 2, 3, 0, 1])
    net = problems.double(eqx.nn.MLP(3, 4, 2, 1, activation=jnp.tanh, key=jr.key(1)))
    model = lambda net: Categorical(jax.vmap(net)(x))
    flat, back = ravel_pytree(eqx.filter(net, eqx.is_inexact_array))
    whole, here = lambda p: model(eqx.combine(back(p), net)), model(net)
    logs = lambda p: jax.nn.log_softmax(whole(p).logits)
    divergence = lambda p: jnp.mean(here.kl(whole(p)))
    scores, hessian = jax.jit(lambda p: (jax.jacobian(logs)(p), jax.hessian(divergence)(p)))(flat)
    found = dense(fisher, model, net)
    assert close(found, jnp.einsum("nc,nci,ncj->ij", jnp.exp(logs(flat)), scores, scores) / 6, 1e-14)
    assert close(found, dense(ggn, model, net, targets), 1e-15)
    assert close(found, hessian, 1e-8)
    at_targets = scores[jnp.arange(6), targets]
    empirical = dense(empirical_fisher, model, net, targets)
    assert close(empirical, at_targets.T @ at_targets / 6, 1e-14)
    assert not close(empirical, found, 0.3)


def test_the_metric_of_a_tied_network_is_that_of_the_untied_one_along_the_diagonal():
    net, trees = problems.reader(), problems.TREES
    forest, para = cdl.pack(cdl.TreeF, trees), cdl.para.Para.of(problems.reader())
    networks = [cdl.unroll(para, tree) for tree in trees]
    untied = lambda copies: Categorical(jnp.stack([n.at(c) for n, c in zip(networks, copies, strict=True)]))
    delta = lambda params: tuple((params,) * len(n.places) for n in networks)
    metric = lambda params: pullback(delta, params, fisher(untied, delta(params))).as_matrix()
    tied = dense(fisher, lambda net: Categorical(cdl.fold(net, forest)), net)
    assert close(jax.jit(metric)(para.params), tied, 1e-9)


class Recurrent(cdl.Algebra[cdl.ListF[jax.Array, jax.Array], jax.Array]):
    cell: eqx.nn.Linear

    def __call__(self, layer):
        match layer:
            case cdl.Nil():
                return jnp.zeros(2, jnp.float64)
            case cdl.Cons(head, tail):
                return jnp.tanh(self.cell(jnp.concatenate([head, tail])))


def test_lists_annotations_and_machines_have_a_metric():
    cell = problems.double(eqx.nn.Linear(3, 2, key=jr.key(2)))
    lists = [jr.normal(jr.key(i), (n, 1), jnp.float64) for i, n in enumerate((3, 2))]
    seq = cdl.Seq.of(lists)

    def by_hand(net):
        states = []
        for xs in lists:
            state = jnp.zeros(2, jnp.float64)
            for x in xs[::-1]:
                state = jnp.tanh(net.cell(jnp.concatenate([x, state])))
            states.append(state)
        return Categorical(jnp.stack(states))

    net = Recurrent(cell)
    wanted = dense(fisher, by_hand, net)
    assert close(dense(fisher, lambda net: Categorical(cdl.fold(net, seq)), net), wanted, 1e-12)

    def machine(net):
        step = lambda s: cdl.MooreF(s, lambda x: jnp.tanh(net.cell(jnp.concatenate([x, s]))))
        return [cdl.run(step, jnp.zeros(2, jnp.float64), xs[::-1])[1] for xs in lists]

    assert close(dense(fisher, lambda net: Categorical(jnp.stack(machine(net))), net), wanted, 1e-12)


def test_a_distribution_of_your_own_has_a_metric():
    class Exponential(Distribution):
        log_rate: jax.Array

        def log_density(self, y, /):
            return self.log_rate - jnp.exp(self.log_rate) * y

        def sample(self, key, /):
            return jr.exponential(key, self.log_rate.shape, self.log_rate.dtype) / jnp.exp(self.log_rate)

        def fisher(self, v, /):
            return v  # in the logarithm of the rate it is 1

        def kl(self, other, /):
            return self.log_rate - other.log_rate + jnp.exp(other.log_rate - self.log_rate) - 1

    x, _, w = problems.regression()
    assert close(dense(fisher, lambda w: Exponential(x @ w), w), x.T @ x / len(x), 1e-14)


def test_a_product_with_the_metric_costs_no_more_than_three_gradients():
    x = jnp.ones((32, 16))
    net = eqx.nn.MLP(16, 4, 32, 3, key=jr.key(0))
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    model = lambda p: Categorical(jax.vmap(eqx.combine(p, rest))(x))
    gradient = jax.grad(lambda p: negative_log_likelihood(model(p), jnp.zeros(32, int)))
    flops = lambda fn, *args: jax.jit(fn).lower(*args).compile().cost_analysis()["flops"]
    product = flops(lambda p, v: fisher(model, p).mv(v), params, params)
    assert product <= 3 * flops(gradient, params)


def test_parameters_of_two_types_have_a_natural_gradient():
    at = {"a": jnp.ones(2, jnp.float32), "b": jnp.ones(())}
    with jax.numpy_dtype_promotion("standard"):
        metric = pullback(lambda w: jnp.append(w["a"], 2 * w["b"]), at)
        found = natural_gradient(metric, at)
    assert (found["a"].dtype, found["b"].dtype) == (jnp.float32, jnp.float64)
    assert (found["a"].tolist(), float(found["b"])) == ([1.0, 1.0], 0.25)


def test_metrics_compose():
    metric = pullback(lambda w: 2 * w, jnp.ones(2))
    assert (metric @ metric).mv(jnp.ones(2)).tolist() == [16.0, 16.0]
