"""What it is worth to know that space has no directions: three ways to learn, on bodies as they come and rotated.

A network learns the logarithm of the square of the radius of gyration, from bodies that lie along one axis. The error
is the root of the mean square, over the deviation of the target.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from cdl import Corpus, pack

from ...train import one_cycle, train
from ._data import bodies, BodyF, gyration, rotated
from ._networks import Free, free, parameters, predict, Turning


Net = Turning | Free
SMALL, LARGE = (2, 8), (9, 16)  # masses: of the bodies that are learnt from, and of larger ones


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


def table(seeds: Sequence[int], *, steps: int = 500, count: int = 4096) -> dict[str, np.ndarray]:
    """The errors of each way to learn, `float[seeds, 4]`: as they come, rotated, larger, larger and rotated."""
    tests = [f(bodies(n, of, s)) for n, of, s in ((512, SMALL, 1), (256, LARGE, 2)) for f in (list, _turned)]
    found: dict[str, list[list[float]]] = {}
    for seed in seeds:
        trees, key = bodies(count, SMALL, 100 + seed), jr.key(seed)
        turning = Turning(key=key)
        other = free(turning, key=key)
        ways: dict[str, tuple[Net, Sequence[Any]]] = {
            f"equivariant, {parameters(turning)} parameters": (turning, trees),
            f"free, {parameters(other)} parameters": (other, trees),
            "free, trained on rotated bodies": (other, _turned(trees)),
        }
        for name, (start, some) in ways.items():
            net = learnt(start, some, steps=steps, seed=seed)
            found.setdefault(name, []).append([error(net, test) for test in tests])
    return {name: np.asarray(rows) for name, rows in found.items()}


def _nothing(net: Net) -> float:
    return 0.0


def _turned(trees: Sequence[Any]) -> list[Any]:
    return rotated(list(trees), 7)
