"""Systems into the boxes of a diagram: the algebra of the operad of wiring diagrams that machines are.

| the mathematics                            | here                                                               |
| ------------------------------------------ | ------------------------------------------------------------------ |
| the structure map of the algebra           | `oapply(wiring, systems)`                                          |
| it respects composition                    | a system of systems is opened: one diagram, with the same numbers  |

So nesting costs nothing, neither in time nor in steps: a diagram has no state.

Source: D. Vagner, D. Spivak, E. Lerman, *Algebras of open dynamical systems on the operad of wiring diagrams*, 2015.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import equinox as eqx
import jax

from .._engine._identity import Identity
from .._functors.usage import with_usage
from ..errors import CdlError, PortMismatch
from ._box import Box, expect_system, is_moore, strong, System
from ._plan import plan
from ._rows import stacked
from ._wired import Nested, Wired
from ._wiring import Wiring


@with_usage
def oapply(wiring: Wiring, systems: Mapping[str, System], *, name: str = "system") -> Wired:
    """Systems in the boxes of a diagram, as one system. Those that are diagrams of systems are opened.

    A system that is given twice has its weights once: the two boxes are tied, and each has a state of its own.

    **Raises:** `CdlError` where a box has no system, or a system no box; `PortMismatch` where a system has another
    interface than its box, and for a loop without a state, which is named box by box.
    """
    if lost := [x for x in systems if x not in wiring.boxes] or [x for x in wiring.boxes if x not in systems]:
        what = "is no box of the diagram" if lost[0] in systems else "has no system"
        raise CdlError(f"`{lost[0]}` {what}: the boxes are {', '.join(f'`{x}`' for x in wiring.boxes)}.")
    for at, system in systems.items():
        if expect_system("oapply", at, system).interface != wiring.boxes[at]:
            raise PortMismatch(
                f"the box `{at}` is {wiring.boxes[at]}, and `{system.name}` is {system.interface}: give both one "
                "interface."
            )
    opened = {id(x): x.boxes for x in systems.values() if isinstance(x, Wired)}  # once, so that what is tied stays so
    flat, leaves, inside = wiring, dict[str, Box](), list[tuple[str, Nested | None]]()
    for at in wiring.boxes:
        match systems[at]:
            case Wired() as system:
                flat = flat.substitute(at, system.wiring)
                leaves |= {f"{at}.{path}": leaf for path, leaf in opened[id(system)].items()}
                inside.append((system.name, system.nested))
            case system:
                leaves[at] = system if isinstance(system, Box) else _boxed(system)
                inside.append((system.name, None))
    return _wired(flat, leaves, name, Nested(wiring, tuple(inside)))


@with_usage
def wire(
    systems: Mapping[str, System],
    wires: Mapping[str, str] | Iterable[tuple[str, str]],
    outputs: Mapping[str, str],
    *,
    inputs: Mapping[str, Any] | None = None,
    name: str = "system",
) -> Wired:
    """Systems, joined by wires: `oapply` of the diagram of their interfaces. Arguments as of `Wiring`.

    ```python
    inverter = wire({"gate": nand}, {"gate.a": "x", "gate.b": "x"}, {"out": "gate.out"}, inputs={"x": bool})
    ```

    **Raises:** as `Wiring` and `oapply` do.
    """
    interfaces = {at: expect_system("wire", at, system).interface for at, system in systems.items()}
    return oapply(Wiring(interfaces, wires, outputs, inputs), systems, name=name)


def _boxed(system: System) -> Box:
    """A system of the user's own class as a box."""
    return Box(machine=system, state=strong(system.state), interface=system.interface, name=system.name)


def _wired(flat: Wiring, leaves: Mapping[str, Box], name: str, nested: Nested) -> Wired:
    uses = Counter(id(leaf.machine) for leaf in leaves.values())
    shared = {path: uses[id(leaf.machine)] > 1 for path, leaf in leaves.items()}
    kinds = {path: _kind(leaf, shared[path]) for path, leaf in leaves.items()}
    moore = {kind: is_moore(leaves[path]) for kind, path in {kinds[path]: path for path in leaves}.items()}
    found = plan(flat, {path: moore[kinds[path]] for path in leaves}, kinds, shared)
    machines = tuple(
        leaves[group.paths[0]].machine if group.shared else stacked([leaves[path].machine for path in group.paths])
        for group in found.steps
    )
    return Wired(
        machines=machines,
        state=tuple(stacked([leaves[path].state for path in group.paths]) for group in found.steps),
        interface=flat.outside,
        name=name,
        wiring=flat,
        plan=found,
        nested=nested,
    )


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


def _kind(leaf: Box, shared: bool) -> Hashable:
    """What two boxes have in common that are computed as one: the machine, or its structure and the shapes of its
    arrays; and those of the state."""
    parts, structure = jax.tree.flatten(leaf.machine)
    each = tuple((x.shape, x.dtype) if eqx.is_array(x) else Identity(x) for x in parts)
    held, state = jax.tree.flatten(leaf.state)
    return (
        id(leaf.machine) if shared else (Alike(structure), each),
        state,
        tuple((x.shape, x.dtype) for x in held),
        leaf.interface,
    )
