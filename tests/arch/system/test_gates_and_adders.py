"""Circuits of NAND gates: all rows of their truth tables, and no sooner and no later than their latency says."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl.system import latency, System
from cdl_arch.system.circuits import adder, conjunction, disjunction, exclusive, full_adder, half_adder, inverter, nand
from cdl_arch.system.gates import gate_array


CIRCUITS: list[tuple[System, Any, int, int]] = [
    (nand(), lambda a, b: {"out": not (a and b)}, 1, 1),
    (inverter(), lambda a: {"out": not a}, 1, 1),
    (conjunction(), lambda a, b: {"out": a and b}, 2, 2),
    (disjunction(), lambda a, b: {"out": a or b}, 3, 2),
    (exclusive(), lambda a, b: {"out": a != b}, 4, 3),
    (half_adder(), lambda a, b: {"sum": a != b, "carry": a and b}, 6, 3),
    (full_adder(), lambda a, b, c: {"sum": (a + b + c) % 2 == 1, "carry": a + b + c > 1}, 15, 7),
]
EACH = pytest.mark.parametrize(("circuit", "truth", "gates", "ticks"), CIRCUITS, ids=lambda x: getattr(x, "name", ""))


def rows(circuit: System) -> dict[str, Any]:
    """All values of the inputs, a row for each."""
    names = list(circuit.interface.inputs)
    table = np.array(list(itertools.product([False, True], repeat=len(names))))
    return {name: jnp.asarray(table[:, k]) for k, name in enumerate(names)}


def held(circuit: System, inputs: Any, ticks: int) -> Any:
    """The outputs, at each tick and in each row, where the inputs are constant. All rows at once."""

    def one(row: Any) -> Any:
        return cdl.run(circuit, circuit.state, jax.tree.map(lambda x: jnp.broadcast_to(x, (ticks,)), row))[0]

    return jax.jit(jax.vmap(one))(inputs)


def slowest(circuit: System) -> int:
    return int(max(found.longest for each in latency(circuit).values() for found in each.values()))


@EACH
def test_every_row_of_the_truth_table_shows_after_the_ticks_that_are_stated(circuit, truth, gates, ticks):
    assert slowest(circuit) == ticks
    assert len(getattr(circuit, "boxes", {"nand": circuit})) == gates
    inputs = rows(circuit)
    outputs = held(circuit, inputs, ticks + 2)
    for row in range(2 ** len(inputs)):
        expected = truth(*(bool(x[row]) for x in inputs.values()))
        assert {name: bool(x[row, ticks]) for name, x in outputs.items()} == expected
        assert {name: bool(x[row, ticks + 2]) for name, x in outputs.items()} == expected


def test_an_adder_of_four_bits_adds_all_two_hundred_and_fifty_six_pairs_in_one_program():
    circuit = adder(4)
    assert len(circuit.boxes) == 60
    assert len(circuit.plan.steps) == 1
    assert slowest(circuit) == 19
    pairs = np.array(list(itertools.product(range(16), range(16))))
    inputs = {f"{port}{n}": jnp.asarray(pairs[:, k] >> n & 1 == 1) for k, port in enumerate("ab") for n in range(4)}
    for carry in (False, True):
        outputs = held(circuit, {**inputs, "c": jnp.full(256, carry)}, 19)
        found = sum(np.asarray(outputs[f"sum{n}"][:, 19]) * 2**n for n in range(4)) + 16 * np.asarray(
            outputs["carry"][:, 19]
        )
        np.testing.assert_array_equal(found, pairs.sum(axis=1) + carry)


def test_no_output_answers_an_input_sooner_than_the_shortest_path():
    circuit, found = full_adder(), latency(full_adder())
    assert found["sum"] == {"a": (4, 6), "b": (4, 6), "c": (2, 3)}
    assert found["carry"] == {"a": (4, 7), "b": (4, 7), "c": (4, 4)}
    inputs, ticks = rows(circuit), 9
    before = {name: jnp.repeat(x[:, None], 10 + ticks, axis=1) for name, x in inputs.items()}
    run = jax.jit(jax.vmap(lambda row: cdl.run(circuit, circuit.state, row)[0]))
    for name in inputs:
        after = {**before, name: before[name].at[:, 10:].set(~before[name][:, 10:])}
        one, other = run(before), run(after)
        for output in circuit.interface.outputs:
            first = np.flatnonzero(np.any(np.asarray(one[output] != other[output]), axis=0))[0] - 10
            assert first == found[output][name].shortest


XOR = [[0, 1], [0, 2], [1, 2], [3, 4]]
AND = [[0, 1], [2, 2], [-1, 1], [2, 2]]


def test_a_gate_array_is_reconfigured_from_one_gate_to_another_while_it_runs():
    array = gate_array(jnp.array(XOR), inputs=2)
    pairs = jnp.array(list(itertools.product([False, True], repeat=2)))
    load = jnp.arange(12) == 6
    plans = jnp.where(load[:, None, None], jnp.array(AND), 0)

    def one(pair: Any) -> Any:
        x = jnp.broadcast_to(pair, (12, 2))
        return cdl.run(array, array.state, {"x": x, "load": load, "sources": plans})[0]

    outputs = jax.vmap(one)(pairs)
    assert outputs["out"][:, 6, 0].tolist() == [False, True, True, False]
    assert outputs["out"][:, 12, 0].tolist() == [False, False, False, True]
    assert outputs["open"][:, 6].tolist() == [False] * 4
    assert outputs["open"][:, 7].tolist() == [True] * 4
