"""Contestants timed in turn, so that what else the machine does falls on all of them alike."""

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax


REST = 0.03  # seconds between two runs, in which threads of the one before go to sleep


@dataclass(frozen=True)
class Entry:
    """One contestant of a row: what it runs, how often, and how many of its runs make the whole.

    `warm` says that it is known to have run before.
    """

    name: str
    run: Callable[[], Any]
    rounds: int
    scale: float = 1.0
    warm: bool = False


@dataclass
class Time:
    """Milliseconds: the median, the quarter below and the quarter above; and page faults in a run."""

    median: float
    low: float
    high: float
    faults: int
    rounds: int


def in_turn(entries: Sequence[Entry]) -> dict[str, Time]:
    """Every entry once to warm up, then round after round; one with fewer rounds drops out early."""
    taken: dict[str, list[tuple[float, int]]] = {e.name: [] for e in entries}
    for turn in range(-1, max((e.rounds for e in entries), default=0)):
        for e in entries:
            if turn < e.rounds and not (turn < 0 and e.warm):
                time.sleep(REST)
                measured = once(e.run)
                if turn >= 0:
                    taken[e.name].append(measured)
    return {e.name: _summary(taken[e.name], e.scale) for e in entries}


def once(run: Callable[[], Any]) -> tuple[float, int]:
    """Milliseconds and page faults of one run, to the end of its computation."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    began = time.perf_counter()
    wait(run())
    took = time.perf_counter() - began
    return took * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def compiled(f: Callable[..., Any], *inputs: Any) -> tuple[float, Any]:
    """How many seconds it took to trace and compile for these inputs, and the program."""
    jitted: Any = eqx.filter_jit(f)
    return seconds(lambda: jitted.lower(*inputs).compile())


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """How long it took, once, and what came out."""
    began = time.perf_counter()
    out = wait(run())
    return time.perf_counter() - began, out


def wait(out: Any) -> Any:
    """The same, computed to its end."""
    return jax.block_until_ready(out)  # type: ignore[no-untyped-call]


def _summary(taken: list[tuple[float, int]], scale: float) -> Time:
    ms = [scale * t for t, _ in taken]
    low, median, high = statistics.quantiles(ms, n=4, method="inclusive") if len(ms) > 1 else ms * 3
    return Time(median, low, high, int(statistics.median(f for _, f in taken)), len(ms))
