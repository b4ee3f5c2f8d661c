"""Is it better to plan again, or to execute a plan to its end? Prints a table.

Plans are made on a map that knows the walls, and no slips. The world is as the map, or its moves slip, or it has one
wall more, on a shortest path. The first number is how often the goal is reached within a limit of steps. The second is
how many steps were taken, over the expected steps of value iteration, which knows the world and its chances. It is of
the episodes that reached the goal.
"""

import argparse
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from cdl import run
from page_tables.markdown import spread
from page_tables.results import arguments, Program, Table

from ._grids import closed, drawn, Worlds, worlds
from ._planners import Executor, looked, plans, table


Way = Callable[[Worlds, Worlds, float, int], Callable[[Any], Any]]


def knowing(world: Worlds, map: Worlds, slip: float, limit: int) -> Callable[[Any], Any]:
    """Value iteration on the world as it is."""
    moves = table(world, jnp.ones(world.next.shape), slip)[1]
    return lambda state: _at(moves, state[0])


def to_its_end(world: Worlds, map: Worlds, slip: float, limit: int) -> Callable[[Any], Any]:
    """A plan is made once, and executed without a look."""
    moves, lengths = plans(map, table(map, jnp.ones(map.next.shape))[1], map.start, limit)
    return lambda state: jnp.where(state[1] < lengths, moves[:, jnp.minimum(state[1], limit - 1)], -1)


def again(world: Worlds, map: Worlds, slip: float, limit: int) -> Callable[[Any], Any]:
    """A plan is made from each cell that is reached, and its first move is made."""
    moves = table(map, jnp.ones(map.next.shape))[1]
    return lambda state: plans(map, moves, state[0], 1)[0][:, 0]


def learning(world: Worlds, map: Worlds, slip: float, limit: int) -> Callable[[Any], Any]:
    """The same, where a move that failed is dearer in the next plans."""
    return lambda state: plans(map, table(map, state[2])[1], state[0], 1)[0][:, 0]


def looking(world: Worlds, map: Worlds, slip: float, limit: int) -> Callable[[Any], Any]:
    """A tree of all moves is grown at each step."""
    return lambda state: looked(map, state[2], state[0])


WAYS: dict[str, Way] = {
    "value iteration, which knows the world": knowing,
    "a plan, executed to its end": to_its_end,
    "a plan again at each step": again,
    "the same, and moves that failed become dearer": learning,
    "a tree of four moves at each step, the same": looking,
}


def episodes(way: Way, world: Worlds, map: Worlds, slip: float, noise: Any) -> tuple[np.ndarray, np.ndarray]:
    """Whether each world's goal was reached, and in how many steps."""
    cells = np.asarray(_run(way, world, map, slip, noise)) == np.asarray(world.goal)
    return cells.any(0), cells.argmax(0) + 1


@eqx.filter_jit
def _run(way: Way, world: Worlds, map: Worlds, slip: float, noise: Any) -> Any:
    executor = Executor(world, slip, way(world, map, slip, len(noise)))
    return run(executor, executor.begin(), noise)[0]


def measured(options: argparse.Namespace) -> dict[str, Table]:
    """The table, of all ways, worlds and seeds."""
    cases: dict[str, list[tuple[Worlds, Worlds, float, Any, np.ndarray]]] = {}
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        some = drawn(rng, options.worlds)
        map, more = worlds(some), worlds([(closed(rng, *one), *one[1:]) for one in some])
        noise = jnp.asarray(rng.random((options.limit, options.worlds, 2)), jnp.float32)
        for name, world, slip in (("as the map", map, 0.0), ("slips", map, 0.2), ("a wall more", more, 0.0)):
            fewest = np.asarray(table(world, jnp.ones(world.next.shape), slip)[0])
            cases.setdefault(name, []).append((world, map, slip, noise, _at(fewest, np.asarray(world.start))))
    rows = []
    for name, way in WAYS.items():
        row = [name]
        for runs in cases.values():
            shares, ratios = [], []
            for world, map, slip, noise, fewest in runs:
                there, steps = episodes(way, world, map, slip, noise)
                shares.append(100 * float(there.mean()))
                if there.any():
                    ratios.append(float(steps[there].sum() / fewest[there].sum()))
            row += [spread(shares, 3), spread(ratios, 3) if ratios else "–"]
        rows.append(row)
    head = [f"{name}: {what}" for name in cases for what in ("reached, %", "steps")]
    return {"plans": Table(["the world is", *head], rows)}


def _at(table: Any, cells: Any) -> Any:
    """The entry of each world at its cell."""
    return table[np.arange(len(cells)), cells]


PROGRAM = Program("systems.plans", arguments(__doc__, seeds=5, worlds=40, limit=80), measured)

if __name__ == "__main__":
    print(PROGRAM.main())
