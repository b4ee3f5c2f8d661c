"""A system of every kind at once, with states and inputs of sequences of several lengths."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl import MealyF, MooreF
from cdl.system import box, rewire, rewiring, System, wire, Wired


LENGTHS = (3, 0, 4, 1)
PORTS: Any = {"inputs": {"a": float}, "outputs": {"x": float}}


class Leak(eqx.Module):
    """Shows its state, and goes towards what it hears."""

    rate: jax.Array

    def __call__(self, s: Any, /) -> MooreF[Any, Any, Any]:
        return MooreF({"x": s}, lambda i: jnp.tanh(self.rate * s + i["a"]))


class Gain(eqx.Module):
    """Answers at once, and counts."""

    gain: jax.Array

    def __call__(self, n: Any, /) -> MealyF[Any, Any, Any]:
        return MealyF(lambda i: ({"x": self.gain * i["a"] + 0.1 * n.astype(jnp.float32)}, n + 1))


def leak(rate: float) -> System:
    return box(Leak(jnp.array(rate)), 0.2, **PORTS)


def listeners() -> System:
    """Two that hear each other by a weight that is the state, and grows with what they show."""
    diagram = rewiring(
        lambda w, i: {"x": i["p"]["x"] + i["q"]["x"]},
        lambda w, i, d: {"p": {"a": w * i["q"]["x"] + d["a"]}, "q": {"a": w * i["p"]["x"]}},
        lambda w, i, d: 0.9 * w + 0.1 * i["p"]["x"] * i["q"]["x"],
        0.5,
    )
    return rewire(diagram, {"p": leak(0.3), "q": leak(-0.4)}, {"x": float}, inputs={"a": float})


def world() -> Wired:
    """A diagram in a diagram, tied boxes, one that rewires itself, and one that answers at once."""
    tied, gain = leak(0.7), box(Gain(jnp.array(1.5)), jnp.array(0), **PORTS)
    pair = wire({"n": tied, "m": tied}, {"n.a": "a", "m.a": "n.x"}, {"x": "m.x"}, inputs={"a": float})
    parts: dict[str, System] = {"pair": pair, "talk": listeners(), "gain": gain, "n": leak(-0.2)}
    wires = {"gain.a": "u", "pair.a": "gain.x", "talk.a": "pair.x", "n.a": "talk.x"}
    return wire(parts, wires, {"x": "n.x", "y": "talk.x", "z": "gain.x"}, inputs={"u": float})


def states(count: int) -> Any:
    """A state for each of some sequences, no two alike."""

    def each(x: Any) -> Any:
        numbers = jnp.arange(count, dtype=x.dtype).reshape(-1, *(1,) * x.ndim)
        return x[None] + (0.1 * numbers if jnp.issubdtype(x.dtype, jnp.inexact) else numbers)

    return jax.tree.map(each, world().state)


def words() -> Any:
    """What comes into each of them, for as long as it lasts."""
    draw = np.random.default_rng(0)
    return cdl.Seq.of([{"u": draw.normal(size=n).astype(np.float32)} for n in LENGTHS])
