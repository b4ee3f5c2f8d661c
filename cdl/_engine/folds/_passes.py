"""The passes over a forest: up with the values, and down with their cotangents.

| the pass      | what it does, chunk by chunk                                                    | order            |
| ------------- | ------------------------------------------------------------------------------- | ---------------- |
| `forward`     | reads the children's states, runs the program, writes the rows' states          | the schedule's   |
| `backward`    | reads the rows' cotangents, runs the program's derivative, writes the edges'    | reversed         |

Each node but a root is the child at exactly one edge. So cotangents are stored by edge, and no scatter is needed.
Programs by index keep the cotangents of their sites, and `_sums` makes the weights' gradients of them at the end.
Programs by constructor add their weights' gradients up on the way. A variant with neither children nor payload has one
value, which is computed once.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays._rows import masked, put, room, take, write
from ..arrays.shapes import Arrays, is_smooth
from ..forests._forest import Forest
from ..jaxprs._gates import gated
from ..jaxprs._jaxprs import calls_back, opened
from ..jaxprs._reach import either
from ..jaxprs._slopes import has_finite_slopes
from ._activity import Activity
from ._chunk import Chunk, write_edges
from ._kernel import Cotangents, Kernel, Read, Tables
from ._loop import nothing
from ._present import bits_there, only_present
from ._program import Program
from ._residual import only
from ._sites import all_indexed
from ._storage import Storage
from ._walk import Walk


Bits = jax.Array | None  # the columns that are read, of each row or edge; `None` where all that is computed is read
Down = tuple[Arrays, Cotangents, Bits]  # the edges' cotangents, all that is found, and the edges' bits


class Passes:
    """The passes of one algebra's programs over one forest. `keep` says whether matrix products are kept for the way
    down, or computed again."""

    def __init__(
        self, programs: list[Program], storage: Storage, keep: bool, key: jax.Array | None, forest: Forest
    ) -> None:
        self.forest, self.programs, self.storage = forest, programs, storage
        keyed = key is not None
        alike = [x.variant.leaf and not x.wiring.payload and not keyed for x in programs]
        self.constant = [p for p, yes in enumerate(alike) if yes]
        found = all_indexed(programs, int(keyed), but=self.constant)
        self.slabs = storage.slabs
        self.walk = Walk(forest, programs, storage, key, list(found), self.constant, self.slabs)
        smooth = [[storage.smooth[c] for c in program.wiring.out] for program in programs]
        self.kernel = Kernel(self.walk, found, smooth, [], keep, held=True)

    def forward(self, weights: list[Arrays], payload: Arrays) -> Arrays:
        """The value at every row, in slabs."""
        return self._forward(weights, payload, {})[0]

    def forward_and_keep(self, weights: list[Arrays], payload: Arrays) -> tuple[Arrays, Tables]:
        """The same, and what is kept for the way down."""
        return self._forward(weights, payload, self.kernel.room())

    def _constants(self, p: int, bits: jax.Array | None = None) -> Callable[[Arrays], Arrays]:
        """The values of a program that reads nothing, for each of its constructors. `bits` says which columns are read,
        at each of them, if not all are."""
        program = self.programs[p]
        each = None if bits is None else either(bits, program.in_stacks, program.kinds)
        if has_finite_slopes(program.case.jaxpr):
            return _constants(program, each)
        there = self.walk.there(program) if bits is None else bits != 0
        return only_present(program, there, _constants(program, bits_there(program, there) if each is None else each))

    def _forward(self, weights: list[Arrays], payload: Arrays, tables: Tables) -> tuple[Arrays, Tables]:
        states = [room((self.walk.length, *x.shape), x.dtype, -i) for i, x in enumerate(self.slabs.shapes)]
        for p in self.constant:
            program = self.programs[p]
            out = dict(zip(program.wiring.out, self._constants(p)(weights[p]), strict=True))
            for s, x in self.slabs.rows(out, len(program.members)).items():
                states[s] = states[s].at[jnp.array(program.members)].set(x)
        ready = self.kernel.weights(weights)

        def body(p: int, at: Chunk, both: tuple[Arrays, Tables], _: None) -> tuple[Arrays, Tables]:
            states = list(both[0])
            inputs = self.walk.inputs(p, at, payload, states)
            out, tables = self.kernel.forward(p, at, ready, inputs, both[1])
            rows = self.slabs.rows(dict(zip(self.programs[p].wiring.out, out, strict=True)), at.size.rows)
            for s, x in rows.items():
                together = p in self.kernel.indexed
                states[s] = put(states[s], at.row, x) if together else write(states[s], at.row, at.valid, x)
            return states, tables

        found: tuple[Arrays, Tables] = self.walk.loop(nothing, body, (states, tables))
        return found

    def backward(
        self, weights: list[Arrays], payload: Arrays, states: Arrays, tables: Tables, by_sort: Sequence[Arrays],
        at_roots: bool, wanted: Any,
    ) -> tuple[list[Arrays], Arrays]:  # fmt: skip
        """The cotangents of the weights and of the payload that are `wanted`, `None` for the others.

        `by_sort` are the cotangents of the values, as those of each sort are read: `at_roots`, by tree and in columns,
        else by row and in slabs; `None` for those that have none.
        """
        given, outside = list(map(added, zip(*by_sort, strict=True))), self._outside(by_sort, at_roots)
        activity = Activity(self.walk, outside, at_roots)
        edges, of_roots = len(self.forest.child), {}
        if at_roots:
            there = {c: x for c, x in enumerate(given) if x is not None}
            of_roots = self.slabs.rows(there, edges - 1 - self.forest.bucket.edges)
        brought: Arrays = []
        for s, x in enumerate(self.slabs.shapes):
            zeros: Any = jnp.zeros((edges, *x.shape), x.dtype) if is_smooth(x) else None
            brought.append(put(zeros, self.forest.bucket.edges, of_roots[s]) if s in of_roots else zeros)
        by_row = [None] * len(brought) if at_roots else given
        ready = self.kernel.weights(weights)

        def read(p: int, at: Chunk, carry: Down) -> tuple[Arrays, Arrays, Bits]:
            brought, found, bits = carry
            own = None if bits is None else take(bits, at.above)
            return self._own(p, at, by_row, brought), self.kernel.products(p, at, found), own

        def body(p: int, at: Chunk, carry: Down, had: tuple[Arrays, Arrays, Bits]) -> Down:
            wiring, brought = self.programs[p].wiring, list(carry[0])
            inputs, (given, kept, own) = self.walk.inputs(p, at, payload, states), had
            held = [self.slabs.read(states, wiring.out[i], at.rows) for i in self.kernel.held.get(p, [])]
            to, found = self.kernel.reverse(p, at, ready, inputs, given, kept, carry[1], held, own)
            write_edges(brought, self.slabs, at, wiring.slots, to.slots, wiring.manys, to.manys)
            return brought, found, activity.below(p, at, carry[2], own)

        start = self.kernel.start(ready, payload, tables, wanted, but=self.constant)
        brought, found, bits = self.walk.loop(read, body, (brought, start, activity.start()), down=True)
        again: Read = lambda p, at, index: self.walk.again(p, at, index, payload, states)
        sums = self.kernel.gradients(ready, found, again, wanted[0], activity.of_rows(bits))
        for p in self.constant:
            if any(wanted[0][p]):
                own = activity.of_constants(self.programs[p], bits)
                (of_weights,) = _vjp(self._constants(p, own), weights[p])(self._of_constants(p, by_row, brought))
                sums[p] = only(of_weights, wanted[0][p])
        return sums, found.payload

    def _outside(self, by_sort: Sequence[Arrays], at_roots: bool) -> list[list[int]]:
        """For each sort, its columns that have a cotangent from outside."""
        columns: Any = [[i] for i in range(len(self.storage.leaves))] if at_roots else self.slabs.columns
        own = [self.storage.columns(s) if s in self.storage.carriers else () for s in range(len(by_sort))]
        return [
            [c for i, x in enumerate(some) if x is not None for c in columns[i] if c in mine]
            for some, mine in zip(by_sort, own, strict=True)
        ]

    def _own(self, p: int, at: Chunk, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a chunk's rows; zeros past its own where it has one constructor."""
        columns = self._smooth(self.programs[p].wiring.out)
        rows = {s: take(brought[s], at.above) for s in dict.fromkeys(self.slabs.slab_of[c] for c in columns)}
        rows = {s: x if given[s] is None else x + take(given[s], at.rows) for s, x in rows.items()}
        own = [self.slabs.pick(c, rows[self.slabs.slab_of[c]]) for c in columns]
        return own if p in self.kernel.indexed else [masked(at.valid, x) for x in own]

    def _of_constants(self, p: int, given: Arrays, brought: Arrays) -> Arrays:
        """The cotangents of a program's constants: the sums of what all edges bring to them."""
        program, variants = self.programs[p], len(self.forest.bucket.variants)
        found = []
        for c in self._smooth(program.wiring.out):
            s = self.slabs.slab_of[c]
            total = jax.ops.segment_sum(brought[s], jnp.minimum(self.walk.child, variants), variants + 1)
            total = total if given[s] is None else total + given[s][: variants + 1]
            found.append(self.slabs.pick(c, total[jnp.array(program.members)]))
        return found

    def _smooth(self, columns: Iterable[int]) -> list[int]:
        """Those of some columns that have a cotangent, each once."""
        return [c for c in dict.fromkeys(columns) if self.storage.smooth[c]]


def added(cotangents: Iterable[jax.Array | None]) -> jax.Array | None:
    """The sum of those that there are."""
    some = [x for x in cotangents if x is not None]
    return functools.reduce(jnp.add, some) if some else None


def _constants(program: Program, each: Bits) -> Callable[[Arrays], Arrays]:
    """The values of a program that reads nothing, for each of its constructors. `each` says which columns are read of
    each one in the stacks, if not all are."""
    run, axes = opened(program.case), [0 if stacked else None for stacked in program.stacked]
    row = jnp.int32(0)

    def one(bits: Bits, *weights: Any) -> Arrays:
        given = *weights, row
        return run(*given) if bits is None else gated(program.case, program.wiring.out, bits, given)

    def every(weights: Arrays) -> Arrays:
        size = program.kinds
        if calls_back(program.case.jaxpr):  # where one constructor does, not where any does
            found = jax.lax.map(lambda i: one(*_at(i, (each, *weights), (0, *axes))), jnp.arange(size))
        else:
            found = jax.vmap(one, in_axes=(None if each is None else 0, *axes), axis_size=size)(each, *weights)
        return [take(x, program.in_stacks) for x in found]

    return every


def _at(i: jax.Array, values: Iterable[Any], axes: Iterable[int | None]) -> list[Any]:
    """The values of one constructor, of which some are stacked."""
    return [x if x is None or axis is None else take(x, i) for x, axis in zip(values, axes, strict=True)]


def _vjp(run: Callable[[Arrays], Arrays], weights: Arrays) -> Callable[..., Any]:
    """The vjp of a function, of its values that have a derivative."""
    return jax.vjp(lambda weights: [x for x in run(weights) if is_smooth(x)], weights)[1]
