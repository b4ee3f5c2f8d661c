"""Wiring diagrams: which output drives each input. A diagram is a lens, and diagrams go into boxes of diagrams.

| the mathematics                                       | here                                                   |
| ----------------------------------------------------- | ------------------------------------------------------ |
| a lens `p₁ ⊗ … ⊗ pₙ → q`                              | `Wiring(boxes, wires, outputs, inputs)`; `lens()`      |
| forward: the outputs of the boxes to those outside    | `get`                                                  |
| back: these, and inputs from outside, to the boxes    | `put`                                                  |
| composition of the operad                             | `wiring.substitute(name, inner)`                       |
| its unit at `p`                                       | `Wiring.identity(p)`                                   |

An output outside is an output of a box, so that a diagram has nothing in it that takes no time: a path from an input
to an output leads through a box. After a substitution the inner boxes are named by a path, as `adder.first`.

Source: D. Vagner, D. Spivak, E. Lerman, *Algebras of open dynamical systems on the operad of wiring diagrams*, 2015.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._drawing.diagram import Diagram
from .._functors.usage import with_types, with_usage
from .._optics import Lens
from ..errors import PortMismatch
from ._drawing.picture import wiring_diagram
from ._end import End
from ._interface import expect_name, Interface, Port
from ._wires import expect_wires, listed, once_each


@dataclass(frozen=True)
class Wiring:
    """A wiring diagram, checked when it is built.

    ```python
    gate = Interface(inputs={"a": bool, "b": bool}, outputs={"out": bool})
    inverter = Wiring(
        {"gate": gate},
        {"gate.a": "x", "gate.b": "x"},
        {"out": "gate.out"},
        inputs={"x": bool},
    )
    ```

    **Arguments:** `boxes`: the interface of each box. `wires`: for each input of a box, as `"box.port"`, what drives
    it: an output, as `"box.port"`, or an input from outside, by its name; a mapping, or pairs. `outputs`: for each
    output outside, the output of a box that it is. `inputs`: the ports outside that take something in.

    **Raises:** `PortMismatch` for a box or a port that is not there, an input with no driver or with two, ports of
    different types or units, and an output that is not one of a box.

    Examples:
        >>> gate = cdl.system.Interface(inputs={"x": bool}, outputs={"out": bool})
        >>> boxes, wires = {"p": gate, "q": gate}, {"p.x": "x", "q.x": "p.out"}
        >>> row = cdl.system.Wiring(boxes, wires, {"out": "q.out"}, {"x": bool})
        >>> sorted(row.boxes)
        ['p', 'q']
    """

    boxes: Mapping[str, Interface]
    wires: Mapping[str, str]
    outputs: Mapping[str, str]
    inputs: Mapping[str, Any]

    @with_types
    def __init__(
        self,
        boxes: Mapping[str, Interface],
        wires: Mapping[str, str] | Iterable[tuple[str, str]],
        outputs: Mapping[str, str],
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        for name in boxes:
            expect_name("box", name)
        outside = Interface(inputs or {}, {})
        self._set(dict(boxes), once_each(wires), dict(outputs), dict(outside.inputs))
        expect_wires(self.boxes, self.wires, self.outputs, self.inputs)

    def _set(self, boxes: Any, wires: Any, outputs: Any, inputs: Any) -> None:
        for name, value in (("boxes", boxes), ("wires", wires), ("outputs", outputs), ("inputs", inputs)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_hash", hash(tuple(frozenset(x.items()) for x in (boxes, wires, outputs, inputs))))

    @property
    def outside(self) -> Interface:
        """The interface of the whole."""
        return Interface(self.inputs, {name: self.port(source) for name, source in self.outputs.items()})

    @with_usage
    def port(self, source: str) -> Port:
        """The port of a source: an output of a box, or an input from outside.

        **Raises:** `PortMismatch` for anything other than a source.
        """
        end = End.of(source)
        ports = (self.boxes[end.box].outputs if end.box in self.boxes else {}) if end.box else self.inputs
        if end.port not in ports:
            raise PortMismatch(
                f"`{source}` is not a source: it is neither an output of a box nor an input from outside."
            )
        found: Port = ports[end.port]
        return found

    @cached_property
    def ends(self) -> dict[End, End]:
        """The wires: what drives each input of a box."""
        return {End.of(target): End.of(source) for target, source in self.wires.items()}

    @cached_property
    def shows(self) -> dict[str, End]:
        """The output of a box that each output outside is."""
        return {name: End.of(source) for name, source in self.outputs.items()}

    @staticmethod
    @with_types
    def identity(interface: Interface, name: str = "box") -> "Wiring":
        """One box, whose ports are those outside.

        **Arguments:** `interface`: the ports of the one box. `name`: what the box is called.
        """
        return Wiring(
            {name: interface},
            {f"{name}.{port}": port for port in interface.inputs},
            {port: f"{name}.{port}" for port in interface.outputs},
            interface.inputs,
        )

    @with_types
    def substitute(self, name: str, inner: "Wiring") -> "Wiring":
        """The diagram with another in the place of one of its boxes.

        **Arguments:** `name`: the box that is replaced. `inner`: the wiring that takes its place, with the same ports
        outside.

        **Raises:** `PortMismatch` for a name without a box, or where the other diagram has another interface outside.
        """
        if name not in self.boxes:
            raise PortMismatch(
                f"there is no box `{name}` to put a diagram into: the boxes are {listed(self.boxes, name)}."
            )
        if self.boxes[name] != inner.outside:
            raise PortMismatch(
                f"the box `{name}` is {self.boxes[name]} and the diagram is {inner.outside}: give both one interface."
            )

        def outer(source: End) -> str:
            """A source of this diagram in the new one."""
            return f"{name}.{inner.outputs[source.port]}" if source.box == name else str(source)

        def within(source: End) -> str:
            """A source of the inner diagram in the new one."""
            return f"{name}.{source}" if source.box else outer(self.ends[End(name, source.port)])

        boxes: dict[str, Interface] = {}
        for box, interface in self.boxes.items():
            boxes |= {f"{name}.{part}": x for part, x in inner.boxes.items()} if box == name else {box: interface}
        wires = {str(target): outer(x) for target, x in self.ends.items() if target.box != name}
        wires |= {f"{name}.{target}": within(x) for target, x in inner.ends.items()}
        made = object.__new__(Wiring)
        made._set(boxes, wires, {port: outer(x) for port, x in self.shows.items()}, self.inputs)
        return made

    def lens(self) -> Lens[Any, Any, Any, Any]:
        """The diagram as a lens: `get` from `{box: {port: output}}` to the outputs outside, and `put`, which takes the
        outputs of the boxes and the inputs from outside, and gives `{box: {port: input}}`."""

        def get(given: Any) -> Any:
            return {name: _value(source, given, {}) for name, source in self.shows.items()}

        def put(given: Any, inputs: Any) -> Any:
            found: dict[str, dict[str, Any]] = {box: {} for box in self.boxes}
            for target, source in self.ends.items():
                found[target.box][target.port] = _value(source, given, inputs)
            return found

        return Lens(get, put)

    def __diagram__(self) -> Diagram:
        return wiring_diagram(self)

    def __hash__(self) -> int:
        found: int = vars(self)["_hash"]  # once: that of a large diagram takes longer than a step of it
        return found


def _value(source: End, given: Any, inputs: Any) -> Any:
    try:
        return given[source.box][source.port] if source.box else inputs[source.port]
    except (KeyError, TypeError):
        raise PortMismatch(f"the lens of a diagram was given no value of `{source}`.") from None
