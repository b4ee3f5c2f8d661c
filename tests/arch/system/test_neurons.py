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
from cdl.errors import CdlError, PortMismatch
from cdl.system import box, rewire, wire
from cdl_arch.system.cells import as_diagram, cell
from cdl_arch.system.neurons import from_mlp, layers, levels, nested, opened
from cdl_arch.system.talk import peers


RATE, EXACT = 0.1, {"rtol": 0, "atol": 1e-12}


@pytest.fixture
def double():
    with jax.enable_x64(True):
        yield


def mlp(depth: int, key: Any, **how: Any) -> eqx.nn.MLP:
    return eqx.nn.MLP(3, 2, 4, depth, jnp.tanh, key=key, **how)


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
    [(0, {}), (1, {}), (3, {}), (3, {"scan": True}), (2, {"final_activation": jnp.sin, "use_bias": False})],
)
def test_a_network_of_equinox_is_diagrams_in_diagrams_and_a_step_is_one_of_gradient_descent(double, getkey, depth, how):
    network = mlp(depth, getkey(), **how)
    model, x, dy = from_mlp(network, RATE), jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
    (y, kept), (value, after, change) = model.optic.forward((model.params, x)), by_hand(network, x, dy)
    close(y, value)
    found, dx = model.optic.backward(kept, dy)
    close(dx, change)
    if not how.get("scan"):
        close(found, after)
    else:
        close(from_mlp(eqx.combine(after, eqx.partition(network, eqx.is_inexact_array)[1]), RATE).params, found)


def test_activations_with_weights_learn_an_own_one_for_each_neuron(double, getkey):
    network = eqx.nn.MLP(3, 2, 4, 2, eqx.nn.PReLU(), eqx.nn.PReLU(0.4), key=getkey())
    model, x, dy = from_mlp(network, RATE), jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
    y, kept = model.optic.forward((model.params, x))
    value, after, change = by_hand(network, x, dy)
    found, dx = model.optic.backward(kept, dy)
    close((y, dx), (value, change))
    again = from_mlp(eqx.combine(after, eqx.partition(network, eqx.is_inexact_array)[1]), RATE)
    close(found, again.params)
    assert [x.shape for x in jax.tree.leaves(opened(model, "layer 1").params)] == [(4, 3), (4,), (4,)]


def test_the_change_that_each_layer_takes_is_the_networks(double, getkey):
    network = mlp(3, getkey())
    each, x, dy = levels(network, RATE), jr.normal(getkey(), (3,)), jr.normal(getkey(), (2,))
    kept, values = [], [x]
    for level in each:
        y, m = level.optic.forward((level.params, values[-1]))
        kept.append(m)
        values.append(y)
    changes = [dy]
    for level, m in reversed(list(zip(each, kept, strict=True))):
        changes.insert(0, level.optic.backward(m, changes[0])[1])
    for k, change in enumerate(changes[:-1]):
        rest = layers(network)[k:]

        def after(v: Any, rest: Any = rest) -> Any:
            for layer in rest:
                v = layer(v)
            return v

        close(change, jax.vjp(after, values[k])[1](dy)[0])


def test_one_neuron_is_a_box_around_its_cells_and_a_layer_adds_the_changes_of_its_neurons(double, getkey):
    linear, v = eqx.nn.Linear(3, 4, key=getkey()), jr.normal(getkey(), (3,))
    dy, inside = jr.normal(getkey(), (4,)), {"p": 0, "q": 1, "r": 2}
    shown = {name: {"value": v[k]} for name, k in inside.items()}
    total = np.zeros(3)
    for k in range(4):
        (level,) = levels([Neuron(linear.weight[k], linear.bias[k])], RATE)
        diagram = as_diagram(level, tuple(inside))
        out, kept = diagram.optic.forward((diagram.params, shown))
        y = jnp.tanh(linear(v))[k]
        close(out, {"value": y})
        after, changes = diagram.optic.backward(kept, {"change": dy[k]})
        dz = dy[k] * (1 - y**2)
        close(changes, {name: {"change": dz * linear.weight[k, i]} for name, i in inside.items()})
        close(after, (linear.weight[k] - RATE * dz * v, linear.bias[k] - RATE * dz))
        total += np.array([changes[name]["change"] for name in inside])
    (layer,) = levels([Tanh(linear)], RATE)
    _, kept = layer.optic.forward((layer.params, v))
    close(layer.optic.backward(kept, dy)[1], total)


class Neuron(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: Any) -> Any:
        return jnp.tanh(jnp.sum(self.weight * x) + self.bias)


class Tanh(eqx.Module):
    linear: eqx.nn.Linear

    def __call__(self, x: Any) -> Any:
        return jnp.tanh(self.linear(x))


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


def test_peers_that_are_not_wired_are_the_ordinary_network_bit_by_bit(double, getkey):
    network, data, targets = mlp(2, getkey()), jr.normal(getkey(), (20, 3)), jr.normal(getkey(), (20, 2))
    plain = taught(from_mlp(network, RATE), data)
    silent = nested(
        [peers(level, jnp.zeros((n, n))) for level, n in zip(levels(network, RATE), (3, 4, 4), strict=True)]
    )
    talks = taught(silent, data, hears=True)
    inputs = {"target": targets, "heard": jnp.zeros((20, 2))}
    one, other = cdl.run(plain, plain.state, {"target": targets})[0], cdl.run(talks, talks.state, inputs)[0]
    assert jnp.all(one["value"] == other["value"])
    assert jnp.all(one["loss"] == other["loss"])


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
    with pytest.raises(
        CdlError, match="there is no box `ears` to open: from the outside in they are digit, curves, ed"
    ):
        opened(digit, "ears")


def test_what_is_no_network_is_refused(getkey):
    network = mlp(1, getkey())
    with pytest.raises(CdlError, match="1 names for 2 layers: give a layer at least, and a name for each"):
        levels(network, RATE, ["digit"])
    with pytest.raises(CdlError, match="`nested` was given no diagram"):
        nested([])
    with pytest.raises(PortMismatch, match="`layer 1` does not take 4 values, one of each inner box"):
        peers(levels(network, RATE)[0], jnp.zeros((4, 4)))
    with pytest.raises(PortMismatch, match="`layer 2` does not take 2 values"):
        as_diagram(from_mlp(network, RATE), ["left", "right"])


def test_a_network_that_is_made_anew_is_compiled_once(getkey):
    network, traced = eqx.nn.MLP(3, 2, 4, 1, key=getkey()), list[int]()

    @eqx.filter_jit
    def forward(model, x):
        traced.append(1)
        return model(x)

    for _ in range(3):
        forward(from_mlp(network, RATE), jnp.ones(3))
    assert len(traced) == 1
