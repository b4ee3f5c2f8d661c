"""Searches in a net of all candidates, which share their weights: one training of it gives a distribution over codes.

| the method | a step                                                                                             |
| ---------- | -------------------------------------------------------------------------------------------------- |
| `Enas`     | the weights learn at codes that the distribution draws; REINFORCE moves the distribution           |
| `Darts`    | the weights learn at the mixture of all choices; so do the mixture's weights, on validation data   |

Then the most likely code is trained by itself, as every candidate is, and codes drawn from the distribution. Gradients
of the shared weights are clipped, and one that is not finite is left out. `Darts` trains at the rate of the task, since
a mixture found at one rate may not train at another once a single branch is left of it.

Sources: Pham et al., Efficient neural architecture search via parameter sharing (2018); Liu et al., DARTS (2018), its
first-order form.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from ._methods import Codes, reinforced
from ._space import simplex
from ._task import accuracy, moved, norm, some, Task


CLIP = 1.0


@dataclass(frozen=True)
class Enas:
    """ENAS-like: shared weights and a controller.

    **Arguments:** `draws`: how many codes a step draws. `rate`: of REINFORCE. `cost`: in trainings; a step has the cost
    of `draws` steps of a training.
    """

    draws: int = 4
    rate: float = 1.0

    @property
    def cost(self) -> int:
        return self.draws

    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        change = optax.chain(optax.clip_by_global_norm(CLIP), task.change)

        def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, None]:
            params, state, logits = carry
            draw, rows, held = jr.split(key, 3)
            codes = task.space.drawn(logits, self.draws, draw)
            part = task.drawn(rows)
            slope = jax.grad(lambda p: _finite_mean(jax.vmap(lambda c: task.loss(p, c, part))(codes)))(params)
            params, state = moved(change, params, state, _finite(slope))
            seen = _held(task, held)
            scores = jax.vmap(lambda code: accuracy(task, params, code, seen))(codes)
            return (params, state, reinforced(logits, codes, scores, self.rate)), None

        return _swept(task, change, step, key)

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        return state, _likely(task, state, n, key)

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        return state


@dataclass(frozen=True)
class Darts:
    """DARTS-like: a mixture of all choices at each place, of which the heaviest are left at the end.

    **Arguments:** `rate`: of Adam, for the mixture's weights. `cost`: in trainings; a step has a gradient for the
    weights and one for the mixture, each through every branch.
    """

    rate: float = 0.05
    cost: int = 4

    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        change = optax.chain(optax.clip_by_global_norm(CLIP), task.change)
        mixing = optax.adam(self.rate)
        level = task.space.level()
        free = jnp.isfinite(level)

        def mixed(weights: Array) -> Array:
            return simplex(jnp.where(free, weights, -jnp.inf))

        def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, None]:
            params, state, (weights, memory) = carry
            rows, held = jr.split(key)
            slope = jax.grad(task.loss)(params, mixed(weights), task.drawn(rows))
            params, state = moved(change, params, state, _finite(slope))
            rise = jax.grad(lambda w: task.loss(params, mixed(w), _held(task, held)))(weights)
            weights, memory = moved(mixing, weights, memory, _finite(rise))
            return (params, state, (weights, memory)), None

        start = jnp.where(free, level, 0.0)
        weights, _ = _swept(task, change, step, key, (start, mixing.init(start)))
        return jnp.where(free, weights, -jnp.inf)

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        return state, _likely(task, state, n, key)

    def tell(self, task: Task, state: Any, codes: Codes, scores: Float[Array, " n"]) -> Any:
        return state


def _likely(task: Task, logits: Float[Array, "places most"], n: int, key: PRNGKeyArray) -> Codes:
    """The most likely code, and others of the distribution."""
    return task.space.drawn(logits, n, key).at[0].set(logits.argmax(-1).astype(jnp.int32))


def _swept(task: Task, change: Any, step: Any, key: PRNGKeyArray, state: Any = None) -> Any:
    """What a controller holds after as many steps as a training has."""
    first, rest = jr.split(key)
    params = task.space.init(first)
    held = task.space.level() if state is None else state
    carry, _ = jax.lax.scan(step, (params, change.init(params), held), jr.split(rest, task.steps))
    return carry[2]


def _held(task: Task, key: PRNGKeyArray) -> Any:
    """A batch of validation data."""
    return task.validation if task.batch is None else some(task.validation, task.batch, key)


def _finite(slope: Any) -> Any:
    """The gradient, or zeros where it is not finite."""
    fine = jnp.isfinite(norm(slope))
    return jax.tree.map(lambda leaf: jnp.where(fine, leaf, 0.0), slope)


def _finite_mean(losses: Float[Array, " draws"]) -> Float[Array, ""]:
    return jnp.where(jnp.isfinite(losses), losses, 0.0).mean()
