"""How far trees may grow, and how many nodes at a time."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ._agenda import Agenda, BULK
from ._tables import part


FEWEST = 32  # rows of a block, if there are so many lanes


@dataclass(frozen=True)
class Plan:
    """How many `nodes` a tree may have, how many in `total` all trees together, and how many `lanes` there are: rows
    that grow at a time. `spread` says that payloads are kept by tree and number, and not by row."""

    trees: int
    nodes: int
    total: int
    lanes: int
    spread: bool = False

    @property
    def rows(self) -> int:
        """The most nodes that there can be."""
        return min(self.trees * self.nodes, self.total)

    @property
    def roots(self) -> int:
        """How many trees have a root."""
        return min(self.trees, self.rows)

    def ends(self, places: int) -> int:
        """The most nodes without children that there can be, where none has more than so many `places`: all are roots
        or children."""
        return self.rows - (self.rows - self.roots) // places if places else self.rows

    @property
    def chunks(self) -> int:
        """The most chunks that there can be: of each level all are full but the last."""
        return min(self.rows, self.rows // self.lanes + self.nodes)

    def own(self, head: jax.Array, stop: jax.Array) -> jax.Array:
        """Which rows of a chunk are its own."""
        return jnp.arange(self.lanes, dtype=jnp.int32) < stop - head

    def chunk(self, choice: jax.Array, candidates: int, head: jax.Array, stop: jax.Array) -> Agenda:
        """The rows of a chunk by candidate."""
        own = jnp.where(self.own(head, stop), part(choice, head, self.lanes), -1)
        return Agenda(own, candidates, _width(self.lanes, candidates), head)


def _width(lanes: int, candidates: int) -> int:
    """How many rows a block has, where rows of a chunk may have chosen any of these candidates: the more candidates,
    the fewer rows have one of them, and a block is computed as a whole."""
    return max(min(FEWEST, lanes), lanes // (4 * max(2, candidates)))


def every(choice: jax.Array, candidates: int) -> Agenda:
    """All rows by candidate, where the order is of no matter."""
    return Agenda(choice, candidates, BULK)
