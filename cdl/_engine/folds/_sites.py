"""A program at the rows of a chunk, whatever their constructors, and its reverse.

The reverse pass computes a case again, but for its products, which were kept. It gives the cotangents of what the rows
were computed from and of the sites; the weights' come from these, of all rows at once (`_sums`).
"""

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from ..arrays._platform import platform
from ..arrays._rows import repeated
from ..arrays.shapes import Arrays, is_smooth, rows_of, shaped
from ..forests._bucket import Bucket, Size
from ..jaxprs._jaxprs import Once, without_constants
from ..jaxprs._slopes import is_tame
from ._apart import apart
from ._at_rows import Active, broadcast, Over, Rows, spread
from ._group import Group, Tiles
from ._levels import EDGES, NotIndexed, ROWS, SHARED, Site, STACK, Value
from ._node import Inputs
from ._plan import Plan, Planning
from ._prepare import ActiveWeights, Prepare
from ._program import Program, Trace
from ._together import together


Held = Mapping[int, Any]  # outputs, by number


class Reversed(NamedTuple):
    """The cotangents of the inputs and of the sites, `None` where there is none; and what a site is computed from."""

    inputs: Inputs
    sites: Arrays
    inner: list[Arrays]


class Indexed:
    """A program whose rows are computed together, whatever their constructors. `linear` says whether what is made of
    weights alone has finite slopes whatever they are, and `used` the outputs that other values are computed from.

    **Raises:** `NotIndexed` for a program that is to be computed by constructor.
    """

    def __init__(self, program: Program, keys: int) -> None:
        self.program, wiring = program, program.wiring
        self.jaxpr = together(without_constants(program.case.jaxpr))
        self.levels = [STACK if s else SHARED for s in program.stacked]
        self.used, self.tame = _used(self.jaxpr), is_tame(self.jaxpr)
        self._plans: dict[Hashable, Plan] = {}
        self.rows, self.reverse = Once(self._rows), Once(self._reverse)
        nothing: Callable[[Any], Arrays] = lambda columns: [None] * len(columns)
        slots, manys = list(map(nothing, wiring.slots)), list(map(nothing, wiring.manys))
        self._nothing = Inputs(nothing(wiring.payload), slots, [None] * keys, manys, nothing(wiring.own))
        self.sites, self.linear = self._met(program.weights)

    def prepare(self, weights: Arrays, active: ActiveWeights | None = None) -> Arrays:
        """What each site takes, made of the weights; `active` says what is read, if not all is."""
        phase = Prepare(active)
        self._run(phase, weights, self._nothing, None)
        return phase.weights

    def _met(self, shapes: Arrays) -> tuple[list[Site], bool]:
        """The sites, and whether what is made of weights alone has finite slopes, from the shapes of the weights."""
        found: list[tuple[list[Site], bool]] = []

        def look(weights: Arrays) -> None:
            phase = Prepare()
            self._run(phase, weights, self._nothing, None)
            found.append((phase.sites, phase.linear))  # and not the phase, which has tracers

        jax.eval_shape(look, shapes)
        return found[0]

    def at_rows(self, prepared: Arrays) -> Arrays:
        """What each site takes at rows. Of weights that came one by one, large matrices are taken one by one."""
        if not self.program.apart:
            return prepared
        by_kind = [site.kind == "product" and site.level == STACK for site in self.sites]
        return [apart(w) if yes else w for w, yes in zip(prepared, by_kind, strict=True)]

    def _rows(
        self, prepared: Arrays, over: Over, inputs: Inputs, given: Arrays | None = None, held: Held | None = None,
        active: Active | None = None,
    ) -> tuple[Arrays, Arrays, list[Arrays]]:  # fmt: skip
        """The outputs at every row, and at every edge for those that are the edges'; and of each site its value, and
        what it is computed from."""
        at_hand: dict[Any, Any] = {self.jaxpr.outvars[i]: x for i, x in (held or {}).items()}
        phase = Rows(prepared, over, given, at_hand, active, self.tame)
        found = self._run(phase, [None] * len(self.levels), inputs, over)
        assert [site.what for site in phase.sites] == [site.what for site in self.sites]
        out = [x.value if x.level == EDGES else broadcast(x, over.rows) for x in found]
        return out, phase.values, phase.inputs

    def _run(self, phase: Any, weights: Arrays, inputs: Inputs, over: Over | None) -> list[Value]:
        row = None if over is None else jnp.arange(over.rows.length, dtype=jnp.int32)
        args = [Value(level, w) for level, w in zip(self.levels, weights, strict=True)]
        slots = itertools.chain(*inputs.slots)
        args += [Value(ROWS, x) for x in (row, *inputs.payload, *slots, *inputs.keys)]
        args += [Value(EDGES, x, g) for g, xs in enumerate(inputs.edges) for x in (None, *xs)]
        args += [Value(ROWS, x) for x in inputs.own]
        return list(phase.spread(phase.run(self.jaxpr, (), args), self.jaxpr.outvars))

    def _reverse(
        self, prepared: Arrays, over: Over, inputs: Inputs, products: Arrays | None, given: Arrays, held: Held,
        bits: jax.Array | None = None,
    ) -> Reversed:  # fmt: skip
        """`products` were kept, or are computed again; `given` are the cotangents of the outputs that have one. `held`
        are outputs that are at hand, by number. `bits` are the columns that are read, if not all are."""
        active = None if bits is None else Active(self.program.reach, bits, over)
        values = self._values(prepared, over, inputs, products)
        known = [x is not None and site.smooth for x, site in zip(values, self.sites, strict=True)]
        smooth, rest = eqx.partition((values, inputs), (known, jax.tree.map(is_smooth, inputs)))

        def run(smooth: Any) -> tuple[Arrays, Arrays]:
            values, inputs = eqx.combine(smooth, rest)
            out, _, inner = self._rows(prepared, over, inputs, values, held, active)
            return [x for x in out if is_smooth(x)], inner

        _, pull, inner = jax.vjp(run, smooth, has_aux=True)
        (to_values, to_inputs), *_ = pull(given)
        if active is not None:
            to_values = [active.only(x, site) for x, site in zip(to_values, self.sites, strict=True)]
        return Reversed(to_inputs, to_values, inner)

    def _values(self, prepared: Arrays, over: Over, inputs: Inputs, products: Arrays | None) -> Arrays:
        """The sites' values, from the products; zeros for lookups, to which what is looked up is added."""
        zeros = products is None and self.tame  # past a chunk's own rows; kept products are the last row's there
        values = self.rows(prepared, over, inputs)[1] if products is None else products
        found: Arrays = []
        for site, w, value in zip(self.sites, prepared, values, strict=True):
            group = over.rows if site.many is None else over.edges[site.many]
            if site.kind == "spread":
                found.append(spread(w, site.level, group))
            elif site.kind == "lookup":
                assert site.eqn is not None
                of: Any = site.eqn.outvars[0].aval
                found.append(jnp.zeros((group.length, *of.shape), of.dtype) if site.smooth else None)
            else:
                found.append(repeated(value, group.own, group.count - 1) if zeros else value)
        return found

    def plan(self, weights: Arrays, inputs: Inputs, size: Size, keep: bool, held: Sequence[int]) -> Plan:
        """What is kept of the program. `weights` and `inputs` are their shapes, those of one row or edge; `size` is one
        that chunks have; `keep` says whether the products are kept, and `held` which outputs are at hand in reverse. It
        is asked for by more than one pass, and found once."""
        shapes, structure = jax.tree.flatten((weights, inputs))
        key = structure, tuple(shapes), size, keep, tuple(held)
        if key not in self._plans:
            self._plans[key] = self._plan(weights, inputs, size, keep, held)
        return self._plans[key]

    def _plan(self, weights: Arrays, inputs: Inputs, size: Size, keep: bool, held: Sequence[int]) -> Plan:
        prepared = jax.eval_shape(self.prepare, weights)
        over = _probe(size, len(inputs.edges))
        many = [rows_of(size.edges_of(g), xs) for g, xs in enumerate(inputs.edges)]
        a_row: Callable[[Any], Arrays] = lambda xs: rows_of(size.rows, xs)
        slots = list(map(a_row, inputs.slots))
        some = Inputs(a_row(inputs.payload), slots, a_row(inputs.keys), many, a_row(inputs.own))
        _, (out, values, _) = self.rows.jaxpr(prepared, over, some)
        given = [x for x in out if is_smooth(x)]
        at_hand = {i: out[i] for i in held}
        products = list(values) if keep else None
        traced, found = self.reverse.jaxpr(prepared, over, some, products, given, at_hand)
        of, before = "leaves" if self.program.variant.leaf else "rows", len(jax.tree.leaves((prepared, over)))
        return Planning(self.sites, list(values), traced.jaxpr, found, some, before, of, keep).plan()


def _used(jaxpr: Any) -> list[int]:
    """The outputs, by number, that other values are computed from."""
    read = {v for eqn in jaxpr.eqns for v in eqn.invars if not isinstance(v, Literal)}
    some = read & {v for eqn in jaxpr.eqns for v in eqn.outvars}
    outputs = [(i, v) for i, v in enumerate(jaxpr.outvars) if not isinstance(v, Literal)]
    return [i for i, v in outputs if v in some and is_smooth(v.aval)]


def _probe(size: Size, manys: int) -> Over:
    """The shapes of what a chunk of this size is computed over."""
    ints: Callable[..., Any] = lambda *shape: shaped(shape, jnp.int32)
    tiles: Callable[[int], Any] = lambda n: Tiles(ints(n, n), ints(n), ints(n)) if platform().batched else None
    group: Callable[[int], Group] = lambda n: Group(ints(n), ints(), n, ints(n), tiles(n))
    edges = [size.edges_of(g) for g in range(manys)]
    return Over(group(size.rows), [group(n) for n in edges], [ints(n) for n in edges], [ints(n) for n in edges])


def all_indexed(programs: Sequence[Program], keys: int, but: Sequence[int] = ()) -> dict[int, Indexed]:
    """Those programs, by number, that can be computed so, `but` some."""
    every = {p: indexed(x, keys) for p, x in enumerate(programs) if p not in but}
    return {p: x for p, x in every.items() if x is not None}


def trace_alone(programs: Sequence[Program], bucket: Bucket, keys: int, trace: Trace) -> None:
    """Traces the programs that cannot be computed by index at each size that one constructor's rows come in, while what
    their cases close over is at hand."""
    for program in programs:
        if indexed(program, keys) is None:
            program.trace_at(bucket.pieces_of(*program.members), trace)


def indexed(program: Program, keys: int) -> Indexed | None:
    """The program at rows of any of its constructors, if it can be computed so: found once, for all passes. A case
    that prints, or calls the host, is mapped over the rows of one constructor, as under `vmap`."""
    if program.case.jaxpr.effects:
        return None
    if keys not in program.by_rows:
        try:
            program.by_rows[keys] = Indexed(program, keys)
        except NotIndexed:
            program.by_rows[keys] = None
    by_rows: Indexed | None = program.by_rows[keys]
    return by_rows
