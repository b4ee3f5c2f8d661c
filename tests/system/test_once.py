"""What a Moore machine shows and what it does next are computed from one layer."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import ClosedJaxpr, Jaxpr

import cdl
from cdl import MooreF
from cdl.system import box, System, wire, Wired


V = jnp.zeros(3)


class Layer(eqx.Module):
    """A hidden layer, which both the output and the next state read."""

    weight: jax.Array

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        hidden = jnp.tanh(self.weight @ s)
        return MooreF({"x": hidden}, lambda i: hidden + 0.1 * i["a"])


def cell(seed: int) -> System:
    weight = jnp.asarray(np.random.default_rng(seed).normal(size=(3, 3)), jnp.float32)
    return box(Layer(weight), V + 0.5, inputs={"a": V}, outputs={"x": V})


def row(parts: list[System]) -> Wired:
    names = [f"n{k}" for k in range(len(parts))]
    wires = {f"{name}.a": f"n{k - 1}.x" if k else "a" for k, name in enumerate(names)}
    return wire(dict(zip(names, parts, strict=True)), wires, {"x": f"{names[-1]}.x"}, inputs={"a": V})


def products(jaxpr: Any) -> int:
    """How many products of matrices a program has, with what is in it."""
    if isinstance(jaxpr, ClosedJaxpr):
        jaxpr = jaxpr.jaxpr
    inner = [
        x
        for eqn in jaxpr.eqns
        for each in eqn.params.values()
        for x in (each if isinstance(each, tuple | list) else [each])
        if isinstance(x, Jaxpr | ClosedJaxpr)
    ]
    return sum(eqn.primitive.name == "dot_general" for eqn in jaxpr.eqns) + sum(map(products, inner))


def total(system: Any, inputs: Any) -> Any:
    outputs, last = cdl.run(system, system.state, inputs)
    return sum(jnp.sum(x**2) for x in jax.tree.leaves((outputs, last)))


ONE, OTHERS = cell(0), [cell(k) for k in (1, 2)]


def counted(system: System) -> tuple[int, int]:
    """The products of a tick, and of the gradient of a run of one."""
    one = {"a": jnp.ones((1, 3))}
    tick = lambda x: x(x.state).step(jax.tree.map(lambda x: x[0], one))
    traced = eqx.filter_make_jaxpr
    return products(traced(tick)(system)[0]), products(traced(eqx.filter_grad(lambda x: total(x, one)))(system)[0])


@pytest.mark.parametrize(
    "parts", [[ONE], [ONE, ONE], OTHERS, OTHERS * 2], ids=["a box", "of one machine", "of two", "of two, each twice"]
)
def test_a_layer_is_computed_once_a_tick_as_that_of_a_machine_alone_is(parts):
    assert counted(row(parts)) == counted(ONE)


def test_boxes_of_two_machines_each_twice_are_what_each_is_alone():
    both, inputs = row([*OTHERS, *OTHERS]), {"a": jnp.linspace(-1, 1, 12).reshape(4, 3)}
    cdl.laws.system(both, [{"a": x} for x in inputs["a"]], tolerance=1e-6)
    assert [step.paths for step in both.plan.steps] == [("n0", "n2", "n1", "n3")]
