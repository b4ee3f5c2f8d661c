"""All cores of a CPU: the trees dealt out to a host device for each core, beside one device and PyTorch.

XLA runs the small operations of a loop on one core each, however many it has; a device for each core is as many loops.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

import cdl

from ._clock import Entry, in_turn
from ._contestants import Cdl, Compiled, torch, TorchLevels
from ._machine import cores as count_of_cores
from ._problems import loss, Problem, problem
from ._race import agree, close


ALL_CORES = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count_of_cores()}"}


def cores(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of the loss and of its gradient in weights and leaves: on one device, on all, and in PyTorch."""
    given = problem(name, width, trees)
    one, spread = Cdl(given), Spread(given)
    everyone: list[Any] = [one, spread]
    if torch is not None:
        torch.set_num_threads(count_of_cores())
        everyone.append(TorchLevels(given, "pieces"))
        agree(one, everyone[-1])
    spread.agree(one)
    return {
        "devices": count_of_cores(),
        "nodes": spread.shards.nodes.tolist(),
        "forward": in_turn([Entry(c.name, c.forward, rounds) for c in everyone]),
        "both": in_turn([Entry(c.name, c.both, rounds, warm=True) for c in everyone]),
    }


class Spread(Compiled):
    """`fold` on as many devices as there are cores, each with its part of the trees."""

    name = "cores"

    def __init__(self, given: Problem) -> None:
        corpus, n = cdl.Corpus(given.signature, given.trees), count_of_cores()
        parts = dealt(corpus, cdl.compiled.balance(corpus.nodes, n))
        self.shards = cdl.compiled.shard(parts, jax.make_mesh((n,), ("data",)))
        leaves = self.shards.stacked.payload if given.name == "binary" else ()
        super().__init__(_loss, (given.net, leaves), self.shards, total=lambda x: x)

    def agree(self, one: Cdl) -> None:
        """Asserts the loss and the weights' gradient of one device."""
        (value, (net, _)), (other, (spread, _)) = one.both(), self.both()
        close(self.name, "loss", value, other)
        close(self.name, "gradient", ravel_pytree(net)[0], ravel_pytree(spread)[0])


def dealt(corpus: cdl.Corpus, rows: list[Any]) -> list[cdl.Forest]:
    """A forest of each of some rows, all in the bucket of the heaviest."""
    bucket = corpus[max(rows, key=lambda part: corpus.nodes[part].sum())].bucket
    return [corpus.pack(part, bucket=bucket) for part in rows]


def _loss(inputs: Any, shards: Any) -> Any:
    """The loss of all trees."""
    net, leaves = inputs
    if leaves:
        shards = eqx.tree_at(lambda s: s.stacked.payload, shards, leaves)
    of_part = lambda net, forest: (loss(cdl.fold(net, forest)[0]), jnp.ones(()) / len(shards))
    return cdl.compiled.shard_mean(of_part)(net, shards)
