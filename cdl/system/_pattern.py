"""The wires of a diagram that depends on a state: which box hears of which, and whether that changes.

| the mathematics                               | here                                                                |
| --------------------------------------------- | ------------------------------------------------------------------- |
| `φ♯(s, i, d)` reads `i_k` for the box `j ≠ k` | a message from `k` to `j`, where it does so also at `d = 0`          |
| `φ(s, i, d)` reads a part of `s`              | a pattern that changes, where the next state has another such part  |
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ._flow import Flow, flows, traced
from ._listening import listen
from ._rewired import Rewired


class Pattern(NamedTuple):
    """How many boxes there are, what is said of messages between them, and whether the diagram changes."""

    boxes: int
    talk: list[str]
    changes: bool


def pattern(system: Rewired) -> Pattern:
    """The wires of a diagram, read off the program of its maps."""
    boxes, optic = system.beside.nested.wiring.boxes, system.diagram
    s = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, int | float | complex) else x, system.state[0])
    i = {box: {own: port.struct for own, port in x.outputs.items()} for box, x in boxes.items()}
    d = {name: port.struct for name, port in system.interface.inputs.items()}
    names, n = list(i), 2 + len(i)  # the sources: the state, what comes from outside, and each box

    def forward(s: Any, d: Any, *shown: Any) -> Any:
        return optic.forward((s, dict(zip(names, shown, strict=True))))

    def maps(s: Any, d: Any, *shown: Any) -> Any:
        out, seen = forward(s, d, *shown)
        after, back = optic.backward(seen, d)
        return after, out, [{own: back[at][own] for own in boxes[at].inputs} for at in names]

    closed, given = traced(maps, [s, d, *i.values()])
    count = len(given[0])
    stays = [now is then for now, then in zip(closed.jaxpr.invars[:count], closed.jaxpr.outvars, strict=False)]

    def spread(zero: bool) -> list[Flow]:
        state = [Flow.of(None if same else 0, x.shape, n) for x, same in zip(given[0], stays, strict=True)]
        outside = [Flow.of(1, x.shape, n, zero) for x in given[1]]
        return [*state, *outside, *(Flow.of(2 + k, x.shape, n) for k, part in enumerate(given[2:]) for x in part)]

    changes = any(x.sources[0] for x in flows(closed, spread(zero=False), n)[count:])
    quiet = flows(closed, spread(zero=True), n)
    talk: list[str] = []
    at = len(quiet)
    for box in reversed(names):
        at, end = at - len(jax.tree.leaves([port.struct for port in boxes[box].inputs.values()])), at
        hears = [
            other for k, other in enumerate(names) if other != box and any(x.sources[2 + k] for x in quiet[at:end])
        ]
        talk = [f"What `{box}` hears is computed from what `{other}` shows." for other in hears] + talk
    ahead, _ = traced(lambda *given: forward(*given)[0], [s, d, *i.values()])
    return Pattern(len(names), [*talk, *listen(ahead, spread(zero=True), n, range(2, n)).found], changes)
