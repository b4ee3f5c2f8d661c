"""How long an output takes to answer an input: the Moore machines on the paths between them.

| the mathematics                                     | here                                      |
| --------------------------------------------------- | ----------------------------------------- |
| a path through a Moore machine takes a tick         | a weight of 1; a Mealy machine has 0      |
| no input has an effect before                       | `Latency.shortest`                        |
| from here on a constant input has had all of it     | `Latency.longest`, infinite after a loop  |
"""

import heapq
from typing import NamedTuple

from .._functors.usage import with_types
from .._functors.words import an
from ..errors import CdlError
from ._box import Box
from ._oapply import oapply
from ._system import System
from ._wired import Wired
from ._wiring import Wiring


class Latency(NamedTuple):
    """The ticks on the shortest and on the longest path from an input to an output.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> found = cdl.system.latency(delay)["out"]["x"]
        >>> found.shortest, found.longest
        (1, 1)
    """

    shortest: int
    longest: float


@with_types
def latency(system: System) -> dict[str, dict[str, Latency]]:
    """For each output, how many ticks it takes to answer each input that reaches it.

    It is read off the diagram: every output of a box counts as an answer to each of its inputs. If boxes keep nothing
    but their last inputs, as gates do, a constant input shows in full after `longest` ticks.

    **Raises:** `CdlError` for a system without a diagram, or whose diagram changes as it runs, and for one that is
    hidden as the machine of a box.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> boxes, wires = {"p": delay, "q": delay}, {"p.x": "x", "q.x": "p.out"}
        >>> twice = cdl.system.wire(boxes, wires, {"out": "q.out"}, inputs={"x": int})
        >>> cdl.system.latency(twice)["out"]["x"]
        Latency(shortest=2, longest=2)
    """
    if isinstance(system, Box):
        system = oapply(Wiring.identity(system.interface), {"box": system})
    if not isinstance(system, Wired):
        raise CdlError(
            f"`{system.name}` is {an(type(system).__name__)}, and `latency` reads a diagram that stays as it is: give "
            "a `Box`, or what `wire` or `oapply` gives."
        )
    for path, leaf in system.boxes.items():
        if isinstance(leaf.machine, System):
            raise CdlError(
                f"the box `{path}` has a system for its machine, whose diagram is not read here: put it in with `wire`."
            )
    ticks = {path: int(step.moore) for step in system.plan.steps for path in step.paths}
    after: dict[str, list[str]] = {path: [] for path in ticks}
    first: dict[str, list[str]] = {name: [] for name in system.interface.inputs}
    for target, source in system.wiring.ends.items():
        (after[source.box] if source.box else first[source.port]).append(target.box)
    reached = {name: (_shortest(begin, after, ticks), _longest(begin, after, ticks)) for name, begin in first.items()}
    ends = {name: source.box for name, source in system.wiring.shows.items()}
    return {
        output: {name: Latency(near[box], far[box]) for name, (near, far) in reached.items() if box in near}
        for output, box in ends.items()
    }


def _shortest(begin: list[str], after: dict[str, list[str]], ticks: dict[str, int]) -> dict[str, int]:
    """The ticks from the boxes that an input drives to the outputs of every box that it reaches."""
    found: dict[str, int] = {}
    waiting = sorted({(ticks[path], path) for path in begin})
    while waiting:
        now, path = heapq.heappop(waiting)
        if path not in found:
            found[path] = now
            for target in after[path]:
                heapq.heappush(waiting, (now + ticks[target], target))
    return found


def _longest(begin: list[str], after: dict[str, list[str]], ticks: dict[str, int]) -> dict[str, float]:
    """The same on the longest paths, infinite on a loop and after it."""
    reached = set(_shortest(begin, after, ticks))
    before = dict.fromkeys(reached, 0)
    for path in reached:
        for target in after[path]:
            before[target] += 1
    found: dict[str, float] = dict.fromkeys(reached, 0)
    ready = [path for path in reached if not before[path]]
    while ready:
        path = ready.pop()
        found[path] += ticks[path]
        for target in after[path]:
            found[target] = max(found[target], found[path])
            before[target] -= 1
            if not before[target]:
                ready.append(target)
    return {path: float("inf") if before[path] else found[path] for path in reached}
