"""Fisher metrics: formulas that are known, of flat models, of folds and of machines."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import metric_problems as problems
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import cdl
from cdl.errors import CdlError
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


def test_linear_regression_with_noise_of_a_known_size():
    x, _, w = problems.regression()
    assert close(dense(fisher, lambda w: Gaussian(x @ w, 0.3), w), x.T @ x / (len(x) * 0.09), 1e-14)


def test_a_scale_that_is_learned_has_its_part_of_the_metric():
    x, _, w = problems.regression()
    matrix = dense(fisher, lambda p: Gaussian(x @ p["w"], jnp.exp(p["s"])), {"w": w, "s": jnp.array(0.2)})
    assert close(matrix[0], np.array([2.0, 0, 0, 0]), 1e-14)  # that of `log σ` is 2, and it has nothing of `w`


@pytest.fixture
def network():
    x = jr.normal(jr.key(0), (6, 3), jnp.float64)
    net = problems.double(eqx.nn.MLP(3, 4, 2, 1, activation=jnp.tanh, key=jr.key(1)))
    return lambda net: Categorical(jax.vmap(net)(x)), net


def test_the_fisher_metric_is_the_mean_over_targets_that_the_model_draws(network):
    model, net = network
    flat, back = ravel_pytree(eqx.filter(net, eqx.is_inexact_array))
    whole = lambda p: model(eqx.combine(back(p), net))
    logs = lambda p: jax.nn.log_softmax(whole(p).logits)
    scores = jax.jit(jax.jacobian(logs))(flat)  # (examples, classes, parameters)
    wanted = jnp.einsum("nc,nci,ncj->ij", jnp.exp(logs(flat)), scores, scores) / 6
    assert close(dense(fisher, model, net), wanted, 1e-14)


def test_the_fisher_metric_is_the_gauss_newton_matrix_in_natural_parameters(network):
    model, net = network
    targets = jnp.array([0, 1, 2, 3, 0, 1])
    assert close(dense(ggn, model, net, targets), dense(fisher, model, net), 1e-15)


def test_the_fisher_metric_is_the_hessian_of_the_divergence(network):
    model, net = network
    flat, back = ravel_pytree(eqx.filter(net, eqx.is_inexact_array))
    here = model(net)
    divergence = lambda p: jnp.mean(here.kl(model(eqx.combine(back(p), net))))
    assert close(dense(fisher, model, net), jax.jit(jax.hessian(divergence))(flat), 1e-8)


def test_the_empirical_fisher_is_the_mean_of_squared_gradients_and_another_matrix(network):
    model, net = network
    targets = jnp.array([0, 1, 2, 3, 0, 1])
    flat, back = ravel_pytree(eqx.filter(net, eqx.is_inexact_array))
    scores = jax.jit(jax.jacobian(lambda p: model(eqx.combine(back(p), net)).log_density(targets)))(flat)
    found = dense(empirical_fisher, model, net, targets)
    assert close(found, scores.T @ scores / 6, 1e-14)
    assert not close(found, dense(fisher, model, net), 0.3)


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
    first = lambda net: Categorical(cdl.annotate(net, seq).values[:, 0])
    assert close(dense(fisher, first, net), wanted, 1e-12)

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


def test_what_is_no_model_is_refused():
    w = jnp.ones(3)
    with pytest.raises(CdlError, match=r"gives an array of shape \(3,\).*Categorical\(scores\(params\)\)"):
        fisher(lambda w: w, w)
    with pytest.raises(CdlError, match="no array of floating numbers"):
        fisher(lambda w: Gaussian(w), 3)
    with pytest.raises(CdlError, match="complex"):
        pullback(lambda w: w, jnp.ones(3, complex))
    forest = cdl.pack(cdl.TreeF, problems.TREES)
    net = eqx.filter_jit(lambda net: cdl.fold(net, forest))
    reader = problems.reader()
    net(reader)  # traced before, without forward mode
    with pytest.raises(CdlError, match=r"If the model has a `jax.jit` inside, put that around"):
        fisher(lambda r: Categorical(net(r)), reader).mv(eqx.filter(reader, eqx.is_inexact_array))


def test_a_metric_is_of_real_numbers_and_of_what_the_function_gives():
    with pytest.raises(CdlError, match="`f` gives complex numbers"):
        pullback(lambda w: jax.lax.complex(w, w), jnp.ones(2))
    with pytest.raises(CdlError, match=r"gives arrays of shapes \[\(1,\)\], and `metric` is of .* \[\(3,\)\]"):
        pullback(lambda w: w[:1], jnp.ones(2), pullback(lambda w: w, jnp.ones(3)))
    with pytest.raises(CdlError, match="no array of floating numbers"):
        pullback(lambda w: w, jnp.ones((0, 2)))


def test_parameters_of_two_types_have_a_natural_gradient():
    at = {"a": jnp.ones(2, jnp.float32), "b": jnp.ones(())}
    with jax.numpy_dtype_promotion("standard"):
        metric = pullback(lambda w: jnp.append(w["a"], 2 * w["b"]), at)
        found = natural_gradient(metric, at)
    assert (found["a"].dtype, found["b"].dtype) == (jnp.float32, jnp.float64)
    assert (found["a"].tolist(), float(found["b"])) == ([1.0, 1.0], 0.25)


@pytest.mark.parametrize("vector", [jnp.ones(3), jnp.ones(2, int), [1.0, 2.0]])
def test_a_vector_that_a_metric_is_not_of_is_shown_beside_it(vector):
    metric = fisher(lambda w: Bernoulli(jnp.ones((2, 2)) @ w), jnp.zeros(2))
    with pytest.raises(CdlError, match=r"a metric on f(32|64)\[2\] is given .*: give `mv` arrays of the shapes"):
        metric.mv(vector)


def test_a_product_with_a_vector_is_told_to_be_mv():
    metric = pullback(lambda w: 2 * w, jnp.ones(2))
    with pytest.raises(CdlError, match=r"`@` composes two operators.*an array of shape \(2,\).*`metric.mv\(v\)`"):
        metric @ jnp.ones(2)
    assert (metric @ metric).mv(jnp.ones(2)).tolist() == [16.0, 16.0]
