"""The six figures of *Deep neural networks as nested dynamical systems*, each drawn from a term.

| figure | the term                                                                                    |
| ------ | ------------------------------------------------------------------------------------------- |
| 1      | `neuron`: a manager with three cells, which do not talk to each other                       |
| 2      | neurons in the places of the cells of a neuron                                              |
| 3      | a network of three layers: neurons of neurons of neurons                                    |
| 4      | the same with wires between peers                                                           |
| 5      | OR, of NAND gates, two of which are wired to be NOT                                         |
| 6      | growth, predation and decline, which share the variables rabbits and foxes                  |

A cell shows a value `y` and takes a change `Δ`. `PYTHONPATH=tutorials python -m systems.figures` saves the figures.

Source: T. Hosgood, D. Spivak, *Deep neural networks as nested dynamical systems*, 2021.
"""

import pathlib
from typing import Any

import jax.numpy as jnp

import cdl
from cdl.system import box, Field, field, share, System, wire, Wired


IMAGES = pathlib.Path(__file__).parents[1] / "images"
RATE = 0.1


def cell(*, peer: bool = False) -> System:
    """Holds a value, and changes it by what it is told; with a peer, also by what that shows."""
    inputs = {"Δ": float, "peer": float} if peer else {"Δ": float}

    def machine(y: Any) -> cdl.MooreF[Any, Any, Any]:
        def step(given: Any) -> Any:
            return y - RATE * sum(given.values())

        return cdl.MooreF({"y": y}, step)

    return box(machine, jnp.array(0.0), inputs=inputs, outputs={"y": float}, name="cell")


def weights(many: int) -> System:
    """Listens to each cell by a weight, and tells it its part of the change."""

    each = range(1, many + 1)

    def machine(s: Any) -> cdl.MooreF[Any, Any, Any]:
        w, shown = s

        def step(given: Any) -> Any:
            x, change = jnp.stack([given[f"y{i}"] for i in each]), given["Δ"]
            back = {f"Δ{i}": change * w[i - 1] for i in each}
            return w - RATE * change * x, {"y": w @ x, **back}

        return cdl.MooreF(shown, step)

    outputs = ["y", *(f"Δ{i}" for i in each)]
    return box(
        machine,
        (jnp.ones(many) / many, dict.fromkeys(outputs, jnp.array(0.0))),
        inputs={**{f"y{i}": float for i in each}, "Δ": float},
        outputs=dict.fromkeys(outputs, float),
        name="weights",
    )


def neuron(cells: list[System], name: str = "neuron") -> Wired:
    """A manager with workers: itself a cell, so that it can be one of another's. A worker that has a peer hears the one
    before it."""
    boxes = {f"x{i + 1}": x for i, x in enumerate(cells)}
    wires = {f"weights.y{i + 1}": f"x{i + 1}.y" for i in range(len(cells))}
    wires |= {f"x{i + 1}.Δ": f"weights.Δ{i + 1}" for i in range(len(cells))}
    wires |= {
        f"{at}.peer": f"x{i or len(cells)}.y" for i, (at, x) in enumerate(boxes.items()) if "peer" in x.interface.inputs
    }
    return wire(
        {**boxes, "weights": weights(len(cells))},
        {**wires, "weights.Δ": "Δ"},
        {"y": "weights.y"},
        inputs={"Δ": float},
        name=name,
    )


def gates() -> Wired:
    """OR of NAND gates, by NOT gates."""
    two = {"a": bool, "b": bool}

    def machine(s: Any) -> cdl.MooreF[Any, Any, Any]:
        def step(given: Any) -> Any:
            return ~(given["a"] & given["b"])

        return cdl.MooreF({"out": s}, step)

    nand = box(machine, jnp.array(False), inputs=two, outputs={"out": bool}, name="NAND")
    inverter = wire({"NAND": nand}, {"NAND.a": "a", "NAND.b": "a"}, {"out": "NAND.out"}, inputs={"a": bool}, name="NOT")
    return wire(
        {"first": inverter, "second": inverter, "NAND": nand},
        {"first.a": "a", "second.a": "b", "NAND.a": "first.out", "NAND.b": "second.out"},
        {"out": "NAND.out"},
        inputs=two,
        name="OR",
    )


def animals() -> Field:
    """The equations of Lotka and Volterra, by parts."""
    growth = field(lambda v: {"r": 0.3 * v["r"]}, {"r": float}, name="growth")
    predation = field(
        lambda v: {"r": -0.015 * v["r"] * v["f"], "f": 0.015 * v["r"] * v["f"]},
        {"r": float, "f": float},
        name="predation",
    )
    decline = field(lambda v: {"f": -0.7 * v["f"]}, {"f": float}, name="decline")
    return share(
        {"growth": growth, "predation": predation, "decline": decline},
        {"rabbits": ["growth.r", "predation.r"], "foxes": ["predation.f", "decline.f"]},
        name="rabbits and foxes",
    )


def figures() -> dict[str, Any]:
    """The term of each figure, by the name of its file."""
    return {
        "drawn-nested-1": neuron([cell()] * 3),
        "drawn-nested-2": neuron([neuron([cell()] * 2), neuron([cell()] * 3)]),
        "drawn-nested-3": neuron([neuron([neuron([cell()] * 2)] * 2)] * 2, "network"),
        "drawn-nested-4": neuron([neuron([cell(peer=True)] * 3), neuron([cell(peer=True)] * 2)], "network"),
        "drawn-nested-5": gates(),
        "drawn-nested-6": animals(),
    }


if __name__ == "__main__":
    for name, term in figures().items():
        cdl.draw(term).save(IMAGES / f"{name}.svg")
