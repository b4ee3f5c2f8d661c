"""What systems, diagrams, fields and polynomials refuse: a row for each, with words to be told."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equivariant import unchecked

import cdl
from cdl import MealyF, MooreF
from cdl.errors import CdlError, PortMismatch
from cdl.machines import Automaton
from cdl.system import (
    among,
    box,
    classify,
    curry,
    DependentLens,
    discretise,
    Field,
    field,
    fixed,
    Interface,
    latency,
    modes,
    oapply,
    of_automaton,
    Polynomial,
    Port,
    rewire,
    rewiring,
    route,
    share,
    solve,
    System,
    wire,
    Wiring,
)


def echo(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s}, lambda i: i["a"])


PORTS: Any = {"inputs": {"a": float}, "outputs": {"x": float}}
GATE = Interface(**PORTS)
BOX, OTHER = box(echo, 0.0, **PORTS), box(lambda s: echo(s), 0.0, **PORTS)
BOXES = {"p": BOX, "q": OTHER}
PAIR = wire(BOXES, {"p.a": "q.x", "q.a": "p.x"}, {"x": "p.x"})
WIRING, REWIRED = PAIR.wiring, rewire(fixed(PAIR.wiring), BOXES, {"x": float})
QUICK = box(lambda s: MealyF(lambda i: ({"x": i["a"]}, s)), 0.0, **PORTS)
FAR = Port.of(float, "m")
METRES = box(echo, 0.0, inputs={"a": FAR}, outputs={"x": float})
DRAWN = lambda s, *, key=None: MooreF({"x": jax.random.normal(key)}, lambda i: s)
CHANCE = box(DRAWN, 0.0, outputs={"x": float})
IN: Any = {"p": {"a": jnp.array(0.0)}, "q": {"a": jnp.array(0.0)}}
ONE, TWO = jnp.ones(()), jnp.ones(2)


def shown(out: Any, step: Any = lambda i: ONE, state: Any = 0.0) -> System:
    return box(lambda s: MooreF(out(s), step), state, **PORTS, name="odd")


def answered(step: Any) -> System:
    return box(lambda s: MealyF(step), 0.0, **PORTS, name="odd")


def changing(back: Any, out: Any = lambda s, i: {"x": i["p"]["x"]}, **options: Any) -> System:
    return rewire(rewiring(out, back, lambda s, i, d: s, ()), BOXES, {"x": float}, **options)


def chosen(number: Any) -> System:
    made = among([WIRING, WIRING], lambda s: number, lambda s, i, d: s, 0)
    return rewire(made, BOXES, {"x": float})


def modal(number: Any) -> System:
    return modes(BOXES, lambda s: number, jnp.array(0.0))


def diagram(**changes: Any) -> Wiring:
    given: Any = {"boxes": {"p": GATE}, "wires": {"p.a": "u"}, "outputs": {"out": "p.x"}}
    return Wiring(**{**given, "inputs": {"u": float}, **changes})


class Own(System):
    """A system of a user's."""

    state: Any
    interface: Any = eqx.field(static=True)
    layer: Any = eqx.field(static=True)
    name: str = "own"

    def __call__(self, s: Any, /, *, key: Any = None) -> Any:
        return self.layer(s)


N: Any = Interface({}, {"n": float})


def own(layer: Any, interface: Any = N) -> System:
    return wire({"p": Own(0.0, interface, layer)}, {}, {"n": "p.n"})


class OwnField(Field):
    """A field of a user's."""

    ports: Any = eqx.field(static=True)
    given: Any = eqx.field(static=True)
    name: str = "own"

    def rate(self, values: Any, inputs: Any) -> Any:
        return self.given(values)


def moved(rate: Any = lambda v: v, kind: Any = float, **options: Any) -> Field:
    return field(rate, {"n": kind}, name="v", **options)


BAD = OwnField(N, lambda s: {"m": s["n"]})
TIMES: Any = jnp.array([0.0, 1.0])


def ticked(made: Any, state: Any = 1.0, step: Any = 0.1) -> System:
    return discretise(made, {"n": state}, step=step)


def solved(made: Any = None, times: Any = TIMES, state: Any = 1.0, **options: Any) -> Any:
    return solve(moved() if made is None else made, {"n": state}, jnp.asarray(times), **options)


def joined(*ends: Any, **more: Any) -> Field:
    return share({"a": moved(), "b": moved(), **more}, {"n": ["a.n", "b.n"], "m": list(ends)})


class Leak(eqx.Module):
    rate: Any

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s}, lambda i: self.rate * s + i["a"])


class Twice(eqx.Module):
    """A machine that has another one inside."""

    inner: Leak
    rate: Any

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s}, lambda i: self.rate * self.inner(s).step(i))


LEAK = box(Leak(jnp.array(0.3)), 0.1, **PORTS)
NEST = box(Twice(LEAK.machine, jnp.array(2.0)), 0.1, **PORTS)


def series(*parts: System) -> System:
    wires = {f"n{k}.a": f"n{k - 1}.x" if k else "a" for k in range(len(parts))}
    boxes = {f"n{k}": x for k, x in enumerate(parts)}
    return wire(boxes, wires, {"x": "n0.x"}, inputs={"a": float})


P, THREE = Polynomial({"a": [0, 1], "b": []}), Polynomial({"a": "xyz", "b": "u", "c": ""})
SENT: Any = {"a": ("a", (0, 1)), "b": ("b", ())}
LENS: Any = DependentLens(P, P, SENT)
ODD: Any = 3
RULES: Any = (lambda s: s, lambda s, i, d: s, 0)
SAME = DependentLens.identity


def sent(**changes: Any) -> Any:
    return DependentLens(P, P, {**SENT, **changes})


ROWS: list[tuple[Any, type[Exception], str]] = [
    # a layer
    (lambda: answered(lambda i: {"x": i["a"]}), CdlError, "`dict` `step` `MealyF` pair"),
    (lambda: shown(lambda s: {"x": "hello"}), CdlError, "`x` `odd` 'hello' number"),
    (lambda: shown(lambda s: {"x": jnp.ones(3) @ TWO}), TypeError, "dot_general"),
    (lambda: shown(lambda s: {"y": s}), CdlError, "`odd` ['y'] ['x']"),
    (lambda: shown(lambda s: {"x": s}, state=0), CdlError, "`x` `odd` i32[] f32[]"),
    (lambda: shown(lambda s: {"x": s}, lambda i: i["u"]), CdlError, "`odd` 'u' ['a']"),
    (lambda: shown(lambda s: {"x": s}, lambda i: (ONE, ONE)), CdlError, "step `odd` keep"),
    (lambda: box(lambda s, *, key: echo(s), 0.0, **PORTS), CdlError, "`key` `key=None`"),
    (lambda: own(lambda s: 3), CdlError, "`int` layer"),
    (lambda: wire({"p": Own({"n": "abc"}, N, echo)}, {}, {}), CdlError, "state number"),
    # a run
    (lambda: BOX(ONE).step({"a": "7"}), CdlError, "`a` `echo` '7'"),
    (lambda: cdl.run(BOX, BOX.state, jnp.zeros(3)), CdlError, "['a'] dict"),
    (lambda: cdl.run(PAIR, 3, jnp.arange(2)), CdlError, "state `system.state`"),
    (lambda: PAIR.pack({"p": TWO}), CdlError, "`p` f32[2] f32[]"),
    (lambda: PAIR.pack({"r": ONE}), CdlError, "`r` p, q"),
    (lambda: cdl.run(CHANCE, CHANCE.state, jnp.arange(2)), TypeError, "key"),
    # a port
    (lambda: Port.of("hello"), CdlError, "'hello' `bool`"),
    (lambda: Port.of(None), CdlError, "None `bool`"),
    (lambda: Port.of(FAR, "s"), CdlError, "m unit s"),
    # a diagram
    (lambda: wire(BOXES, [("p.a", "q.x", "z")], {}), CdlError, "`wires` pairs"),
    (lambda: wire({"a": moved()}, {}, {}), CdlError, "`box` `discretise`"),
    (lambda: wire({"p": QUICK}, {"p.a": "p.x"}, {"x": "p.x"}), PortMismatch, "loop `p` no state"),
    (lambda: diagram(wires={"p.x": "u"}), CdlError, "`p.x` output"),
    (lambda: diagram(wires={"p.a": "q.x"}), CdlError, "`q.x` `p.a` `u`"),
    (lambda: diagram(wires={}), CdlError, "`p.a` no driver"),
    (lambda: diagram(wires=[("p.a", "u"), ("p.a", "p.x")]), CdlError, "`p.a` two `u` `p.x`"),
    (lambda: diagram(inputs={"u": bool}), CdlError, "`u` bool[] `p.a` f32[]"),
    (lambda: diagram(inputs={"u": FAR}), CdlError, "`u` m `p.a` unit"),
    (lambda: diagram(outputs={"out": "u"}), CdlError, "`out` `u` input"),
    (lambda: diagram(boxes={"p.q": GATE}), CdlError, "'p.q' dot"),
    (lambda: diagram().substitute("p", diagram()), PortMismatch, "`p` (a: (u: interface"),
    (lambda: diagram().substitute("z", diagram()), PortMismatch, "no `z` `p`"),
    (lambda: oapply(WIRING, {"p": BOX}), CdlError, "`q` no system"),
    # a diagram that changes
    (lambda: changing(lambda s, i, d: {**IN, "r": {}}), CdlError, "'r' ['p', 'q']"),
    (lambda: changing(lambda s, i, d: {"p": d["v"]}, inputs={"u": float}), CdlError, "'v' ['u']"),
    (lambda: changing(lambda s, i, d: {"p": ONE}), CdlError, "{p: f32[]} drive"),
    (lambda: changing(lambda s, i, d: {}), CdlError, "`p.a` `back` drive"),
    (lambda: changing(lambda s, i, d: {**IN, "p": {"a": TWO}}), CdlError, "f32[2] `p.a`"),
    (lambda: rewire(fixed(WIRING), {**BOXES, "p": METRES}, {}), CdlError, "`p` `echo` m)"),
    (lambda: rewire(fixed(WIRING), {"p": BOX}, {"x": float}), CdlError, "`q` diagram alone"),
    (lambda: among([], *RULES), CdlError, "`among` no diagram"),
    (lambda: among([WIRING, diagram()], *RULES), CdlError, "1 other boxes"),
    (lambda: route(jnp.ones(3), 1.0), CdlError, "`route`"),
    (lambda: latency(REWIRED), CdlError, "`Rewired` `latency`"),
    # modes, and a choice
    *[
        (lambda made=made, number=number: made(number), CdlError, words)
        for made, words in ((chosen, "`choose` `among` number"), (modal, "`choose` `modes` number"))
        for number in (True, 0.5, jnp.array([0, 1]))
    ],
    (lambda: chosen(7), CdlError, "7 2"),
    (lambda: modal(-1), CdlError, "`modes` -1 2"),
    (lambda: modes({}, lambda s: 0, 0.0), CdlError, "`modes` one"),
    # ties
    (lambda: series(NEST, LEAK), CdlError, "`Leak` `n0` `n1` weights"),
    (lambda: modes({"n0": NEST, "n1": LEAK}, lambda s: 0, 0.1), CdlError, "`Leak` `n0` `n1`"),
    # a field
    (lambda: ticked(BAD), CdlError, "`own` ['m'] ['n']"),
    (lambda: moved(lambda v: {"n": TWO}), CdlError, "`n` f32[2] f32[]"),
    (lambda: moved(lambda v: {"n": v["y"]}), CdlError, "'y' ['n']"),
    (lambda: moved(lambda: {"n": 1.0}), CdlError, "arguments variables"),
    (lambda: share({"a": moved(), "b": moved()}, {"n": ["a.n"]}), CdlError, "`b.n` no junction"),
    (lambda: joined("a.n"), CdlError, "`a.n` `n` `m`"),
    (lambda: joined("a.m"), CdlError, "`a.m` variable `a.n`"),
    (lambda: ticked(moved(), step=np.inf), CdlError, "`step` `discretise` inf"),
    (lambda: ticked(moved(), step=0), CdlError, "`step` `discretise` 0"),
    (lambda: jax.jit(lambda x: ticked(moved(), step=x))(0.1), CdlError, "`step` program runs"),
    (lambda: ticked(moved(), TWO), CdlError, "f32[2] `n` f32[]"),
    (lambda: ticked(moved(), {"k": 1.0}), CdlError, "`n` f32[]"),
    (lambda: ticked(moved(kind=jnp.float16), 1e9), CdlError, "`n` hold"),
    (lambda: ticked(moved(kind=int), 1), CdlError, "`n` `discretise` `float`"),
    (lambda: solved(times=[0.0, 2.0, 1.0]), CdlError, "`times` `solve`"),
    (lambda: solved(rtol=-1.0), CdlError, "`rtol` `solve` -1"),
    (lambda: solved(rtol=0.0, atol=0.0), CdlError, "`rtol` `atol` 0"),
    (lambda: solved(moved(lambda v, i: v, inputs={"u": float})), CdlError, "`v` ['u'] `solve`"),
    # the table of systems
    (lambda: classify(ODD), CdlError, "`classify` 3 `ParaOptic`"),
    (lambda: classify(jnp.tanh), CdlError, "`classify` inputs none"),
    # a polynomial, and a lens
    (lambda: P ** (-1), CdlError, "-1"),
    (lambda: Polynomial({"a": "xx"}), CdlError, "'a' alike"),
    (lambda: sent(z=("a", (0, 1))), CdlError, "'z' none positions"),
    (lambda: sent(a=("z", ())), CdlError, "'z'"),
    (lambda: sent(a=("a", (7, 8))), CdlError, "'a' (7, 8)"),
    (lambda: DependentLens(P, P, {"a": SENT["a"]}), CdlError, "'b' nowhere"),
    (lambda: LENS.back("z", 0), CdlError, "'z' position ['a', 'b']"),
    (lambda: LENS.at(("a", (1,))), CdlError, "1 'a' 2 directions"),
    (lambda: curry(SAME(THREE), THREE, THREE), CdlError, "curried"),
    (lambda: of_automaton(Automaton([[0]], [[1]])), CdlError, "letters state"),
    (lambda: changing(lambda s, i, d: i["lost"]), CdlError, "diagram 'lost'"),
    (lambda: changing(lambda s, i, d: {**IN, "q": {"b": 1.0}}), CdlError, "'b' `q` ['a']"),
    (lambda: rewire(fixed(WIRING), {**BOXES, "q": QUICK}, {"x": float}), CdlError, "`q` at once"),
    (lambda: rewire(fixed(WIRING), BOXES, {"x": FAR}), CdlError, "`rewire` m)"),
    (lambda: modes({"quick": QUICK}, lambda s: 0, 0.0), CdlError, "`quick` at once"),
    (lambda: modes(BOXES, lambda s: 0, TWO), CdlError, "state `p`"),
    (lambda: oapply(diagram(), {"p": METRES}), CdlError, "`p` interface"),
    (lambda: WIRING.port("z"), CdlError, "`z` source"),
    (lambda: discretise(moved(), {"m": 1.0}, step=0.1), CdlError, "['m'] `v` ['n']"),
    (lambda: box(echo, 0.0, **PORTS, name=ODD), CdlError, "`name` `box` 3 `str`"),
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for _, _, words in ROWS])
def test_refusals(call, error, words):
    with unchecked(), pytest.raises(error) as told:
        call()
    assert all(word in str(told.value) for word in words.split()), told.value
