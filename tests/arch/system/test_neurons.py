"""Networks as diagrams: the same numbers forward, back and after a step, and nothing else where peers talk."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import cdl
from cdl import draw, MealyF
from cdl.system import box, rewire, wire
from cdl_arch.system.cells import as_diagram, cell
from cdl_arch.system.neurons import from_mlp, layers, levels, nested, opened
from cdl_arch.system.talk import peers


RATE, EXACT = 0.1, {"rtol": 0, "atol": 1e-12}


@pytest.fixture
def double():
    with jax.enable_x64(True):
        yield


def mlp(depth: int, key: Any, activation: Any = jnp.tanh, **how: Any) -> eqx.nn.MLP:
    return eqx.nn.MLP(3, 2, 4, depth, activation, key=key, **how)


def close(one: Any, other: Any, **how: Any) -> None:
    found, expected = jax.tree.leaves(one), jax.tree.leaves(other)
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **(how or EXACT))


def by_hand(network: Any, x: Any, dy: Any) -> Any:
    """The value, the parameters after a step of descent, and the change of the input."""
    params, rest = eqx.partition(network, eqx.is_inexact_array)
    y, back = jax.vjp(lambda p, x: eqx.combine(p, rest)(x), params, x)
    dp, dx = back(dy)
    return y, jax.tree.map(lambda p, g: p - RATE * g, params, dp), dx


@pytest.mark.parametrize(
    ("depth", "how"),
    [
        (0, {}),
        (3, {}),
        (3, {"scan": True}),
        (2, {"final_activation": jnp.sin, "use_bias": False}),
        (2, {"activation": eqx.nn.PReLU, "final_activation": eqx.nn.PReLU}),
    ],
    ids=["affine", "deep", "scan", "no bias", "activations with weights"],
)
def test_a_network_of_equinox_is_diagrams_in_diagrams_and_a_step_is_one_of_gradient_descent(double, getkey, depth, how):
    how = {name: f() if f is eqx.nn.PReLU else f for name, f in how.items()}
    network = mlp(depth, getkey(), **how)
    model, x, dy = from_mlp(network, RATE), jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
    (y, kept), (value, after, change) = model.optic.forward((model.params, x)), by_hand(network, x, dy)
    close(y, value)
    found, dx = model.optic.backward(kept, dy)
    close(dx, change)
    if how:
        rest = eqx.partition(network, eqx.is_inexact_array)[1]
        after = from_mlp(eqx.combine(after, rest), RATE).params
    close(found, after)
    if "activation" in how:
        inner = opened(model, "layer 1").params
        assert [x.shape for x in jax.tree.leaves(inner)] == [(4, 3), (4,), (4,)]


def teacher() -> Any:
    """Shows the change of the squared error, at once, and holds the targets."""

    def layer(s: Any) -> MealyF[Any, Any, Any]:
        return MealyF(
            lambda i: ({"change": i["value"] - i["target"], "loss": jnp.sum((i["value"] - i["target"]) ** 2) / 2}, s)
        )

    two = jnp.zeros(2)
    return box(layer, (), inputs={"value": two, "target": two}, outputs={"change": two, "loss": jnp.sum(two)})


CELLS = ("left", "middle", "right")


def taught(model: Any, data: Any, hears: bool = False) -> Any:
    """The network, its cells showing data, in a diagram with a teacher: it learns as it runs."""
    two = jnp.zeros(2)
    cells = {name: cell(data[:, k], hears=hears) for k, name in enumerate(CELLS)}
    inputs = {"change": two, "heard": two} if hears else {"change": two}
    student = rewire(as_diagram(model, CELLS, hears=hears), cells, {"value": two}, inputs=inputs)
    wires = {"student.change": "teacher.change", "teacher.value": "student.value", "teacher.target": "target"}
    return wire(
        {"student": student, "teacher": teacher()},
        wires | ({"student.heard": "heard"} if hears else {}),
        {"value": "student.value", "loss": "teacher.loss"},
        inputs={"target": two} | ({"heard": two} if hears else {}),
    )


def descents(network: Any, data: Any, targets: Any) -> Any:
    """The same by hand: the losses, the network at the end, and the last change of the data."""
    losses, change = [], None
    for x, t in zip(data, targets, strict=True):
        y = network(x)
        losses.append(jnp.sum((y - t) ** 2) / 2)
        _, params, change = by_hand(network, x, y - t)
        network = eqx.combine(params, eqx.partition(network, eqx.is_inexact_array)[1])
    return losses, network, change


def test_a_network_that_runs_in_a_diagram_with_a_teacher_learns_by_gradient_descent(double, getkey):
    network, data, targets = mlp(2, getkey()), jr.normal(getkey(), (20, 3)), jr.normal(getkey(), (20, 2))
    system = taught(from_mlp(network, RATE), data)
    outputs, last = cdl.run(system, system.state, {"target": targets})
    losses, after, change = descents(network, data, targets)
    close(outputs["loss"], jnp.stack(losses))
    params, (cells,) = system.states(last)["student"]
    close(params, from_mlp(after, RATE).params)
    close(cells["change"], change)


def test_what_peers_say_is_heard_a_tick_later_at_each_level_and_the_wires_learn_by_the_gradient(double, getkey):
    network, data, targets = mlp(1, getkey()), jr.normal(getkey(), (9, 3)), jr.normal(getkey(), (9, 2))
    matrices = [jr.normal(getkey(), (n, n)) / 3 for n in (3, 4)]
    model = nested([peers(x, m, rate=0.05) for x, m in zip(levels(network, RATE), matrices, strict=True)])
    system = taught(model, data, hears=True)
    heard = jr.normal(getkey(), (9, 2))
    outputs, last = cdl.run(system, system.state, {"target": targets, "heard": heard})

    first, second = layers(network)
    (A, B), said, top = matrices, (jnp.zeros(3), jnp.zeros(4)), jnp.zeros(2)
    heard_in, heard_mid = jnp.zeros(3), jnp.zeros(4)
    for t in range(9):
        fixed, held = eqx.partition((first, second), eqx.is_inexact_array)

        def loss(params: Any, from_in: Any, from_mid: Any, held: Any = held, t: int = t, top: Any = top) -> Any:
            one, two = eqx.combine(params, held)
            v = data[t] + from_in
            w = one(v) + from_mid
            y = two(w) + top
            return jnp.sum((y - targets[t]) ** 2) / 2, (v, w, y)

        (_, (v, w, y)), grads = jax.value_and_grad(loss, (0, 1, 2), has_aux=True)(fixed, heard_in, heard_mid)
        close(outputs["value"][t], y)
        after = jax.tree.map(lambda p, g: p - RATE * g, fixed, grads[0])
        first, second = eqx.combine(after, held)
        heard_in, heard_mid, top = A @ v, B @ w, heard[t]
        A, B = A - 0.05 * jnp.outer(grads[1], said[0]), B - 0.05 * jnp.outer(grads[2], said[1])
        said = v, w
    close([x["peers"] for x in system.states(last)["student"][0]], [A, B])


def test_the_gradient_goes_through_talk_that_lasts_for_many_ticks(double, getkey):
    network, data, targets = mlp(1, getkey()), jr.normal(getkey(), (6, 3)), jr.normal(getkey(), (6, 2))
    first, second = levels(network, RATE)

    def total(matrix: Any) -> Any:
        model = nested([peers(first, matrix), peers(second, jnp.zeros((4, 4)))])
        system = taught(model, data, hears=True)
        return jnp.sum(cdl.run(system, system.state, {"target": targets, "heard": jnp.zeros((6, 2))})[0]["loss"])

    matrix = jr.normal(getkey(), (3, 3)) / 3
    found, e = jax.grad(total)(matrix), 1e-6
    for i, j in ((0, 1), (2, 2)):
        moved = [total(matrix.at[i, j].add(side * e)) for side in (1, -1)]
        np.testing.assert_allclose(found[i, j], (moved[0] - moved[1]) / (2 * e), rtol=1e-6)


def test_levels_of_abstraction_are_boxes_that_open(getkey):
    network = mlp(2, getkey())
    digit = from_mlp(network, RATE, names=["edges", "curves", "digit"])
    curves = opened(digit, "curves")
    one, two, _three = layers(network)
    x = jr.normal(getkey(), (3,))
    close(curves(x), two(one(x)))
    close(opened(curves, "edges")(x), one(x))
    assert opened(digit, "digit") is digit
    picture = str(draw(digit))
    assert all(name in picture for name in ("edges", "curves", "digit"))


def test_a_network_that_is_made_anew_is_compiled_once(getkey):
    network, traced = eqx.nn.MLP(3, 2, 4, 1, key=getkey()), list[int]()

    @eqx.filter_jit
    def forward(model, x):
        traced.append(1)
        return model(x)

    for _ in range(3):
        forward(from_mlp(network, RATE), jnp.ones(3))
    assert len(traced) == 1
