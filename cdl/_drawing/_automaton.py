"""Automata: states in a row, in the order in which words reach them, and transitions as arcs.

What leads to the next state is a straight arrow. What leads further on goes above, what leads back below, and what
stays is a loop. A longer arc goes around the shorter ones, and at a state those that lead far leave inside of none: so
arcs cross only where the states that they join are interleaved.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._schemes import Automaton
from .diagram import Canvas, Diagram, Node


@dataclass
class Arc:
    """A transition between places of the row; `level` is how far out it goes."""

    source: int
    target: int
    label: str
    level: int = 1
    leaves: int = 0  # its columns
    enters: int = 0


def automaton_diagram(automaton: Automaton) -> Diagram:
    """The part of an automaton that is reached, as states and transitions."""
    order = _reached(automaton)
    place = {state: i for i, state in enumerate(order)}
    arcs = _arcs(automaton, order, place)
    above = [a for a in arcs if a.target > a.source + 1 or a.target == a.source]
    below = [a for a in arcs if a.target < a.source]
    straight = [a for a in arcs if a.target == a.source + 1]
    slots = [max(_slots(above, i), _slots(below, i)) for i in range(len(order))]
    canvas = Canvas()
    levels = _levels(above), _levels(below)
    y = 2 * levels[0] + 1 if levels[0] else 0
    nodes: list[Node] = []
    x = canvas.node("start", "port", 0, y + 1 + _two_lines(automaton) // 2).width + 5
    for i, state in enumerate(order):
        kind, lines = _drawn(automaton, state)
        loop = max([0, *(len(a.label) for a in above if a.source == a.target == i)])
        width = max(3 * slots[i] + 2, max(map(len, lines)) + 6, loop + 4)
        nodes.append(canvas.node(lines, kind, x, y, width=width))
        gap = max([2, *(len(a.label) for a in straight if a.source == i)])
        x = nodes[-1].right + gap + 5
    middle = nodes[0].middle[1]
    canvas.wire("n0", nodes[0].key, [(4, middle), (nodes[0].x, middle)])
    for a in straight:
        begin, end = nodes[a.source].right, nodes[a.target].x
        at = (begin + end) // 2, middle - 1
        canvas.wire(nodes[a.source].key, nodes[a.target].key, [(begin, middle), (end, middle)], label=a.label, at=at)
    for some, up in ((above, True), (below, False)):
        _attach(some, nodes, up)
        for a in some:
            edge = nodes[0].y if up else nodes[0].bottom
            out = edge + (-2 if up else 2) * a.level
            line = [(a.leaves, edge), (a.leaves, out), (a.enters, out), (a.enters, edge)]
            at = _free(a, some), out - 1 if up else out + 1
            canvas.wire(nodes[a.source].key, nodes[a.target].key, line, label=a.label, at=at)
    return canvas.finished()


def _reached(a: Automaton) -> list[int]:
    order = [a.start]
    for state in order:
        order += [s for s in dict.fromkeys(a.next[state].tolist()) if s not in order]
    return order


def _arcs(a: Automaton, order: list[int], place: dict[int, int]) -> list[Arc]:
    """A transition for each pair of states, with all of its letters; of a Mealy machine, with its answers."""
    labels: dict[tuple[int, int], list[str]] = defaultdict(list)
    for state in order:
        for letter, after in enumerate(a.next[state].tolist()):
            answer = f"/{_word(a.outputs[state, letter])}" if a.is_mealy else ""
            labels[place[state], place[after]].append(f"{letter}{answer}")
    return [Arc(i, j, " ".join(words)) for (i, j), words in labels.items()]


def _drawn(a: Automaton, state: int) -> tuple[Any, tuple[str, ...]]:
    """Whether a state accepts, and what is written in it: its number, and its output unless that is yes or no."""
    if a.is_mealy:
        return "state", (str(state),)
    if a.outputs.dtype == bool:
        return "final" if a.outputs[state] else "state", (str(state),)
    return "state", (str(state), _word(a.outputs[state]))


def _two_lines(a: Automaton) -> int:
    return int(not a.is_mealy and a.outputs.dtype != bool)


def _word(output: Any) -> str:
    return str(int(output)) if output.dtype == bool else f"{np.asarray(output).item():.3g}"


def _slots(arcs: list[Arc], state: int) -> int:
    """How many arcs end at a state, on one side of the row; a loop does so twice."""
    return sum((a.source == state) + (a.target == state) for a in arcs)


def _levels(arcs: list[Arc]) -> int:
    """Gives each arc a level above those of the shorter arcs that it meets; returns the highest."""
    done: list[Arc] = []
    for a in sorted(arcs, key=lambda a: abs(a.target - a.source)):
        low, high = sorted((a.source, a.target))
        met = [b.level for b in done if min(b.source, b.target) <= high and low <= max(b.source, b.target)]
        a.level = 1 + max(met, default=0)
        done.append(a)
    return max((a.level for a in arcs), default=0)


def _attach(arcs: list[Arc], nodes: list[Node], up: bool) -> None:
    """Gives the ends of arcs their columns: those to the left on the left, the longer of them further in."""
    for i, node in enumerate(nodes):
        ends = [(a, "enters", a.source) for a in arcs if a.target == i != a.source]
        ends += [(a, "leaves", a.target) for a in arcs if a.source == i != a.target]
        left = sorted((e for e in ends if e[2] < i), key=lambda e: -e[2])
        right = sorted((e for e in ends if e[2] > i), key=lambda e: -e[2])
        loops = [(a, end, i) for a in arcs if a.source == a.target == i for end in ("leaves", "enters")]
        slots = [*left, *loops, *right]
        first = node.middle[0] - 3 * (len(slots) - 1) // 2
        for k, (arc, end, _) in enumerate(slots):
            setattr(arc, end, first + 3 * k)


def _free(arc: Arc, arcs: list[Arc]) -> int:
    """The column of an arc's label: the nearest to its middle where no longer arc goes through it."""
    middle, half = (arc.leaves + arc.enters) // 2, len(arc.label) // 2 + 1
    through = [x for a in arcs if a.level > arc.level for x in (a.leaves, a.enters)]
    room = abs(arc.enters - arc.leaves) // 2
    free = [x for x in range(middle - room, middle + room + 1) if all(abs(x - y) > half for y in through)]
    return min(free, key=lambda x: abs(x - middle), default=middle)
