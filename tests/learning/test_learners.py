"""Learners: the step as one composite, beside the step by hand, with the same numbers at the same cost."""

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from agreement import close

from cdl import Algebra, fold, Fork, Leaf, MealyF, Optic, pack, ParaOptic, run, supervised, TreeF
from cdl.errors import PortMismatch
from cdl.learning import autoencoder, dream, gan, layers, losses, optimisers


KEYS = jr.split(jr.key(0), 8)
XS, LABELS = jr.normal(KEYS[5], (16, 6)), jr.randint(KEYS[6], (16,), 0, 3)

TRANSFORMATIONS = {
    "sgd": optax.sgd(0.1),
    "momentum": optax.sgd(0.1, momentum=0.9),
    "nesterov": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adagrad": optax.adagrad(0.1),
    "adam": optax.adam(1e-2),
    "adamw": optax.adamw(1e-2),
}


def network() -> ParaOptic[Any, Any, Any]:
    first, second = (layers.dense(n, m, jnp.tanh, key=k) for n, m, k in ((6, 8, KEYS[0]), (8, 8, KEYS[1])))
    return first >> second >> layers.dense(8, 3, key=KEYS[2])


def by_hand(params: Any, xs: Any, labels: Any) -> Any:
    (((w1, b1), _), ((w2, b2), _)), (w3, b3) = params

    def scores(x):
        return w3 @ jnp.tanh(w2 @ jnp.tanh(w1 @ x + b1) + b2) + b3

    logs = jax.nn.log_softmax(jax.vmap(scores)(xs))
    labels = eqx.error_if(labels, (labels < 0) | (labels > 2), "no such label")
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))


def hand_step(transformation: Any, loss: Any) -> Any:
    def step(state: Any, data: Any) -> Any:
        kept, params = state
        value, slope = jax.value_and_grad(loss)(params, *data)
        with jax.numpy_dtype_promotion("standard"):
            updates, kept = transformation.update(slope, kept, params)
        return (kept, optax.apply_updates(params, updates)), value

    return step


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_twenty_steps_are_those_by_hand_bit_for_bit_at_the_same_cost(name):
    transformation, model = TRANSFORMATIONS[name], network().batched(16)
    learner = supervised(model, losses.cross_entropy(), optimisers.from_optax(transformation), target=LABELS)
    data = (XS, LABELS)
    ours = jax.jit(learner.step).lower(learner.state, data).compile()
    theirs = jax.jit(hand_step(transformation, by_hand)).lower(learner.state, data).compile()
    state = other = learner.state
    for _ in range(20):
        (state, loss), (other, value) = ours(state, data), theirs(other, data)
        assert loss == value
    assert eqx.tree_equal(state, other)
    assert ours.cost_analysis()["flops"] == theirs.cost_analysis()["flops"] > 0
    assert ours.memory_analysis().temp_size_in_bytes == theirs.memory_analysis().temp_size_in_bytes
    assert eqx.tree_equal(learner.params(state), state[1])


def test_the_step_is_the_closed_composite():
    """`P × A × B → P`: the composite with its rate has nothing open, and what it puts is the next state."""
    learner = supervised(network().batched(), losses.cross_entropy(), optimisers.descent(0.1), rate=losses.rate(0.5))
    after, _ = learner.step(learner.state, (XS, LABELS))
    assert learner.closed.get((learner.state, (XS, LABELS))) == ()
    closed, (dx, _) = learner.closed.put((learner.state, (XS, LABELS)), ())
    close(closed, after, 1e-7)
    assert dx.shape == XS.shape
    slope = jax.grad(by_hand)(learner.state, XS, LABELS)
    close(after, jax.tree.map(lambda p, g: p - 0.05 * g, learner.state, slope), 1e-6)


def test_one_step_on_one_datum_is_the_formula_by_hand():
    """`p − ε (p x − y) x`, of the model `p x` with half the squared error."""
    times = Optic.of(lambda px: (px[0] * px[1], px), lambda px, d: (d * px[1], d * px[0]))
    with jax.enable_x64(True):
        model: ParaOptic[Any, Any, Any] = ParaOptic(jnp.array(2.0), times)
        learner = supervised(model, losses.mse(), optimisers.descent(0.1))
        after, loss = learner.step(learner.state, (jnp.array(3.0), jnp.array(1.0)))
        close((after, loss), (jnp.array(2.0 - 0.1 * 5.0 * 3.0), jnp.array(12.5)), 1e-12)


def test_a_loss_of_the_wrong_shape_is_refused_when_the_learner_is_built():
    model, descent = network().batched(16), optimisers.descent(0.1)
    each = Optic.of(lambda pair: (jnp.sum((pair[0] - pair[1]) ** 2, axis=-1), ()), lambda _, dy: (dy, dy))
    with pytest.raises(PortMismatch, match=r"a loss is one number, and this one is f32\[16\]"):
        supervised(model, each, descent)
    with pytest.raises(PortMismatch, match=r"the target is f32\[16,4\], and what it is held against is f32\[16,3\]"):
        supervised(model, losses.mse(), descent, target=jnp.zeros((16, 4)))
    uneven = Optic.of(lambda pair: (jnp.sum(pair[0] @ pair[1]), ()), lambda _, dy: (dy, dy))
    with pytest.raises(PortMismatch, match=r"does not take a target f32\[16,3\] and a prediction f32\[16,3\]: .*dot"):
        supervised(model, uneven, descent)


def test_dreaming_learns_the_input_alone_and_is_the_ascent_by_hand_at_the_parameters_given():
    model = network()
    target = jnp.array([0.0, 1.0, 0.0])
    learner = dream(model, XS[0], losses.dot(), optimisers.ascent(0.05))
    step = jax.jit(learner.step)
    x, scores, hand = learner.state, [], XS[0]
    for _ in range(20):
        x, score = step(x, (model.params, target))
        close(score, model(hand)[1], 1e-6)
        hand = hand + 0.05 * jax.grad(lambda x: model(x)[1])(hand)
        close(x, hand, 1e-6)  # one array, and the only one that comes out of a step but the score
        scores.append(float(score))
    assert all(a < b for a, b in pairwise(scores))


def test_dreaming_is_the_same_optic_with_the_optimiser_on_another_port():
    model, descent = network(), optimisers.descent(0.1)
    learns, dreams = supervised(model, losses.dot(), descent), dream(model, XS[0], losses.dot(), descent)
    params, (dx, _) = learns.optic.put((model.params, (XS[0], jnp.ones(3))), jnp.array(1.0))
    x, (dp, _) = dreams.optic.put((XS[0], (model.params, jnp.ones(3))), jnp.array(1.0))
    close(params, jax.tree.map(lambda p, g: p - 0.1 * g, model.params, dp), 1e-6)
    close(x, XS[0] - 0.1 * dx, 1e-6)


def test_an_adversarial_pair_is_one_composite_with_two_optimisers():
    """The critic, which is one, climbs what the generator descends: two gradients of one number, both at once."""
    generator = (layers.dense(2, 4, jnp.tanh, key=KEYS[0]) >> layers.dense(4, 1, key=KEYS[1])).batched(16)
    critic = (layers.dense(1, 4, jnp.tanh, key=KEYS[2]) >> layers.dense(4, 1, key=KEYS[3])).batched(16)
    learner = gan(generator, critic, optimisers.descent(0.1), optimisers.momentum(0.2, 0.5))
    noise, real = XS[:, :2], XS[:, 2:3]

    def value(g: Any, d: Any) -> Any:
        judge, made = critic.at(d), generator.at(g)(noise)
        return jnp.mean(judge(real)) - jnp.mean(judge(made))

    (g, (w, d)), payoff = jax.jit(learner.step)(learner.state, (noise, real))
    before, (by_g, by_d) = jax.jit(jax.value_and_grad(value, argnums=(0, 1)))(generator.params, critic.params)
    close(payoff, before, 1e-6)
    close(g, jax.tree.map(lambda p, s: p - 0.1 * s, generator.params, by_g), 1e-6)
    close(
        (w, d),
        (jax.tree.map(lambda s: 0.2 * s, by_d), jax.tree.map(lambda p, s: p - 0.2 * s, critic.params, by_d)),
        1e-6,
    )
    climbing = gan(generator, critic, optimisers.descent(0.0), optimisers.ascent(0.2))
    step = jax.jit(climbing.step)
    (still, better), _ = step(climbing.state, (noise, real))
    assert eqx.tree_equal(still, generator.params)
    assert step((still, better), (noise, real))[1] > before


def test_an_autoencoder_has_its_input_for_target():
    encoder, decoder = layers.dense(6, 2, jnp.tanh, key=KEYS[0]).batched(), layers.dense(2, 6, key=KEYS[1]).batched()
    learner = autoencoder(encoder, decoder, losses.mse(), optimisers.from_optax(optax.adam(0.05)))
    reference = supervised(encoder >> decoder, losses.mse(), optimisers.from_optax(optax.adam(0.05)))
    step = jax.jit(learner.step)
    state, loss = step(learner.state, XS)
    close((state, loss), jax.jit(reference.step)(reference.state, (XS, XS)), 1e-6)
    assert step(state, XS)[1] < loss


class Reader(Algebra[TreeF[float, Any], Any]):
    leaf: Any
    fork: Any

    def __call__(self, layer: TreeF[float, Any]) -> Any:
        match layer:
            case Leaf(label):
                return self.leaf * label
            case Fork(left, right):
                return jnp.tanh(self.fork @ left - right)


def test_a_fold_learns_by_the_same_composite():
    """Backpropagation through structure: the tree, which is data, is read by the algebra's compiled fold."""
    forest = pack(TreeF, [Fork(Leaf(0.5), Fork(Leaf(-1.0), Leaf(0.3))), Leaf(0.7)])
    reader, target = Reader(jr.normal(KEYS[0], (3,)), jr.normal(KEYS[1], (3, 3))), jr.normal(KEYS[2], (2, 3))
    learner = supervised(layers.fold(reader), losses.mse(), optimisers.descent(0.1))
    after, loss = jax.jit(learner.step)(learner.state, (forest, target))
    value = lambda alg: jnp.mean((fold(alg, forest) - target) ** 2) / 2
    expected, slope = eqx.filter_jit(eqx.filter_value_and_grad(value))(reader)
    close((loss, after), (expected, jax.tree.map(lambda p, g: p - 0.1 * g, reader, slope)), 1e-6)


def test_a_machine_learns_by_the_same_composite():
    """Backpropagation through time, in the machine's arrays and in the state that it starts from."""

    class Cell(eqx.Module):
        weight: Any

        def __call__(self, state):
            def step(i):
                after = jnp.tanh(self.weight @ state + i)
                return after, after

            return MealyF(step)

    cell, start = Cell(jr.normal(KEYS[0], (3, 3))), jnp.zeros(3)
    inputs, target = jr.normal(KEYS[1], (5, 3)), jr.normal(KEYS[2], (5, 3))
    learner = supervised(layers.run(cell, start), losses.mse(), optimisers.descent(0.1))
    (machine, state), _ = learner.step(learner.state, (inputs, target))
    loss = lambda pair: jnp.mean((run(pair[0], pair[1], inputs)[0] - target) ** 2) / 2
    by_cell, by_state = eqx.filter_grad(loss)((cell, start))
    close(machine.weight, cell.weight - 0.1 * by_cell.weight, 1e-6)
    close(state, start - 0.1 * by_state, 1e-6)


class Twin(eqx.Module):
    """The same convolutional network in plain Equinox."""

    first: Any
    second: Any
    last: Any

    def __call__(self, image):
        return self.last(jnp.ravel(jax.nn.relu(self.second(jax.nn.relu(self.first(image))))))


@pytest.mark.slow
def test_digits_are_learnt_by_convolutions_and_as_the_plain_network_learns_them():
    """Handwritten digits, 8 by 8: the parameters of the twin after 25 epochs, and 97 % of those held out."""
    images, digits = pytest.importorskip("sklearn.datasets").load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    xs, ys = jnp.asarray(images[order] / 16.0, jnp.float32).reshape(-1, 1, 8, 8), jnp.asarray(digits[order], jnp.int32)
    (xs, held_xs), (ys, held_ys) = (xs[:1280], xs[1280:]), (ys[:1280], ys[1280:])

    relu = layers.activation(jax.nn.relu)
    convolutions = (
        layers.conv(1, 16, 3, key=KEYS[0], size=(8, 8)) >> relu >> layers.conv(16, 32, 3, key=KEYS[1]) >> relu
    )
    network = convolutions >> layers.activation(jnp.ravel) >> layers.dense(512, 10, key=KEYS[2])
    adam = optax.adam(2e-3)
    learner = supervised(network.batched(64), losses.cross_entropy(), optimisers.from_optax(adam), target=ys[:64])
    twin = Twin(
        eqx.nn.Conv2d(1, 16, 3, key=KEYS[0]), eqx.nn.Conv2d(16, 32, 3, key=KEYS[1]), eqx.nn.Linear(512, 10, key=KEYS[2])
    )

    def loss_by_hand(twin, xs, ys):
        logs = jax.nn.log_softmax(jax.vmap(twin)(xs))
        return -jnp.mean(jnp.take_along_axis(logs, ys[:, None], axis=1))

    def step_by_hand(state, batch):
        twin, kept = state
        slope = jax.grad(loss_by_hand)(twin, *batch)
        with jax.numpy_dtype_promotion("standard"):
            updates, kept = adam.update(slope, kept, twin)
        return eqx.apply_updates(twin, updates), kept

    fast = {"xla_backend_optimization_level": 3}
    step, other_step = (jax.jit(f, compiler_options=fast) for f in (learner.step, step_by_hand))
    state, other = learner.state, (twin, adam.init(twin))
    for seed in range(25):
        for rows in jr.permutation(jr.key(seed), 1280).reshape(20, 64):
            state, _ = step(state, (xs[rows], ys[rows]))
            other = other_step(other, (xs[rows], ys[rows]))
    close(jax.tree.leaves(learner.params(state)), jax.tree.leaves(other[0]), 1e-5)
    scores = eqx.filter_jit(network.batched().at(learner.params(state)))(held_xs)
    assert float(jnp.mean(jnp.argmax(scores, axis=1) == held_ys)) >= 0.97
