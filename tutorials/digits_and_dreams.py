# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Digits, and what they dream of
#
# A network is trained to say which digit a picture shows. Turn it round: hold the network still, and let the *picture*
# learn. What does it become? In most libraries that is another training loop. Here it is the same composite of optics
# with the optimiser at its other port.

# %%
import sys
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import matplotlib.pyplot as plt
import numpy as np
import optax
from sklearn.datasets import load_digits

import cdl


began = time.perf_counter()
images, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(images))
xs = jnp.asarray(images[order] / 16.0, jnp.float32).reshape(-1, 1, 8, 8)
ys = jnp.asarray(digits[order], jnp.int32)
(xs, held_xs), (ys, held_ys) = (xs[:1280], xs[1280:]), (ys[:1280], ys[1280:])
print(f"{len(xs):,} pictures of 8 × 8 to learn from, {len(held_xs)} held out")

# %% [markdown]
# ## A network is a path of layers
#
# Each layer is a map with parameters and with a way back. Composed, they are one such map; its parameters can be read
# off, and layers that do not fit are refused when they are put together.

# %%
first, second, third = jr.split(jr.key(0), 3)
relu = cdl.learning.layers.activation(jax.nn.relu)
pictures = (
    cdl.learning.layers.conv(1, 16, 3, key=first, size=(8, 8))
    >> relu
    >> cdl.learning.layers.conv(16, 32, 3, key=second)
    >> relu
)
network = (
    pictures
    >> cdl.learning.layers.activation(jnp.ravel)
    >> cdl.learning.layers.dense(512, 10, key=third)
)
print(network.name)
print(*network.param_types)

# %% [markdown]
# ## Learning, beside the plain network
#
# The learner is the network, the loss and an optimiser in one composite. Beside it stands the same network in plain
# Equinox, with a step written by hand, from the same weights and on the same batches.

# %%
adam = optax.adam(2e-3)
batches = network.batched(64)
learner = cdl.supervised(
    batches,
    cdl.learning.losses.cross_entropy(),
    cdl.learning.optimisers.from_optax(adam),
    target=ys[:64],
)


class Twin(eqx.Module):
    first: eqx.nn.Conv2d
    second: eqx.nn.Conv2d
    third: eqx.nn.Linear

    def __call__(self, x):
        return self.third(
            jnp.ravel(jax.nn.relu(self.second(jax.nn.relu(self.first(x)))))
        )


def loss_by_hand(twin, xs, ys):
    logs = jax.nn.log_softmax(jax.vmap(twin)(xs))
    return -jnp.mean(jnp.take_along_axis(logs, ys[:, None], axis=1))


def step_by_hand(state, batch):
    twin, opt_state = state
    grads = jax.grad(loss_by_hand)(twin, *batch)
    change, opt_state = adam.update(grads, opt_state, twin)
    return eqx.apply_updates(twin, change), opt_state


twin = Twin(
    eqx.nn.Conv2d(1, 16, 3, key=first),
    eqx.nn.Conv2d(16, 32, 3, key=second),
    eqx.nn.Linear(512, 10, key=third),
)
step, other_step = jax.jit(learner.step), jax.jit(step_by_hand)
state, other = learner.state, (twin, adam.init(twin))
for epoch in range(25):
    for rows in jr.permutation(jr.key(epoch), len(xs)).reshape(20, 64):
        state, loss = step(state, (xs[rows], ys[rows]))
        other = other_step(other, (xs[rows], ys[rows]))

params = learner.params(state)
apart = max(
    float(jnp.max(jnp.abs(p - q)))
    for p, q in zip(jax.tree.leaves(params), jax.tree.leaves(other[0]), strict=True)
)
answers = jnp.argmax(eqx.filter_jit(network.batched().at(params))(held_xs), axis=1)
accuracy = float(jnp.mean(answers == held_ys))
print(f"after 500 steps the two networks' parameters differ by at most {apart:.1e}")
print(f"{accuracy:.1%} of the pictures held out are read rightly")
assert apart <= 1e-5
assert accuracy >= 0.97

# %% [markdown]
# ## Dreaming
#
# `dream` exchanges the ports: the picture is what learns now, by ascent, and the parameters are data. From a grey
# picture, a score is raised step by step: that of a digit, less the mean of all scores, so that a picture cannot win by
# being bright.

# %%
wanted = jnp.eye(10) - 0.1
grey = jnp.full((1, 8, 8), 0.3)
dreamer = cdl.learning.dream(
    network.at(params),
    grey,
    cdl.learning.losses.dot(),
    cdl.learning.optimisers.ascent(2e-3),
)
dreaming = jax.jit(dreamer.step)

dreams, climbs = [], []
for digit in range(10):
    picture, scores = dreamer.state, []
    for _ in range(400):
        picture, score = dreaming(picture, (params, wanted[digit]))
        scores.append(float(score))
    dreams.append(picture)
    climbs.append(scores)

assert all(
    np.all(np.diff(scores) > 0) for scores in climbs
)  # at every step, of every dream
told = [int(jnp.argmax(network.at(params)(dream))) for dream in dreams]
print("the dreams are read as:", *told)
assert told == list(range(10))

# %% folded="The code of the figure" figure="dreams" alt="The digits 0 to 9, and below each the network's dream of it"
figure, axes = plt.subplots(2, 10, figsize=(8.4, 2.1))
axes[0, 0].set_ylabel("a digit")
axes[1, 0].set_ylabel("its dream")
for digit in range(10):
    example = xs[jnp.argmax(ys == digit)]
    for row, picture in zip(axes[:, digit], (example, dreams[digit]), strict=True):
        row.imshow(picture[0], cmap="Greys", vmin=0, vmax=1)
        row.set_xticks([])
        row.set_yticks([])

# %% [markdown]
# Some have the strokes of the digit, and some have what tells it from the others and nothing else: the network was
# never asked what a digit looks like, only which it is.

# %% folded="The end of the program"
print(
    f"all of it took {time.perf_counter() - began:.0f} s "
    f"on Python {sys.version.split()[0]}"
)

# %% [markdown]
# ## What to notice
#
# - `supervised` and `dream` differ in the port that the optimiser is put at; there is one way back, and both use it.
# - The composite compiles to the program of the step by hand, and to a check that every label is a class, which costs
#   some tenths of a millisecond.
#
# **Next:** [gradients in the right units](gradients-in-the-right-units.md).
