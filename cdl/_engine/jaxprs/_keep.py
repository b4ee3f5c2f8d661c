"""What a reverse pass is to find again: the least that has to be kept for everything else to be cheap.

A step's values form a graph. Products of matrices and what else is dear are its sources; what the reverse pass reads is
its sinks; what stands between is sums and curves of single numbers, computed again at little cost. To keep is to cut:
every way from a source to a sink goes through something that is kept. The cheapest cut, counted in bytes, is found by
a greatest flow (Ford and Fulkerson, 1956); of several equally cheap, the one nearest to the sinks.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from ._jaxprs import variables
from ._parts import Part


DEAR = frozenset(
    "dot_general ragged_dot_general conv_general_dilated sort top_k fft random_bits random_seed random_wrap "
    "random_fold_in random_split random_gamma threefry2x32 rng_bit_generator cholesky lu qr eigh svd "
    "triangular_solve erf_inv igamma gather scatter scatter-add cumsum cumprod cumlogsumexp".split()
)
Node = tuple[Any, bool]  # a variable, and whether the flow has come through it


def to_keep(part: Part, needed: Iterable[Any], free: Sequence[Any] = ()) -> list[Any]:
    """The variables of a step that are kept, so that those that are `needed` follow from them and from its inputs by
    cheap equations alone. It costs nothing to keep those that are `free`."""
    room: dict[Node, dict[Node, float]] = {}
    by_weights = set(part.jaxpr.invars[: part.shared])
    source, sink = (None, False), (None, True)

    def edge(a: Node, b: Node, wide: float) -> None:
        room.setdefault(a, {})[b] = wide
        room.setdefault(b, {}).setdefault(a, 0.0)

    for eqn in part.jaxpr.eqns:
        of = variables(eqn.invars)
        if all(v in by_weights for v in of):
            by_weights.update(eqn.outvars)
            continue
        for out in eqn.outvars:
            edge((out, False), (out, True), 0.0 if out in free else math.inf if _is_asked(eqn) else _bytes(out))
            if is_dear(eqn):
                edge(source, (out, False), math.inf)
            for v in () if is_dear(eqn) else of:
                if (v, True) in room:
                    edge((v, True), (out, False), math.inf)
    for v in needed:
        if (v, True) in room:
            edge((v, True), sink, math.inf)
    reaches = _saturate(room, source, sink)
    return [v for eqn in part.jaxpr.eqns for v in eqn.outvars if (v, True) in reaches and (v, False) not in reaches]


def _saturate(room: dict[Node, dict[Node, float]], source: Node, sink: Node) -> set[Node]:
    """Sends as much as there is room for, and gives the nodes from which there still is room to the sink."""
    while True:
        came: dict[Node, Node] = {source: source}
        line = [source]
        for a in line:
            for b, wide in room.get(a, {}).items():
                if wide > 0 and b not in came:
                    came[b] = a
                    line.append(b)
        if sink not in came:
            break
        path = [sink]
        while path[-1] != source:
            path.append(came[path[-1]])
        hops = list(zip(path[1:], path[:-1], strict=True))
        flow = min(room[a][b] for a, b in hops)
        for a, b in hops:
            room[a][b] -= flow
            room[b][a] += flow
    reaches, todo = {sink}, [sink]
    while todo:
        b = todo.pop()
        for a in room.get(b, {}):
            if a not in reaches and room[a][b] > 0:
                reaches.add(a)
                todo.append(a)
    return reaches


def made(part: Part, outputs: Sequence[Any]) -> list[Any]:
    """Those outputs, each once, that an equation gives and that may be at hand where what they are made of is computed
    again."""
    some = {v for eqn in part.jaxpr.eqns if not _is_asked(eqn) for v in eqn.outvars}
    return [v for v in dict.fromkeys(v for v in outputs if not isinstance(v, Literal)) if v in some]


def _is_asked(eqn: Any) -> bool:
    """Whether the derivative asks which operand the outcome is equal to. If that is computed again, so is the outcome:
    in the last bit it may be another one, and then nothing is equal to it."""
    return eqn.primitive.name in ("max", "min")


def is_dear(eqn: Any) -> bool:
    inner = any(isinstance(p, ClosedJaxpr | Jaxpr) for p in eqn.params.values())
    return inner or eqn.primitive.name in DEAR or "branches" in eqn.params


def _bytes(variable: Any) -> float:
    aval = variable.aval
    return float(math.prod(aval.shape) * getattr(aval.dtype, "itemsize", 8))
