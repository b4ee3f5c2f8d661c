"""One system in several boxes is one set of weights, wherever it is given, and whatever is done with what is wired."""

import gc
import pickle
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cdl
from cdl import MealyF, MooreF
from cdl.system import _ties, box, fixed, Interface, modes, oapply, rewire, System, wire, Wired, Wiring


GATE = Interface({"a": float}, {"x": float})
US = [0.5, -1.0, 2.0, 0.25]


class Leak(eqx.Module):
    """A Moore machine."""

    rate: Any

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s}, lambda i: jnp.tanh(self.rate * s + i["a"]))


class Gain(eqx.Module):
    """A Mealy machine: answers at once."""

    rate: Any

    def __call__(self, s: Any, /) -> MealyF[Any, Any, Any]:
        return MealyF(lambda i: ({"x": self.rate * i["a"] + s}, s + 0.1 * i["a"]))


def boxed(machine: Any, state: Any = 0.1) -> System:
    return box(machine, state, inputs=GATE.inputs, outputs=GATE.outputs)


def row(*parts: System) -> Wired:
    """Boxes in a row, each driven by the one before."""
    names = [f"n{k}" for k in range(len(parts))]
    wires = {f"{name}.a": f"n{k - 1}.x" if k else "a" for k, name in enumerate(names)}
    return wire(dict(zip(names, parts, strict=True)), wires, {"x": f"{names[-1]}.x"}, inputs=GATE.inputs)


RATES = {"P": 0.3, "Q": 0.7, "R": 1.1, "G": 0.5}
P, Q, R = (boxed(Leak(jnp.array(RATES[cell]))) for cell in "PQR")
G = boxed(Gain(jnp.array(RATES["G"])))
PAIR = row(P, Q)
COPY = jax.tree.map(lambda x: x, PAIR)
CASES: dict[str, tuple[Wired, str]] = {  # what is wired, and the cells in its boxes
    "at once, one after the other": (row(G, G), "GG"),
    "before and after a box that answers at once": (row(P, G, P, G), "PGPG"),
    "inside of a system and beside it": (row(PAIR, P), "PQP"),
    "inside of two systems": (row(row(PAIR, R), row(R, PAIR)), "PQRRPQ"),
    "inside of a system that is given twice": (row(PAIR, PAIR), "PQPQ"),
    "taken out of a system": (row(PAIR, PAIR.boxes["n1"]), "PQQ"),
    "of a copy that is given twice": (row(COPY, row(COPY, R)), "PQPQR"),
    "of which some are alike": (row(P, Q, P, R, Q, P), "PQPRQP"),
}


def by_hand(cells: str, rates: Any) -> Any:
    """What a row gives, where each box has its own rate."""
    states, total = [0.1] * len(cells), 0.0
    for u in US:
        x, after = u, []
        for cell, rate, s in zip(cells, rates, states, strict=True):
            after.append(s + 0.1 * x if cell == "G" else jnp.tanh(rate * s + x))
            x = rate * x + s if cell == "G" else s
        total, states = total + x**2, after
    return total


def given(system: Any) -> Any:
    return jnp.sum(cdl.run(system, system.state, {"a": jnp.array(US)})[0]["x"][: len(US)] ** 2)


def weights(system: Wired) -> list[float]:
    return sorted(float(x) for leaf in jax.tree.leaves(system.machines) for x in jnp.ravel(leaf))


@pytest.mark.parametrize(("system", "cells"), CASES.values(), ids=CASES)
def test_the_gradient_of_a_system_that_is_given_several_times_is_the_sum_over_its_boxes(system, cells):
    assert weights(system) == pytest.approx(sorted(RATES[cell] for cell in {*cells}))
    each = jax.grad(lambda rates: by_hand(cells, rates))([RATES[cell] for cell in cells])
    sums = {cell: sum(g for c, g in zip(cells, each, strict=True) if c == cell) for cell in cells}
    np.testing.assert_allclose(given(system), by_hand(cells, [RATES[cell] for cell in cells]), rtol=1e-5)
    np.testing.assert_allclose(weights(eqx.filter_grad(given)(system)), sorted(map(float, sums.values())), rtol=1e-4)


@pytest.mark.parametrize("system", [row(G, P, G, P), CASES["inside of two systems"][0]])
def test_what_is_wired_stays_tied_after_a_step_a_copy_and_a_file(system, tmp_path):
    stepped = jax.tree.map(lambda x, g: x - 0.1 * g, system, eqx.filter_grad(given)(system))
    kept = cdl.io.save(tmp_path / "kept.cdl", stepped) or cdl.io.load(tmp_path / "kept.cdl", system)
    for after in (stepped, eqx.filter_jit(lambda x: x)(stepped), kept, pickle.loads(pickle.dumps(stepped))):
        assert weights(after) == weights(stepped)
        machines = {id(x.machine): float(x.machine.rate) for x in after.boxes.values()}
        assert sorted(machines.values()) == weights(after)
        assert weights(row(after, after)) == weights(after)


def test_two_machines_that_begin_with_one_array_are_two():
    rate = jnp.array(0.3)
    assert len(weights(row(boxed(Leak(rate)), boxed(Leak(rate))))) == 2


def test_what_is_known_of_ties_goes_with_the_machines():
    gc.collect()
    before = len(_ties._known)
    some = [boxed(Leak(jnp.array(0.1 * k))) for k in range(5)]
    parts = row(row(*some), *some).boxes
    assert len(_ties._known) > before
    del some, parts
    gc.collect()
    assert len(_ties._known) == before


def rewired(*parts: System) -> System:
    """A row, as a diagram that could change."""
    names = [f"n{k}" for k in range(len(parts))]
    wires = {f"{name}.a": f"n{k - 1}.x" if k else "a" for k, name in enumerate(names)}
    wiring = Wiring(dict.fromkeys(names, GATE), wires, {"x": f"{names[-1]}.x"}, {"a": float})
    return rewire(fixed(wiring), dict(zip(names, parts, strict=True)), GATE.outputs, inputs=GATE.inputs)


def modal(*parts: System) -> System:
    """Modes of one interface, on one state."""
    return modes({f"n{k}": x for k, x in enumerate(parts)}, lambda s: jnp.int32(s > 0), jnp.array(0.1))


def whole(system: System) -> System:
    """A system in a box, whose diagram is not opened."""
    return box(system, system.state, inputs=system.interface.inputs, outputs=system.interface.outputs)


def alone(system: System) -> System:
    """A system as the one box of a diagram."""
    return oapply(Wiring.identity(system.interface), {"box": system})


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (rewired(P, Q, P), [0.1] * 3 + [0.3, 0.7]),
        (alone(modal(P, Q, P)), [0.1, 0.3, 0.7]),
        (row(whole(PAIR), whole(PAIR)), [0.1] * 4 + [0.3, 0.7]),
        (whole(row(rewired(P, Q), R)), [0.1] * 3 + [0.3, 0.7, 1.1]),
    ],
)
def test_a_system_inside_of_a_system_has_its_weights_and_the_state_that_it_begins_in_once(system, expected):
    arrays = jax.tree.leaves(eqx.filter(system, eqx.is_array))
    assert sorted(float(x) for leaf in arrays for x in jnp.ravel(leaf)) == pytest.approx(expected)


def test_numbers_of_python_that_are_written_alike_are_one_kind():
    """A machine of a number has no array of it: two boxes are computed as one where it is the same number."""
    same = [boxed(Leak(float(x))) for x in ("0.5", "0.5", "-0.0", "0.0")]
    assert [step.paths for step in row(*same).plan.steps] == [("n0", "n1"), ("n2",), ("n3",)]
