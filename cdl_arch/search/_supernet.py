"""Searches in a net of all candidates, which share their weights: one training of it gives a distribution over codes.

| method | a step                                                                                             |
| ------ | -------------------------------------------------------------------------------------------------- |
| `Enas` | the weights learn at codes that the distribution draws; REINFORCE moves the distribution           |
| `Darts` | the weights learn at the mixture of all choices; so do the mixture's weights, on validation data  |

Then the most likely code is trained by itself, as every candidate is, and codes drawn from the distribution. Each
gradient is clipped by itself, before a mean is taken: one candidate that blows up would otherwise drown the others. A
gradient that is not finite counts as zero. Both train at the rate of the task, since what is found at one rate may not
train at another.

Sources: Pham et al., Efficient neural architecture search via parameter sharing (2018); Liu et al., DARTS (2018), its
first-order form.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.errors import CdlError

from ._methods import Codes, reinforced, Untold
from ._space import simplex
from ._task import accuracy, moved, norm, some, Task


CLIP = 1.0
BRANCHES = 4  # trainings that one of a mixture costs: a gradient of the weights and one of the mixture, of all branches


class AbstractShared(Untold):
    """A method whose whole preparation is one training of shared weights. Its state is the logits that this gives."""

    @abc.abstractmethod
    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        """The logits of a distribution over codes."""

    def ask(self, task: Task, state: Any, n: int, key: PRNGKeyArray) -> tuple[Any, Codes]:
        """The most likely code, and others that the distribution draws."""
        drawn = task.space.drawn(state, n, key)
        return state, drawn.at[0].set(state.argmax(-1).astype(drawn.dtype))


@dataclass(frozen=True)
class Enas(AbstractShared):
    """ENAS-like: shared weights and a controller.

    **Arguments:** `draws`: how many codes a step draws; at least 2, since REINFORCE compares them. `rate`: of
    REINFORCE. `cost`: in trainings. A step costs as much as `draws` steps of a training, so there are
    `cost * task.steps // draws` of them.

    **Raises:** `CdlError` for fewer than 2 draws.

    Examples:
        >>> from cdl_arch.search import Enas
        >>> Enas(draws=2)
        Enas(draws=2, rate=8.0, cost=4)
    """

    draws: int = 2
    rate: float = 8.0
    cost: int = 4

    def __post_init__(self) -> None:
        if self.draws < 2:
            raise CdlError(f"a step that draws {self.draws} codes has none to compare: draw 2 or more.")

    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        """Trains the shared weights and the controller in turn."""

        def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, None]:
            params, state, logits = carry
            draw, rows, held = jr.split(key, 3)
            codes = task.space.drawn(logits, self.draws, draw)
            part = task.drawn(rows)
            slopes = jax.vmap(lambda code: clipped(jax.grad(task.loss)(params, code, part)))(codes)
            slope = jax.tree.map(lambda leaf: leaf.mean(0), slopes)
            params, state = moved(task.change, params, state, slope)
            seen = _held(task, held)
            scores = jax.vmap(lambda code: accuracy(task, params, code, seen))(codes)
            return (params, state, reinforced(logits, codes, scores, self.rate)), None

        return _swept(task, step, self.cost * task.steps // self.draws, task.space.level(), key)


@dataclass(frozen=True)
class Darts(AbstractShared):
    """DARTS-like: a mixture of all choices at each place; the heaviest are kept at the end.

    **Arguments:** `rate`: of Adam, for the mixture's weights. `cost`: in trainings. A step costs as much as 4 steps of
    a training, as it has a gradient for the weights and one for the mixture, each through every branch; so there are
    `cost * task.steps // 4` of them.

    Examples:
        >>> from cdl_arch.search import Darts
        >>> Darts()
        Darts(rate=0.05, cost=4)
    """

    rate: float = 0.05
    cost: int = 4

    def begin(self, task: Task, key: PRNGKeyArray) -> Float[Array, "places most"]:
        """Trains the shared weights and the mixture in turn."""
        mixing = optax.adam(self.rate)
        level = task.space.level()
        free = jnp.isfinite(level)

        def mixed(weights: Array) -> Array:
            return simplex(jnp.where(free, weights, -jnp.inf))

        def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, None]:
            params, state, (weights, memory) = carry
            rows, held = jr.split(key)
            slope = jax.grad(task.loss)(params, mixed(weights), task.drawn(rows))
            params, state = moved(task.change, params, state, clipped(slope))
            rise = jax.grad(lambda w: task.loss(params, mixed(w), _held(task, held)))(weights)
            weights, memory = moved(mixing, weights, memory, clipped(rise))
            return (params, state, (weights, memory)), None

        start = jnp.where(free, level, 0.0)
        weights, _ = _swept(task, step, self.cost * task.steps // BRANCHES, (start, mixing.init(start)), key)
        return jnp.where(free, weights, -jnp.inf)


def clipped(slope: Any) -> Any:
    """The gradient, scaled to the norm `CLIP` where it is longer; zeros where it is not finite."""
    size = norm(slope)
    share = jnp.where(size > CLIP, CLIP / size, 1.0)
    return jax.tree.map(lambda leaf: jnp.where(jnp.isfinite(size), share.astype(leaf.dtype) * leaf, 0.0), slope)


def _swept(task: Task, step: Callable[..., Any], steps: int, held: Any, key: PRNGKeyArray) -> Any:
    """What a controller holds after some steps, from what it holds before.

    **Raises:** `CdlError` for a run without steps.
    """
    if steps < 1:
        raise CdlError(
            f"the shared weights are trained for {steps} steps, with trainings of {task.steps}: give a greater `cost`, "
            "or a task of more steps."
        )
    first, rest = jr.split(key)
    params = task.space.init(first)
    carry, _ = jax.lax.scan(step, (params, task.change.init(params), held), jr.split(rest, steps))
    return carry[2]


def _held(task: Task, key: PRNGKeyArray) -> Any:
    """A batch of validation data."""
    return task.validation if task.batch is None else some(task.validation, task.batch, key)
