"""What a user gets wrong in a machine, a field or a diagram of theirs: each mistake has a sentence that names it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from alone import run_alone

import cdl
from cdl import MealyF, MooreF
from cdl.errors import CdlError
from cdl.system import (
    box,
    discretise,
    Field,
    field,
    Interface,
    modes,
    oapply,
    rewire,
    rewiring,
    share,
    solve,
    System,
    wire,
    Wiring,
)


GATE: Any = {"inputs": {"a": float}, "outputs": {"x": float}}


def echo(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s}, lambda i: i["a"])


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (lambda s: MealyF(lambda i: {"x": i["a"]}), "answers with a `dict`: the `step` of a `MealyF` gives a pair"),
        (lambda s: MealyF(lambda i: ({"x": s}, s, s)), "answers with a `tuple` of .*: the `step` of a `MealyF` gives"),
        (lambda s: MealyF(lambda i: i["a"]), "answers with an array .*: the `step` of a `MealyF` gives a pair"),
        (lambda s: MooreF({"x": "hello"}, lambda i: s), "the output `x` of `<lambda>` is 'hello': each leaf must be a"),
        (lambda s: MooreF({"x": "1"}, lambda i: s), "the output `x` of `<lambda>` is '1': each leaf must be a number"),
        (lambda s: MooreF({"x": s}, lambda i: "t"), "the next state of `<lambda>` is 't': each leaf must be a number"),
        (lambda s: MooreF({1: s, "x": s}, lambda i: s), r"gives \[1, 'x'\], and its outputs are \['x'\]"),
        (lambda s: MooreF({"x": s if s > 0 else -s}, lambda i: s), "asks for the value of a number in its layer"),
        (
            lambda s: MooreF({"x": jnp.ones(3) @ jnp.ones(2)}, lambda i: s),
            r"fails for a state of f32\[\] and inputs of .*shape.*: give it the state, and the ports, of the shapes",
        ),
    ],
)
def test_a_layer_that_is_no_layer_of_the_ports_is_refused(layer, words):
    with pytest.raises(CdlError, match=words):
        box(layer, 0.0, **GATE)


def unchecked() -> None:
    odd: Any = 3
    for step in (odd, None, lambda: 0.0):
        with pytest.raises(CdlError, match=r"gives a `MooreF` whose `step` is .*: it is a function of an input"):
            box(lambda s, step=step: MooreF({"x": s}, step), 0.0, **GATE)
    makers: dict[str, Any] = {
        "box": lambda: box(echo, 0.0, **GATE, name=odd),
        "wire": lambda: wire({"p": BOX}, {"p.a": "p.x"}, {}, name=odd),
        "oapply": lambda: oapply(Wiring.identity(BOX.interface), {"box": BOX}, name=odd),
        "modes": lambda: modes({"p": BOX}, lambda s: 0, 0.0, name=odd),
        "rewire": lambda: diagram(0.0, 0.0, name=odd),
        "share": lambda: share(P, {"n": ["p.n"]}, name=odd),
        "field": lambda: field(lambda s: s, {"n": float}, name=odd),
    }
    for of, make in makers.items():
        with pytest.raises(CdlError, match=f"`name` of `{of}` is 3, and must be `str`"):
            make()


def test_a_step_that_is_no_function_and_a_name_that_is_no_text_are_refused():
    run_alone(unchecked)


def keyed(s: Any, *, key: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": jax.random.normal(key)}, lambda i: s)


class Own(System):
    """A system of a user's."""

    state: Any
    interface: Any = eqx.field(static=True)
    layer: Any = eqx.field(static=True)
    name: str = "own"

    def __call__(self, s: Any, /, *, key: Any = None) -> Any:
        return self.layer(s)


class OwnField(Field):
    """A field of a user's."""

    ports: Any = eqx.field(static=True)
    given: Any = eqx.field(static=True)
    name: str = "own"

    def rate(self, values: Any, inputs: Any) -> Any:
        return self.given(values)


N: Any = Interface({}, {"n": float})
P = {"p": field(lambda s: s, {"n": float})}
BOX = box(echo, 0.0, **GATE)


def diagram(out: Any, back: Any, **options: Any) -> Any:
    made = rewiring(lambda s, i: {"x": out}, lambda s, i, d: {"p": {"a": back}}, lambda s, i, d: s, 0.0)
    return rewire(made, {"p": BOX}, {"x": float}, **options)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: box(keyed, 0.0, **GATE), "with a state alone where there is no `key`: give it a default, `key=None`"),
        (lambda: diagram("y", 0.0), "the output `x` of `system` is 'y': each leaf must be a number"),
        (lambda: diagram(0.0, "q"), "what the diagram gives to `p.a` is 'q': each leaf must be a number"),
        (lambda: BOX(jnp.array(0.0)).step({"a": "7"}), "the input `a` of `echo` is '7': each leaf must be a number"),
        (lambda: wire({"p": Own(0.0, N, lambda s: 3)}, {}, {}), "gives an `int`, which is not a layer of a machine"),
        (lambda: wire({"p": Own(0.0, {}, echo)}, {}, {}), "the `interface` of the box `p` is {}: give an `Interface`"),
        (
            lambda: wire({"p": Own(0.0, N, lambda s: MooreF({"m": s}, lambda i: s))}, {}, {"n": "p.n"}),
            r"`own` gives \['m'\], and its outputs are \['n'\]: give a dictionary with a value for each",
        ),
        (
            lambda: wire({"p": Own(0.0, N, lambda s: MooreF({"n": s}, lambda i: 1))}, {}, {"n": "p.n"}),
            r"a step of `own` goes from f32\[\] to i32\[\]: keep the state's structure, shapes and types",
        ),
    ],
)
def test_a_machine_or_a_diagram_with_a_mistake_is_refused(make, words):
    with pytest.raises(CdlError, match=words):
        make()


BAD = OwnField(N, lambda s: {"m": s["n"]})


@pytest.mark.parametrize(
    "use", [lambda f: discretise(f, {"n": 1.0}, step=0.1), lambda f: share({"p": f}, {"n": ["p.n"]})]
)
@pytest.mark.parametrize(
    ("made", "words"),
    [
        (BAD, r"`own` gives the rates \['m'\], and its variables are \['n'\]: give a dictionary"),
        (OwnField({}, lambda s: s), "the `ports` of `own` are {}: give an `Interface`"),
        (OwnField(N, lambda s: {"n": s["m"]}), r"the rate of `own` looks up 'm', and there are \['n'\]"),
        (OwnField(N, lambda s: {"n": jnp.ones(2)}), r"`the rate of n` gives f32\[2\] and `n` takes f32\[\]"),
        (OwnField(N, lambda s: s if s["n"] > 0 else {"n": 0.0}), "`own` asks for the value of a number in its rate"),
    ],
)
def test_a_field_of_a_users_with_a_mistake_is_refused_where_it_is_used(use, made, words):
    with pytest.raises(CdlError, match=words):
        use(made)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: solve(BAD, {"n": 1.0}, jnp.ones(2)), r"`own` gives the rates \['m'\]"),
        (lambda: field(lambda s: {"n": s["n"] if s["n"] > 0 else 0.0}, {"n": float}), "asks for the value of a number"),
        (lambda: share(P, {"n": [["p.n"]]}), r"the junction `n` joins \['p.n'\]: give texts, as `\"field.variable\"`"),
        (lambda: share(P, {"n": [3]}), "the junction `n` joins 3: give texts"),
        (lambda: share({"p.q": P["p"]}, {"n": ["p.q.n"]}), "'p.q' cannot name a field: give a text without a dot"),
    ],
)
def test_a_field_with_a_mistake_is_refused(make, words):
    with pytest.raises(CdlError, match=words):
        make()


def test_a_solution_that_goes_to_infinity_is_refused_eagerly_and_when_the_program_runs():
    square = field(lambda s: {"n": s["n"] ** 2}, {"n": float}, name="square")
    until = lambda end: solve(square, {"n": 1.0}, jnp.array([0.0, end]))["n"]
    assert until(0.5)[1] == pytest.approx(2.0, rel=1e-4)
    words = "`solve` did not get to the last time of `square`: .* Do the values go to infinity before?"
    with pytest.raises(CdlError, match=words):
        until(2.0)
    with pytest.raises(Exception, match=words):
        jax.block_until_ready(jax.jit(until)(2.0))


def test_a_machine_that_is_run_without_the_key_that_it_takes_is_told_of_it():
    chance = box(lambda s, *, key=None: MooreF({"x": jax.random.normal(key)}, lambda i: s), 0.0, outputs={"x": float})
    with pytest.raises(CdlError, match="give it the state, and the inputs, of the shapes that it takes, and a `key`"):
        cdl.run(chance, chance.state, jnp.arange(2))


def test_a_field_is_no_box_and_is_told_what_makes_it_one():
    falling = field(lambda s: {"n": -s["n"]}, {"n": float}, name="falling")
    run_alone(a_field_in_a_box)
    with pytest.raises(CdlError, match="or name its inputs in `inputs`"):
        field(lambda s, i: {"n": i["x"] - s["n"]}, {"n": float})
    assert discretise(falling, {"n": 1.0}, step=0.1).interface.outputs.keys() == {"n"}


def a_field_in_a_box() -> None:
    falling: Any = field(lambda s: {"n": -s["n"]}, {"n": float}, name="falling")
    with pytest.raises(CdlError, match="make it by `box`, or by `discretise` from a field"):
        wire({"a": falling}, {}, {"o": "a.n"})


def test_a_stream_that_is_not_of_the_ports_is_told_in_words():
    gate = box(echo, 0.0, **GATE)
    with pytest.raises(CdlError, match=r"was given an array of shape \(\), and its inputs are \['a'\]: give a dict"):
        cdl.run(gate, gate.state, jnp.zeros(3))
    with pytest.raises(
        CdlError, match=r"was given i32\[\] for `a`, whose type is f32\[\]: write `.astype\(\"float32\"\)`"
    ):
        cdl.run(gate, gate.state, {"a": jnp.zeros(3, int)})
