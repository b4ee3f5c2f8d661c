"""The rows and edges of a chunk, and how they are written.

A chunk's arrays have a fixed size, and often fewer valid rows. The places past the last valid row repeat it, and so do
edges. So padding computes with numbers of the forest, and makes no NaN that the forest does not have.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..arrays._rows import chosen, take, write
from ..arrays.shapes import Arrays
from ..forests._bucket import Size
from ..forests._schedule import EDGES, ROW, ROWS
from ..forests._variant import Variant
from ._program import Columns
from ._slabs import Slabs


class Edge(NamedTuple):
    """The edges of a `Many` at a chunk, with its last valid edge repeated."""

    lines: jax.Array
    valid: jax.Array  # which are its own
    place: jax.Array  # that of each one's row in the chunk
    segment: jax.Array  # the same; the number of places, past its own
    kind: jax.Array  # the place of each one's constructor in the stacks
    end: jax.Array  # where that constructor's edges end
    child: jax.Array  # the row at the end of each
    total: jax.Array  # how many are its own


@dataclass(frozen=True)
class Chunk:
    """A chunk's own rows and edges."""

    size: Size
    row: jax.Array
    count: jax.Array  # how many rows are its own
    rows: jax.Array  # the row of each place, repeated past the chunk's own
    valid: jax.Array  # which places are its own
    kind: jax.Array  # the place of each one's constructor in the stacks
    end: jax.Array  # where that constructor's rows end
    above: jax.Array  # the edge above each place's row
    slots: jax.Array | None  # the edge of each place and slot
    edges: list[Edge]  # those of each `Many`


def chunk_at(variant: Variant, size: Size, line: jax.Array, of_rows: jax.Array, of_edges: jax.Array) -> Chunk:
    """The rows and edges of a chunk.

    **Arguments:** `variant`: one that its rows may be of. `line`: its line in the table of chunks. `of_rows`: for each
    row of the forest its constructor's place in the stacks, where that one's rows end, and the edge above. `of_edges`:
    for each edge the place and the end, the row below, and the row above.
    """
    row, count = line[ROW], line[ROWS]
    places = jnp.arange(size.rows, dtype=jnp.int32)
    alone = size.rows == 1  # then the row is valid: every chunk has one
    inside, valid = (places, jnp.ones(1, bool)) if alone else (jnp.minimum(places, count - 1), places < count)
    k = variant.slots
    slots = line[EDGES] + inside[:, None] * k + jnp.arange(k, dtype=jnp.int32)[None] if k else None
    edges, places = [], jnp.arange(size.edges, dtype=jnp.int32)
    for g in range(variant.manys):
        first, many = line[EDGES + 2 * (g + 1)], line[EDGES + 2 * (g + 1) + 1]
        lines, own = first + jnp.minimum(places, many - 1), places < many
        kind, end, child, owner = _columns(take(of_edges, lines))
        place = owner - row
        segment = chosen(own, place, jnp.int32(size.rows))
        edges.append(Edge(lines, own, place, segment, kind, end, child, many))
    rows = row + inside
    kind, end, above = _columns(take(of_rows, rows))
    return Chunk(size, row, count, rows, valid, kind, end, above, slots, edges)


def write_edges(
    buffers: Arrays, slabs: Slabs, at: Chunk, of_slots: Sequence[Columns], slots: Any, of_manys: Sequence[Columns],
    manys: Any,
) -> None:  # fmt: skip
    """Writes what a chunk's rows give to the edges of their slots and `Many`s into the slabs of these, but for slabs
    that are `None`. The edges of slots lie row after row."""

    def parts(columns: Columns, to: Any, number: int) -> dict[int, jax.Array]:
        pairs = zip(columns, to, strict=True)
        return slabs.rows({c: x for c, x in pairs if buffers[slabs.slab_of[c]] is not None}, number)

    every = [parts(columns, to, len(at.rows)) for columns, to in zip(of_slots, slots, strict=True)]
    for s in dict.fromkeys(itertools.chain(*every)):
        nothing = jnp.zeros((len(at.rows), *buffers[s].shape[1:]), buffers[s].dtype)
        rows = jnp.stack([own.get(s, nothing) for own in every], 1)
        assert at.slots is not None
        valid = jnp.repeat(at.valid, rows.shape[1])
        buffers[s] = write(buffers[s], at.slots[0, 0], valid, rows.reshape(len(valid), *rows.shape[2:]))
    for edge, columns, to in zip(at.edges, of_manys, manys, strict=True):
        for s, x in parts(columns, to, len(edge.lines)).items():
            buffers[s] = write(buffers[s], edge.lines[0], edge.valid, x)


def _columns(table: jax.Array) -> list[jax.Array]:
    """Each column of a table."""
    return [x.reshape(-1) for x in jnp.split(table, table.shape[1], 1)]
