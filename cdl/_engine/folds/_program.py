"""Programs: cases that are the same but for their weights.

| the thing     | what it is                                                                              |
| ------------- | --------------------------------------------------------------------------------------- |
| a case        | the jaxpr of a function at one node, and the arrays it closes over: its weights         |
| a program     | cases of equal jaxprs (`jaxprs._fingerprint`); a weight that differs is stacked,        |
|               | and a case knows its place in the stack; one that does not is shared                    |

So an algebra of a hundred constructors with one cell each compiles as one cell. The arrays are found by tracing, so
it does not matter how the algebra holds them: as fields, in a closure, or many times over.
"""

import functools
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ..arrays.shapes import Arrays, one_of, Shape
from ..forests._bucket import Bucket, Size
from ..forests._variant import Variant
from ..jaxprs._fingerprint import fingerprint
from ..jaxprs._gates import gated
from ..jaxprs._jaxprs import emptied, opened
from ..jaxprs._reach import bits_of, Reach, reach
from ..jaxprs._stacks import stacks, unpicked


PROBE = Size(3, 5, 4)  # at which cases are traced: no two `Many`s have as many edges

# Over what a case is being put: a chunk's rows, the edges of one of its `Many`s, or nothing, while it is traced.
over: ContextVar[Literal["rows", "edges"] | None] = ContextVar("over", default=None)

Columns = tuple[int, ...]


class Handed(NamedTuple):
    """Which columns a step hands to its slots and its `Many`s."""

    slots: tuple[Columns, ...]
    manys: tuple[Columns, ...]


@dataclass(frozen=True)
class Wiring:
    """Which columns a case reads and writes: of the payload, of the values at its slots and `Many`s, and of those at
    its own node: `out` that it writes, `own` that it reads. `handed`: those that a step hands to its
    children. Its outputs are those of the slots, its own, and last the edges'."""

    payload: Columns
    slots: tuple[Columns, ...]
    manys: tuple[Columns, ...]
    out: Columns
    own: Columns = ()
    handed: Handed | None = None

    @property
    def to_children(self) -> Handed:
        """What a step hands on."""
        assert self.handed is not None
        return self.handed

    @property
    def by_edge(self) -> int:
        """How many outputs are the edges'."""
        return 0 if self.handed is None else sum(map(len, self.handed.manys))


class Reached(NamedTuple):
    """What the inputs of a case reach: its payload, and the children's columns at each slot and `Many`."""

    payload: list[int]
    slots: list[list[int]]
    manys: list[list[int]]


@dataclass
class Program:
    """One compiled case. `members` are the numbers of its `variants`, which may be of several sorts, and `places` are
    theirs in the stacked weights, which are `apart` if they came one by one. It has the shapes of its `weights`, and no
    array: derivative rules hold programs for longer than the trace lasts in which these were made.

    `case` is traced at `PROBE`. `at[size]` is the case at every row of a chunk, traced once for each number of edges,
    by `trace_at`.
    """

    variants: list[Variant]
    wiring: Wiring
    members: list[int]
    places: list[int]
    weights: list[Shape]
    stacked: list[bool]
    apart: bool
    case: ClosedJaxpr
    at: dict[Size, Callable[..., list[Any]]] = field(default_factory=dict)
    by_rows: dict[int, Any] = field(default_factory=dict)  # the program at rows of any constructor, by `indexed`

    @property
    def variant(self) -> Variant:
        """One of its variants: all have as many slots and `Many`s."""
        return self.variants[0]

    @property
    def kinds(self) -> int:
        """How many constructors its stacks have: also such as are none of its members. 1 where nothing is stacked."""
        return next((w.shape[0] for w, stacked in zip(self.weights, self.stacked, strict=True) if stacked), 1)

    @property
    def in_stacks(self) -> jax.Array:
        """The place of each member in the stacks; where nothing is stacked, they are one."""
        return jnp.array(self.places if any(self.stacked) else [0] * len(self.places), jnp.int32)

    @functools.cached_property
    def reach(self) -> Reach:
        """What the values of the case reach."""
        return reach(self.case.jaxpr, self.wiring.out)

    @functools.cached_property
    def reached(self) -> Reached:
        """What the inputs of the case reach."""
        every = iter(self.case.jaxpr.invars[len(self.weights) + 1 :])
        each: Callable[[Columns], list[int]] = lambda columns: [self.reach.get(next(every), 0) for _ in columns]
        wiring = self.wiring
        payload, slots = each(wiring.payload), list(map(each, wiring.slots))
        rest = sum(1 + len(columns) for columns in wiring.manys) + len(wiring.own)
        every = iter(self.case.jaxpr.invars[len(self.case.jaxpr.invars) - rest :])
        return Reached(payload, slots, [each((0, *columns))[1:] for columns in wiring.manys])

    @functools.cached_property
    def below(self) -> list[dict[int, int]]:
        """For each slot and then each `Many`: which of its columns are read, as bits, by those that they reach."""
        groups = (*self.wiring.slots, *self.wiring.manys), (*self.reached.slots, *self.reached.manys)
        return [_by_reached(columns, reached) for columns, reached in zip(*groups, strict=True)]

    def trace_at(self, sizes: Iterable[Size], trace: "Trace") -> None:
        """Traces the case at these sizes of chunk."""
        lengths: Callable[[Size], Any] = lambda size: tuple(map(size.edges_of, range(self.variant.manys)))
        traced = {lengths(PROBE): self.case}
        for size in sizes:
            if lengths(size) not in traced:
                traced[lengths(size)] = emptied(unpicked(trace(self.members[0], size)))
            self.at[size] = _rows(size, traced[lengths(size)], self.wiring)


def _by_reached(columns: Columns, reached: list[int]) -> dict[int, int]:
    pairs = list(zip(columns, reached, strict=True))
    return {r: bits_of(c for c, other in pairs if other == r) for r in dict.fromkeys(reached) if r}


Case = tuple[int, Wiring, ClosedJaxpr]  # of a variant, by its number
Trace = Callable[[int, Size], ClosedJaxpr]  # the case of a variant at a size of chunk


def programs(bucket: Bucket, cases: Iterable[Case], *, forward: bool = False) -> tuple[list[Program], list[Arrays]]:
    """The programs of some cases, which were traced at `PROBE`, and the weights of each. `forward`: so that forward
    mode goes through."""
    grouped: dict[Any, list[Case]] = {}
    for index, wiring, traced in cases:
        v, case = bucket.variants[index], unpicked(traced)
        grouped.setdefault((v.slots, v.manys, wiring, fingerprint(case.jaxpr)), []).append((index, wiring, case))
    found = [_program(bucket, same, forward) for same in grouped.values()]
    return [program for program, _ in found], [weights for _, weights in found]


def _program(bucket: Bucket, cases: list[Case], forward: bool) -> tuple[Program, Arrays]:
    _, wiring, case = cases[0]
    weights, stacked, places, apart = stacks([case.consts for *_, case in cases], forward)
    members = [i for i, *_ in cases]
    variants = [bucket.variants[i] for i in members]
    return Program(variants, wiring, members, places, one_of(weights), stacked, apart, emptied(case)), weights


def _rows(size: Size, case: ClosedJaxpr, wiring: Wiring) -> Callable[..., list[Any]]:
    """A case at every row of a chunk; with the `bits` of the rows, what is not active has no gradient."""
    run = opened(case)
    axes = [0] * (len(case.jaxpr.outvars) - wiring.by_edge) + [None] * wiring.by_edge

    def rows(
        weights: list[Any], payload: Arrays, slots: list[Arrays], keys: Arrays, edges: Any, own: Arrays,
        bits: jax.Array | None = None,
    ) -> list[Any]:  # fmt: skip
        def one(row: jax.Array, bits: Any, payload: Arrays, slots: list[Arrays], keys: Arrays, own: Arrays) -> Any:
            given = *weights, *jax.tree.leaves((row, payload, slots, keys, edges, own))
            return run(*given) if bits is None else gated(case, wiring.out, bits, given)

        places = jnp.arange(size.rows, dtype=jnp.int32)
        before = over.set("rows")
        try:
            return jax.vmap(one, out_axes=axes)(places, bits, payload, slots, keys, own)
        finally:
            over.reset(before)

    return rows
