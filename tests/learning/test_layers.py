"""Layers, losses and optimisers: what each gets and puts, by hand, by `jax.vjp` and by optax."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from agreement import close

from cdl import ParaOptic
from cdl.learning import layers, losses, Optimiser, optimisers


X, DY = jnp.array([0.3, -1.0, 0.7]), jnp.array([2.0, -0.5])


def put(layer: ParaOptic[Any, Any, Any], x: Any, dy: Any) -> Any:
    return layer.optic.put((layer.params, x), dy)


def by_vjp(layer: ParaOptic[Any, Any, Any], x: Any, dy: Any) -> Any:
    return jax.vjp(lambda params, x: layer.at(params)(x), layer.params, x)[1](dy)


def double(*arrays: Any) -> tuple[Any, ...]:
    return tuple(jnp.asarray(x, jnp.float64) for x in arrays)


def test_a_value_that_owes_its_type_to_a_number_of_python_fits_as_any_other():
    step = layers.activation(lambda x: jnp.where(x > 0, 1.0, 0.0))
    network = layers.linear(3, 3, key=jr.key(0)) >> step >> layers.bias(3)
    assert network(X).shape == (3,)


def test_the_layers_go_back_as_the_slides_say():
    with jax.enable_x64(True):
        x, dy, linear = *double(X, DY), layers.linear(3, 2, key=jr.key(0))
        close(put(linear, x, dy), (jnp.outer(dy, x), linear.params.T @ dy), 1e-12)
        close(put(layers.bias(2), dy, dy), (dy, dy), 0.0)
        assert put(layers.activation(jnp.tanh), x, x)[0] == ()
        close(put(layers.activation(jnp.tanh), x, x)[1], (1 - jnp.tanh(x) ** 2) * x, 1e-12)


@pytest.mark.parametrize("kind", ["dense", "convolution", "module"])
def test_every_layer_goes_back_by_its_vjp(kind):
    with jax.enable_x64(True):
        layer, x = {
            "dense": lambda: (layers.dense(3, 2, jax.nn.relu, key=jr.key(0)), *double(X)),
            "convolution": lambda: (layers.conv(1, 2, 3, key=jr.key(0), size=(5, 5)), jr.normal(jr.key(1), (1, 5, 5))),
            "module": lambda: (ParaOptic.of(eqx.nn.MLP(3, 2, 4, 2, key=jr.key(0)), source=(3,)), *double(X)),
        }[kind]()
        y = layer(x)
        close(put(layer, x, y), by_vjp(layer, x, y), 1e-12)
        assert layer.target.shape == y.shape


def test_dense_layers_and_convolutions_start_as_equinox_does():
    twin, dense = eqx.nn.Linear(3, 2, key=jr.key(7)), layers.dense(3, 2, key=jr.key(7))
    assert eqx.tree_equal(dense.params, (twin.weight, twin.bias))
    close(dense(X), twin(X), 1e-6)
    image = jr.normal(jr.key(1), (1, 5, 5))
    twin, conv = eqx.nn.Conv2d(1, 2, 3, padding=1, key=jr.key(7)), layers.conv(1, 2, 3, padding=1, key=jr.key(7))
    close(conv(image), twin(image), 1e-6)


def test_the_types_of_a_path_of_layers_are_those_of_the_slides():
    first, second = (layers.dense(n, m, jax.nn.relu, key=jr.key(n)) for n, m in ((2, 4), (4, 2)))
    path = first >> second
    assert path.param_types == ("<4,2>", "<4>", "<0>", "<2,4>", "<2>", "<0>")
    assert path.name == "linear >> bias >> relu >> linear >> bias >> relu"
    assert [layer.name for layer in path.path] == path.name.split(" >> ")
    assert [layer.target.shape for layer in path.path] == [(4,), (4,), (4,), (2,), (2,), (2,)]
    assert layers.conv(1, 2, 3, key=jr.key(0)).param_types == ("<2,1,3,3> × <2,1,1>",)


@pytest.mark.parametrize(
    ("loss", "back"),
    [
        (losses.mse(), lambda t, y: (y - t) / y.size),
        (losses.mse(reduction="sum"), lambda t, y: y - t),
        (losses.cross_entropy(), lambda t, y: (jax.nn.softmax(y) * jnp.sum(t, -1, keepdims=True) - t) / y.shape[0]),
        (losses.dot(), lambda t, y: t),
    ],
    ids=["mse", "mse, sum", "cross entropy", "dot"],
)
def test_a_loss_goes_back_by_its_derivative_to_both_of_its_ports(loss, back):
    """The slides' squared error puts `l'(ŷ − y)` on one port: that is the sum's, not the mean's, and there are two."""
    with jax.enable_x64(True):
        y, t = jr.normal(jr.key(0), (2, 3)), jax.nn.softmax(jr.normal(jr.key(1), (2, 3)))
        dt, dy = loss.put((t, y), jnp.array(2.0))
        close(dy, 2.0 * back(t, y), 1e-12)
        close((dt, dy), jax.vjp(loss.get, (t, y))[1](jnp.array(2.0))[0], 1e-12)


def test_labels_are_distributions_with_one_place():
    y, labels = jr.normal(jr.key(0), (4, 3)), jnp.array([0, 2, 1, 1])
    loss = losses.cross_entropy()
    close(loss.get((labels, y)), loss.get((jax.nn.one_hot(labels, 3), y)), 1e-6)
    close(loss.get((labels, y)), jnp.mean(optax.softmax_cross_entropy_with_integer_labels(y, labels)), 1e-6)
    assert loss.put((labels, y), jnp.array(1.0))[0] is None


def test_cross_entropy_takes_labels_of_a_small_type():
    scores, labels = jr.normal(jr.key(0), (2, 300)), jnp.array([0, 255], jnp.uint8)
    expected = optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()
    assert jnp.allclose(eqx.filter_jit(losses.cross_entropy().get)((labels, scores)), expected)


def test_cross_entropy_adds_nothing_where_the_target_is_zero():
    """`0 log 0 = 0`, and on the way back as well."""
    scores, target = jnp.array([[1.0, 2.0, -jnp.inf]]), jnp.array([[0.5, 0.5, 0.0]])
    loss = losses.cross_entropy()
    assert jnp.allclose(loss.get((target, scores)), loss.get((target[:, :2], scores[:, :2])))
    change = loss.put((target, scores), jnp.array(1.0))
    _, of_two = loss.put((target[:, :2], scores[:, :2]), jnp.array(1.0))
    assert jnp.allclose(change[1][:, :2], of_two)
    assert all(jnp.isfinite(x).all() for x in change)
    assert loss.get((jnp.array([[0.5, 0.0, 0.5]]), scores)) == jnp.inf


def test_the_learning_rate_is_a_lens_to_nothing():
    rate = losses.rate(0.125)
    assert rate.get(jnp.array(7.0)) == ()
    assert rate.put(jnp.array(7.0), ()) == 0.125


def test_a_step_down_is_addition_at_a_rate_below_zero():
    """Two signs are in use: `p − α g`, and `p + p'` with `−α` in the rate. They are the same."""
    p, g = {"w": X}, {"w": jnp.array([1.0, 2.0, -1.0])}
    down, add = optimisers.descent(0.25), optimisers.ascent()
    scaled = jax.tree.map(lambda g: losses.rate(-0.25).put(jnp.array(0.0), ()) * g, g)
    close(down.optic.put(p, g), add.optic.put(p, scaled), 1e-7)
    close(down.optic.put(p, g)["w"], X - 0.25 * g["w"], 1e-7)
    assert down.optic.get(down.start(p)) is p


TEXTBOOK: dict[str, tuple[Optimiser, Any]] = {
    "descent": (optimisers.descent(0.05), optax.sgd(0.05)),
    "momentum": (optimisers.momentum(0.05, 0.9), optax.sgd(0.05, momentum=0.9)),
    "nesterov": (optimisers.nesterov(0.05, 0.9), optax.sgd(0.05, momentum=0.9, nesterov=True)),
    "adagrad": (optimisers.adagrad(0.05, 1e-7, start=0.1), optax.adagrad(0.05, initial_accumulator_value=0.1)),
    "adam": (optimisers.adam(0.05), optax.adam(0.05)),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_the_textbooks_optimisers_are_those_of_optax(name):
    """Fifty steps on a quadratic. Nesterov's lens keeps the point and gets the one ahead, which is what optax keeps;
    of Adagrad, optax has its `δ` under the root and the book beside it.
    """
    with jax.enable_x64(True):
        ours, theirs = TEXTBOOK[name]
        a, target = jnp.array([[2.0, 0.5], [0.5, 1.0]]), jnp.array([1.0, -2.0])
        slope = jax.grad(lambda p: (p - target) @ a @ (p - target) / 2)
        state, p = ours.start(jnp.zeros(2)), jnp.zeros(2)
        kept = theirs.init(p)
        for _ in range(50):
            state = ours.optic.put(state, slope(ours.optic.get(state)))
            with jax.numpy_dtype_promotion("standard"):  # optax mixes dtypes
                updates, kept = theirs.update(slope(p), kept, p)
            p = optax.apply_updates(p, updates)
        close(ours.optic.get(state), p, 1e-6 if name == "adagrad" else 1e-10)
        assert jnp.linalg.norm(p) > 0.5  # it has moved


def test_adagrad_is_that_of_the_book():
    """`s' = s + g²`, `p − ε g / (δ + √s')`: along a line, where each change is known."""
    with jax.enable_x64(True):
        adagrad = optimisers.adagrad(0.5, 1e-3)
        state = adagrad.start(jnp.array(1.0))
        by_hand, s = 1.0, 0.0
        for g in (3.0, -1.0, 0.5):
            state = adagrad.optic.put(state, jnp.array(g))
            s += g * g
            by_hand -= 0.5 * g / (1e-3 + s**0.5)
        close(state, (jnp.array(s), jnp.array(by_hand)), 1e-12)


def test_momentum_remembers_at_the_rate_it_had_and_that_of_optax_does_not():
    """With a rate that stays the two are equal (above); with one that falls, only the slides' keeps the old rate."""
    g, rates = jnp.array(1.0), (0.5, 0.25)
    state: Any = optimisers.momentum(0.0).start(jnp.array(0.0))
    for rate in rates:
        state = optimisers.momentum(rate, 0.5).optic.put(state, g)
    theirs = optimisers.from_optax(optax.sgd(lambda count: jnp.where(count == 0, *rates), momentum=0.5))
    other: Any = theirs.start(jnp.array(0.0))
    for _ in rates:
        other = theirs.optic.put(other, g)
    assert state[1] == -(0.5 + (0.5 * 0.5 + 0.25))
    assert theirs.optic.get(other) == -(0.5 + 0.25 * (0.5 + 1.0))


def test_momentum_and_nesterov_are_the_slides_lenses():
    """`w' = γ w + ε p'`, `p − w'`; and Nesterov's `get` is `p − γ w`, with the same `put`."""
    w, p, g = jnp.array([1.0]), jnp.array([3.0]), jnp.array([2.0])
    for optimiser in (optimisers.momentum(0.1, 0.5), optimisers.nesterov(0.1, 0.5)):
        close(optimiser.optic.put((w, p), g), (jnp.array([0.7]), jnp.array([2.3])), 1e-6)
    assert optimisers.momentum(0.1, 0.5).optic.get((w, p)) == 3.0
    assert optimisers.nesterov(0.1, 0.5).optic.get((w, p)) == 2.5
