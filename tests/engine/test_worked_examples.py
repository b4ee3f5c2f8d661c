"""The examples at the head of each engine are what the engine does."""

import importlib
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest


def table(engine: str, number: int) -> list[list[str]]:
    """The cells of one of the tables in the docstring of an engine, without the head."""
    text = importlib.import_module(f"cdl._engine.{engine}").__doc__
    found = re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE)[number]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.strip().split("\n")[2:]]


def numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", text)))


@pytest.fixture(scope="module")
def forest():
    import cdl

    first = cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(2.0), cdl.Leaf(3.0)))
    return cdl.pack(cdl.TreeF, [first, cdl.Fork(cdl.Leaf(4.0), cdl.Leaf(5.0))])


def test_the_rows_edges_and_chunks_of_two_trees(forest):
    from cdl._engine.forests._schedule import EDGES, ROW, ROWS

    rows = table("forests", 0)
    assert sorted(int(r[0]) for r in rows) == sorted(forest.row[: forest.size].tolist())
    for row, node, edges, ends, above in rows:
        assert forest.above[int(row)] == int(above)
        if node.startswith("Leaf", 1):
            assert forest.payload[0][int(row)] == numbers(node)[0]
        for slot, (edge, end) in enumerate(zip(numbers(edges), numbers(ends), strict=True)):
            assert forest.slot[int(row)] + slot == edge
            assert forest.child[edge] == end
    assert forest.child[jnp.array([72, 73])].tolist() == forest.stored_roots[0].tolist() == [5, 4]
    spans = lambda text: [numbers(text)[0], numbers(text)[-1]] if text else []
    for number, own, edges in table("forests", 1):
        chunk = forest.chunk[int(number)].tolist()
        assert spans(own) == [chunk[ROW], chunk[ROW] + chunk[ROWS] - 1]
        assert spans(edges) == ([chunk[EDGES], chunk[EDGES] + chunk[EDGES + 1] - 1] if edges else [])
    assert not forest.chunk[4:].any()


def test_the_values_and_cotangents_of_a_fold(forest):
    import cdl

    class Net(cdl.Algebra[cdl.TreeF[jax.Array, jax.Array], jax.Array]):
        w: jax.Array

        def __call__(self, layer):
            return layer.label if isinstance(layer, cdl.Leaf) else layer.left + self.w * layer.right

    net, row = Net(jnp.array(2.0)), forest.row[: forest.size].tolist()
    found = dict(zip(row, cdl.annotate(net, forest).tolist(), strict=False))
    written = [
        pair for cells in table("folds", 0) for pair in re.findall(r"(\d+): (?:[^,:]*= )?(\d+)(?:,|$)", cells[2])
    ]
    assert {int(r): float(x) for r, x in written} == {r: found[r] for r in row}
    of = lambda both: cdl.fold(both[0], eqx.tree_at(lambda f: f.payload, forest, both[1])).sum()
    to_net, (to_labels,) = eqx.filter_grad(of)((net, forest.payload))
    assert to_labels[71:76].tolist() == numbers(table("folds", 1)[2][2])
    assert to_net.w == 19
    folds = importlib.import_module("cdl._engine.folds").__doc__
    assert "1 · 8 + 2 · 3 + 1 · 5 = 19" in folds


def test_what_a_descent_hands_on(forest):
    import cdl

    levels = cdl.inherit(lambda level, layer: cdl.fmap(lambda _: level + 1, layer), forest, jnp.zeros(2, int))
    assert levels[: forest.size].tolist() == [0, 1, 1, 2, 2, 0, 1, 1]
    inherited = dict(zip(forest.row[: forest.size].tolist(), levels.tolist(), strict=False))
    handed = {edge: inherited[int(forest.child[edge])] for edge in range(6)}
    assert [handed[4], handed[5]] == [numbers(table("descents", 0)[0][2])[-1]] * 2
    assert [handed[e] for e in range(4)] == numbers(table("descents", 0)[1][2])[2:]


def test_the_products_of_a_gated_unit():
    import cdl
    from cdl._engine.jaxprs._passes import Passes
    from cdl._engine.lists._scan_case import read

    class Reader(cdl.Algebra[cdl.functors.SnocF[jax.Array, jax.Array], jax.Array]):
        cell: eqx.nn.GRUCell

        def __call__(self, layer):
            return jnp.zeros(3) if isinstance(layer, cdl.functors.Lin) else self.cell(layer.last, layer.init)

    case = read(Reader(eqx.nn.GRUCell(2, 3, key=jr.key(0))), False, jax.ShapeDtypeStruct((2,), np.float32), None)
    passes = Passes(case.step, case.elements, [True] * len(case.weights), range(len(case.states)))
    products = lambda part: sum(e.primitive.name == "dot_general" for e in part.jaxpr.eqns)
    said = {cells[0].strip("`"): cells for cells in table("lists", 0)}
    for name in ("ahead", "forward", "back"):
        assert products(getattr(passes, name)) == said[name][1].count("`") // 2
    assert products(passes.again) == products(passes.found) == 0
    assert [x.shape for x in (*passes.kept, *(case.states[i] for i in passes.known))] == [(3,)] * 5
    assert len(passes.kept) == 4
    assert [case.weights[n].shape for tap in passes.taps for kind, n in tap.operands if kind == "weight"] == [
        (9, 3),
        (3,),
    ]


def test_the_outputs_and_states_of_a_sum():
    import cdl

    mealy = lambda s: cdl.MealyF(lambda i: (s + i, s + i))
    moore = lambda s: cdl.MooreF(s, lambda i: s + i)
    columns = list(zip(*table("machines", 0), strict=True))
    ints = lambda column: [int(x) for x in column if x]
    inputs = jnp.array(ints(columns[1]))
    outputs, _, states = cdl.run(mealy, jnp.array(0), inputs, states=True)
    assert outputs.tolist() == ints(columns[3])
    assert states[:-1].tolist() == ints(columns[2])
    assert states.tolist() == ints(columns[4])
    assert cdl.run(moore, jnp.array(0), inputs)[0].tolist() == ints(columns[5])
    outputs, last = cdl.run(mealy, jnp.array([0, 0]), cdl.Seq(jnp.stack([inputs, inputs]), [3, 1]))
    assert outputs.values[1].tolist() == [3, 0, 0]
    assert last.tolist() == [8, 3]


def test_the_queue_of_two_trees(monkeypatch):
    import cdl
    from cdl._engine.growth import _grow_rule

    kept = []
    monkeypatch.setattr(_grow_rule, "_shown", lambda rows: kept.append(rows) or rows)
    halve = lambda n: cdl.choose(jnp.stack([1.5 - n, n - 1.5]), cdl.Leaf(n), cdl.Fork(n // 2, n - n // 2))
    with jax.disable_jit():
        grown = cdl.unfold(halve, jnp.array([3.0, 1.0]), 8, lanes=4)
    (rows,), said = kept, table("growth", 0)
    number = lambda column: [int(line[column]) for line in said]
    count = len(said)
    assert number(1) == list(range(count))
    assert [rows.tree[:count].tolist(), rows.number[:count].tolist()] == [number(2), number(3)]
    assert [line[5] for line in said] == [("`Leaf`", "`Fork`")[c] for c in rows.choice[:count].tolist()]
    below = [list(range(first, first + kids)) for first, kids in zip(rows.first, rows.kids, strict=True)][:count]
    assert [numbers(line[6]) for line in said] == below
    starts = rows.starts[: int(rows.chunks) + 1].tolist()
    assert [sum(row >= start for start in starts) - 1 for row in range(count)] == number(0)
    assert grown.trees() == [cdl.Fork(cdl.Leaf(1.0), cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(1.0))), cdl.Leaf(1.0)]
    assert rows.seeds[0][:count].tolist() == number(4)
