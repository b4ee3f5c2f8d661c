"""A function of a node at many rows, its derivative, and what that keeps.

The derivative at some rows is JAX's own, `jax.vjp`. What it needs of the way there, its residuals, are found again from
the inputs and from what is kept: the least, so that all else follows from it cheaply (`jaxprs._keep`), and no product
is computed twice. What is kept has an axis of rows, which tracing at two numbers of rows tells; so what was computed at
one set of rows is at hand at any other.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from ..arrays.shapes import Arrays, is_smooth, shaped
from ..jaxprs._keep import to_keep
from ..jaxprs._parts import cut, Part, trace


PROBES = 7, 11


@dataclass(frozen=True)
class Kept:
    """What is kept: where it is computed, the axis of rows, and its shape and type without that axis; and which output
    it is, or -1."""

    equation: int
    output: int
    axis: int
    shape: tuple[int, ...]
    dtype: Any
    out: int


@dataclass(frozen=True)
class Traced:
    """The outputs at a number of rows, and after them the residuals, as a jaxpr; with what it holds, and what becomes
    of the residuals."""

    part: Part
    held: Arrays
    outs: int
    form: Any


class Case:
    """A part at rows: arrays with a leading axis, after the weights, which are the same for all, and which come after
    the constants that are `held`."""

    def __init__(self, part: Part, held: Arrays) -> None:
        self.part, self.held = part, held
        self._traced: dict[int, Traced] = {}
        self.smooth = [is_smooth(v.aval) for v in part.jaxpr.outvars]

    @functools.cached_property
    def kept(self) -> list[Kept]:
        """What is kept."""
        return [] if self.inert else self._kept()

    @property
    def inert(self) -> bool:
        """Whether it has no derivative."""
        return not any(self.smooth) or not any(is_smooth(v.aval) for v in self.part.jaxpr.invars[len(self.held) :])

    def __call__(self, weights: Arrays, rows: Arrays, count: int) -> Arrays:
        """The outputs, with a leading axis of `count` rows."""
        weights = [*self.held, *weights]
        axes = [None] * len(weights) + [0] * len(rows) + [0]
        run: Any = lambda *inputs: self.part(*inputs[:-1])
        at_rows: Any = jax.vmap(run, in_axes=tuple(axes))
        return list(at_rows(*weights, *rows, jnp.zeros(count)))

    def plainly(self, weights: Arrays, rows: Arrays, count: int) -> tuple[Arrays, Arrays]:
        """The outputs, and nothing kept."""
        return self(weights, rows, count), []

    def forward(self, weights: Arrays, rows: Arrays, count: int) -> tuple[Arrays, Arrays]:
        """The outputs, and what is kept."""
        if not self.kept:
            return self.plainly(weights, rows, count)
        at = self._at(count)
        wanted = [*at.part.jaxpr.outvars[: at.outs], *self._variables(at)]
        found = cut(at.part, at.part.jaxpr.invars, wanted)(*at.held, *weights, *rows)
        kept = [jnp.moveaxis(x, k.axis, 0) for x, k in zip(found[at.outs :], self.kept, strict=True)]
        return found[: at.outs], kept

    def backward(self, weights: Arrays, rows: Arrays, count: int, kept: Arrays, given: Arrays) -> tuple[Arrays, Arrays]:
        """The cotangents of the smooth weights and rows. `given`: those of the smooth outputs."""
        at = self._at(count)
        inputs = [*at.part.jaxpr.invars, *self._variables(at)]
        again = cut(at.part, inputs, at.part.jaxpr.outvars[at.outs :])
        moved = [jnp.moveaxis(x, 0, k.axis) for x, k in zip(kept, self.kept, strict=True)]
        leaves = again(*at.held, *weights, *rows, *moved)
        ((to_weights, to_rows),) = jax.tree.unflatten(at.form, leaves)(given)
        return to_weights, to_rows

    def _kept(self) -> list[Kept]:
        """The least that is kept, of what has an axis of rows."""
        one, other = (self._at(n).part.jaxpr for n in PROBES)
        at = self._at(PROBES[0])
        needed = [v for v in one.outvars[at.outs :] if not isinstance(v, Literal)]
        wanted = set(to_keep(at.part, needed))
        outs = at.part.jaxpr.outvars[: at.outs]
        found = []
        for e, (a, b) in enumerate(zip(one.eqns, other.eqns, strict=True)):
            for o, (v, w) in enumerate(zip(a.outvars, b.outvars, strict=True)):
                if v not in wanted:
                    continue
                shape = v.aval.shape
                axes = [j for j, (m, n) in enumerate(zip(shape, w.aval.shape, strict=True)) if m != n]
                if axes and not jnp.issubdtype(v.aval.dtype, jax.dtypes.extended):
                    rest = (*shape[: axes[0]], *shape[axes[0] + 1 :])
                    out = next((i for i, x in enumerate(outs) if x is v), -1) if axes[0] == 0 else -1
                    found.append(Kept(e, o, axes[0], rest, v.aval.dtype, out))
        return found

    def _variables(self, at: Traced) -> list[Any]:
        """Those that are kept."""
        return [at.part.jaxpr.eqns[k.equation].outvars[k.output] for k in self.kept]

    def _at(self, count: int) -> Traced:
        """The trace at a number of rows, made once for each number."""
        if count not in self._traced:
            self._traced[count] = self._trace(count)
        return self._traced[count]

    def _trace(self, count: int) -> Traced:
        inputs, shared = self.part.inputs[len(self.held) :], self.part.shared - len(self.held)
        forms: list[Any] = []

        def run(*arrays: jax.Array) -> list[Any]:
            weights, rows = list(arrays[:shared]), list(arrays[shared:])

            def of(some: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
                outs = self(merged(weights, some[0]), merged(rows, some[1]), count)
                return [x for x, yes in zip(outs, self.smooth, strict=True) if yes], outs

            _, back, outs = jax.vjp(of, (only(weights), only(rows)), has_aux=True)
            leaves, form = jax.tree.flatten(back)
            forms.append(form)
            return [*outs, *leaves]

        shapes = [*inputs[:shared], *(shaped((count, *x.shape), x.dtype) for x in inputs[shared:])]
        part, held = trace(run, *shapes)
        return Traced(Part(part.jaxpr, len(held) + shared), held, len(self.smooth), forms[-1])


class Slots:
    """Tables in which all cases keep what they do, each row that of one case.

    `forms` are their shapes and types, and `of[c]` says which are those of a case.
    """

    def __init__(self, kept: Sequence[Sequence[Kept]]) -> None:
        self.forms: list[Any] = []
        self.of: list[list[int]] = []
        for some in kept:
            free = list(range(len(self.forms)))
            own = []
            for k in some:
                at = next((i for i in free if (self.forms[i].shape, self.forms[i].dtype) == (k.shape, k.dtype)), None)
                if at is None:
                    at = len(self.forms)
                    self.forms.append(shaped(k.shape, k.dtype))
                else:
                    free.remove(at)
                own.append(at)
            self.of.append(own)


def only(arrays: Arrays) -> Arrays:
    """Those arrays that have derivatives."""
    return [x for x in arrays if is_smooth(x)]


def merged(arrays: Arrays, some: Arrays) -> Arrays:
    """The arrays, with others in place of those that have derivatives."""
    rest = iter(some)
    return [next(rest) if is_smooth(x) else x for x in arrays]
