"""A training loop with optax. It keeps the best epoch, writes a checkpoint after each, and gives the same numbers each
time.

| the mathematics                        | here                                                                 |
| -------------------------------------- | -------------------------------------------------------------------- |
| `(p, s) ↦ (p − η(∇ℓ(p), s), s′)`       | a step, compiled once for each form of batch                         |
| an epoch: the steps of all its batches | `batches(epoch)`, which are to depend on the epoch's number alone    |
| `argmax` of the score over epochs      | `Run.best`; of equal ones the last                                   |

A `Run` holds the parameters, the optimiser's state and the history, and a checkpoint is a `Run` in a file. All
randomness is a function of the key, the epoch and the step. So a run that was interrupted and resumed gives the same
numbers as one that was not, to the last bit on one machine.

Examples:
    >>> import optax
    >>> from cdl_arch.train import train
    >>> loss = lambda w, x, key: (w - x) ** 2
    >>> score = lambda w: -float((w - 3.0) ** 2)
    >>> one_batch = lambda epoch: [jnp.array(3.0)] * 20
    >>> step = optax.sgd(0.25)
    >>> run = train(
    ...     jnp.array(0.0),
    ...     one_batch,
    ...     loss,
    ...     score,
    ...     optimiser=step,
    ...     epochs=2,
    ...     key=jax.random.key(0),
    ... )
    >>> round(float(run.best), 3)
    3.0
"""

import dataclasses
import functools
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from cdl.checks import expect_key, with_usage
from cdl.errors import CdlError, CheckpointError
from cdl.io import load, save

from ._bar import Bar
from ._cache import kept_programs
from ._expect import expect_batches, expect_functions, expect_numbers, expect_one_number, expect_weights


M = TypeVar("M")
B = TypeVar("B")


class Run(eqx.Module, Generic[M]):
    """How far training has come. The history has a row for each epoch, `nan` where it is not reached."""

    model: M
    best: M
    state: Any  # the optimiser's
    epoch: int
    steps: int
    losses: Float[np.ndarray, " epochs"]
    scores: Float[np.ndarray, " epochs"]
    seconds: Float[np.ndarray, " epochs"]
    programs: int = eqx.field(static=True, default=0)

    def __repr__(self) -> str:
        at = self.epoch
        reached = "" if at == 0 else f", loss {self.losses[at - 1]:.4g}, best score at epoch {self.best_epoch}"
        return f"Run of {type(self.model).__name__}: {at} of {len(self.losses)} epochs{reached}"

    @property
    def best_epoch(self) -> int:
        """The number of the epoch with the best score, from 0, the last of equal ones; -1 where none is a number."""
        reached = self.scores[: self.epoch][::-1]
        return -1 if np.isnan(reached).all() else self.epoch - 1 - int(np.nanargmax(reached))


@with_usage
def train(
    model: M,
    batches: Callable[[int], Iterable[B]],
    loss: Callable[[M, B, PRNGKeyArray], Float[Array, ""]],
    score: Callable[[M], float],
    *,
    optimiser: optax.GradientTransformation,
    rate: Callable[[int], Any] = lambda step: 1.0,
    epochs: int,
    key: PRNGKeyArray,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    title: str = "training",
    cache: bool = True,
) -> Run[M]:
    """Trains a model for some epochs.

    **Arguments:** `batches`: the batches of an epoch, from its number. `loss`: of a model at a batch, with a key for
    dropout. `score`: of a model after an epoch, on data that it does not learn from; the higher the better. Runs that
    are given the same `loss` and `optimiser` share their programs. `rate`: what the optimiser's change is multiplied
    by, from the number of the step: `one_cycle`, say, with an optimiser of learning rate 1. It is not a part of the
    program. `checkpoint`: a file to write after each epoch. `resume`: to begin where that file ends, if it is there.
    `progress`: whether to show a bar, with tqdm; by default where the error stream is a terminal. `cache`: whether
    compiled programs are kept on disk, in the user's folder for caches, for the next run to read. Where JAX has a
    folder already (`jax_compilation_cache_dir`) that is used, and `JAX_ENABLE_COMPILATION_CACHE=0` switches it off.

    **Returns:** the run; `run.best` is the model after its best epoch (the given one where no score is a number), and
    `run.programs` how many programs were compiled.

    **Raises:** `CheckpointError` where the file to go on from is of another model, optimiser or number of epochs.
    `CdlError` where `resume` has no `checkpoint` to go on from, `loss` or `score` gives anything other than one real
    number, `batches` gives no batch or one with texts, or `model` has nothing to train.

    **Warns:** `UserWarning` at the first epoch in which the mean loss is `nan` or infinite, at the first in which the
    score is `nan`, and where the batches of an epoch hold different Python numbers.
    """
    expect_key(key)
    expect_functions(batches, loss, score)
    expect_weights(model)
    if resume and checkpoint is None:
        raise CdlError("`train` was given `resume=True` and no `checkpoint`: name the file to go on from.")
    if epochs < 0:
        raise CdlError(f"`epochs` of `train` is {epochs}: give 0 or more.")
    file = None if checkpoint is None else Path(checkpoint)
    run = _begun(model, optimiser, epochs)
    if resume and file is not None and file.exists():
        run = _resumed(file, run)
    step = _compiled(loss, optimiser)
    before = eqx.debug.get_num_traces(step)
    with kept_programs(cache), Bar(title, run.epoch, epochs, progress) as bar:
        while run.epoch < epochs:
            run = _epoch(run, step, batches, score, rate, jr.fold_in(key, run.epoch))
            bar.advance(run)
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                save(file, run)
    return dataclasses.replace(run, programs=eqx.debug.get_num_traces(step) - before)


@with_usage
def load_run(
    checkpoint: str | os.PathLike[str], model: M, *, optimiser: optax.GradientTransformation, epochs: int
) -> Run[M]:
    """The run in a checkpoint of `train`, as far as it had come: `load_run(…).best` is its best model.

    **Arguments:** those that `train` was given; of `model` only the form is read.

    **Raises:** `CheckpointError` where the file is of another model, optimiser or number of epochs.

    Examples:
        >>> import optax
        >>> from cdl_arch.train import load_run, train
        >>> step = optax.sgd(0.25)
        >>> run = train(
        ...     jnp.array(0.0),
        ...     lambda epoch: [jnp.array(3.0)] * 20,
        ...     lambda w, x, key: (w - x) ** 2,
        ...     lambda w: -float((w - 3.0) ** 2),
        ...     optimiser=step,
        ...     epochs=2,
        ...     key=jax.random.key(0),
        ...     checkpoint="run.cdl",
        ... )
        >>> again = load_run("run.cdl", jnp.array(0.0), optimiser=step, epochs=2)
        >>> again.epoch, bool(again.best == run.best)
        (2, True)
    """
    return _resumed(Path(checkpoint), _begun(model, optimiser, epochs))


def _begun(model: M, optimiser: optax.GradientTransformation, epochs: int) -> Run[M]:
    """A run before its first epoch."""
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))
    unknown = np.full(epochs, np.nan)
    return Run(model, model, state, 0, 0, unknown, unknown, unknown)


def _resumed(file: Path, template: Run[M]) -> Run[M]:
    """The run in a file. **Raises:** `CheckpointError` where it is of something else."""
    try:
        return load(file, template)
    except CheckpointError as error:
        raise CheckpointError(
            f"`{file}` is not a checkpoint of this run. A run is resumed, or loaded, with the same `model`, "
            f"`optimiser` and `epochs` (here {len(template.losses)}); `resume=False` begins again, over the file. "
            f"{str(error).partition(' Make the template')[0]}"
        ) from error


def one_cycle(steps: int, peak: float, *, up: float = 0.1) -> Callable[[int], float]:
    """A learning rate that goes up to a peak and down to nothing, each along half a cosine: a `rate` for `train`.

    **Arguments:** `steps`: of the whole run. `peak`: the highest rate. `up`: the share of the steps that goes up, from
    a 25th of the peak.
    """
    top = max(1, round(up * steps))

    def rate(step: int) -> float:
        if step < top:
            return peak * (1 + 24 * _rise(step / top)) / 25
        return peak * _rise((steps - step) / max(1, steps - top))

    return rate


def _rise(share: float) -> float:
    """From 0 to 1, level at both ends."""
    return (1 - math.cos(math.pi * share)) / 2


def _epoch(
    run: Run[M], step: Any, batches: Callable[[int], Iterable[B]], score: Any, rate: Any, key: PRNGKeyArray
) -> Run[M]:
    """The run after one more epoch."""
    began, model, state, losses, fixed = time.perf_counter(), run.model, run.state, [], None
    for i, batch in enumerate(expect_batches(batches(run.epoch))):
        if fixed not in (None, fixed := expect_numbers(batch)):
            warnings.warn(
                "the batches of `train` hold different Python numbers, and for each the step is compiled anew: write "
                "`jnp.asarray(x)` for `x`.",
                stacklevel=4,
            )
        pace = jnp.asarray(rate(run.steps + i), jnp.float32)
        model, state, loss = step(model, state, batch, pace, jr.fold_in(key, i))
        losses.append(loss)
    if not losses:
        raise CdlError(
            f"`batches` gave nothing in epoch {run.epoch}: return new batches for each epoch, as a `list`, or as a "
            "generator that is made there. One that was made outside, or in an epoch before, is spent."
        )
    mean = float(np.mean(jax.device_get(losses)))
    seconds = time.perf_counter() - began
    at = run.epoch
    if not math.isfinite(mean) and np.isfinite(run.losses[:at]).all():
        warnings.warn(
            f"the mean loss of epoch {at} is {mean}: lower the rate, or look for a division by zero or a logarithm of "
            f"zero with `jax.config.update('jax_debug_{'nans' if math.isnan(mean) else 'infs'}', True)`.",
            stacklevel=4,
        )
    reached = expect_one_number("score", score(model), "epochs are compared by one number", "end in `.mean()`")
    if np.isnan(reached) and not np.isnan(run.scores[:at]).any():
        warnings.warn(
            f"the score of epoch {at} is nan, and such an epoch is never the best. If every score is nan, `best` is "
            "the model that was given.",
            stacklevel=4,
        )
    better = reached >= max((x for x in run.scores[:at] if x == x), default=-math.inf)
    return Run(
        model,
        model if better else run.best,
        state,
        at + 1,
        run.steps + len(losses),
        _with(run.losses, at, mean),
        _with(run.scores, at, reached),
        _with(run.seconds, at, seconds),
    )


@functools.cache
def _compiled(loss: Any, optimiser: optax.GradientTransformation) -> Any:
    """The step of a loss and an optimiser: one function, so that every run of both has its programs."""

    def one_number(model: Any, batch: Any, key: Any) -> Any:
        why = "the gradient is of one real number"
        found = expect_one_number("loss", loss(model, batch, key), why, "return it alone, with `.mean()` in the end")
        return 1.0 * found  # so that a loss that is a Python number has a gradient, of zero

    slope_of: Any = eqx.filter_value_and_grad(one_number)

    def step(model: Any, state: Any, batch: Any, rate: Any, key: Any) -> tuple[Any, Any, Any]:
        value, slope = slope_of(model, batch, key)
        with jax.numpy_dtype_promotion("standard"):  # optax multiplies numbers of different types
            change, state = optimiser.update(slope, state, eqx.filter(model, eqx.is_inexact_array))
        change = jax.tree.map(lambda x: (rate * x).astype(x.dtype), change)
        return eqx.apply_updates(model, change), state, value

    compiled: Any = eqx.filter_jit
    counted: Any = eqx.debug.assert_max_traces
    return compiled(counted(max_traces=None)(step))  # it can be asked how many programs it has


def _with(history: Any, at: int, value: float) -> Any:
    new = history.copy()
    new[at] = value
    return new
