"""What systems answer to wrong or odd input: the two things that differ, in our words."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alone import run_alone

import cdl
from cdl import MooreF
from cdl.errors import CdlError
from cdl.system import among, box, fixed, Interface, modes, Port, rewire, rewiring, route, System, wire, Wiring


def echo(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s}, lambda i: i["a"])


GATE: Any = {"inputs": {"a": float}, "outputs": {"x": float}}
BOXES = {name: box(echo, 0.0, **GATE) for name in "pq"}
CROSSED = {"p.a": "q.x", "q.a": "p.x"}
PAIR = wire(BOXES, CROSSED, {"x": "p.x"})
WIRING = PAIR.wiring
REWIRED = rewire(fixed(WIRING), BOXES, {"x": float})


def chosen(number: Any) -> Any:
    return rewire(among([WIRING, WIRING], lambda s: number, lambda s, i, d: s, 0), BOXES, {"x": float})


def modal(number: Any) -> Any:
    return modes({"a": BOXES["p"], "b": BOXES["q"]}, lambda s: number, jnp.array(0.0))


@pytest.mark.parametrize("make", [chosen, modal])
def test_a_choice_is_one_whole_number(make):
    for wrong in (True, np.True_, jnp.array(True), 0.5, jnp.array(0.0), jnp.array([0, 1]), "x", None, 2**70):
        with pytest.raises(CdlError, match=r"`choose` of `(among|modes)` gave .*: give one whole number, such as"):
            make(wrong)
    with pytest.raises(CdlError, match=r"gave 7: give that of one of the 2"):
        make(7)
    for right in (1, np.int64(1), jnp.uint8(1), jnp.int32(1)):
        system = make(right)
        assert cdl.run(system, system.state, {"a": {"a": jnp.ones(1)}, "b": {"a": jnp.ones(1)}})[0]


def by_diagram(back: Any, **options: Any) -> Any:
    diagram = rewiring(lambda s, i: {"x": i["p"]["x"]}, back, lambda s, i, d: s, ())
    return rewire(diagram, BOXES, {"x": float}, **options)


IN = {"p": {"a": jnp.array(0.0)}, "q": {"a": jnp.array(0.0)}}
METRES = box(echo, 0.0, inputs={"a": Port.of(float, "m")}, outputs={"x": float})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: by_diagram(lambda s, i, d: {**IN, "r": {}}),
            r"value to 'r', which is not a box: there are \['p', 'q'\]",
        ),
        (
            lambda: by_diagram(lambda s, i, d: {**IN, "q": {"a": jnp.array(0.0), "b": 1.0}}),
            r"a value to 'b' of `q`, whose inputs are \['a'\]",
        ),
        (
            lambda: rewire(fixed(WIRING), {"p": METRES, "q": BOXES["q"]}, {"x": float}),
            r"the box `p` is \(a: f32\[\]\) → .*, and `echo` is \(a: f32\[\] in m\) → .*: give both one interface",
        ),
        (
            lambda: rewire(fixed(WIRING), BOXES, {"x": Port.of(float, "m")}),
            r"the diagram is \(\) → \(x: f32\[\]\) outside, and `rewire` was given .* in m\)",
        ),
        (lambda: rewire(fixed(WIRING), {"p": BOXES["p"]}, {"x": float}), r"`q` is a box of the diagram alone: the sys"),
        (lambda: rewire(fixed(Wiring({}, {}, {})), BOXES, {}), r"`p` is a box of the systems alone: the systems are"),
    ],
)
def test_what_a_diagram_invents_or_another_unit_is_refused(make, words):
    with pytest.raises(CdlError, match=words):
        make()


TWO = jnp.ones(2)


def test_states_of_boxes_are_packed_in_their_types():
    packed = PAIR.pack({"p": 1, "q": jnp.float32(2)})
    assert [x.tolist() for x in packed] == [[1.0, 2.0]]
    assert {path: float(x) for path, x in PAIR.states(PAIR.pack({"q": 3.0})).items()} == {"p": 0.0, "q": 3.0}
    for wrong in (TWO, (1.0,), 1j, jnp.int32(1), None):
        with pytest.raises(CdlError, match=r"the state of `p` is .*, and the box begins in f32\[\]: give that"):
            PAIR.pack({"p": wrong, "q": wrong})
    chance = wire({"p": box(lambda s: MooreF({}, lambda i: s), jax.random.key(0), outputs={})}, {}, {})
    assert chance.pack({"p": jax.random.key(7)}) == (jax.random.key(7),)
    with pytest.raises(CdlError, match="the state of `p` is 'x': each leaf must be a number"):
        PAIR.pack({"p": "x"})
    no_mapping: tuple[Any, ...] = (None, 3, ["p"])
    for words in no_mapping:
        with pytest.raises(CdlError, match=r"`states` of `Wired.pack` is .*, and must be a `dict` from `str`"):
            PAIR.pack(words)


@pytest.mark.parametrize("system", [PAIR, REWIRED], ids=["wired", "rewired"])
def test_what_is_no_state_of_the_whole_is_refused(system):
    words = r"was given the state .*, and its states are .*: give `system.state`, what `run` gave, or for states"
    for wrong in (PAIR.states(PAIR.state), 3, (), (jnp.zeros(3),)):
        with pytest.raises(CdlError, match=words):
            cdl.run(system, wrong, jnp.arange(2))
    for wrong in (PAIR.states(PAIR.state), 3, jax.tree.map(lambda x: jnp.stack([x, x]), PAIR.state)):
        with pytest.raises(CdlError, match=words):
            PAIR.states(wrong)


def test_a_source_is_found_by_one_whole_number():
    for sources in (None, [], 3, [1, 2], jnp.array(1.0), jnp.ones((0, 2)), {"a": jnp.ones(3), "b": TWO}):
        with pytest.raises(CdlError, match=r"`route` was given the sources .*: give arrays with an axis of sources"):
            route(sources, jnp.array(0))
    with pytest.raises(CdlError, match="a source of `route` is 'abc': each leaf must be a number"):
        route("abc", jnp.array(0))
    for number in (True, 1.0, TWO, None, jnp.array([0, 1])):
        with pytest.raises(CdlError, match=r"`route`"):
            route(jnp.ones(3), number)  # type: ignore[arg-type]
    with jax.enable_x64(True):
        assert not route(jnp.arange(3.0), jnp.int64(2**32))[1]


@pytest.mark.parametrize("wires", [[1], ["ab"], [("p.a",)], [("p.a", "q.x", "z")], [None], "p.a", [("p.a", "q.x"), 3]])
def test_wires_that_are_no_pairs_are_refused(wires):
    with pytest.raises(CdlError, match=r"`wires` has .*: give pairs of an input and its source, or a mapping"):
        wire(BOXES, wires, {"x": "p.x"})


def made(step: Any) -> Any:
    return box(lambda s: MooreF({"x": s}, step), 0.0, **GATE)


def test_only_a_port_that_is_looked_up_is_called_a_port():
    with pytest.raises(CdlError, match=r"looks up 'b', and its inputs are \['a'\]"):
        made(lambda i: i["b"])
    for mine in (lambda i: {"k": 1.0}["lost"], lambda i: {"k": 1.0}["a"]):
        with pytest.raises(KeyError):
            made(mine)
    with pytest.raises(CdlError, match=r"`system` looks up 'v', and its inputs are \['u'\]"):
        by_diagram(lambda s, i, d: {"p": d["v"]}, inputs={"u": float})


class Own(System):
    """A system whose state is what it is given."""

    state: Any
    interface: Interface = eqx.field(static=True, default=Interface({"a": float}, {"x": float}))
    name: str = "own"

    def __call__(self, s: Any, /, *, key: Any = None) -> MooreF[Any, Any, Any]:
        return MooreF({"x": 0.5 * jnp.asarray(s["n"], jnp.float32)}, lambda i: {"n": s["n"] + 1})


def test_the_state_of_an_own_system_may_be_of_numbers_of_python():
    for one in (1, 1.0, np.float64(1), jnp.array(1)):
        system = wire(
            {"o": Own({"n": one}), "r": Own({"n": one})}, {"o.a": "a", "r.a": "o.x"}, {"x": "r.x"}, inputs={"a": float}
        )
        assert cdl.run(system, system.state, {"a": TWO})[0]["x"].tolist() == [0.5, 1.0, 1.5]
    with pytest.raises(CdlError, match=r"a state is .*: each leaf must be a number"):
        wire({"o": Own({"n": 1, "name": "abc"})}, {"o.a": "a"}, {"x": "o.x"}, inputs={"a": float})


def test_the_type_of_a_port_is_that_of_the_time_when_it_was_built():
    with jax.enable_x64(True):
        with pytest.raises(CdlError, match=r"was given f64\[\] for `a`, whose type is f32\[\]"):
            cdl.run(BOXES["p"], BOXES["p"].state, {"a": jnp.ones(2)})
        assert Port.of(float).struct.dtype == jnp.float64


def a_unit_is_a_text() -> None:
    with pytest.raises(CdlError, match="the unit of a port is 3: give a text"):
        Port.of(float, 3)  # type: ignore[arg-type]


def test_a_port_keeps_its_unit_and_takes_the_types_of_numpy():
    assert Port.of(Port.of(float), "m") == Port.of(float, "m") == Port.of(Port.of(float, "m"))
    assert [Port.of(x).struct.dtype for x in (np.float32, np.int32, np.bool_)] == [jnp.float32, jnp.int32, jnp.bool_]
    with pytest.raises(CdlError, match="a port in m was given the unit s: give both one unit"):
        Port.of(Port.of(float, "m"), "s")
    run_alone(a_unit_is_a_text)


ODD: Any = 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: WIRING.port("z"), "`z` is not a source: it is neither an output of a box nor an input from outside"),
        (lambda: WIRING.port("z.x"), "`z.x` is not a source"),
        (lambda: WIRING.port("p.z"), "`p.z` is not a source"),
        (lambda: WIRING.lens().get({}), "the lens of a diagram was given no value of `p.x`"),
        (lambda: WIRING.substitute("p", ODD), "`inner` of `Wiring.substitute` is 3"),
        (lambda: Wiring.identity(ODD), "`interface` of `Wiring.identity` is 3"),
        (lambda: rewiring(ODD, ODD, ODD, ()), "`forward` of `rewiring` is 3"),
        (lambda: among([WIRING], lambda s: 0, ODD, ()), "`update` of `among` is 3"),
    ],
)
def test_what_is_no_port_diagram_or_function_is_refused(make, words):
    with pytest.raises(CdlError, match=words):
        make()


@pytest.mark.parametrize("spec", ["m", np.timedelta64, np.datetime64, str])
def test_a_unit_or_a_time_is_no_type_of_numbers(spec):
    with pytest.raises(CdlError, match=r"a port of .*: give `bool`, `int`, `float`"):
        Port.of(spec)
