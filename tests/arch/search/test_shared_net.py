"""The net of shared weights learns though some of its candidates blow up, since each gradient is clipped by itself."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np


def two_heaps():
    """Two classes that a linear map tells apart, and networks of 8 blocks, in which a gain of 4 multiplies."""
    from cdl_arch.search import Blocks, Part, Task

    labels = np.arange(32, dtype=np.int32) % 2
    noise = 0.3 * np.random.default_rng(0).normal(size=(32, 2, 2, 1))
    part = Part(jnp.asarray(noise + (2 * labels - 1)[:, None, None, None], jnp.float32), jnp.asarray(labels))
    return Task(Blocks((2, 2, 1), 2, width=4, depth=8), part, part, part, steps=40, batch=16, rate=0.1)


def test_the_shared_net_learns_and_does_not_without_clipping(monkeypatch):
    from cdl_arch.search import _supernet, Enas

    seen, accuracy = [], _supernet.accuracy

    def watched(task, params, code, part):
        found = accuracy(task, params, code, part)
        jax.debug.callback(lambda x: seen.append(float(x)), found)
        return found

    def right():
        """The mean accuracy of all candidates that the training looked at; 0 of one that is not finite."""
        seen.clear()
        jax.block_until_ready(jax.vmap(lambda key: Enas(cost=4).begin(two_heaps(), key))(jr.split(jr.key(0), 3)))
        jax.effects_barrier()
        assert len(seen) == 3 * 80 * 2
        return np.nan_to_num(np.array(seen)).mean()

    monkeypatch.setattr(_supernet, "accuracy", watched)
    assert right() > 0.9
    monkeypatch.setattr(_supernet, "clipped", lambda slope: slope)
    assert right() < 0.6
