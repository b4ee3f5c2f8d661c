"""Systems: many boxes in a random diagram, beside the same boxes as one scan by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import cdl
from cdl.system import box, wire, Wired

from ._clock import compiled, Entry, in_turn, seconds


CALLS = 10  # of a program, in one measurement: a single one is too short for the clock


def boxes(n: int, steps: int, rounds: int) -> dict[str, Any]:
    """`n` boxes with two inputs each, for some steps: forward, and with the gradient of the first states."""
    draw = np.random.default_rng(0)
    left, right = draw.integers(0, n, n), draw.integers(0, n, n)
    built, system = seconds(lambda: _system(left, right))
    xs, state = jnp.sin(jnp.arange(steps)), jnp.full(n, 0.1)

    def run(state: jax.Array, xs: jax.Array) -> jax.Array:
        return cdl.run(system, (state,), {"x": xs})[0]["out"][1:]

    def scan(state: jax.Array, xs: jax.Array) -> jax.Array:
        def step(s: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            s = _cell(s, s[left], s[right].at[0].set(x))
            return s, s[0]

        return jax.lax.scan(step, state, xs)[1]

    assert jnp.allclose(run(state, xs), scan(state, xs), atol=1e-4)
    found: dict[str, Any] = {"built": built, "compile": {}}
    for kind in ("forward", "both"):
        entries = []
        for name, f in (("system", run), ("scan", scan)):
            program = f if kind == "forward" else jax.value_and_grad(lambda s, xs, f=f: jnp.sum(f(s, xs) ** 2))
            took, made = compiled(program, state, xs)
            entries.append(Entry(name, lambda p=made: [p(state, xs) for _ in range(CALLS)], rounds, 1 / CALLS))
            found["compile"].setdefault(name, {})[kind] = took
        found[kind] = in_turn(entries)
    return found


def _cell(s: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.tanh(0.5 * s + a - 0.3 * b)


def _shows(s: Any) -> cdl.MooreF[Any, Any, Any]:
    return cdl.MooreF({"out": s}, lambda i: _cell(s, i["a"], i["b"]))


def _system(left: Any, right: Any) -> Wired:
    cell = box(_shows, 0.1, inputs={"a": float, "b": float}, outputs={"out": float})
    wires = {f"n{i}.a": f"n{k}.out" for i, k in enumerate(left)} | {f"n{i}.b": f"n{k}.out" for i, k in enumerate(right)}
    names = {f"n{i}": cell for i in range(len(left))}
    return wire(names, wires | {"n0.b": "x"}, {"out": "n0.out"}, inputs={"x": float})
