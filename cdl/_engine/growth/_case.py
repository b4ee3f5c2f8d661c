"""A function of a node at many rows, its derivative (`jaxprs._passes`), and where it keeps what that needs."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..arrays.shapes import Arrays, is_smooth
from ..jaxprs._jaxprs import variables
from ..jaxprs._parts import made_of_weights, Part
from ..jaxprs._passes import Passes
from ..jaxprs._reach import FLAT
from ._agenda import Block


class Case:
    """A part at rows: arrays with a leading axis, after the weights, which are the same for all, and which come after
    the constants that are `held`. `free`: the outputs, by number, that are at hand in reverse.
    """

    def __init__(self, part: Part, held: Arrays, free: Sequence[int] = ()) -> None:
        self.part, self.held, self.free = part, held, free
        self.smooth = [is_smooth(v.aval) for v in part.jaxpr.outvars]

    @functools.cached_property
    def parts(self) -> tuple[Part, Part]:
        """What is made of the weights alone, and the rest."""
        return made_of_weights(self.part)

    @functools.cached_property
    def passes(self) -> Passes:
        """The parts for the reverse pass, of which all inputs of a row come late. A pass forwards asks for none, so
        that a case need have no derivative."""
        (derive, rest), count = self.parts, len(self.held)
        jaxpr = derive.jaxpr
        moved = set(jaxpr.invars[count:])
        for eqn in jaxpr.eqns:
            if eqn.primitive.name not in FLAT and moved & set(variables(eqn.invars)):
                moved.update(eqn.outvars)
        return Passes(rest, 0, [v in moved and is_smooth(v.aval) for v in jaxpr.outvars], self.free)

    @property
    def inert(self) -> bool:
        """Whether it has no derivative."""
        return not any(self.smooth) or not any(is_smooth(v.aval) for v in self.part.jaxpr.invars[len(self.held) :])

    @property
    def known(self) -> Sequence[int]:
        """The outputs that the reverse pass is given."""
        return [] if self.inert else self.passes.known

    @property
    def kept(self) -> Sequence[Any]:
        """The shapes of what is kept of a row."""
        return [] if self.inert else self.passes.kept

    def __call__(self, weights: Arrays, rows: Arrays, count: int) -> Arrays:
        """The outputs, with a leading axis of `count` rows."""
        return self.part.rows([*self.held, *weights], *rows, count=count)

    def plainly(self, weights: Arrays, rows: Arrays, count: int) -> tuple[Arrays, Arrays]:
        """The outputs, and nothing kept."""
        return self(weights, rows, count), []

    def forward(self, weights: Arrays, rows: Arrays, count: int) -> tuple[Arrays, Arrays]:
        """The outputs, and what is kept."""
        if self.inert:
            return self.plainly(weights, rows, count)
        shared = [*self.passes.more, *self.parts[0](*self.held, *weights)]
        found = self.passes.forward.rows(shared, *rows, count=count)
        return found[: len(self.smooth)], found[len(self.smooth) :]

    def backward(
        self, weights: Arrays, rows: Arrays, known: Arrays, kept: Arrays, given: Arrays
    ) -> tuple[Arrays, Arrays]:
        """The cotangents of the smooth weights and rows. `given`: those of the smooth outputs."""
        count = given[0].shape[0]
        moved = [w for w in weights if is_smooth(w)]

        def derive(moved: Arrays) -> tuple[Arrays, Arrays]:
            rest = iter(moved)
            own = self.parts[0](*self.held, *(next(rest) if is_smooth(w) else w for w in weights))
            return [x for x in own if is_smooth(x)], own

        _, back, own = jax.vjp(derive, moved, has_aux=True)
        passes, shared, known = self.passes, [*self.passes.more, *own], [*rows, *known, *kept]
        again = passes.again.rows(shared, *known, count=count)
        found = passes.back.rows(shared, *again, *given, count=count)
        sums = passes.to_weights(own, passes.found.rows(shared, *known, count=count), found)
        to_own = [sums[i] if i in sums else jnp.zeros_like(x) for i, x in enumerate(own) if is_smooth(x)]
        return list(back(to_own)[0]), passes.to_late(found)


class Slots:
    """Tables in which all cases keep what they do, each row that of one case.

    `forms` are their shapes and types, and `of[c]` says which are those of a case.
    """

    def __init__(self, kept: Sequence[Sequence[Any]]) -> None:
        self.forms: list[Any] = []
        self.of: list[list[int]] = []
        for some in kept:
            free = list(range(len(self.forms)))
            own = []
            for k in some:
                at = next((i for i in free if (self.forms[i].shape, self.forms[i].dtype) == (k.shape, k.dtype)), None)
                if at is None:
                    at = len(self.forms)
                    self.forms.append(k)
                else:
                    free.remove(at)
                own.append(at)
            self.of.append(own)

    def rows(self, c: int, tables: Arrays, at: Block) -> Arrays:
        """What a case keeps of some rows."""
        return [tables[slot][at.rows] for slot in self.of[c]]

    def put(self, c: int, tables: Arrays, at: Block, kept: Arrays) -> Arrays:
        """The tables with what a case keeps of some rows."""
        found = list(tables)
        for slot, x in zip(self.of[c], kept, strict=True):
            found[slot] = at.put(found[slot], x, (at.rows,))
        return found
