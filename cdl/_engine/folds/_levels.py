"""Computes a case's jaxpr for all rows of a chunk, equation by equation, also where rows differ in constructor.

Every value has a level:

| level    | the value is                                   | and has a leading axis of         |
| -------- | ---------------------------------------------- | --------------------------------- |
| `PLAIN`  | a constant                                     |                                   |
| `SHARED` | a weight, or made of them, the same for all    |                                   |
| `STACK`  | one for each constructor                       | constructors                      |
| `ROWS`   | one for each row, or for each edge of a `Many` | rows, or edges                    |
| `EDGES`  | the edges of a `Many`, as seen from the rows   | edges                             |

`Prepare` computes the equations below `ROWS`, once for a fold. `Rows` computes those at `ROWS`, once for each chunk. An
equation that reads both a weight and rows is a *site*. Weights reach the values through sites only:

| a site is    | where                                             | and computes                                |
| ------------ | ------------------------------------------------- | ------------------------------------------- |
| a `product`  | a matrix product has a weight                     | a product by constructor (`_grouped`)       |
| a `lookup`   | rows index a shared weight                        | the rows of the weight                      |
| a `spread`   | anything else                                     | the weight of each row                      |

So the cotangents at the sites are all that the weights' derivative needs. A case that would spread a large weight, or
whose weights go into a list fold, is not computed so (`NotIndexed`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from jax import lax
from jax.extend import core

from ..arrays.shapes import is_smooth
from ..jaxprs._gates import LARGE
from ..jaxprs._jaxprs import Atom, bind, CALLS, calls_back, inside, rule_of
from ..jaxprs._slopes import is_linear
from ._together import side_by_side


LOOKUPS = "gather", "dynamic_slice"


class NotIndexed(Exception):
    """The case is one that is not computed by rows of several constructors."""


class Level(IntEnum):
    PLAIN, SHARED, STACK, ROWS, EDGES = range(5)


PLAIN, SHARED, STACK, ROWS, EDGES = Level


class Value(NamedTuple):
    """A value of some level; `None` where the phase does not compute values of this level. For `EDGES`, the number of
    their `Many`. `stopped`: whether a gradient would get from it to no weight, as `jax.lax.stop_gradient` says."""

    level: Level
    value: Any = None
    many: int | None = None
    stopped: bool = False


class Parts(NamedTuple):
    """What a reduction of a `Many` reads: the first value of a list fold, the children, and what its step uses of its
    surroundings."""

    many: int
    start: list[Value]
    children: list[Value]
    consts: list[Value]


@dataclass(frozen=True)
class Known:
    """The values of a jaxpr's variables, and those of its weights that have been spread over rows."""

    values: dict[Atom, Value]
    spread: dict[Atom, Value]

    def __call__(self, v: Atom) -> Value:
        return Value(PLAIN, v.val) if isinstance(v, core.Literal) else self.values[v]


@dataclass(frozen=True)
class Site:
    """Where a weight meets rows: the rows themselves, or the edges of the `Many` with the number `many`."""

    kind: Literal["product", "lookup", "spread"]
    level: Level
    many: int | None
    smooth: bool  # whether the weight is to have a gradient
    variable: Atom  # whose cotangent is that of the site
    eqn: core.JaxprEqn | None  # none for a `spread`

    @property
    def what(self) -> tuple[str, Level, int | None]:
        """What is the same in both phases."""
        return self.kind, self.level, self.many

    @property
    def precision(self) -> lax.PrecisionLike:
        """That of a product."""
        return None if self.eqn is None else self.eqn.params["precision"]


class Branch(NamedTuple):
    """Branch `number` of the `of` branches of a condition. `which` is the branch that each row takes, or each edge of
    the `Many` of number `many`."""

    which: Value
    number: int
    of: int
    many: int | None


class Phase:
    """What both phases have in common: which equation is what. Both fill `sites` in the same order."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.many: int | None = None  # of whose edges the values at `ROWS` are; of none, if of the rows themselves
        self.branches: list[Branch] = []  # those around

    def run(self, jaxpr: core.Jaxpr, consts: Iterable[Any], args: Sequence[Value]) -> list[Value]:
        """The outputs of a jaxpr."""
        known = Known(dict(zip(jaxpr.invars, args, strict=True)), {})
        known.values.update((v, Value(PLAIN, c)) for v, c in zip(jaxpr.constvars, consts, strict=True))
        for eqns in side_by_side(jaxpr.eqns):
            ins = [list(map(known, eqn.invars)) for eqn in eqns]
            if len(eqns) > 1 and self.many is None and ins[0][1].level == EDGES:
                found = self._sums(eqns, list(map(self.gated, eqns, ins)))
            else:
                found = [x for eqn, own in zip(eqns, ins, strict=True) for x in self._equation(eqn, own, known)]
            variables = [v for eqn in eqns for v in eqn.outvars]
            known.values.update((v, self.seen(v, x)) for v, x in zip(variables, found, strict=True))
        return list(map(known, jaxpr.outvars))

    def spread(self, values: Sequence[Value], variables: Sequence[Atom], known: Known | None = None) -> list[Value]:
        """Values with the weights among them spread over rows; what is used twice, once."""
        found, seen = [], {} if known is None else known.spread
        for i, v in zip(values, variables, strict=True):
            if i.level in (SHARED, STACK):
                if v not in seen:
                    aval: Any = v.aval
                    if math.prod(aval.shape) > LARGE:
                        raise NotIndexed
                    self._site("spread", i, v)
                    seen[v] = Value(ROWS, self.at_spread(i))
                i = seen[v]
            found.append(i)
        return found

    def _equation(self, eqn: core.JaxprEqn, ins: list[Value], known: Known) -> list[Value]:
        level, name = max((i.level for i in ins), default=PLAIN), eqn.primitive.name
        rule = rule_of(eqn)
        if level == PLAIN:
            return [Value(PLAIN, y) for y in bind(eqn, [i.value for i in ins], [None] * len(ins))]
        if name in CALLS:
            inner = eqn.params[CALLS[name]]
            jaxpr = getattr(inner, "jaxpr", inner)
            return self.run(jaxpr, getattr(inner, "consts", ()), self.entered(eqn, self.gated(eqn, ins), jaxpr.invars))
        if name == "cond" and level >= ROWS:
            return self._cond(eqn, ins)
        if level == EDGES:
            ins = self.gated(eqn, ins)
            if hasattr(rule, "step") and self.many is None:
                return self._reduction(eqn, ins)
            if name != "convert_element_type":
                raise NotIndexed
            return [Value(EDGES, y, ins[0].many) for y in self.at_edges(eqn, ins)]
        if level >= STACK and name.startswith("unvmap"):  # it reads all rows, and has no axis of them: `eqx.error_if`
            raise NotIndexed
        if level == STACK and any(map(calls_back, inside(eqn))):  # in a branch, say, which some constructors take
            raise NotIndexed
        if level < ROWS:
            if self.branches and not is_linear(eqn) and any(is_smooth(v.aval) for v in eqn.outvars):
                raise NotIndexed  # what is made of weights is made whether a row takes the branch or not
            stopped = name == "stop_gradient" or all(map(_is_stopped, ins, eqn.invars))
            return [Value(level, y, stopped=stopped) for y in self.at_weights(eqn, ins)]
        if name == "dot_general" and (side := _weight_side(eqn, ins)) is not None:
            self._site("product", ins[side], eqn.invars[side], eqn)
            return [Value(ROWS, self.at_product(eqn, self.gated(eqn, ins), side))]
        if name in LOOKUPS and ins[0].level == SHARED and all(i.level in (PLAIN, ROWS) for i in ins[1:]):
            self._site("lookup", ins[0], eqn.invars[0], eqn)
            return [Value(ROWS, self.at_lookup(eqn, ins))]
        return [Value(ROWS, y) for y in self.at_rows(eqn, self.spread(ins, eqn.invars, known))]

    def _site(
        self, kind: Literal["product", "lookup", "spread"], of: Value, weight: Atom, eqn: core.JaxprEqn | None = None
    ) -> None:
        smooth, variable = is_smooth(weight.aval) and not of.stopped, weight if eqn is None else eqn.outvars[0]
        self.sites.append(Site(kind, of.level, self.many, smooth, variable, eqn))

    def _cond(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Value]:
        """Every branch, then a choice by rows, as `vmap` does; so that products in branches stay products."""
        if ins[0].level != ROWS:
            if any(i.level in (SHARED, STACK, EDGES) for i in ins):
                raise NotIndexed
            return [Value(ROWS, y) for y in self.at_rows(eqn, ins)]
        outs, branches, ins = [], eqn.params["branches"], self.gated(eqn, ins)
        for i, branch in enumerate(branches):
            self.branches.append(Branch(ins[0], i, len(branches), self.many))
            given = self.entered(eqn, list(map(self.only_taken, ins[1:])), branch.jaxpr.invars)
            found = self.run(branch.jaxpr, branch.consts, given)
            outs.append(self.spread(found, branch.jaxpr.outvars))
            self.branches.pop()
        if any(y.level == EDGES for ys in outs for y in ys):
            raise NotIndexed
        return [Value(ROWS, self.at_choice(ins[0], ys)) for ys in zip(*outs, strict=True)]

    def _sums(self, eqns: Sequence[core.JaxprEqn], ins: Sequence[list[Value]]) -> list[Value]:
        """Sums over the same edges: the step of each at every edge, and then the rows', of all of them."""
        found, parts = [], [_parts(rule_of(eqn), own) for eqn, own in zip(eqns, ins, strict=True)]
        for eqn, of in zip(eqns, parts, strict=True):
            found += self._steps(eqn, of)
        return self.at_reduction("sum", found, parts[0].many)

    def _reduction(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Value]:
        """A reduction of a `Many`: its step at every edge, and then the rows'."""
        rule = rule_of(eqn)
        of = _parts(rule, ins)
        if rule.reduction == "fold":
            if any(c.level in (SHARED, STACK) for c in (*of.start, *of.consts)):
                raise NotIndexed
            return [Value(ROWS, y) for y in self.at_fold(rule.step, of.start, of.many, of.children, of.consts)]
        return self.at_reduction(rule.reduction, self._steps(eqn, of), of.many)

    def _steps(self, eqn: core.JaxprEqn, of: Parts) -> list[Value]:
        """The step of a reduction at every edge."""
        given, step = [self.to_edges(c, of.many) if c.level == ROWS else c for c in of.consts], rule_of(eqn).step.jaxpr
        given += [Value(ROWS, c.value) for c in of.children]
        self.many = of.many
        found = self.spread(self.run(step, (), self.entered(eqn, given, step.invars)), step.outvars)
        self.many = None
        return found

    def seen(self, v: core.Var, value: Value) -> Value:
        """What is taken for the value of a variable."""
        return value

    def gated(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Value]:
        """What an equation reads, with a gradient only where the equation is active."""
        return ins

    def entered(self, eqn: core.JaxprEqn, ins: list[Value], inner: Sequence[Atom]) -> list[Value]:
        """What a jaxpr inside of an equation reads, with a gradient only where its variable is active."""
        return ins

    def only_taken(self, value: Value) -> Value:
        """A value, with a gradient only where the branches around are taken."""
        return value

    # What each phase does for itself.

    def at_weights(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Any]:
        raise NotImplementedError

    def at_rows(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Any]:
        raise NotImplementedError

    def at_edges(self, eqn: core.JaxprEqn, ins: list[Value]) -> list[Any]:
        raise NotImplementedError

    def at_spread(self, weight: Value) -> Any:
        raise NotImplementedError

    def at_product(self, eqn: core.JaxprEqn, ins: list[Value], side: int) -> Any:
        raise NotImplementedError

    def at_lookup(self, eqn: core.JaxprEqn, ins: list[Value]) -> Any:
        raise NotImplementedError

    def at_choice(self, which: Value, outs: Sequence[Value]) -> Any:
        raise NotImplementedError

    def at_fold(
        self, step: core.ClosedJaxpr, start: list[Value], many: int, children: list[Value], consts: list[Value]
    ) -> list[Any]:
        raise NotImplementedError

    def to_edges(self, value: Value, many: int) -> Value:
        raise NotImplementedError

    def at_reduction(self, how: str, found: list[Value], many: int) -> list[Value]:
        raise NotImplementedError


def _is_stopped(value: Value, variable: Atom) -> bool:
    return value.stopped or value.level == PLAIN or not is_smooth(variable.aval)


def _parts(rule: Any, ins: list[Value]) -> Parts:
    """What a reduction reads."""
    start, segment, rest = ins[1 : 1 + rule.starts], ins[1 + rule.starts], ins[2 + rule.starts :]
    number = len(rest) - rule.consts
    children, consts = rest[:number], rest[number:]
    kinds = {v.level for v in (segment, *children)}
    if segment.many is None or kinds != {EDGES} or any(c.level == EDGES for c in (*start, *consts)):
        raise NotIndexed
    return Parts(segment.many, start, children, consts)


def _weight_side(eqn: core.JaxprEqn, ins: list[Value]) -> int | None:
    """Which operand of a matrix product is a weight, if the other is rows."""
    if eqn.params["dimension_numbers"][1][0] or {i.level for i in ins} - {ROWS} not in ({SHARED}, {STACK}):
        return None
    return next(s for s in (0, 1) if ins[s].level in (SHARED, STACK))
