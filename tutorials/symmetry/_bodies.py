"""Learning the logarithm of the square of the radius of gyration, and the error: the root of the mean square, over the
deviation of the target."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from cdl import Corpus, pack
from cdl_arch.symmetry.bodies import BodyF, Free, gyration, predict, Turning
from cdl_arch.train import one_cycle, train


Net = Turning | Free


def targets(trees: Sequence[Any]) -> np.ndarray:
    """The logarithm of the square of each body's radius of gyration."""
    return np.log([gyration(tree) for tree in trees]).astype(np.float32)


def loss(net: Net, batch: tuple[Any, jax.Array], key: Any) -> jax.Array:
    """The mean square error."""
    forest, wanted = batch
    return jnp.mean((predict(net, forest) - wanted) ** 2)


OPTIMISER = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1.0))


def learnt(net: Net, trees: Sequence[Any], *, steps: int, seed: int, batch: int = 128, peak: float = 5e-3) -> Net:
    """The network after some steps of Adam, whose rate goes up to a peak and down to nothing."""
    corpus, wanted, rng = Corpus(BodyF, trees), targets(trees), np.random.default_rng(seed)
    whole = np.arange(len(trees))  # where a batch is as large as that: one forest, and so one program
    drawn = [whole if batch >= len(trees) else rng.integers(len(trees), size=batch) for _ in range(steps)]
    batches: Callable[[int], Any] = lambda _: ((corpus[some], jnp.asarray(wanted[some])) for some in drawn)
    rate, still = one_cycle(steps, peak), _nothing
    run = train(net, batches, loss, still, optimiser=OPTIMISER, rate=rate, epochs=1, key=jr.key(seed), progress=False)
    return run.model


def error(net: Net, trees: Sequence[Any]) -> float:
    """The root of the mean square error, over the deviation of the target."""
    wanted = targets(trees)
    return float(np.sqrt(np.mean((np.asarray(predict(net, pack(BodyF, trees))) - wanted) ** 2)) / wanted.std())


def _nothing(net: Net) -> float:
    return 0.0
