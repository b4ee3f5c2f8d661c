"""Machines: `run` of a Mealy machine with a cell inside beside a scan by hand, and the same one input at a time."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax import Array

import cdl

from ._clock import Entry, in_turn
from ._sequences import hidden, Jax, made_cell, start, timed


STEPS = 256  # of the machine that is fed one input at a time
STREAMED = 16, 128  # its widths


class Answering(eqx.Module):
    """A cell that answers with its next hidden state."""

    cell: Any

    def __call__(self, state: Any) -> cdl.MealyF[Array, Array, Any]:
        def answer(x: Array) -> tuple[Array, Any]:
            after = self.cell(x, state)
            return hidden(after), after

        return cdl.MealyF(answer)


def machines(cell: str, batch: int, time: int, width: int, rounds: int) -> dict[str, Any]:
    """Sequences of one length, and one sequence step by step."""
    made = made_cell(cell, width)
    xs = jr.normal(jr.key(1), (batch, time, width))
    state = jax.tree.map(lambda s: jnp.zeros((batch, *s.shape)), start(made))
    seq, by_step = cdl.Seq(xs, np.full(batch, time)), jnp.swapaxes(xs, 0, 1)

    def run(cell: Any, seq: Any) -> Any:
        return cdl.run(Answering(cell), state, seq)[0].values

    def scan(cell: Any, xs: Array) -> Any:
        def step(state: Any, x: Array) -> Any:
            state = jax.vmap(cell)(x, state)
            return state, hidden(state)

        return jax.lax.scan(step, state, xs)[1]

    flops = 2.0 * batch * time * 2 * width * made.weight_hh.shape[0]
    found = timed([Jax("run", made, seq, run), Jax("scan", made, by_step, scan)], rounds)
    streams = {str(w): stream(made_cell(cell, w), w, rounds) for w in STREAMED}
    return {**found, "operations": flops, "streams": streams, "steps": STEPS}


def stream(cell: Any, width: int, rounds: int) -> Any:
    """One input at a time, from Python: what a step costs beside the cell, jitted, which is given its arrays."""
    arrays, rest = eqx.partition(cell, eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    jitted = jax.jit(lambda leaves, x, s: eqx.combine(jax.tree.unflatten(structure, leaves), rest)(x, s))
    inputs = list(jr.normal(jr.key(1), (STEPS, width)))
    first = cdl.machines.start(Answering(cell), start(cell))

    def steps() -> Any:
        machine, out = first, None
        for x in inputs:
            out, machine = machine.step(x)
        return out

    def by_hand() -> Any:
        state = start(cell)
        for x in inputs:
            state = jitted(leaves, x, state)
        return hidden(state)

    assert jnp.allclose(steps(), by_hand(), atol=1e-4)
    return in_turn([Entry("step", steps, rounds, warm=True), Entry("jitted", by_hand, rounds, warm=True)])
