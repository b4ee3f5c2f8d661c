"""A system explained: its ports, what stands in its boxes, which of them share weights, and when it answers.

| the law                                        | what is run                                              |
| ---------------------------------------------- | -------------------------------------------------------- |
| those of a machine                             | the system as one machine, on a word of inputs           |
| a system is its boxes, and then the lens       | the compiled form, and each box by itself, wired by hand |
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr

from .._engine import run
from .._functors import MealyF, MooreF
from .._functors.words import number_of
from .._terms import numbers, real
from ..errors import CdlError
from ..laws._systems import by_hand
from ..system import Box, Interface, Latency, latency, Rewired, System, Wired
from ..system._box import without_state
from ..system._system import is_moore
from ._beginnings import without_beginnings
from ._machine import explain_machine
from ._measure import law, shapes
from ._page import Checked, cut, Explanation


STEPS = 4  # inputs that are made up
FEW = 50  # boxes that are run one by one


def explain_system(system: System, state: Any, word: Any, allowed: float | None) -> Explanation:
    """The page of a system, its laws run from a state on a word of inputs; without one, on random numbers."""
    state = system.state if state is None else state
    word = inputs_of(system.interface) if word is None else word
    moore = is_moore(system)
    machine = without_beginnings(without_state(system))
    found = explain_machine(machine, MooreF if moore else MealyF, state, word, allowed)
    inner = system.inner if isinstance(system, Box) and system.inner else system
    return replace(
        found,
        name=system.name,
        kind="a system, a Moore machine" if moore else "a system, a Mealy machine",
        where=(*_letters(system, state), *_latencies(system)),
        boxes=_boxes(inner),
        tying=(*_shared(inner), *found.tying),
        laws=(*_wired_by_hand(system, state, word, allowed), *found.laws),
        execution=(*found.execution, *_plan(inner)),
    )


def inputs_of(interface: Interface) -> Any:
    """Random inputs for each port, time first; of a system without inputs, ticks."""
    if not interface.inputs:
        return jnp.arange(STEPS)
    keys = iter(jr.split(jr.key(0), sum(len(jax.tree.leaves(x.struct)) for x in interface.inputs.values())))

    def some(x: Any) -> Any:
        shape, key = (STEPS, *x.shape), next(keys)
        if jnp.issubdtype(x.dtype, jnp.inexact):
            return jr.normal(key, shape, x.dtype)
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            return jr.split(key, shape)
        return jr.bernoulli(key, 0.5, shape).astype(x.dtype)

    return {name: jax.tree.map(some, port.struct) for name, port in interface.inputs.items()}


def _letters(system: System, state: Any) -> Iterator[str]:
    """What stands for the parameters, the states, the inputs and the outputs."""
    if many := numbers(without_beginnings(without_state(system))):
        yield f"P = {real(many)}"
    yield f"S = {shapes(state)}"
    for letter, ports in (("I", system.interface.inputs), ("O", system.interface.outputs)):
        each = cut([f"{name}: {port}" for name, port in ports.items()])
        yield f"{letter} = ({', '.join(each)})"


def _latencies(system: System) -> tuple[str, ...]:
    """After how many ticks each output answers each input, where that is read off the diagram."""
    if isinstance(system, Rewired):
        return ("which box hears which may change as it runs, so no latency is told",)
    try:
        found = latency(system)
    except CdlError:  # a diagram that is not read, inside of a box
        return ()
    return cut([f"`{out}` answers `{name}` {_ticks(x)}" for out, inputs in found.items() for name, x in inputs.items()])


def _ticks(x: Latency) -> str:
    if x.longest == x.shortest:
        return "at once" if not x.shortest else f"after {number_of('tick', x.shortest)}"
    first = "from the same tick on" if not x.shortest else f"from {number_of('tick', x.shortest)} on"
    return f"{first}, and for ever, through a loop" if x.longest == float("inf") else f"{first}, until {x.longest}"


def _inside(system: System) -> Wired | None:
    """The diagram of systems that a system is, or whose boxes its diagram rewires."""
    return system.systems if isinstance(system, Rewired) else system if isinstance(system, Wired) else None


def _boxes(system: System) -> tuple[str, ...]:
    """Each box by its path, with its name, its ports, and whether it is a Moore machine."""
    wired = _inside(system)
    if wired is None:
        return ()
    moore = {path: step.moore for step in wired.plan.steps for path in step.paths}
    boxes = wired.boxes.items()
    each = [f"{at}: {x.name}, {'Moore' if moore[at] else 'Mealy'}, {x.interface}" for at, x in boxes]
    return (_count(len(each)), *cut(each))


def _shared(system: System) -> tuple[str, ...]:
    """Which boxes have one set of weights, each with its own state."""
    wired = _inside(system)
    if wired is None:
        return ()
    lines, inside = list[str](), "beside." if isinstance(system, Rewired) else ""
    for number, rows in enumerate(wired.plan.machines):
        if not numbers(without_beginnings(wired.machines[number])):
            continue
        users: Mapping[str, list[str]] = {path: [] for path in rows}
        for step in wired.plan.steps:
            if step.machine == number:
                for k, path in enumerate(step.paths):
                    users[rows[k // step.uses]].append(path)
        where = f"{inside}machines[{number}]"
        stacked = f"{where} has a row of weights for each of {', '.join(cut(rows))}"
        lines += [stacked] if len(rows) > 1 else []
        lines += [f"{where}: {', '.join(cut(some))} share one set of weights" for some in users.values() if some[1:]]
    return cut(lines)


def _wired_by_hand(system: System, state: Any, word: Any, allowed: float | None) -> tuple[Checked, ...]:
    """That the compiled form of a diagram gives what its boxes give one by one."""
    if not isinstance(system, Wired) or len(system.wiring.boxes) > FEW:
        return ()
    steps = jax.tree.leaves(word)[0].shape[0]
    inputs = [jax.tree.map(lambda x, t=t: x[t], word) for t in range(steps)]
    begin = replace(system, state=state)
    defined = by_hand(begin, inputs if system.interface.inputs else [{}] * steps)
    outputs = run(system, state, word)[0]
    found = [jax.tree.map(lambda x, t=t: x[t], outputs) for t in range(len(defined))]
    return (law("a system is its boxes, each run by itself, and then the lens", found, defined, allowed),)


def _plan(system: System) -> tuple[str, ...]:
    wired = _inside(system)
    if wired is None:
        return ()
    steps = number_of("step", len(wired.plan.steps))
    return (f"a tick computes {_count(len(wired.wiring.boxes))} in {steps}: the boxes of one step are one batch",)


def _count(boxes: int) -> str:
    return "1 box" if boxes == 1 else f"{boxes} boxes"
