"""The six figures of *Deep neural networks as nested dynamical systems*, each drawn from a term.

| figure | the term                                                                                    |
| ------ | ------------------------------------------------------------------------------------------- |
| 1      | `neuron`: a box around three cells, which do not hear each other                            |
| 2      | neurons in the places of the cells of a neuron                                              |
| 3      | a network of three layers: neurons of neurons of neurons                                    |
| 4      | neurons whose cells hear each other, a tick later                                           |
| 5      | OR, of NAND gates, two of which are wired to be NOT                                         |
| 6      | growth, predation and decline, which share the variables rabbits and foxes                  |

A cell shows a `value` and takes the `change` of it, which is a gradient. The neurons are those of `cdl_arch.system`, so
what is drawn in figures 1 to 3 computes a network and a step of gradient descent. `PYTHONPATH=tutorials python -m
systems.figures` saves the figures.

Source: T. Hosgood, D. Spivak, *Deep neural networks as nested dynamical systems*, 2021.
"""

import pathlib
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

import cdl
from cdl.system import Field, field, rewire, Rewired, share, System
from cdl_arch.system.cells import as_diagram, cell
from cdl_arch.system.circuits import disjunction
from cdl_arch.system.neurons import Dense, levels
from cdl_arch.system.talk import peers


IMAGES = pathlib.Path(__file__).parents[1] / "images"
RATE = 0.1


def neuron(inside: Sequence[System], name: str = "neuron", *, talk: bool = False) -> Rewired:
    """A box around some cells: its value is `tanh` of a weighted sum of theirs. It has the ports of a cell, so it can
    stand in the place of one. With `talk`, each cell hears the mean of the others."""
    n = len(inside)
    linear = eqx.nn.Linear(n, "scalar", key=jax.random.key(n))
    (level,) = levels([Dense(linear, jnp.tanh)], RATE)
    if talk:
        level = peers(level, (jnp.ones((n, n)) - jnp.eye(n)) / (n - 1))
    names = [f"x{k + 1}" for k in range(n)]
    ports = {"change": float, "heard": float} if talk else {"change": float}
    diagram = as_diagram(level, names, hears=talk)
    return rewire(diagram, dict(zip(names, inside, strict=True)), {"value": float}, inputs=ports, name=name)


def cells(many: int, *, talk: bool = False) -> list[System]:
    """Cells that show one value each, again and again."""
    return [cell(jnp.array([0.5 - k]), hears=talk) for k in range(many)]


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
        "drawn-nested-1": neuron(cells(3)),
        "drawn-nested-2": neuron([neuron(cells(2)), neuron(cells(3))]),
        "drawn-nested-3": neuron([neuron([neuron(cells(2)) for _ in range(2)]) for _ in range(2)], "network"),
        "drawn-nested-4": neuron([neuron(cells(n, talk=True), talk=True) for n in (3, 2)], "network", talk=True),
        "drawn-nested-5": disjunction(),
        "drawn-nested-6": animals(),
    }


if __name__ == "__main__":
    for name, term in figures().items():
        cdl.draw(term).save(IMAGES / f"{name}.svg")
