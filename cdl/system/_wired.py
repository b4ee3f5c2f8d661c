"""Systems in the boxes of a diagram, as one machine.

| the mathematics                               | here                                                            |
| --------------------------------------------- | --------------------------------------------------------------- |
| by definition                                 | all systems side by side, `S₁ × … × Sₙ`, and then the lens       |
| what a box shows, and what it does            | `layer.out`, and `layer.step` of what the diagram brings to it  |

Boxes with the same machine, or with machines that differ in their arrays alone, are computed as one, by `vmap`; what
one drives of another is a gather of rows. Each machine is held once, wherever it is used: ties are static.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax

from .._engine.arrays.shapes import shaped
from .._functors import MealyF, MooreF
from .._functors.usage import with_types
from ..errors import CdlError
from ._abreast import abreast
from ._box import Box
from ._drawing.picture import Drawn
from ._end import End
from ._given import given_to
from ._interface import Interface
from ._once import once
from ._plan import Plan, Together
from ._rows import rows, stacked, taken
from ._states import held, in_type_of
from ._system import System
from ._ties import tie_rows
from ._wiring import Wiring


Tables = list[dict[str, Any]]  # the outputs of each step of a plan, by port; a row for each of its boxes


@dataclass(frozen=True)
class Nested:
    """A diagram, with what stands in its boxes: the name of each, and the diagram of one that is a diagram. `moore`:
    whether the systems in it are together a Moore machine."""

    wiring: Wiring
    inside: tuple[tuple[str, "Nested | None"], ...]
    moore: bool

    def names(self) -> dict[str, str]:
        """The name of each box that has no diagram inside, by its path."""
        found: dict[str, str] = {}
        for at, (name, nested) in zip(self.wiring.boxes, self.inside, strict=True):
            found |= {at: name} if nested is None else {f"{at}.{path}": x for path, x in nested.names().items()}
        return found


@final
class Wired(System):
    """Systems in the boxes of a diagram. Made by `oapply` or `wire`.

    `machines` has each machine once; those that are used alike are stacked. `state` has the states of the boxes, one
    for each step of the plan. `boxes` has each system by its path, `states` each box's state. `wiring` is the diagram
    with every inner diagram opened, `nested` as it was given.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> boxes, wires = {"p": delay, "q": delay}, {"p.x": "x", "q.x": "p.out"}
        >>> twice = cdl.system.wire(boxes, wires, {"out": "q.out"}, inputs={"x": int})
        >>> twice, sorted(twice.boxes), len(twice.machines), twice.state
        (Wired('system': (x: i32[]) → (out: i32[])), ['p', 'q'], 1, (Array([0, 0], dtype=int32),))
    """

    reads_state = False
    machines: tuple[Any, ...]
    state: Any
    interface: Interface = eqx.field(static=True)
    name: str = eqx.field(static=True)
    wiring: Wiring = eqx.field(static=True)
    plan: Plan = eqx.field(static=True)
    nested: Nested = eqx.field(static=True)

    def __call__(self, state: Any, /, *, key: Any = None) -> Any:
        state = held(self, state)
        values: Tables = [{} for _ in self.plan.steps]
        after: list[Any] = [None for _ in self.plan.steps]
        for i, group in enumerate(self.plan.steps):
            if group.moore:
                values[i], after[i] = once(self._each(i, state, key), self._awaited(group))
        self._answer(False, values, after, state, {}, key)

        def step(inputs: Any) -> Any:
            inputs = given_to(self, inputs)
            found, now = [*values], [*after]
            self._answer(True, found, now, state, inputs, key)
            for i, group in enumerate(self.plan.steps):
                if group.moore:
                    now[i] = after[i](self._inputs(group, found, inputs))
            return found, tuple(now)

        def answer(inputs: Any) -> Any:
            found, now = step(inputs)
            return self._outputs(found), now

        if self.plan.moore:
            return MooreF(self._outputs(values), lambda inputs: step(inputs)[1])
        return MealyF(answer)

    def drawn(self) -> Drawn:
        boxes = self.boxes
        moore = {path: group.moore for group in self.plan.steps for path in group.paths}

        def of(name: str, nested: Nested, path: str) -> Drawn:
            inside = {}
            for (at, interface), (own, inner) in zip(nested.wiring.boxes.items(), nested.inside, strict=True):
                here = f"{path}{at}"
                if inner is not None:
                    inside[at] = of(own, inner, f"{here}.")
                elif boxes[here].inner:
                    inside[at] = boxes[here].drawn()
                else:
                    inside[at] = Drawn(own, interface, moore[here])
            return Drawn(name, nested.wiring.outside, nested.moore, nested.wiring, inside)

        return of(self.name, self.nested, "")

    @property
    def boxes(self) -> dict[str, Box]:
        """Each box by its path, with its machine and the state that it begins in."""
        states, names, found = self.states(self.state), self.nested.names(), dict[str, Box]()
        each = [_unstacked(x, len(paths)) for x, paths in zip(self.machines, self.plan.machines, strict=True)]
        for group in self.plan.steps:
            for k, path in enumerate(group.paths):
                machine, interface = each[group.machine][k // group.uses], self.wiring.boxes[path]
                found[path] = Box(machine=machine, state=states[path], interface=interface, name=names[path])
        return {path: found[path] for path in self.wiring.boxes}

    def states(self, state: Any) -> dict[str, Any]:
        """The state of each box, by its path, at a state of the whole.

        **Raises:** `CarrierMismatch` for what is not a state of the whole.
        """
        found: dict[str, Any] = {}
        for group, each in zip(self.plan.steps, held(self, state), strict=True):
            found |= zip(group.paths, rows(each, len(group.paths)), strict=True)
        return found

    @with_types
    def pack(self, states: Mapping[str, Any]) -> tuple[Any, ...]:
        """The state of the whole, with these states of boxes, by their paths; the others' are those to begin in.

        **Raises:** `CdlError` for a path that leads to no box; `CarrierMismatch` for a state of another type than the
        one that the box begins in. A number of Python's takes that type where it holds the number.
        """
        every = self.states(self.state)
        if unknown := [path for path in states if path not in every]:
            raise CdlError(f"`{self.name}` has no box `{unknown[0]}`: its boxes are {', '.join(every)}.")
        every |= {path: in_type_of(every[path], x, f"the state of `{path}`") for path, x in states.items()}
        return tuple(stacked([every[path] for path in group.paths]) for group in self.plan.steps)

    def _answer(self, late: bool, values: Tables, after: list[Any], state: Any, inputs: Any, key: Any) -> None:
        """Writes the outputs and the next states of the Mealy machines that no input reaches, or that one does."""
        for i, group in enumerate(self.plan.steps):
            if group.late == late and not group.moore:
                values[i], after[i] = self._each(i, state, key)(self._inputs(group, values, inputs))

    def _each(self, i: int, state: Any, key: Any) -> Callable[[Any], Any]:
        """The outputs and the next states of the boxes of a step, as a function of their inputs."""
        group = self.plan.steps[i]
        return abreast(group, self.wiring.boxes[group.paths[0]], self.machines[group.machine], state[i], key)

    def _awaited(self, group: Together) -> Any:
        """The shapes and types of the inputs of the boxes of a step."""
        ahead, ports = () if group.alone else (len(group.paths),), self.wiring.boxes[group.paths[0]].inputs
        one = {port: of.struct for port, of in ports.items()}
        return jax.tree.map(lambda x: shaped((*ahead, *x.shape), x.dtype), one)

    def _inputs(self, group: Together, values: Tables, inputs: Any) -> dict[str, Any]:
        return {port: self._gathered(sources, values, inputs) for port, sources in group.sources}

    def _outputs(self, values: Tables) -> dict[str, Any]:
        return {name: self._gathered((source,), values, {}) for name, source in self.plan.outputs}

    def _gathered(self, sources: tuple[End, ...], values: Tables, inputs: Any) -> Any:
        """The values of sources: of one, itself; of several, a row for each."""
        places = self.plan.places
        found = [(places[x.box] if x.box else (None, 0), x.port) for x in sources]
        tables = dict.fromkeys((step, port) for (step, _), port in found)
        tall = {(i, port): i is not None and not self.plan.steps[i].alone for i, port in tables}
        begin, at = 0, {}
        for i, port in tables:
            at[i, port] = begin
            begin += 1 if i is None else len(self.plan.steps[i].paths)
        parts = [inputs[port] if i is None else values[i][port] for i, port in tables]
        return taken(parts, [tall[x] for x in tables], [at[i, port] + row for (i, row), port in found])


def _unstacked(machines: Any, many: int) -> list[Any]:
    """Each of some machines that are one, tied to its row."""
    found = rows(machines, many)
    if many > 1:
        tie_rows(machines, found, begin=False)
    return found
