"""Are peers that talk better than the same peers that do not? Prints a table.

Four peers see four streams of six bits, each one stream, and one readout is linear in their last states. In the first
task the answer is whether a bit of one peer is that of another peer at another step. In the second it is a sum with a
part for each peer, the product of two of its own bits. Both were chosen before anything was run: talk should help in
the first, and not in the second.
"""

import argparse
import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._peers import alike, alone, Mixing, others, Peers


Task = Callable[[Any], Any]

PEERS, STEPS = 4, 6
RATE, BATCH, TESTS = 0.005, 64, 2000
VERSIONS: dict[str, Mixing] = {
    "no talk: each hears itself": alone,
    "talk: each hears the mean of the others": others,
    "talk that rewires: each hears those who say what it says": alike,
}


def agree(bits: Any) -> Any:
    """1 where the first bit of the first peer is the third bit of the third, else −1."""
    return bits[:, 0, 0] * bits[:, 2, 2]


def parts(bits: Any) -> Any:
    """The mean over peers of the product of their first bit and their third, times a root: of variance 1."""
    return jnp.sum(bits[:, 0] * bits[:, 2], 1) / jnp.sqrt(bits.shape[2])


def drawn(key: jax.Array, many: int) -> jax.Array:
    """Bits that are −1 or 1: `float[many, time, peers]`."""
    return jr.rademacher(key, (many, STEPS, PEERS), jnp.float32)


@functools.partial(jax.jit, static_argnums=(0, 1, 3, 4))
def answers(mixing: Mixing, task: Task, keys: jax.Array, width: int, steps: int) -> tuple[jax.Array, jax.Array]:
    """What peers answer to bits that they have not seen, after so many steps of Adam on new bits each, and what is
    right: `float[seeds, tests]` each."""

    def learnt(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        first, second, third = jr.split(key, 3)
        params, rest = eqx.partition(Peers(PEERS, width, mixing, key=first), eqx.is_array)
        adam = optax.adam(optax.cosine_decay_schedule(RATE, steps))

        def of(params: Any, bits: jax.Array) -> jax.Array:
            return jax.vmap(eqx.combine(params, rest))(bits)

        def step(kept: Any, key: jax.Array) -> tuple[Any, None]:
            params, state = kept
            bits = drawn(key, BATCH)
            slope = jax.grad(lambda params: jnp.mean(jnp.square(of(params, bits) - task(bits))))(params)
            with jax.numpy_dtype_promotion("standard"):  # which optax needs
                changes, state = adam.update(slope, state)
            return (optax.apply_updates(params, changes), state), None

        (params, _), _ = jax.lax.scan(step, (params, adam.init(params)), jr.split(second, steps))
        test = drawn(third, TESTS)
        return of(params, test), task(test)

    return jax.vmap(learnt)(keys)


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of all versions, tasks and seeds."""
    rows, keys = [], jr.split(jr.key(0), options.seeds)
    for name, mixing in VERSIONS.items():
        net = Peers(PEERS, options.width, mixing, key=jr.key(0))
        size = sum(x.size for x in jax.tree.leaves(eqx.filter(net, eqx.is_array)))
        found, right = map(np.asarray, answers(mixing, agree, keys, options.width, options.steps))
        shares = 100 * np.mean((found > 0) == (right > 0), 1)
        found, right = map(np.asarray, answers(mixing, parts, keys, options.width, options.steps))
        errors = np.sqrt(np.mean((found - right) ** 2, 1))
        rows.append([name, str(size), spread(shares.tolist(), 3), spread(errors.tolist(), 3)])
    head = ["four peers", "parameters", "two peers agree: right, %", "sum of parts: error"]
    return {"talking": Table(head, rows)}


PROGRAM = Program("systems.talking", arguments(__doc__, seeds=5, steps=3000, width=8), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
