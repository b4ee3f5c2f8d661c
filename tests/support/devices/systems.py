"""Systems on four devices of the host: run by `test_run_systems.py`, in a Python of its own."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from ensembles import LENGTHS, states, words, world

import cdl


DEVICES = 4


def loss(system: Any, part: Any) -> Any:
    """The sum of squares of what a part of the sequences ends in, and how many there are."""
    begin, inputs = part
    _, last = cdl.run(system, begin, inputs)
    return sum(jnp.sum(x**2) for x in jax.tree.leaves(last)), jnp.asarray(len(inputs), jnp.float32)


def main() -> None:
    assert jax.device_count() == DEVICES
    system, begin, inputs = world(), states(len(LENGTHS)), words()

    def mean(system: Any) -> Any:
        total, count = loss(system, (begin, inputs))
        return total / count

    each = np.split(np.arange(len(LENGTHS)), DEVICES)
    parts = [
        (
            jax.tree.map(lambda x, at=at: x[at], begin),
            cdl.Seq(jax.tree.map(lambda x, at=at: x[at], inputs.values), inputs.lengths[at]),
        )
        for at in each
    ]
    shards = cdl.compiled.shard(parts, jax.make_mesh((DEVICES,), ("data",)))
    found = eqx.filter_jit(eqx.filter_value_and_grad(cdl.compiled.shard_mean(loss)))(system, shards)
    wanted = eqx.filter_jit(eqx.filter_value_and_grad(mean))(system)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    print("agrees")


if __name__ == "__main__":
    main()
