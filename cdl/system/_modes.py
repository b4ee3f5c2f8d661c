"""Systems in modes: a state says which of finitely many interfaces there is now.

| the mathematics                               | here                                                          |
| --------------------------------------------- | ------------------------------------------------------------- |
| a sum of interfaces, `Σₘ Aₘ y^Bₘ`             | `modes({name: system, …}, choose, state)`                     |
| a position: a mode, and what is shown in it   | the output `mode`, a number, and for each mode what it shows  |
| its directions: what is awaited in that mode  | an input for each mode; the one of the current mode is read    |
| a lens `S y^S → Σₘ Aₘ y^Bₘ`                   | the systems, all of them on the one state, by `lax.switch`    |

A layer is computed for what it shows, and once more for its step: the branches of a switch hand on arrays of one type,
and what a step needs of its layer is another in each mode. Of the outputs those of the other modes are zero.
`Polynomial` has the same for finite sets, as `p + q`.

Source: D. Spivak, N. Niu, *Polynomial Functors: A Mathematical Theory of Interaction*, 2023.
"""

from collections.abc import Callable, Mapping
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from .._engine.arrays.shapes import shown
from .._functors import MooreF
from .._functors.usage import with_usage
from .._schemes.algebras import wants_key
from .._schemes.compose import layer_of
from ..errors import CarrierMismatch, CdlError, PortMismatch
from ._apart import expect_apart
from ._box import Box, without_state
from ._exact import exact, fitted, strong, types
from ._given import given_to
from ._interface import expect_title, Interface
from ._numbers import one_of
from ._states import held
from ._system import expect_system, is_moore, System
from ._ties import tie


@final
class Modal(System):
    """Systems on one state, of which one is in force at a time. Made by `modes`.

    `machines` has that of each system, once where several are tied. `modes` has for each mode its name and the number
    of its machine.

    Examples:
        >>> up = cdl.system.box(
        ...     lambda s: cdl.MooreF({"n": s}, lambda i: s + 1), 0, outputs={"n": int}
        ... )
        >>> down = cdl.system.box(
        ...     lambda s: cdl.MooreF({"n": s}, lambda i: s - 1), 0, outputs={"n": int}
        ... )
        >>> saw = cdl.system.modes({"up": up, "down": down}, lambda s: jnp.where(s >= 2, 1, 0), 0)
        >>> int(saw(0).out["mode"]), int(saw(2).out["mode"])
        (0, 1)
    """

    reads_state = False
    machines: tuple[Any, ...]
    choose: Callable[[Any], Any]
    state: Any
    modes: tuple[tuple[str, int], ...] = eqx.field(static=True)
    interface: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        state = held(self, state)
        number = one_of(self.choose(state), len(self.modes), f"`choose` of `{self.name}`", "modes")
        ports = {name: port.struct for name, port in self.interface.outputs.items() if name != "mode"}
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), ports)

        def layer(machine: Any) -> Any:
            return layer_of(machine, state, key if wants_key(machine) else None)

        def shows(name: str, machine: Any) -> Callable[[], Any]:
            return lambda: {**nothing, **({name: exact(layer(machine).out)} if name in nothing else {})}

        def goes(name: str, machine: Any, inputs: Any) -> Callable[[], Any]:
            return lambda: exact(layer(machine).step(inputs[name] if name in self.interface.inputs else {}))

        def step(inputs: Any) -> Any:
            given = given_to(self, inputs)
            return jax.lax.switch(number, [goes(*x, given) for x in each])

        each = [(name, self.machines[i]) for name, i in self.modes]
        out = jax.lax.switch(number, [shows(*x) for x in each])
        return fitted(self.name, self.interface, state, MooreF({"mode": number, **out}, step))


@with_usage
def modes(systems: Mapping[str, System], choose: Callable[[Any], Any], state: Any, *, name: str = "modes") -> Modal:
    """Several systems on one state, one of which is in force at each tick. The state says which.

    ```python
    valve = modes(
        {"open": flowing, "closed": waiting}, lambda s: jnp.int32(s["level"] < 1), state
    )
    ```

    The outputs are `mode`, the number of the mode, and for each mode a dictionary of its outputs, zero where it is not
    in force. The inputs are for each mode a dictionary of its inputs, of which those of the mode in force are read. A
    mode without inputs, or outputs, has no such port. Units of ports are not kept. Under `jax.vmap` all modes are
    computed, and those not in force are dropped: an `eqx.error_if` in any of them raises.

    **Arguments:** `systems`: Moore machines, which may have other ports but whose states are of one type. `choose`:
    from a state to the number of the mode, from 0. `state`: the one to begin in.

    **Raises:** `CdlError` for no systems, for one that is called `mode`, and where the machine of one mode is
    inside of that of another; `PortMismatch` where one answers an input
    at once; `CarrierMismatch` where one has a state of another type.

    Examples:
        >>> up = cdl.system.box(
        ...     lambda s: cdl.MooreF({"n": s}, lambda i: s + 1), 0, outputs={"n": int}
        ... )
        >>> down = cdl.system.box(
        ...     lambda s: cdl.MooreF({"n": s}, lambda i: s - 1), 0, outputs={"n": int}
        ... )
        >>> saw = cdl.system.modes({"up": up, "down": down}, lambda s: jnp.where(s >= 2, 1, 0), 0)
        >>> int(saw(0).out["mode"]), int(saw(2).out["mode"])
        (0, 1)
    """
    begin, name = strong(state), expect_title("modes", name)
    if not systems or "mode" in systems:
        raise CdlError("`modes` takes a system for each mode: at least one, and none that is called `mode`.")
    for at, system in systems.items():
        if types(expect_system("modes", at, system).state) != types(begin):
            raise CarrierMismatch(
                f"the state of `{at}` is {shown(system.state)}, and that of the modes is {shown(begin)}: give all of "
                "them one structure, with the same shapes and types."
            )
        if not is_moore(system):
            raise PortMismatch(
                f"`{at}` answers an input at once, and the mode says which inputs there are before they come: give "
                "Moore machines."
            )
    sides = [{at: getattr(x.interface, side) for at, x in systems.items()} for side in ("inputs", "outputs")]
    ports = [{at: {k: p.struct for k, p in own.items()} for at, own in side.items() if own} for side in sides]
    machines = {at: x.machine if isinstance(x, Box) else without_state(x) for at, x in systems.items()}
    each = {tie(x): x for x in machines.values()}
    expect_apart((at, each[of]) for of, at in {tie(x): at for at, x in machines.items()}.items())
    made = Modal(
        machines=tuple(each.values()),
        modes=tuple((at, list(each).index(tie(x))) for at, x in machines.items()),
        choose=choose,
        state=begin,
        interface=Interface(ports[0], {"mode": jnp.int32, **ports[1]}),
        name=name,
    )
    is_moore(made)
    return made
