"""One fold on all cores: the trees dealt out to as many host devices, each of which folds its own.

XLA runs the small operations of a loop on one core each, however many it has; two devices are two loops.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

import cdl

from ._clock import compiled, Entry, in_turn
from ._problems import loss, problem


def devices(name: str, width: int, trees: int, rounds: int, devices: int) -> dict[str, Any]:
    """Milliseconds of the loss, and of its gradient in the weights, with so many devices; and each one's nodes."""
    given = problem(name, width, trees)
    corpus = cdl.Corpus(given.signature, given.trees)
    mesh = jax.make_mesh((devices,), ("data",))
    parts = cdl.compiled.balance(corpus.nodes, devices)
    bucket = corpus[max(parts, key=lambda rows: corpus.nodes[rows].sum())].bucket
    shards = cdl.compiled.shard([corpus.pack(rows, bucket=bucket) for rows in parts], mesh)
    one = jnp.ones(())
    mean = cdl.compiled.shard_mean(lambda net, forest: (loss(cdl.fold(net, forest)[0]), one))
    kinds: dict[str, Any] = {"forward": mean, "both": eqx.filter_value_and_grad(mean)}
    found: dict[str, Any] = {"nodes": shards.nodes.tolist()}
    for kind, f in kinds.items():
        _, program = compiled(f, given.net, shards)
        found |= {kind: in_turn([Entry("cdl", lambda p=program: p(given.net, shards), rounds)])}
    return found
