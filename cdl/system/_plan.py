"""In which order the boxes of a diagram are computed, and which of them at once.

| the mathematics                                 | here                                                             |
| ----------------------------------------------- | ---------------------------------------------------------------- |
| an output depends on an input at once           | its box is a Mealy machine: each of its outputs waits for inputs |
| a diagram has a value                           | no loop of such boxes: their `height` is the longest path of them |
| it is a Moore machine                           | no output outside is that of a box that an input reaches (`late`) |

Boxes alike, at one height, are computed as one. Machines that are used alike are stacked, so that each is held once: a
step has all rows of a stack, each in as many boxes as the others. What is `early`, which is all that no input reaches,
is computed for the outputs, the others with the step.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..errors import PortMismatch
from ._end import End
from ._wiring import Wiring


@dataclass(frozen=True)
class Together:
    """Boxes that are computed as one: their paths, and for each port the sources of them all."""

    paths: tuple[str, ...]
    numbers: tuple[int, ...]  # of each, among all boxes
    sources: tuple[tuple[str, tuple[End, ...]], ...]
    moore: bool
    late: bool
    height: int
    machine: int  # the number of their machine, or of the stack of theirs, among all
    many: int  # how many different machines they have: boxes with one are next to each other

    @property
    def alone(self) -> bool:
        return len(self.paths) == 1

    @property
    def uses(self) -> int:
        """How many boxes have one machine."""
        return len(self.paths) // self.many


@dataclass(frozen=True)
class Plan:
    """All boxes, in an order in which they can be computed, and where the outputs outside are from."""

    steps: tuple[Together, ...]
    outputs: tuple[tuple[str, End], ...]
    moore: bool
    machines: tuple[tuple[str, ...], ...]  # for each, one or stacked, a box of each of its rows

    def __hash__(self) -> int:
        return hash((len(self.steps), self.outputs, self.moore))

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """The place of each box: among the steps, and in its step."""
        return {path: (i, row) for i, step in enumerate(self.steps) for row, path in enumerate(step.paths)}


def plan(wiring: Wiring, moore: Mapping[str, bool], kind: Mapping[str, Hashable], tie: Mapping[str, Hashable]) -> Plan:
    """The plan of a diagram.

    **Arguments:** for each box, whether it is a Moore machine, its kind (boxes of one kind may be computed at once),
    and what its machine is tied by.

    **Raises:** `PortMismatch` for a loop of boxes that answer at once, box by box.
    """
    heights, late = _heights(wiring, moore)
    uses: dict[Hashable, Counter[Hashable]] = {}  # of each machine, how often it is used in which place of the order
    for path in wiring.boxes:
        uses.setdefault(tie[path], Counter())[heights[path], late[path], kind[path]] += 1
    pools: dict[Hashable, dict[Hashable, str]] = {}
    groups: dict[Hashable, list[str]] = {}
    for path in wiring.boxes:
        alike = frozenset(uses[tie[path]].items())
        pools.setdefault(alike, {}).setdefault(tie[path], path)
        groups.setdefault((heights[path], late[path], kind[path], alike), []).append(path)
    numbers = {path: i for i, path in enumerate(wiring.boxes)}
    rows = {each: (i, row) for i, pool in enumerate(pools.values()) for row, each in enumerate(pool)}

    def together(some: list[str]) -> Together:
        paths = sorted(some, key=lambda path: rows[tie[path]])
        first = paths[0]
        ports = wiring.boxes[first].inputs
        sources = tuple((port, tuple(wiring.ends[End(path, port)] for path in paths)) for port in ports)
        each, machine = tuple(numbers[path] for path in paths), rows[tie[first]][0]
        many = len({tie[path] for path in paths})
        return Together(tuple(paths), each, sources, moore[first], late[first], heights[first], machine, many)

    steps = sorted(map(together, groups.values()), key=lambda step: step.height)
    waits = any(late[source.box] for source in wiring.shows.values())
    machines = tuple(tuple(pool.values()) for pool in pools.values())
    return Plan(tuple(steps), tuple(wiring.shows.items()), not waits, machines)


def _heights(wiring: Wiring, moore: Mapping[str, bool]) -> tuple[dict[str, int], dict[str, bool]]:
    """How many boxes that answer at once there are on the longest path to each, itself with them; and whether an input
    from outside comes through to it at once."""
    before: dict[str, list[str]] = {path: [] for path in wiring.boxes}
    for target, source in wiring.ends.items():
        before[target.box].append(source.box)
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
