"""All cores of a CPU: the trees dealt out to a host device for each core, beside one device and PyTorch.

XLA runs the small operations of a loop on one core each, however many it has; a device for each core is as many loops.
"""

from ctypes.util import find_library
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

import cdl

from ._clock import compiled, Entry, in_turn
from ._contestants import Cdl, torch, TorchLevels
from ._machine import cores as count_of_cores
from ._problems import loss, Problem, problem
from ._race import agree, close


# The arrays of a program are one array of more than 32 MB, which the allocator of Linux asks of the system anew at each
# call and gives back after it: a page fault for each 4 kB. This one keeps the memory; without it, nothing changes.
ALLOCATOR = find_library("tcmalloc_minimal")
ALL_CORES = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count_of_cores()}"}
if ALLOCATOR:
    ALL_CORES["LD_PRELOAD"] = ALLOCATOR


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
    kinds = {"forward": lambda c: c.forward, "both": lambda c: c.both}
    times = {kind: in_turn([Entry(c.name, run(c), rounds, warm=True) for c in everyone]) for kind, run in kinds.items()}
    return {"devices": count_of_cores(), "allocator": ALLOCATOR, "nodes": spread.shards.nodes.tolist(), **times}


class Spread:
    """`fold` on as many devices as there are cores, each with its part of the trees."""

    name = "cores"

    def __init__(self, given: Problem) -> None:
        self.given = given
        corpus = cdl.Corpus(given.signature, given.trees)
        n = count_of_cores()
        self.rows = cdl.compiled.balance(corpus.nodes, n)
        bucket = corpus[max(self.rows, key=lambda rows: corpus.nodes[rows].sum())].bucket
        parts = [corpus.pack(rows, bucket=bucket) for rows in self.rows]
        self.shards = cdl.compiled.shard(parts, jax.make_mesh((n,), ("data",)))
        leaves = self.shards.stacked.payload if given.name == "binary" else ()
        self.inputs = (given.net, leaves), self.shards
        step = eqx.filter_value_and_grad(_total)
        self.programs = {kind: compiled(f, *self.inputs)[1] for kind, f in (("forward", _total), ("both", step))}

    def agree(self, one: Cdl) -> None:
        """Asserts the loss and the weights' gradient of one device."""
        (value, (net, _)), (other, (spread, _)) = one.both(), self.both()
        close(self.name, "loss", value, other)
        close(self.name, "gradient", ravel_pytree(net)[0], ravel_pytree(spread)[0])

    def forward(self) -> Any:
        return self.programs["forward"](*self.inputs)

    def both(self) -> Any:
        return self.programs["both"](*self.inputs)


def _total(inputs: Any, shards: Any) -> Any:
    """The loss of all trees."""
    net, leaves = inputs
    if leaves:
        shards = eqx.tree_at(lambda s: s.stacked.payload, shards, leaves)
    of_part = lambda net, forest: (loss(cdl.fold(net, forest)[0]), jnp.ones(()) / len(shards))
    return cdl.compiled.shard_mean(of_part)(net, shards)
