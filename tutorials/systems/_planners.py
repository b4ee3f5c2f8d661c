"""Planners, which grow plans with a coalgebra, and an executor, which is a machine.

| the mathematics                                 | here                                                       |
| ----------------------------------------------- | ---------------------------------------------------------- |
| a plan: a list of moves, grown from a cell      | `Ahead`, a coalgebra of `1 + A × X`; `unfold`              |
| all moves of some steps, and the best of them   | `Far` grows a tree of `C + X⁴`, `best` reads it; `refold`  |
| a world that answers moves                      | `Executor`, a Mealy machine that takes noise; `run`        |
| a move that failed costs more from then on      | `costs`, in the executor's state                           |
"""

from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from cdl import algebra, Base, choose, Cons, MealyF, Nil, refold, unfold

from ._grids import SIDE, SIDES, values, Worlds


X = TypeVar("X", covariant=True)
DEPTH = 4
FAILED = 2.0  # what a move that failed costs more, each time


class Look:
    """Moves and what may come after: the name of the functor `C + X⁴`."""


class Stop(Base[Look, Never]):
    """A guess of the cost that is left."""

    cost: Array


class Turn(Base[Look, X], Generic[X]):
    """What comes after each move."""

    up: X
    right: X
    down: X
    left: X


LookF = Union[Stop, Turn[X]]


class Ahead(eqx.Module):
    """A plan as a coalgebra of lists: the best move by a table, and the cell that it should lead to."""

    moves: Int[Array, "worlds cells"]
    next: Int[Array, "worlds cells moves"]
    goal: Int[Array, " worlds"]

    def __call__(self, seed: Any) -> Any:
        world, cell = seed
        move = self.moves[world, cell]
        there = jnp.where(cell == self.goal[world], 1.0, -1.0)
        return choose(jnp.stack([there, -there]), Nil(), Cons(move, (world, self.next[world, cell, move])))


class Far(eqx.Module):
    """All moves of some steps as a coalgebra; at its end stands what was spent, and the distance without walls."""

    next: Int[Array, "worlds cells moves"]
    goal: Int[Array, " worlds"]
    costs: Float[Array, "worlds cells moves"]

    def __call__(self, seed: Any) -> Any:
        world, cell, left, spent = seed
        apart = jnp.abs(jnp.stack(jnp.divmod(cell, SIDE)) - jnp.stack(jnp.divmod(self.goal[world], SIDE)))
        ends = jnp.where((left == 0) | (cell == self.goal[world]), 1.0, -1.0)
        nexts, costs = self.next[world, cell], self.costs[world, cell]
        after = [(world, nexts[move], left - 1, spent + costs[move]) for move in range(4)]
        return choose(jnp.stack([ends, -ends]), Stop(spent + apart.sum().astype(float)), Turn(*after))


@algebra
def best(layer: Any) -> Any:
    """The least cost, and the move that it begins with: `float[2]`."""
    match layer:
        case Stop(cost):
            return jnp.stack([cost, jnp.zeros_like(cost)])
        case Turn(up, right, down, left):
            costs = jnp.stack([up[0], right[0], down[0], left[0]])
            return jnp.stack([costs.min(), jnp.argmin(costs).astype(float)])


def table(map: Worlds, costs: Any, slip: float = 0.0) -> tuple[Any, Any]:
    """How far each cell is from the goal, and the best move there, by value iteration: `[worlds, cells]` each."""
    V, after = jax.vmap(lambda next, goal, costs: values(next, goal, costs, slip))(map.next, map.goal, costs)
    return V, jnp.argmin(after, 2).astype(jnp.int32)


def plans(map: Worlds, moves: Any, cells: Any, nodes: int) -> tuple[Any, Any]:
    """A plan from each cell, as moves and how many there are; `unfold` grows the lists."""
    numbers = jnp.arange(len(cells), dtype=jnp.int32)
    grown = unfold(Ahead(moves, map.next, map.goal), (numbers, cells), nodes)
    return grown.elements.values, grown.elements.lengths


def looked(map: Worlds, costs: Any, cells: Any) -> Any:
    """The best move from each cell, of all that there are in `DEPTH` steps: a tree that is grown and read."""
    many = len(cells)
    seeds = (jnp.arange(many, dtype=jnp.int32), cells, jnp.full(many, DEPTH, jnp.int32), jnp.zeros(many))
    found, _ = refold(best, Far(map.next, map.goal, costs), seeds, (4 ** (DEPTH + 1) - 1) // 3)
    return found[:, 1].astype(jnp.int32)


class Executor(eqx.Module):
    """Worlds and who acts in them: a machine that takes noise, and answers with the cells."""

    worlds: Worlds
    slip: float = eqx.field(static=True)
    policy: Callable[[Any], Any]  # from the state to a move for each world; −1 for none

    def begin(self) -> Any:
        """The cell, the time, and what each move costs."""
        return self.worlds.start, jnp.zeros((), jnp.int32), jnp.ones(self.worlds.next.shape)

    def __call__(self, state: Any) -> MealyF[Any, Any, Any]:
        cells, time, costs = state

        def step(noise: Float[Array, "worlds 2"]) -> Any:
            wanted, numbers = self.policy(state), jnp.arange(len(cells))
            side = jnp.asarray(SIDES)[wanted, (noise[:, 1] < 0.5).astype(int)]
            move = jnp.where(noise[:, 0] < self.slip, side, wanted)
            acts = (wanted >= 0) & (cells != self.worlds.goal)
            now = jnp.where(acts, self.worlds.next[numbers, cells, move], cells)
            failed = jnp.where(acts & (now == cells), FAILED, 0.0)
            return now, (now, time + 1, costs.at[numbers, cells, wanted].add(failed))

        return MealyF(step)
