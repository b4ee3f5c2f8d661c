"""Systems into the boxes of a diagram: the algebra of the operad of wiring diagrams that machines are.

| the mathematics                            | here                                                               |
| ------------------------------------------ | ------------------------------------------------------------------ |
| the structure map of the algebra           | `oapply(wiring, systems)`                                          |
| it respects composition                    | a system of systems is opened: one diagram, with the same numbers  |

So nesting costs nothing, neither in time nor in steps: a diagram has no state.

Source: D. Vagner, D. Spivak, E. Lerman, *Algebras of open dynamical systems on the operad of wiring diagrams*, 2015.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .._engine.arrays._identity import Identity
from .._engine.arrays.shapes import is_weak
from .._functors.usage import with_usage
from ..errors import CdlError, PortMismatch
from ._apart import expect_apart
from ._box import Box, without_state
from ._exact import strong
from ._interface import expect_title
from ._plan import plan
from ._rows import stacked
from ._system import expect_system, is_moore, System
from ._ties import tie, tie_rows
from ._wired import Nested, Wired
from ._wiring import Wiring


@with_usage
def oapply(wiring: Wiring, systems: Mapping[str, System], *, name: str = "system") -> Wired:
    """Systems in the boxes of a diagram, as one system. Those that are diagrams of systems are opened.

    If you give one system twice, here or inside of the systems given, the two boxes share its weights, and each has its
    own state. `oapply` sees this when it wires: both are one Python object. So wire first, and take gradients or call
    `jit` afterwards. An argument `{"p": cell, "q": cell}` of `jit` has two copies. The wired system holds each machine
    once.

    **Arguments:** `wiring`: the diagram. `systems`: what goes into its boxes, by name. `name`: of the new system.

    **Raises:** `CdlError` where a box has no system, or a system no box, and where a machine of one box is inside of
    that of another; `PortMismatch` where a system has another interface than its box, and for a loop without a state,
    which is named box by box.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> wiring = cdl.system.Wiring.identity(delay.interface)
        >>> same = cdl.system.oapply(wiring, {"box": delay})
        >>> cdl.run(same, same.state, {"x": jnp.array([3, 1, 4])})[0]
        {'out': Array([0, 3, 1, 4], dtype=int32)}
    """
    expect_title("oapply", name)
    if lost := [x for x in systems if x not in wiring.boxes] or [x for x in wiring.boxes if x not in systems]:
        what = "is not a box of the diagram" if lost[0] in systems else "has no system"
        raise CdlError(f"`{lost[0]}` {what}: the boxes are {', '.join(f'`{x}`' for x in wiring.boxes)}.")
    for at, system in systems.items():
        if expect_system("oapply", at, system).interface != wiring.boxes[at]:
            raise PortMismatch(
                f"the box `{at}` is {wiring.boxes[at]}, and `{system.name}` is {system.interface}: give both one "
                "interface."
            )
    flat, leaves, inside = wiring, dict[str, Box](), list[tuple[str, Nested | None]]()
    for at in wiring.boxes:
        match systems[at]:
            case Wired() as system:
                flat = flat.substitute(at, system.wiring)
                leaves |= {f"{at}.{path}": leaf for path, leaf in system.boxes.items()}
                inside.append((system.name, system.nested))
            case system:
                leaves[at] = system if isinstance(system, Box) else _boxed(system)
                inside.append((system.name, None))
    return _wired(flat, leaves, name, wiring, tuple(inside))


@with_usage
def wire(
    systems: Mapping[str, System],
    wires: Mapping[str, str] | Iterable[tuple[str, str]],
    outputs: Mapping[str, str],
    *,
    inputs: Mapping[str, Any] | None = None,
    name: str = "system",
) -> Wired:
    """Systems, joined by wires: `oapply` of the diagram of their interfaces.

    ```python
    inverter = wire(
        {"gate": nand},
        {"gate.a": "x", "gate.b": "x"},
        {"out": "gate.out"},
        inputs={"x": bool},
    )
    ```

    **Arguments:** `systems`: the boxes by name. `wires`: from each input `"box.port"` of a box to what it reads.
    `outputs`: from each output outside to what it shows. `inputs`: the inputs outside, with their types. `name`: of the
    whole, for drawings and errors.

    **Raises:** as `Wiring` and `oapply` do.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> boxes, wires = {"p": delay, "q": delay}, {"p.x": "x", "q.x": "p.out"}
        >>> twice = cdl.system.wire(boxes, wires, {"out": "q.out"}, inputs={"x": int})
        >>> cdl.run(twice, twice.state, {"x": jnp.array([3, 1, 4])})[0]
        {'out': Array([0, 0, 3, 1], dtype=int32)}
    """
    expect_title("wire", name)
    interfaces = {at: expect_system("wire", at, system).interface for at, system in systems.items()}
    wiring = Wiring(interfaces, wires, outputs, inputs)
    return oapply(wiring, systems, name=name)


def _boxed(system: System) -> Box:
    """A system that is not a diagram of systems, as a box."""
    return Box(machine=without_state(system), state=strong(system.state), interface=system.interface, name=system.name)


def _wired(
    flat: Wiring, leaves: Mapping[str, Box], name: str, wiring: Wiring, inside: tuple[tuple[str, Nested | None], ...]
) -> Wired:
    tied = {path: tie(leaf.machine) for path, leaf in leaves.items()}
    alike = {tied[path]: _alike(leaf.machine) for path, leaf in leaves.items()}
    kinds = {path: (alike[tied[path]], _alike(leaf.state), leaf.interface) for path, leaf in leaves.items()}
    moore = {kind: is_moore(leaves[path]) for kind, path in {kinds[path]: path for path in leaves}.items()}
    found = plan(flat, {path: moore[kinds[path]] for path in leaves}, kinds, tied)
    expect_apart((path, leaves[path].machine) for paths in found.machines for path in paths)
    return Wired(
        machines=tuple(_together([leaves[path].machine for path in paths]) for paths in found.machines),
        state=tuple(stacked([leaves[path].state for path in group.paths]) for group in found.steps),
        interface=flat.outside,
        name=name,
        wiring=flat,
        plan=found,
        nested=Nested(wiring, inside, found.moore),
    )


def _together(machines: list[Any]) -> Any:
    """Machines as one, whose rows are tied to them."""
    made = stacked(machines)
    if len(machines) > 1:
        tie_rows(made, machines, begin=True)
    return made


class Alike:
    """A structure that is equal to one whose static values are equal and written alike: `3` is not `3.0`."""

    def __init__(self, structure: Any) -> None:
        self.structure, self.written = structure, str(structure)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alike) or self.written != other.written:
            return False
        try:
            return bool(self.structure == other.structure)
        except ValueError:  # arrays among the static values have no one answer
            return False

    def __hash__(self) -> int:
        return hash(self.written)


def _alike(value: Any) -> Hashable:
    """What machines, or states, have in common that are computed as one: the structure, the shapes and types of the
    arrays, and all that is not an array, where numbers and texts are compared and anything else is one object."""
    parts, structure = jax.tree.flatten(value)
    return Alike(structure), tuple(_part(x) for x in parts)


def _part(x: Any) -> Hashable:
    if eqx.is_array(x):
        return x.shape, x.dtype, is_weak(x)
    return (type(x), repr(x)) if isinstance(x, int | float | complex | str | np.generic) else Identity(x)
