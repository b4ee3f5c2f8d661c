"""In which order the boxes of a diagram are computed, and which of them at once.

| the mathematics                                 | here                                                             |
| ----------------------------------------------- | ---------------------------------------------------------------- |
| an output depends on an input at once           | its box is a Mealy machine: each of its outputs waits for inputs |
| a diagram has a value                           | no loop of such boxes: their `height` is the longest path of them |
| it is a Moore machine                           | no output outside is that of a box that an input reaches (`late`) |

Boxes with one machine, at one height, are computed as one. What is `early`, which is all that no input reaches, is
computed for the outputs, the others with the step.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import PortMismatch
from ._wiring import Wiring


@dataclass(frozen=True)
class Together:
    """Boxes that are computed as one: their paths, and for each port the sources of them all."""

    paths: tuple[str, ...]
    numbers: tuple[int, ...]  # of each, among all boxes
    sources: tuple[tuple[str, tuple[str, ...]], ...]
    moore: bool
    late: bool
    height: int
    shared: bool  # whether they have one machine, or each its own

    @property
    def alone(self) -> bool:
        return len(self.paths) == 1


@dataclass(frozen=True)
class Plan:
    """All boxes, in an order in which they can be computed, and where the outputs outside are from."""

    steps: tuple[Together, ...]
    outputs: tuple[tuple[str, str], ...]
    moore: bool

    def __hash__(self) -> int:
        return hash((len(self.steps), self.outputs, self.moore))

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """The place of each box: among the steps, and in its step."""
        return {path: (i, row) for i, step in enumerate(self.steps) for row, path in enumerate(step.paths)}


def plan(wiring: Wiring, moore: Mapping[str, bool], kind: Mapping[str, Hashable], shared: Mapping[str, bool]) -> Plan:
    """The plan of a diagram.

    **Arguments:** for each box, whether it is a Moore machine, its kind (boxes of one kind may be computed at once),
    and whether those of its kind have one machine.

    **Raises:** `PortMismatch` for a loop of boxes that answer at once, box by box.
    """
    heights, late = _heights(wiring, moore)
    groups: dict[Hashable, list[str]] = {}
    for path in wiring.boxes:
        groups.setdefault((heights[path], late[path], moore[path], kind[path]), []).append(path)
    numbers = {path: i for i, path in enumerate(wiring.boxes)}

    def together(paths: list[str]) -> Together:
        first = paths[0]
        ports = wiring.boxes[first].inputs
        sources = tuple((port, tuple(wiring.wires[f"{path}.{port}"] for path in paths)) for port in ports)
        each = tuple(numbers[path] for path in paths)
        return Together(tuple(paths), each, sources, moore[first], late[first], heights[first], shared[first])

    steps = sorted(map(together, groups.values()), key=lambda step: step.height)
    waits = any(late[source.rpartition(".")[0]] for source in wiring.outputs.values())
    return Plan(tuple(steps), tuple(wiring.outputs.items()), not waits)


def _heights(wiring: Wiring, moore: Mapping[str, bool]) -> tuple[dict[str, int], dict[str, bool]]:
    """How many boxes that answer at once there are on the longest path to each, itself with them; and whether an input
    from outside comes through to it at once."""
    before: dict[str, list[str]] = {path: [] for path in wiring.boxes}
    for target, source in wiring.wires.items():
        before[target.rpartition(".")[0]].append(source.rpartition(".")[0])
    heights, late = dict.fromkeys(before, 0), dict.fromkeys(before, False)
    waiting = {path: {x for x in before[path] if x and not moore[x]} for path in before if not moore[path]}
    while waiting:
        ready = [path for path, for_ in waiting.items() if not for_ & waiting.keys()]
        if not ready:
            raise PortMismatch(_loop(waiting))
        for path in ready:
            heights[path] = 1 + max((heights[x] for x in waiting[path]), default=0)
            late[path] = "" in before[path] or any(late[x] for x in waiting[path])
        for path in ready:
            del waiting[path]
    return heights, late


def _loop(waiting: Mapping[str, set[str]]) -> str:
    """A loop among boxes of which each waits for another."""
    path = [next(iter(waiting))]
    while path[-1] not in path[:-1]:
        path.append(next(x for x in waiting[path[-1]] if x in waiting))
    around = path[path.index(path[-1]) :][::-1]
    return (
        f"the loop {' → '.join(f'`{x}`' for x in around)} has no state: each of these boxes answers an input at once, "
        "so that none can begin. Put a Moore machine into the loop, such as a box of `delay`."
    )
