"""Systems in a diagram that depends on a state, as one system.

| the mathematics                                          | here                           |
| -------------------------------------------------------- | ------------------------------ |
| a coalgebra of `[p, q]`, and a system of interface `p`   | `rewire(diagram, systems)`     |
| together, a system of interface `q`                      | `Rewired`, a Moore machine     |

Source: B. Shapiro, D. Spivak, *Dynamic categories, dynamic operads*, 2022.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

import equinox as eqx
import jax

from .._engine.arrays.shapes import shown
from .._functors import MooreF
from .._functors.usage import with_usage
from .._optics import Optic
from ..errors import CdlError, PortMismatch
from ._box import without_state
from ._drawing.picture import Drawn
from ._end import End
from ._exact import fitted
from ._given import given_to
from ._heard import by_port, expect_looked_up, expect_wirings, MANY, side_by_side
from ._interface import expect_title, Interface
from ._oapply import wire
from ._rewiring import Rewiring
from ._states import held
from ._system import is_moore, System
from ._wired import Wired


@final
class Rewired(System):
    """Systems in a diagram that depends on a state. Made by `rewire`.

    Its `state` is that of the diagram, and that of the `systems`, side by side. `diagram` is the optic of the diagram,
    without the state that it begins in; so are those `beside` each other, the systems.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> stays = cdl.system.fixed(cdl.system.Wiring.identity(delay.interface))
        >>> same = cdl.system.rewire(stays, {"box": delay}, {"out": int}, inputs={"x": int})
        >>> isinstance(same, cdl.system.Rewired)
        True
    """

    reads_state = False
    diagram: Optic[Any, Any, Any, Any]
    beside: Wired
    state: Any
    interface: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    @property
    def systems(self) -> Wired:
        """The systems side by side, with the states that they begin in."""
        return replace(self.beside, state=self.state[1])

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        s, inside = state = held(self, state)
        layer = self.beside(inside, key=key)
        boxes = self.beside.nested.wiring.boxes
        by_box = {at: {port: layer.out[side_by_side(at, port)] for port in x.outputs} for at, x in boxes.items()}
        out, seen = self.diagram.forward((s, by_box))

        def step(d: Any) -> tuple[Any, Any]:
            after, inputs = self.diagram.backward(seen, given_to(self, d))
            return after, layer.step(by_port(inputs, self.beside))

        return fitted(self.name, self.interface, state, MooreF(out, step))

    def drawn(self) -> Drawn:
        inside = self.systems.drawn().inside
        return Drawn(self.name, self.interface, moore=True, inside=inside, state=_arrays_of(self.state[0]))


@with_usage
def rewire(
    diagram: Rewiring,
    systems: Mapping[str, System],
    outputs: Mapping[str, Any],
    *,
    inputs: Mapping[str, Any] | None = None,
    name: str = "system",
) -> Rewired:
    """Systems in a diagram that depends on a state, as one system. Its state, and theirs, are differentiable.

    **Arguments:** `diagram`: what `rewiring`, `among` and `fixed` give. `systems`: Moore machines, by the names of the
    boxes. `outputs`, `inputs`: the ports outside.

    A diagram of functions has no units, so the units of ports are compared only where the diagram is from `among` or
    `fixed`.

    **Raises:** `PortMismatch` where a system answers an input at once, where the diagram leaves an input of a box
    without a value, gives another shape, or a value to what is not an input, and where a diagram of `among` or `fixed`
    has another interface than the systems, `outputs` and `inputs`; `CarrierMismatch` where a step does not keep the
    state's type; `CdlError` for the name of a box with a stroke.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> stays = cdl.system.fixed(cdl.system.Wiring.identity(delay.interface))
        >>> same = cdl.system.rewire(stays, {"box": delay}, {"out": int}, inputs={"x": int})
        >>> cdl.run(same, same.state, {"x": jnp.array([3, 1, 4])})[0]
        {'out': Array([0, 3, 1, 4], dtype=int32)}
    """
    if odd := [at for at in systems if "/" in at]:
        raise CdlError(
            f"`{odd[0]}` cannot name a box of `rewire`: give a text without a stroke, which is between names."
        )
    ports = {End(at, port): x for at, system in systems.items() for port, x in system.interface.inputs.items()}
    side = wire(
        systems,
        {str(end): side_by_side(*end) for end in ports},
        {side_by_side(at, port): str(End(at, port)) for at, x in systems.items() for port in x.interface.outputs},
        inputs={side_by_side(*end): x for end, x in ports.items()},
        name="systems",
    )
    if not side.plan.moore:
        late = [path for step in side.plan.steps if step.late for path in step.paths]
        raise PortMismatch(
            f"`{late[0]}` answers an input at once, and a diagram that changes is wired by what its boxes "
            "show before: give Moore machines."
        )
    interface = Interface(inputs or {}, outputs)
    expect_wirings(diagram, systems, interface)
    made = Rewired(
        diagram=diagram.optic,
        beside=without_state(side),
        state=(diagram.params, side.state),
        interface=interface,
        name=expect_title("rewire", name),
    )
    try:
        is_moore(made)
    except KeyError as error:
        expect_looked_up(made.diagram, made.state[0], systems, interface, error)
        raise
    return made


def _arrays_of(state: Any) -> str:
    """The shapes and types of the arrays of a state, on one line."""
    found = [shown(x) for x in jax.tree.leaves(state)]
    return ", ".join(found[:MANY] + ["…"] * (len(found) > MANY)) or "()"
