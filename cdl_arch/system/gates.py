"""A gate array: NAND gates whose wires are data, and change while it runs.

| the mathematics                                  | here                                                      |
| ------------------------------------------------ | --------------------------------------------------------- |
| the state: for each gate its two sources         | an array of whole numbers, `(gates, 2)`                   |
| a coalgebra `S → [p, q](S)`                      | a `cdl.system.Rewiring`, whose `back` is `route`          |
| its next state                                   | the `sources` that come in where `load` is true           |

The sources are numbered: first the inputs of the array, then its gates. A wire from a number of nothing is open: it
carries false, and the output `open` says so.

Examples:
    >>> from cdl_arch.system.gates import gate_array
    >>> array = gate_array(jnp.array([[0, 1], [2, 2]]), inputs=2)
    >>> x = jnp.array([[True, True], [True, True], [True, True]])
    >>> as_before = {"load": jnp.zeros(3, bool), "sources": jnp.zeros((3, 2, 2), int)}
    >>> cdl.run(array, array.state, {"x": x, **as_before})[0][
    ...     "out"
    ... ]  # x₀ and x₁, two ticks later
    Array([[False],
           [ True],
           [ True],
           [ True]], dtype=bool)
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from cdl.checks import whole, with_types
from cdl.errors import CdlError
from cdl.system import rewire, Rewired, rewiring, route

from .circuits import nand


@with_types
def gate_array(sources: Int[Array, "gates 2"], inputs: int, outputs: int = 1) -> Rewired:
    """An array of NAND gates, wired by numbers.

    Its inputs are `x`, truth values `(inputs,)`, `load`, and `sources` like those it begins with, which it takes over
    where `load` is true. Its outputs are `out`, `(outputs,)`, of the last gates, and `open`, whether a wire is open.

    **Arguments:** `sources`: for both inputs of each gate a number below `inputs + gates`, or -1 for none. `inputs`,
    `outputs`: how many.

    **Raises:** `CdlError` for more outputs than gates.
    """
    whole("inputs", inputs, least=0)
    whole("outputs", outputs)
    gates = len(sources)
    names = [f"gate{k}" for k in range(gates)]
    if outputs > gates:
        raise CdlError(f"an array of {gates} gates has {outputs} outputs: give it a gate for each.")

    def shown(i: Any) -> Any:
        return jnp.stack([i[name]["out"] for name in names])

    def wires(s: Any, i: Any, x: Any) -> Any:
        values = jnp.concatenate([x, shown(i)])
        return jax.vmap(jax.vmap(lambda number: route(values, number)))(s)

    def forward(s: Any, i: Any) -> Any:
        return {"out": shown(i)[gates - outputs :], "open": jnp.any((s < 0) | (s.astype(jnp.int32) >= inputs + gates))}

    def back(s: Any, i: Any, d: Any) -> Any:
        found, _ = wires(s, i, d["x"])
        return {name: {"a": found[k, 0], "b": found[k, 1]} for k, name in enumerate(names)}

    diagram = rewiring(forward, back, lambda s, i, d: jnp.where(d["load"], d["sources"], s), sources)
    return rewire(
        diagram,
        {name: nand() for name in names},
        {"out": jax.ShapeDtypeStruct((outputs,), bool), "open": bool},
        inputs={"x": jax.ShapeDtypeStruct((inputs,), bool), "load": bool, "sources": sources},
        name="gate array",
    )
