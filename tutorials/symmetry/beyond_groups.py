"""What cannot be undone: layers that know a monoid, beside layers that know groups alone. Prints a table.

Three machines are observed: a counter that stops, an automaton with a reset, a stack. A state has a worth, which is
not known. An observation is a history, what happens next, and the worth of the state after both, with noise. A layer
gives from the state after the history the worth after everything that may follow. Shortest paths are learnt from
graphs whose edges have features, and a length that is a function of them, which is not known either.

Errors are root mean squares, on histories and graphs of the sizes of training and of twice those sizes.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from cdl_arch.symmetry import counter, reset, stack
from cdl_arch.symmetry.futures import foresight, foresight_of_units
from cdl_arch.symmetry.min_plus import Graph, MinPlus, SumPassing
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._fitting import fitted, parameters
from ._walks import Machine, reached, values, walks


MACHINES = (
    Machine("counter", counter.counts(12), counter.circle(12), (1.0,), 8),
    Machine("reset", reset.states(6), reset.circle(6), (0.8, 0.2), 8),
    Machine("stack", stack.stack(2, 3), stack.circle(2, 3), (0.3, 0.3, 0.4), 8),
)
NOISE = 0.1


class Score(NamedTuple):
    """How far a trained layer is off, at the sizes of training and at twice those."""

    parameters: int
    here: float
    beyond: float


def observed(layer: Any, batch: Sequence[jax.Array], key: jax.Array) -> jax.Array:
    """The mean square error of the futures that were seen."""
    states, elements, worths = batch
    return jnp.mean(jnp.square(_read(layer, states, elements) - worths))


def machine_scores(machine: Machine, seed: int, samples: int, steps: int) -> Iterator[tuple[str, Score]]:
    """Each layer for a machine, after training."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=machine.monoid.size)
    seen = walks(machine, rng, samples, machine.longest)
    noisy = values(machine, seen, worth) + NOISE * rng.normal(size=samples).astype(np.float32)
    tests = [walks(machine, rng, 500, longest) for longest in (machine.longest, 2 * machine.longest)]
    kinds: dict[str, tuple[Any, Callable[..., Any]]] = {
        "the monoid": (machine.monoid, foresight),
        "a group, as many parameters": (machine.group, foresight),
        "units": (machine.monoid, foresight_of_units),
    }
    for name, (X, make) in kinds.items():
        layer = make(X, key=jr.key(seed))
        data = [*reached(X, seen), noisy]
        layer = fitted(layer, observed, data, steps=steps, batch=samples, rate=0.03, seed=seed)
        errors = [np.asarray(_read(layer, *reached(X, some))) - values(machine, some, worth) for some in tests]
        yield name, Score(parameters(layer), *(float(np.sqrt(np.mean(e**2))) for e in errors))


def graphs(seed: int, many: int, nodes: int) -> tuple[Graph, jax.Array]:
    """Rings with as many chords, both ways, and the distances of all nodes from node 0: a leading axis of graphs."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes], 1)
    ends = np.stack([np.concatenate([ring, rng.integers(0, nodes, (nodes, 2))]) for _ in range(many)])
    ends = np.concatenate([ends, ends[..., ::-1]], 1)
    features = rng.uniform(size=(many, ends.shape[1], 2)).astype(np.float32)
    graph = Graph(jnp.asarray(ends[..., 0]), jnp.asarray(ends[..., 1]), jnp.asarray(features))
    exact = eqx.tree_at(lambda f: f.length, MinPlus(2, 1, key=jr.key(0)), _Length())
    return graph, _distances(exact, graph, nodes)


def paths(net: Any, batch: Sequence[jax.Array], key: jax.Array) -> jax.Array:
    """The mean square error of distances."""
    *parts, wanted = batch
    return jnp.mean(jnp.square(_distances(net, Graph(*parts), wanted.shape[1]) - wanted))


def path_scores(seed: int, samples: int, steps: int) -> Iterator[tuple[str, Score]]:
    """Each network for shortest paths, after training on graphs of 8 nodes."""
    seen, tests = graphs(3 * seed, samples, 8), [graphs(3 * seed + 1, 200, 8), graphs(3 * seed + 2, 200, 16)]
    nets = {
        "the monoid": MinPlus(2, 12, key=jr.key(seed)),
        "permutations, by means": SumPassing(2, 4, mean=True, key=jr.key(seed)),
        "permutations, by sums": SumPassing(2, 4, mean=False, key=jr.key(seed)),
    }
    for name, net in nets.items():
        net = fitted(net, paths, [*seen[0], seen[1]], steps=steps, batch=samples, rate=0.01, seed=seed)
        errors = [float(jnp.sqrt(paths(net, [*graph, wanted], jr.key(0)))) for graph, wanted in tests]
        yield name, Score(parameters(net), *errors)


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of all layers and seeds."""
    scores: dict[tuple[str, str], list[Score]] = {}
    for seed in range(options.seeds):
        for machine in MACHINES:
            for name, score in machine_scores(machine, seed, options.samples, options.steps):
                scores.setdefault((machine.name, name), []).append(score)
        for name, score in path_scores(seed, options.samples, options.steps):
            scores.setdefault(("shortest paths", name), []).append(score)
    head = ["learnt", "the layer knows", "parameters", "error", "error at twice the size"]
    return {"beyond-groups": Table(head, [_row(*key, found) for key, found in scores.items()], texts=2)}


def _row(task: str, layer: str, found: list[Score]) -> list[str]:
    return [task, layer, str(found[0].parameters), spread([s.here for s in found]), spread([s.beyond for s in found])]


def _read(layer: Any, states: jax.Array, elements: jax.Array) -> jax.Array:
    return jax.vmap(lambda x, m: layer(x)[m])(states, elements)


def _distances(net: Any, graph: Graph, nodes: int) -> jax.Array:
    start = jnp.full(nodes, jnp.inf).at[0].set(0.0)
    return jax.vmap(lambda one: net.distances(one, start, nodes))(graph)


class _Length(eqx.Module):
    """The true length of an edge."""

    def __call__(self, features: jax.Array) -> jax.Array:
        return 0.1 + features[0] * features[1] + jnp.square(features[1])


PROGRAM = Program("symmetry.beyond_groups", arguments(__doc__, seeds=5, samples=64, steps=600), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
