"""The law of systems: what stands in the boxes of a diagram does what it does alone, and the diagram is a lens.

| the law     | the two sides                                                                                   |
| ----------- | ----------------------------------------------------------------------------------------------- |
| a system    | its outputs are those of its boxes side by side, each stepped alone, and then the lens           |
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from .._engine import run as the_run
from .._functors import MooreF
from .._functors.usage import with_types
from ..errors import CdlError
from ..system import Wired
from ..system._given import given_to
from ._hold import hold


Ports = Mapping[str, Any]


@with_types
def system(
    wired: Wired,
    inputs: Sequence[Any],
    *,
    by: Callable[..., Any] = the_run,
    tolerance: float = 0.0,
    key: PRNGKeyArray | None = None,
) -> None:
    """That a system of boxes gives what its boxes give, wired by hand.

    **Arguments:** `inputs`: what comes in at each tick, `{port: value}`. `by`: what runs it, with the outputs first.
    `key`: for boxes that take one: at the tick `t` the box numbered `j` gets `fold_in(fold_in(key, t), j)`, and `by`
    gets the keyword.

    **Raises:** `LawBroken`; `CdlError` for no inputs, `PortMismatch` for such of other ports.

    Examples:
        >>> ports = {"inputs": {"in": float}, "outputs": {"out": float}}
        >>> late = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["in"]), 0.0, **ports)
        >>> wires = {"a.in": "x", "b.in": "a.out"}
        >>> twice = cdl.system.wire(
        ...     {"a": late, "b": late}, wires, {"y": "b.out"}, inputs={"x": float}
        ... )
        >>> cdl.laws.system(twice, [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}])
    """
    if not inputs:
        raise CdlError("`inputs` of `system` is empty: give what comes in at each tick, for one tick at least.")
    ticks = [given_to(wired, x) for x in inputs]
    word = jax.tree.map(lambda *xs: jnp.stack(xs), *ticks) if wired.interface.inputs else jnp.arange(len(ticks))
    outputs = by(wired, wired.state, word, **({} if key is None else {"key": key}))[0]
    expected = by_hand(wired, ticks, key)
    found = [jax.tree.map(lambda x, t=t: x[t], outputs) for t in range(_rows(outputs, len(expected)))]
    hold("a system is its boxes side by side, and then the lens", found, expected, tolerance)


def by_hand(wired: Wired, inputs: Sequence[Any], key: Any = None) -> list[Any]:
    """The outputs at each tick; at the end, those that wait for no input."""
    boxes, lens = wired.boxes, wired.wiring.lens()
    states = {path: x.state for path, x in boxes.items()}
    found: list[Any] = []
    for t, given in enumerate((*inputs, None)):
        now = None if key is None else jax.random.fold_in(key, t)
        keys = [None if now is None else jax.random.fold_in(now, j) for j in range(len(boxes))]
        layers = {path: x(states[path], key=own) for (path, x), own in zip(boxes.items(), keys, strict=True)}
        out = {path: layer.out for path, layer in layers.items() if isinstance(layer, MooreF)}
        after: dict[str, Any] = {}
        while ready := [path for path in boxes if path not in out and _there(wired, path, out, given)]:
            for path in ready:
                out[path], after[path] = layers[path].step(_inputs(wired, path, out, given))
        if all(source.box in out for source in wired.wiring.shows.values()):
            found.append(lens.get(out))
        if given is not None:
            each = lens.put(out, given)
            states = {path: after[path] if path in after else layers[path].step(each[path]) for path in boxes}
    return found


def _rows(outputs: Any, ticks: int) -> int:
    """How many outputs there are; of a system that has none, one for each tick."""
    return len(next(iter(jax.tree.leaves(outputs)), range(ticks)))


def _there(wired: Wired, path: str, out: Ports, given: Ports | None) -> bool:
    """Whether all that drives a box has a value."""
    sources = (source.box for target, source in wired.wiring.ends.items() if target.box == path)
    return all(box in out if box else given is not None for box in sources)


def _inputs(wired: Wired, path: str, out: Ports, given: Ports | None) -> dict[str, Any]:
    ends = {target.port: source for target, source in wired.wiring.ends.items() if target.box == path}
    return {port: out[x.box][x.port] if x.box else (given or {})[x.port] for port, x in ends.items()}
