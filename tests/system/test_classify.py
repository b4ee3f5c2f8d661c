"""The table of hierarchy, messages between peers and patterns that change, computed for each kind of system."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest

from cdl import MooreF, ParaOptic
from cdl.learning import layers, losses, optimisers, supervised
from cdl.system import among, box, classify, managed, rewire, rewiring, wire, Wiring
from cdl_arch.mealy import FullRNN
from cdl_arch.symmetry import GraphNetwork
from cdl_arch.system.cells import as_diagram, cell
from cdl_arch.system.circuits import full_adder, nand
from cdl_arch.system.gates import gate_array
from cdl_arch.system.neurons import levels
from cdl_arch.system.talk import peers


KEY = jr.key(0)
LEFT, INSIDE = "left → right", "inside → outside"
CELLS = ("left", "middle", "right")


def network() -> Any:
    return layers.dense(3, 4, jnp.tanh, key=KEY) >> layers.dense(4, 2, jax.nn.gelu, key=KEY)


def trained() -> Any:
    model, learn = network(), optimisers.adam(0.1)
    return model.reparametrise(learn.optic, at=learn.start(model.params))


def in_cells(model: Any, *, hears: bool = False) -> Any:
    two = jnp.zeros(2)
    cells = {name: cell(jnp.ones(4), hears=hears) for name in CELLS}
    inputs = {"change": two, "heard": two} if hears else {"change": two}
    return rewire(as_diagram(model, CELLS, hears=hears), cells, {"value": two}, inputs=inputs)


def mlp_in_cells(talks: bool) -> Any:
    first, second = levels(eqx.nn.MLP(3, 2, 4, 1, key=KEY), 0.1)
    if not talks:
        return in_cells(first >> second)
    return in_cells(peers(first, jnp.zeros((3, 3))) >> peers(second, jnp.zeros((4, 4))), hears=True)


def convolution() -> Any:
    return ParaOptic.of(
        eqx.nn.Sequential([eqx.nn.Conv1d(2, 2, 3, key=KEY), eqx.nn.Lambda(jax.nn.relu), eqx.nn.MaxPool1d(2)])
    )


def attention(xs: Any) -> Any:
    return eqx.nn.MultiheadAttention(2, 4, key=KEY)(xs, xs, xs)


def neighbours(xs: Any, at: Any) -> Any:
    return xs[at].sum(1)


LINEAR = eqx.nn.Linear(3, 4, key=KEY)


class Normed(eqx.Module):
    """Layers without messages, in which data are multiplied by data of the same place."""

    norm: eqx.nn.LayerNorm = eqx.nn.LayerNorm(4)
    linear: eqx.nn.Linear = eqx.nn.Linear(4, 4, key=KEY)

    def __call__(self, xs: Any) -> Any:
        return jnp.mean(jax.nn.gelu(jax.vmap(self.linear)(jax.vmap(self.norm)(xs))), 0)


class Edges(eqx.Module):
    """A graph network by lists of edges."""

    linear: eqx.nn.Linear

    def __call__(self, senders: Any, receivers: Any, xs: Any) -> Any:
        return jax.ops.segment_sum(jax.vmap(self.linear)(xs)[senders], receivers, len(xs))


def echo(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"x": s}, lambda i: i["a"])


GATE: Any = {"inputs": {"a": float}, "outputs": {"x": float}}
BOXES = {name: box(echo, 0.0, **GATE) for name in "pq"}
CROSSED = {"p.a": "q.x", "q.a": "p.x"}
LOOPS = {"p.a": "p.x", "q.a": "q.x"}


def diagram(*wires: Any, update: Any = lambda s, i, d: 1 - s) -> Any:
    ports = {name: x.interface for name, x in BOXES.items()}
    each = [Wiring(ports, w, {"x": "p.x"}) for w in wires]
    return rewire(among(each, lambda s: s, update, jnp.array(0)), BOXES, {"x": float})


def trust() -> Any:
    """Each box hears what the others say, by weights that are the state."""
    said = lambda i: jnp.stack([x["x"] for x in i.values()])
    made = rewiring(
        lambda w, i: {"x": jnp.sum(said(i))},
        lambda w, i, d: {name: {"a": (w @ said(i))[k]} for k, name in enumerate(i)},
        lambda w, i, d: w + jnp.outer(said(i), said(i)),
        jnp.zeros((2, 2)),
    )
    return rewire(made, BOXES, {"x": float})


def driven(back: Any, forward: Any = lambda s, i: {"x": i["p"]["x"]}) -> Any:
    """Two boxes with other inputs, in a diagram with an input from outside."""
    boxes = {"p": box(lambda s: MooreF({"x": s}, lambda i: s), 0.0, outputs={"x": float}), "q": BOXES["q"]}
    made = rewiring(forward, lambda s, i, d: {"p": {}, "q": {"a": back(s, i, d)}}, lambda s, i, d: s + 1, 1.0)
    return rewire(made, boxes, {"x": float}, inputs={"u": float})


WORD, TOKENS = jnp.ones((5, 3)), jnp.ones((6, 4))
RNN = FullRNN(3, 4, 2, key=KEY)

ROWS: dict[str, tuple[Any, tuple[str, ...], bool, bool]] = {
    "DNN": (lambda: classify(network()), (LEFT,), False, True),
    "DNN that learns": (lambda: classify(trained()), (LEFT,), False, True),
    "learner": (
        lambda: classify(supervised(network(), losses.mse(), optimisers.descent(0.1)), (jnp.ones(3), jnp.ones(2))),
        (LEFT,),
        False,
        True,
    ),
    "IDS": (lambda: classify(full_adder()), (INSIDE,), True, False),
    "DILS": (lambda: classify(trust()), (INSIDE, LEFT), True, True),
    "DILS of finitely many diagrams": (lambda: classify(diagram(CROSSED, LOOPS)), (INSIDE, LEFT), True, True),
    "DILS of gates": (lambda: classify(gate_array(jnp.zeros((3, 2), int), 1)), (INSIDE, LEFT), True, True),
    "DNN unfolded": (lambda: classify(mlp_in_cells(talks=False)), (INSIDE, LEFT), False, True),
    "DNN with peers": (lambda: classify(mlp_in_cells(talks=True)), (INSIDE, LEFT), True, True),
    "RNN": (lambda: classify(layers.run(RNN, RNN.init), WORD), (LEFT,), False, True),
    "CNN": (lambda: classify(convolution(), jnp.ones((2, 8))), (LEFT,), False, True),
    "attention": (lambda: classify(attention, TOKENS), (LEFT,), True, None),
    "neighbours that are data": (
        lambda: classify(neighbours, TOKENS, jnp.array([[1, 2], [0, 2]])),
        (LEFT,),
        True,
        False,
    ),
    "neighbours that are fixed": (
        lambda: classify(lambda xs: neighbours(xs, jnp.array([[1, 2], [0, 2]])), TOKENS),
        (LEFT,),
        None,
        False,
    ),
    "weights closed over by vmap": (lambda: classify(jax.vmap(LINEAR), WORD), (LEFT,), None, None),
    "weights of a module, mapped": (lambda: classify(eqx.filter_vmap(LINEAR), WORD), (LEFT,), False, True),
    "layers with a norm, a gate and a mean": (lambda: classify(Normed(), TOKENS), (LEFT,), False, True),
    "attention that is learnt": (
        lambda: classify(eqx.nn.MultiheadAttention(2, 4, key=KEY), TOKENS, TOKENS, TOKENS),
        (LEFT,),
        True,
        True,
    ),
    "GNN": (
        lambda: classify(GraphNetwork([2, 3, 1], key=KEY), jnp.ones((4, 4)), jnp.ones((2, 4))),
        (LEFT,),
        True,
        True,
    ),
    "GNN of edges": (
        lambda: classify(Edges(eqx.nn.Linear(4, 4, key=KEY)), jnp.array([0, 1]), jnp.array([1, 2]), TOKENS),
        (LEFT,),
        True,
        True,
    ),
    "one box": (lambda: classify(nand()), (), False, False),
    "loops alone": (lambda: classify(wire(BOXES, LOOPS, {"x": "p.x"})), (INSIDE,), False, False),
    "a box that hears the outside alone": (
        lambda: classify(driven(lambda s, i, d: d["u"])),
        (INSIDE, LEFT),
        False,
        False,
    ),
    "a gain on the outside that changes": (
        lambda: classify(driven(lambda s, i, d: s * d["u"] * i["p"]["x"])),
        (INSIDE, LEFT),
        False,
        True,
    ),
    "a DILS in a diagram": (
        lambda: classify(wire({"talk": diagram(LOOPS, CROSSED)}, {}, {"x": "talk.x"})),
        (INSIDE, LEFT),
        True,
        True,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_table_is_computed_from_the_structure(name):
    make, hierarchy, talk, changeable = ROWS[name]
    found = make()
    assert (found.hierarchy, found.peers, found.changeable) == (hierarchy, talk, changeable), found.why
    assert found.why
    assert all(words.endswith(".") for words in found.why)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DILS", "`p` `q`"),
        ("DILS", "diagram state changes"),
        ("DNN unfolded", "outside feedback"),
        ("CNN", "tied weights"),
        ("RNN", "loop"),
        ("attention", "data on both sides"),
        ("loops alone", "itself memory"),
    ],
)
def test_classify_gives_reasons(name, words):
    assert any(all(word in why for word in words.split()) for why in ROWS[name][0]().why)


def test_a_fixed_diagram_with_a_manager_does_the_same_and_has_another_row():
    found = classify(managed(trust()))
    assert (found.hierarchy, found.peers, found.changeable) == ((INSIDE,), True, False)
