"""What the sizes of chunk cost: the same forest packed for others than those that `pack` chose."""

import dataclasses
from typing import Any

import equinox as eqx

import cdl
from cdl._engine.forests._bucket import Size

from ._clock import compiled, Entry, in_turn
from ._problems import loss, problem


OPTIONS: dict[str, list[tuple[int, ...]]] = {
    "binary": [(16,), (64,), (16, 256), (64, 512), (512,)],
    "own": [(16,), (64,), (16, 256), (64, 512), (32, 128, 512)],
}


def widths(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of a step by the sizes of chunk."""
    given = problem(name, width, trees)
    chosen = cdl.pack(given.signature, given.trees)
    own = tuple(s.rows for s in chosen.bucket.sizes)
    ratio = max(-(-s.edges // s.rows) for s in chosen.bucket.sizes)
    widest = max(s.edges for s in chosen.bucket.sizes)
    value = lambda net, forest: loss(cdl.fold(net, forest)[0])
    kinds: dict[str, Any] = {"forward": value, "both": eqx.filter_value_and_grad(value)}
    found: dict[str, Any] = {"chosen": str(own), "fill": {}, "chunks": {}}
    entries: dict[str, list[Entry]] = {kind: [] for kind in kinds}
    for option in [own, *(o for o in OPTIONS[name] if o != own)]:
        sizes = tuple(Size(w, max(ratio * w, widest if w == max(option) else 2)) for w in option)
        bucket = chosen.bucket if option == own else dataclasses.replace(chosen.bucket, sizes=sizes)
        forest = cdl.pack(given.signature, given.trees, bucket=bucket)
        found["fill"][str(option)], found["chunks"][str(option)] = forest.fill, int(forest.facts[3])
        for kind, f in kinds.items():
            _, program = compiled(f, given.net, forest)
            entries[kind].append(Entry(str(option), lambda p=program, x=forest: p(given.net, x), rounds))
    return found | {kind: in_turn(some) for kind, some in entries.items()}
