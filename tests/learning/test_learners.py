"""Learners: the step as one composite, beside the step by hand, with the same numbers at the same cost."""

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest
from agreement import close
from few import few

from cdl import Algebra, fold, Fork, Leaf, MealyF, pack, ParaOptic, run, supervised, TreeF
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


@pytest.mark.parametrize("name", few(TRANSFORMATIONS, 1, 5))
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


def test_an_autoencoder_has_its_input_for_target():
    encoder, decoder = layers.dense(6, 2, jnp.tanh, key=KEYS[0]).batched(), layers.dense(2, 6, key=KEYS[1]).batched()
    learner = autoencoder(encoder, decoder, losses.mse(), optimisers.from_optax(optax.adam(0.05)))
    reference = supervised(encoder >> decoder, losses.mse(), optimisers.from_optax(optax.adam(0.05)))
    step = jax.jit(learner.step)
    state, loss = step(learner.state, XS)
    close((state, loss), jax.jit(reference.step)(reference.state, (XS, XS)), 1e-6)
    assert step(state, XS)[1] < loss


def test_supervised_takes_a_batch_of_another_size():
    model, xs, ys = layers.dense(2, 3, key=KEYS[0]), jnp.ones((4, 2)), jnp.ones((4, 3))
    learner = supervised(model.batched(9), losses.mse(), optimisers.descent(0.1))
    _, loss = learner.step(learner.state, (xs, ys))
    close(loss, jnp.mean((model.batched()(xs) - ys) ** 2) / 2, 1e-6)


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
