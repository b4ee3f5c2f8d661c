"""Grid worlds: walls, a goal, moves that may slip, and values by value iteration.

| the mathematics                                              | here                                     |
| ------------------------------------------------------------ | ---------------------------------------- |
| a state                                                      | a cell, `row · SIDE + column`            |
| the four moves; one into a wall stays where it is            | `Worlds.next`: `int[worlds, cells, 4]`   |
| `V(s) = minₐ c(s, a) + Σ P(s′ | s, a) V(s′)`, 0 at the goal  | `values(next, goal, costs, slip)`        |
| with chance `slip` a move goes to one of its two sides       | `SIDES`                                  |
"""

from collections import deque
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int


SIDE = 8
CELLS = SIDE * SIDE
MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
SIDES = np.array([[1, 3], [0, 2], [1, 3], [0, 2]])  # of each move, those across it


class Worlds(NamedTuple):
    """Worlds of one size, along an axis in front."""

    next: Int[Array, "worlds cells moves"]
    start: Int[Array, " worlds"]
    goal: Int[Array, " worlds"]


def drawn(rng: np.random.Generator, many: int) -> list[tuple[np.ndarray, int, int]]:
    """Walls, a start and a goal that can be reached from it, in at least `SIDE` moves, and also with one wall more."""
    found: list[tuple[np.ndarray, int, int]] = []
    while len(found) < many:
        walls = rng.random(CELLS) < 0.25
        start, goal = rng.choice(np.flatnonzero(~walls), 2, replace=False)
        one = walls, int(start), int(goal)
        if SIDE <= len(path(*one)) and closable(*one):
            found.append(one)
    return found


def path(walls: np.ndarray, start: int, goal: int) -> list[int]:
    """The cells of a shortest path after its start; none where there is no path."""
    table, before = steps(walls), {start: start}
    todo = deque([start])
    while todo:
        cell = todo.popleft()
        for other in table[cell].tolist():
            if other not in before:
                before[other] = cell
                todo.append(other)
    cells = [goal] if goal in before else []
    while cells and cells[-1] != start:
        cells.append(before[cells[-1]])
    return cells[-2::-1]


def closable(walls: np.ndarray, start: int, goal: int) -> list[int]:
    """The cells of a shortest path without which there is another path."""
    return [cell for cell in path(walls, start, goal)[:-1] if path(_with(walls, cell), start, goal)]


def closed(rng: np.random.Generator, walls: np.ndarray, start: int, goal: int) -> np.ndarray:
    """The walls, and one more on a shortest path, which leaves another path."""
    return _with(walls, int(rng.choice(closable(walls, start, goal))))


def _with(walls: np.ndarray, cell: int) -> np.ndarray:
    return np.where(np.arange(CELLS) == cell, True, walls)


def steps(walls: np.ndarray) -> np.ndarray:
    """Where each move goes, `int[cells, 4]`."""
    at = np.stack(np.divmod(np.arange(CELLS), SIDE), 1)
    to = at[:, None] + MOVES
    cell = to[..., 0] * SIDE + to[..., 1]
    stays = ((to < 0) | (to >= SIDE)).any(-1) | walls[np.clip(cell, 0, CELLS - 1)]
    return np.where(stays, np.arange(CELLS)[:, None], cell)


def worlds(some: list[tuple[np.ndarray, int, int]]) -> Worlds:
    """As arrays."""
    tables, starts, goals = zip(*((steps(walls), start, goal) for walls, start, goal in some), strict=True)
    return Worlds(*(jnp.asarray(np.stack(x), jnp.int32) for x in (tables, starts, goals)))


def values(next: Any, goal: Any, costs: Any, slip: float) -> tuple[Float[Array, " cells"], Float[Array, "cells moves"]]:
    """How many steps each cell is from the goal of one world, on average, and after each move: value iteration.

    **Arguments:** `costs`: of a move into each cell, `float[cells, moves]`.
    """

    def after(V: Any) -> Any:
        straight = costs + V[next]
        return (1 - slip) * straight + slip * straight[:, SIDES].mean(-1)

    def better(_: Any, V: Any) -> Any:
        return jnp.where(jnp.arange(CELLS) == goal, 0.0, after(V).min(1))

    V = jax.lax.fori_loop(0, 4 * CELLS, better, jnp.full(CELLS, 0.0))
    return V, after(V)
