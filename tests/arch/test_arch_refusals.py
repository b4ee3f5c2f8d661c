"""What an architecture, a search, a training or a diagram cannot be is refused by name."""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, Never

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from equivariant import unchecked
from test_train import batches, go, loss, OPTIMISER

import cdl
import cdl_arch
from cdl import Base, CdlError, Cons, Fork, Leaf, MooreF, Node, RoseF, TreeF
from cdl.errors import (
    CheckpointError,
    ForeignLayer,
    PayloadMismatch,
    PortMismatch,
    SignatureError,
    TreeTooLarge,
)
from cdl.symmetry import Action, chain, monoids, Pointwise
from cdl.trees import of_dataclasses
from cdl_arch import symmetry as sym
from cdl_arch.automata import extract
from cdl_arch.data import Dataset
from cdl_arch.recursive import gated, n_ary, tree_rnn
from cdl_arch.search import (
    Blocks,
    bootstrap,
    Controller,
    Enas,
    Evolution,
    of_dataset,
    Part,
    Pool,
    Random,
    search,
    Signatures,
    Task,
    trained,
    tree_task,
)  # fmt: skip
from cdl_arch.symmetry import closed, Complex, futures, min_plus, Tensors
from cdl_arch.system.cells import as_diagram, as_network
from cdl_arch.system.circuits import adder
from cdl_arch.system.gates import gate_array
from cdl_arch.system.neurons import from_mlp, levels, opened
from cdl_arch.system.talk import peers
from cdl_arch.train import train


KEY = jr.key(0)
tensors = functools.partial(Tensors, key=KEY)
net = functools.partial(gated, TreeF, 4, key=KEY)


class Item(Base[Any, Never]):
    name: str
    grams: float


@dataclasses.dataclass
class Word:
    text: str


def reads(payload: Any) -> Any:
    return net(payload={Leaf: payload})


def forest() -> Any:
    return cdl.pack(TreeF, [Leaf(1.0)])


def part(rows: int = 8, labels: Any = (0,) * 8) -> Part:
    return Part(jnp.ones((rows, 2, 2, 1)), jnp.asarray(labels))


@functools.cache
def space() -> Blocks:
    return Blocks((2, 2, 1), 3, width=2, depth=1)


@functools.cache
def task() -> Task:
    return Task(space(), part(), part(), part(), steps=4, batch=4)


def searched(method: Any = Random(), keys: Any = jr.split(KEY, 1), **how: Any) -> Any:
    return search(task(), method, keys, **how)


def coded(*code: Any, ask: Callable[[Any], Any] | None = None) -> Any:
    return (ask or space().checked)(jnp.asarray([code]))


replaced = lambda **given: dataclasses.replace(task(), **given)
POOL = Pool(np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 2), bool))
FEW = Dataset("few", np.zeros((8, 2, 2, 1), np.float32), np.zeros(4, np.int32), 3)
WIDE = Dataset("wide", np.zeros((8, 8, 8, 1), np.float32), np.zeros(8, np.int32), 3)


def moody(x: Any) -> Any:
    """Commutes at three nodes, and not at two."""
    return x.at[:, 0].add(1.0) if x.shape[-1] == 2 else x


CUMULATED = {"function": lambda x: jnp.cumsum(x, -1), "key": KEY}
TRIANGLE = Complex(closed([(0, 1, 2)]))
GRAPH = [jnp.array([0, 7]), jnp.array([1, 2]), jnp.ones((2, 1))]
PATHS = min_plus.MinPlus(1, 4, key=KEY)
MLP = eqx.nn.MLP(2, 2, 4, 1, key=KEY)
LEVEL = levels(MLP, 0.1)[0]
count = lambda n: MooreF(n, lambda i: n + i)

ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    # Networks of trees.
    (lambda: cdl_arch.gated, AttributeError, "cdl_arch.recursive.gated"),
    (lambda: gated((TreeF, RoseF), 4, key=KEY), SignatureError, "2 signatures"),
    (lambda: tree_rnn(MooreF, 4, key=KEY), SignatureError, "Moore payloads"),
    (lambda: net(payload={Leaf: 1}).cell(Cons), SignatureError, "cell Leaf"),
    (lambda: net(payload={Leaf: 1}, dropout=1.0), SignatureError, "dropout 1.0"),
    (lambda: net(payload={Leaf: 1}, dropout="0.5"), SignatureError, "dropout"),
    (lambda: gated(TreeF, 4, payload={Leaf: 1}), CdlError, "key"),
    (lambda: reads(1)(Fork(Leaf(1.0), Leaf(2.0))), ForeignLayer, "Fork cdl.cata(net)(tree)"),
    (lambda: reads(1)(forest()), ForeignLayer, "Forest cdl.fold(net,"),
    (lambda: n_ary(TreeF, 4, key=KEY), SignatureError, "Leaf.label {Leaf:"),
    (lambda: gated(of_dataclasses(Word).signature, 4, key=KEY), SignatureError,
     "Word.text Embedding"),
    (lambda: gated(Item, 4, payload={Item: eqx.nn.Embedding(2, 4, key=KEY)}, key=KEY),
     SignatureError, "2 name grams"),
    (lambda: reads(eqx.nn.Embedding), SignatureError, "payload[Leaf] class"),
    (lambda: net(payload={Node: 1}), SignatureError, "Node Leaf,"),
    (lambda: cdl.cata(reads(3))(Leaf(1.0)), PayloadMismatch, "Leaf 3: {Leaf: 1}"),
    (lambda: cdl.fold(reads(lambda x: x), forest()), PayloadMismatch, "Leaf () (4,)"),
    (lambda: cdl.fold(reads(lambda x: None), forest()), PayloadMismatch, "Leaf None"),
    (lambda: cdl.fold(reads(lambda x: jnp.ones(8) + jnp.ones(3)), forest()), TypeError,
     "(8,), (3,)"),
    (lambda: cdl.fold(reads(lambda x: jnp.ones(4) if x > 0 else x), forest()), TypeError,
     "boolean"),
    (lambda: cdl.cata(reads(eqx.nn.Embedding(3, 4, key=KEY)))(Leaf("so")), ValueError, ""),
    (lambda: extract(count, 0, jnp.arange(2), lambda x: x, tests=2, max_states=5, key=KEY),
     TreeTooLarge, "5 2"),
    # Searches.
    (lambda: replaced(optimiser="Adam"), CdlError, "momentum, adam"),
    (lambda: replaced(rate=float("nan")), CdlError, "rate nan"),
    (lambda: replaced(train=part(labels=[0] * 7 + [3])), CdlError, "train 3 classes"),
    (lambda: replaced(validation=part(rows=4)), CdlError, "validation 8"),
    (lambda: tree_task(Signatures(width=2), 4, 1, batch=2), CdlError, "batch=None"),
    (lambda: of_dataset(space(), FEW, FEW), CdlError, "few 8 4"),
    (lambda: of_dataset(space(), WIDE, WIDE), CdlError, "wide (8, 8, 1) (2, 2, 1)"),
    (lambda: dataclasses.replace(space(), block="convolution"), CdlError, "dense conv convolution"),
    (lambda: Blocks((2, 2, 1), 3, width=2, depth=3, minimum=4), CdlError, "4 3"),
    (lambda: coded(0, 5, 0, 0), CdlError, "0.skip 5 4"),
    (lambda: coded(0, 5, 0, 0, ask=lambda codes: trained(task(), codes, jr.split(KEY, 1))),
     CdlError, "0.skip"),
    (lambda: trained(task(), jnp.zeros((3, 4), int), jr.split(KEY, 2)), CdlError, "keys [2] 3"),
    (lambda: searched(keys=KEY), CdlError, "jax.random.split"),
    (lambda: searched(rounds=0).best, CdlError, "trained nothing"),
    (lambda: searched(checkpoint="/nowhere/x"), CheckpointError, "/nowhere folder"),
    (lambda: searched(Controller(), budget=2, batch=1), CdlError, "1 codes"),
    (lambda: searched(Evolution(), budget=10), CdlError, "10 2 rounds"),
    (lambda: searched(Enas(cost=0)), CdlError, "0 steps"),
    (lambda: Evolution(population=3, tournament=4), CdlError, "tournament 4, 3"),
    (lambda: bootstrap(POOL, 5), CdlError, "5 4"),
    (lambda: bootstrap(POOL, 2, scores=np.ones(8), share=0.5), CdlError, "scores (8,) 4"),
    # Networks that commute with an action.
    (lambda: sym.Convolution((512, 512), 1, 1, (3, 3), key=KEY).equivariant, CdlError, "2³¹"),
    (lambda: sym.Convolution((4,), 1, 1, (5,), key=KEY), CdlError, "window (5,) (4,)"),
    (lambda: sym.Convolution((4,), 0, 2, (3,), key=KEY), CdlError, "channels 0"),
    (lambda: chain(sym.Convolution((7,), 2, 3, (3,), causal=True, key=KEY), jax.nn.sigmoid),
     CdlError, "shift0 f(0)"),
    (lambda: sym.gcnn(3, (1, 2, 2), 1, **CUMULATED), CdlError, "commute"),
    (lambda: futures.futures(Action(2).matrix(np.ones((2, 2)))), CdlError, "g1 push"),
    (lambda: futures.futures(monoids.transformations(3), limit=26), CdlError, "26"),
    (lambda: sym.deep_sets((2, 3, 3), 1, **CUMULATED), CdlError, "cycle"),
    (lambda: sym.deep_sets((2, 3, 3), 1, function=moody, key=KEY), CdlError, "moody 3 2"),
    (lambda: sym.GraphLayer(2, 3, key=KEY)(jnp.zeros((3, 3)), jnp.zeros((2, 4))), CdlError,
     "(2, 4) (3, 3)"),
    (lambda: tensors(4, 3, 1, 1), CdlError, "orders 6"),
    (lambda: tensors(1, 1, 2, 3)(jnp.ones((2, 4)), n=7), CdlError, "4 n=7"),
    (lambda: tensors(0, 1, 2, 3)(jnp.zeros(2)), CdlError, "n=…"),
    (lambda: tensors(2, 1, 2, 3)(jnp.zeros((2, 3, 4))), CdlError, "2 (2, 3, 4)"),
    (lambda: sym.Layers([tensors(2, 2, 1, 3), tensors(1, 1, 2, 1)]), CdlError, "3 2"),
    (lambda: sym.Layers([eqx.nn.Linear(2, 2, key=KEY)]), CdlError, "Tensors Linear"),
    (lambda: sym.Layers([]), CdlError, "no layers"),
    (lambda: sym.on_points(np.array([[0, 1, 0]])), CdlError, "about_x (0, 0, 1)"),
    (lambda: sym.Spherical(sym.FACES, (1,), 2, key=KEY), CdlError, "(1,)"),
    (lambda: sym.VectorLayer(monoids.idempotent(np.diag([1, 0])), (1, 1), (1, 1), 2, key=KEY),
     CdlError, "lengths"),
    (lambda: PATHS.distances(min_plus.Graph(*GRAPH), jnp.zeros(3), 2), CdlError, "1 7 2"),
    # Complexes.
    (lambda: Complex([(0,), (1,), (0, 1), (1, 0)]), CdlError, "(1, 0) twice"),
    (lambda: Complex([(0,), (0, 1)]), CdlError, "(0, 1) (1,)"),
    (lambda: Complex([(0, 0)]), CdlError, "(0, 0)"),
    (lambda: Complex([(0.5,), (1,)]), CdlError, "0.5 vertex"),
    (lambda: Complex([(0,), (1,)]).move(Complex([(0,)]), 0), CdlError, "(1,)"),
    (lambda: TRIANGLE.action(0, f=[0, 0, 2]), CdlError, "0 1 label"),
    (lambda: Pointwise(jax.nn.relu, TRIANGLE.action(1, swap=[1, 0, 2])), CdlError, "relu swap odd"),
    # Networks and circuits as diagrams.
    (lambda: gate_array(jnp.array([[0, 1]]), inputs=2, outputs=5), CdlError, "1 5"),
    (lambda: adder(0), CdlError, "bits 0"),
    (lambda: opened(from_mlp(MLP, 0.1), "ears"), CdlError, "ears layer"),
    (lambda: from_mlp(MLP, np.nan), CdlError, "rate nan"),
    (lambda: from_mlp(MLP, 0.1, ["a", "a"]), CdlError, "names 'a'"),
    (lambda: peers(LEVEL, jnp.zeros((3, 3))), PortMismatch, "3"),
    (lambda: as_diagram(LEVEL, "ab"), CdlError, "cells 'ab'"),
    (lambda: as_network(as_diagram(LEVEL, ["a", "b"]), ["a", "b"])(jnp.ones(3)), PortMismatch,
     "2 cells"),
    # Trainings.
    (lambda: go(loss=lambda *given: loss(*given) * jnp.ones(2)), CdlError, "loss real"),
    (lambda: go(loss=lambda model, batch: 0.0), CdlError, "loss(model, batch, key)"),
    (lambda: go(epochs=-1), CdlError, "epochs -1"),
    (lambda: go(batches=[1, 2]), CdlError, "batches(epoch)"),
    (lambda: go(batches=lambda epoch, spent=batches(0): spent), CdlError, "batches 1"),
    (lambda: go(batches=lambda epoch: None), CdlError, "batches None"),
    (lambda: go(batches=lambda epoch: [(np.array(["a"]),)]), CdlError, "np.unique"),
    (
        lambda: train(
            {"w": 1.0}, batches, loss, lambda model: 0.0, optimiser=OPTIMISER, epochs=1, key=KEY
        ),
        CdlError, "model real",
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _unchecked() -> Iterator[None]:
    """Without the suite's check of types, as users call it."""
    with unchecked():
        yield


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_arch_refuses(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []
