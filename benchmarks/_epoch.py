"""An epoch of the first network: its trees, its batches and its cells, here and by levels in PyTorch.

Both take the same steps on the same batches: the loss, its gradient, and AdamW. Packing is part of an epoch here; what
PyTorch needs to know of its levels is found before the clock starts.
"""

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

import cdl
import definite_assignment as definite
from cdl.functors import constructors, holes
from cdl_arch.data import stdlib
from cdl_arch.recursive import gated
from definite_assignment import AFTER, BOUND, DefiniteF, exact, MAYBE
from definite_assignment.classify import Judge, Trees

from ._clock import Entry, in_turn
from ._contestants import torch, torch_ops
from ._levels import by_levels, Ops, STORES
from ._machine import cores
from ._table import Level, Table


RATE, DECAY, TOLERANCE = 1e-3, 0.1, 1e-4


def epoch(width: int, size: int, files: int, rounds: int) -> dict[str, Any]:
    """The first network's data from every `files`-th file, in batches of `size` trees."""
    found = definite.collect(sorted(stdlib.files(), key=stdlib.split_of)[::files])
    states = np.asarray(cdl.fold(exact, cdl.pack(DefiniteF, found.trees))[..., AFTER, MAYBE])
    examples = found.pick(kept := definite.balanced(states, found.splits))
    bound, rows = states[kept] == BOUND, np.flatnonzero(examples.splits == stdlib.TRAIN)
    data = Trees(cdl.Corpus(DefiniteF, examples.trees), bound, rows, size)
    judge = Judge(gated(DefiniteF, width, key=jax.random.key(0)), width, dropout=0.0, key=jax.random.key(1))
    ours = _cdl(judge, data)
    everyone: list[tuple[str, Callable[[], Any]]] = [("cdl", ours)]
    if torch is not None:
        torch.set_num_threads(cores())
        batches = _same_batches(data, examples.trees)
        peers = {store: _torch(judge, batches, width, store) for store in STORES}
        for peer in peers.values():
            assert abs(peer(4) - ours(4)) < TOLERANCE, "the losses after three steps differ"
        times = in_turn([Entry(store, peer, 1) for store, peer in peers.items()])
        everyone.append(("torch levels", peers[min(times, key=lambda store: times[store].median)]))
    return {
        "trees": len(rows),
        "steps": data.steps,
        "nodes": int(data.nodes[rows].sum()),
        "both": in_turn([Entry(name, run, rounds, warm=True) for name, run in everyone]),
    }


def _cdl(judge: Judge, data: Trees) -> Callable[..., float]:
    """An epoch from the first weights, or its first steps; the last loss."""
    optimiser = optax.adamw(RATE, weight_decay=DECAY)

    @eqx.filter_jit
    def step(judge: Judge, state: Any, batch: Any) -> Any:
        value, slope = eqx.filter_value_and_grad(_loss)(judge, batch)
        change, state = optimiser.update(slope, state, eqx.filter(judge, eqx.is_inexact_array))
        return eqx.apply_updates(judge, change), state, value

    def run(steps: int | None = None) -> float:
        now, state, value = judge, optimiser.init(eqx.filter(judge, eqx.is_inexact_array)), jnp.zeros(())
        for i, batch in enumerate(data.batches(0, 0)):
            if i == steps:
                break
            now, state, value = step(now, state, batch)
        return float(value)

    return run


def _loss(judge: Judge, batch: Any) -> Any:
    return optax.sigmoid_binary_cross_entropy(judge(batch[0]), batch[1]).mean()


def _same_batches(data: Trees, trees: list[Any]) -> list[tuple[Table, Any]]:
    """The batches of the first epoch as levels, with their answers."""
    kinds = [c.__name__ for c in constructors(DefiniteF)]
    drawn = data.drawn(0, 0)
    return [(Table([trees[i] for i in rows], holes, kinds), torch.tensor(data.truth[rows]).float()) for rows in drawn]


def _torch(judge: Judge, batches: list[tuple[Table, Any]], width: int, store: str) -> Callable[..., float]:
    """An epoch in PyTorch, from the same weights."""
    tensor: Callable[[Any], Any] = lambda x: torch.tensor(np.asarray(x), requires_grad=True)
    cells: Any = judge.algebra
    names = [c.__name__ for c in constructors(DefiniteF)]
    ops = torch_ops()
    levels = [by_levels(ops, table, width, gated_cell, store) for table, _ in batches]

    def run(steps: int | None = None) -> float:
        weights = [[tensor(x) for x in jax.tree.leaves(cells.cells[n])] for n in names]
        head = [tensor(x) for x in jax.tree.leaves(judge.head)]
        optimiser = torch.optim.AdamW([*itertools.chain(*weights), *head], lr=RATE, weight_decay=DECAY)
        value = torch.zeros(())
        for i, (hidden, (_, answers)) in enumerate(zip(levels, batches, strict=True)):
            if i == steps:
                break
            logits = torch.nn.functional.linear(hidden(weights), *head)[:, 0]
            value = torch.nn.functional.binary_cross_entropy_with_logits(logits, answers)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
        return float(value.detach())

    return run


def gated_cell(ops: Ops, width: int, weights: Any, level: Level, children: list[Any]) -> list[Any]:
    """A gated cell for each constructor, at all nodes of a level, kind by kind."""
    edges = [many for *_, many in level.groups]
    hidden, memory = (ops.split(x, edges) for x in children) if children else ((None,) * len(edges),) * 2
    found = []
    for (kind, rows, many), h, c in zip(level.groups, hidden, memory, strict=True):
        if not many:
            found.append([x.expand(rows, width) for x in weights[kind]])
            continue
        places = many // rows
        i, o, u, *forget = ops.parts(ops.linear(h.reshape(rows, places * width), *weights[kind]), 3 + places)
        kept = ops.sigmoid(i) * ops.tanh(u)
        for gate, below in zip(forget, ops.parts(c.reshape(rows, places * width), places), strict=True):
            kept = kept + ops.sigmoid(gate) * below
        found.append([ops.sigmoid(o) * ops.tanh(kept), kept])
    return [ops.cat(list(pieces)) for pieces in zip(*found, strict=True)]
