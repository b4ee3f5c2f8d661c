"""What candidates are trained on, and training: all candidates side by side in one `vmap`.

| the thing                       | here                                                                    |
| ------------------------------- | ----------------------------------------------------------------------- |
| data in three parts             | `Task.train`, `.validation`, `.test`: each inputs and labels            |
| one training, whatever the code | `trained(task, codes, keys)`, `int[n, places]` and `n` keys             |
| what comes of it                | `Outcome`, with a row for each candidate                                |

A training is stable where its loss stays finite and ends below `failed`, a little less than that of a constant. The
accuracy of one that is not finite is NaN, which sorts last.
"""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray

from cdl.checks import with_usage
from cdl.errors import CdlError
from cdl_arch.data import Dataset

from ._expected import expect_keys, expect_task, logits_of, rows_of
from ._space import Space


MEMORY = 4 * 2**30


class Part(NamedTuple):
    """Examples with their labels: to learn from, to choose by, or to test with.

    **Arguments:** `inputs`: arrays with a row for each label, or a forest with a tree for each. `labels`: the number of
    each example's class, `int[rows]`.

    Examples:
        >>> from cdl_arch.search import Part
        >>> part = Part(jnp.zeros((5, 8, 8, 1)), jnp.zeros(5, int))
        >>> part.inputs.shape
        (5, 8, 8, 1)
    """

    inputs: Any
    labels: Int[Array, "..."]


class Task(eqx.Module):
    """A space, the data, and how a candidate is trained on them.

    **Arguments:** `space`: the networks. `train`: what a candidate learns from. `validation`: what a search compares
    candidates by. `test`: what no search looks at. `steps`: how many updates a training has. `batch`: how many rows a
    step sees, drawn at random; `None` for all of them, in order, as a forest needs. `rate`: the learning rate.
    `optimiser`: "momentum", of 0.9, or "adam".

    **Raises:** `CdlError` where inputs and labels differ in their rows, for a label that is not a class of the
    space, for a batch of a forest, for an unknown optimiser, and for a rate, batch or number of steps that is too
    small.

    Examples:
        >>> from cdl_arch.search import Blocks, Part, Task
        >>> part = Part(jnp.zeros((5, 8, 8, 1)), jnp.zeros(5, int))
        >>> task = Task(Blocks((8, 8, 1), 10, width=4, depth=2), part, part, part, steps=3, batch=2)
        >>> task.steps
        3
    """

    space: Space = eqx.field(static=True)
    train: Part
    validation: Part
    test: Part
    steps: int = eqx.field(static=True, default=200)
    batch: int | None = eqx.field(static=True, default=64)
    rate: float = eqx.field(static=True, default=0.02)
    optimiser: str = eqx.field(static=True, default="momentum")

    def __check_init__(self) -> None:
        expect_task(self)

    @property
    def change(self) -> optax.GradientTransformation:
        """The optimiser: "momentum", of 0.9, or "adam"."""
        return optax.adam(self.rate) if self.optimiser == "adam" else optax.sgd(self.rate, 0.9)

    def drawn(self, key: PRNGKeyArray) -> Part:
        """A batch to learn from."""
        return self.train if self.batch is None else some(self.train, self.batch, key)

    def loss(self, params: Any, code: Array, part: Part) -> Float[Array, ""]:
        """The mean cross-entropy.

        **Arguments:** `params`: the weights. `code`: the architecture. `part`: inputs and labels.
        """
        logits = self.space.apply(params, code, part.inputs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, part.labels).mean()


class Outcome(NamedTuple):
    """The results of the trainings. All fields have one shape: `(n,)` from `trained`, `(n, keys)` from `retrained`.

    **Arguments:** `validation`, `test`: the accuracy on this part of the data, from 0 to 1; NaN where the losses or
    the logits are not finite. `loss`: the mean loss over the last tenth of the steps. `stable`: whether the losses and
    `validation` are finite, and `loss` is below `2.25 / log 10` of that of a guess, which is `log classes`.

    Examples:
        >>> from cdl_arch.search import Blocks, Outcome, Part, Task, trained
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=1), part, part, part, steps=1, batch=2)
        >>> code = jnp.ones((1, len(task.space.sizes)), int)
        >>> outcome: Outcome = trained(task, code, jax.random.split(jax.random.key(0), 1))
        >>> outcome.validation.shape, outcome.stable.shape
        ((1,), (1,))
    """

    validation: Float[Array, "..."]
    test: Float[Array, "..."]
    loss: Float[Array, "..."]
    stable: Bool[Array, "..."]


@with_usage
def of_dataset(
    space: Space, data: Dataset, test: Dataset, *, most: int | None = None, seed: int = 0, **options: Any
) -> Task:
    """A task of pictures. A quarter of the training data are for validation.

    **Arguments:** `space`: such as `Blocks`, with the `shape` and the `classes` of the pictures. `data`: to learn from
    and to validate with. `test`: to test with. `most`: how many pictures are used at most, of `data` and of `test`.
    Only these are read and held in memory. `None` is all. `seed`: a shuffle from it draws which are used, and which of
    them are for validation, since files may come in the order of their classes. `options`: of `Task`.

    **Raises:** `CdlError` where the pictures or classes are not the space's, where there are not 2 pictures to learn
    from and 1 to test with, and where the pictures take more than 4 GiB.

    Examples:
        >>> from cdl_arch.data import dataset
        >>> from cdl_arch.search import Blocks, of_dataset
        >>> train, test = dataset("digits"), dataset("digits", part="test")
        >>> task = of_dataset(Blocks((8, 8, 1), 10), train, test, most=40)
        >>> len(task.train.labels), len(task.validation.labels)
        (30, 10)
    """
    wanted = getattr(space, "shape", None), getattr(space, "classes", None)
    for given in (data, test):
        if (tuple(given.images.shape[1:]), given.classes) != wanted:
            raise CdlError(
                f"`{given.name}` has pictures of {tuple(given.images.shape[1:])} in {given.classes} classes, and the "
                f"space is for {wanted[0]} in {wanted[1]}: give `shape` and `classes` of the data where it is made."
            )
        if len(given.labels) != given.images.shape[0]:
            raise CdlError(
                f"`{given.name}` has {given.images.shape[0]} pictures and {len(given.labels)} labels: give a label for "
                "each picture."
            )
    rows, last = (_rows(given, most, [seed, i], least) for i, (given, least) in enumerate(((data, 2), (test, 1))))
    cut = len(rows) * 3 // 4
    return Task(space, _part(data.take(rows[:cut])), _part(data.take(rows[cut:])), _part(test.take(last)), **options)


def _rows(data: Dataset, most: int | None, seed: list[int], least: int) -> Int[np.ndarray, " rows"]:
    """Which pictures are used, in a random order."""
    used = min(len(data.labels), len(data.labels) if most is None else most)
    if used < least:
        raise CdlError(
            f"{used} of the {len(data.labels)} pictures of `{data.name}` were asked for: use {least} or more."
        )
    size = used * math.prod(data.images.shape[1:]) * np.dtype(np.float32).itemsize
    if size > MEMORY:
        raise CdlError(
            f"{used:,} pictures of `{data.name}` take {size / 2**30:.1f} GiB, and a task holds {MEMORY >> 30} GiB at "
            "most: give `most`, how many are to be used, or a smaller `side` where they are read."
        )
    return np.random.default_rng(seed).permutation(len(data.labels))[:used]


def _part(data: Dataset) -> Part:
    return Part(jnp.asarray(data.images), jnp.asarray(data.labels))


@with_usage
def trained(task: Task, codes: Int[Array, "n places"], keys: Key[Array, " n"]) -> Outcome:
    """Trains every candidate, each from its key. One program is compiled for each number of candidates.

    **Arguments:** `task`: the space and the data. `codes`: `int[n, places]`, one row for each candidate. `keys`:
    `key[n]`, for its first parameters and its batches.

    **Raises:** `CdlError` for a code that is not in the space, and where there is not one key for each code.

    Examples:
        >>> from cdl_arch.search import Blocks, Part, Task, trained
        >>> part = Part(
        ...     jax.random.normal(jax.random.key(0), (5, 2, 2, 1)), jnp.array([0, 1, 0, 1, 0])
        ... )
        >>> task = Task(Blocks((2, 2, 1), 2, width=8, depth=1), part, part, part, steps=1, batch=2)
        >>> code = jnp.ones((1, len(task.space.sizes)), int)
        >>> trained(task, code, jax.random.split(jax.random.key(0), 1)).validation.shape
        (1,)
    """
    found = rows_of(task.space, codes)
    expect_keys(keys, len(found))
    return _trained(task, found, keys)


@eqx.filter_jit
def _trained(task: Task, codes: Int[Array, "n places"], keys: Key[Array, " n"]) -> Outcome:
    return jax.vmap(lambda code, key: _one(task, code, key))(codes, keys)


def some(part: Part, batch: int, key: PRNGKeyArray) -> Part:
    """Rows drawn at random."""
    rows = jr.randint(key, (batch,), 0, len(part.labels))
    return Part(jax.tree.map(lambda x: x[rows], part.inputs), part.labels[rows])


def _one(task: Task, code: Int[Array, " places"], key: PRNGKeyArray) -> Outcome:
    first, rest = jr.split(key)
    params = task.space.init(first)

    def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, Array]:
        params, state = carry
        loss, slope = jax.value_and_grad(task.loss)(params, code, task.drawn(key))
        params, state = moved(task.change, params, state, slope)
        return (params, state), loss

    keys = jr.split(rest, task.steps + 1)
    (params, _), losses = jax.lax.scan(step, (params, task.change.init(params)), keys[:-1])
    losses = jnp.append(losses[1:], task.loss(params, code, task.drawn(keys[-1])))  # each of them after an update
    last = losses[-max(1, task.steps // 10) :].mean()
    finite = jnp.isfinite(losses).all()
    validation, test = (
        jnp.where(finite, accuracy(task, params, code, p), jnp.nan) for p in (task.validation, task.test)
    )
    return Outcome(validation, test, last, finite & jnp.isfinite(validation) & (last < failed(task)))


def accuracy(task: Task, params: Any, code: Array, part: Part) -> Float[Array, ""]:
    """The share of rows whose greatest logit is at the label; NaN where a logit is not finite."""
    logits = task.space.apply(params, code, part.inputs)
    right = (logits.argmax(-1).astype(part.labels.dtype) == part.labels).astype(jnp.result_type(float)).mean()
    return jnp.where(jnp.isfinite(logits).all(), right, jnp.nan)


def failed(task: Task) -> float:
    """The loss from which on a training has failed: that of a constant guess at 2.25 of `log 10` = 2.30 nats."""
    return 2.25 * math.log(logits_of(task.space, task.train.inputs)[-1]) / math.log(10)


def moved(change: optax.GradientTransformation, params: Any, state: Any, slope: Any) -> tuple[Any, Any]:
    """Parameters and the optimiser's state after a step."""
    with jax.numpy_dtype_promotion("standard"):  # optax multiplies numbers of different types
        by, state = change.update(slope, state, params)
    return jax.tree.map(jnp.add, params, by), state


def norm(slope: Any) -> Float[Array, ""]:
    """The Euclidean norm of all leaves together."""
    return jnp.sqrt(sum((jnp.square(leaf).sum() for leaf in jax.tree.leaves(slope)), jnp.zeros(())))
