"""The table of aims: what was aimed at, beside what the run measured."""

from collections.abc import Iterable
from typing import Any

from ._figures import Figures, per_cent, ratio, table
from ._sections import KINDS, step_of


def aims(figures: Figures) -> str:
    rows = [*_trees(figures), *_growth(figures), *_rest(figures)]
    return table(["comparison", "aim", "measured"], rows)


def _trees(figures: Figures) -> Iterable[tuple[str, str, str]]:
    whats = {
        "stacked": "weights for each constructor, in stacks",
        "shared": "one set of weights",
        "binary": "binary trees",
    }
    for kind, label in KINDS.items():
        for name, what in whats.items():
            aim = 1.5 if kind == "forward" else 1.1 if name == "shared" else 1.2
            raced = _raced(figures, name, kind, "torch levels")
            yield f"{what}, {label}: PyTorch by levels", f"≥ {aim} ×", f"{_spread(figures, name, kind)}; {raced}"
    for name, what in whats.items():
        unrolled = _raced(figures, name, "both", "jax unrolled", slow=True)
        yield f"{what}, with the gradient: JAX unrolled for this forest", "≥ 0.85 ×", unrolled


def _raced(figures: Figures, name: str, kind: str, peer: str, **wanted: Any) -> str:
    """The peer's time over that of `fold` on one device, by width, with new memory and with kept."""
    shown = []
    for kept, label in ((False, "one device "), (True, "memory kept ")):
        found = [ratio(r[kind], peer) for _, r in figures.all(job="race", name=name, kept=kept, **wanted)]
        shown += [label + ", ".join(found)] if found else []
    return "; ".join(shown)


def _spread(figures: Figures, name: str, kind: str) -> str:
    """The same of `fold` on a device for each core."""
    found = [ratio(r[kind], "torch levels", "cores") for _, r in figures.all(job="cores", name=name)]
    return f"**all cores {', '.join(found)}**"


def _growth(figures: Figures) -> Iterable[tuple[str, str, str]]:
    for name, peer, aim in (("follow", "torch, told", 1.0), ("unfold", "torch", 1.2), ("refold", "torch", 1.2)):
        which = "PyTorch by levels, told the trees" if peer == "torch, told" else "PyTorch by levels as it grows"
        spread = [ratio(r["both"], peer, "cores") for _, r in figures.all(job="growth on cores", name=name)]
        one = [ratio(r["both"], peer) for _, r in figures.all(job="growth", name=name)]
        measured = f"**all cores {', '.join(spread)}**; one device {'; memory kept '.join(one)}"
        yield f"`{name}`, with the gradient: {which}", f"≥ {aim} ×", measured


def _rest(figures: Figures) -> Iterable[tuple[str, str, str]]:
    chain = figures.one(job="chain")
    times = [chain[kind]["cdl"]["median"] / chain[kind]["scan"]["median"] for kind in KINDS]
    yield "a chain over `lax.scan`", "≤ 1.4 ×", f"{times[0]:.2f} × forward, {times[1]:.2f} × with the gradient"
    started = figures.one(job="launches", name="own")
    counts = [f"{started[way]['operations']:,}" for way in ("batched", "accelerator")]
    yield "operations that a step starts, products batched", "≤ 4,000", counts[0]
    yield "the same, a level in one chunk", "≤ 1,200", counts[1]
    kinds = figures.one(job="signatures")
    seconds = [f"{kinds[name]['compile']['both']:.1f}" for name in ("all", "sorts", "fields")]
    yield "seconds to compile: one sort, three, fields by name", "≤ 4, 8, 20", ", ".join(seconds)
    shares = [p["corpus"]["median"] / step for q, p in figures.all(job="packing") if (step := step_of(figures, q))]
    yield "`corpus[batch]`, of a step", "≤ 3 %", ", ".join(map(per_cent, shares))
    steps = [
        t["step"]["median"] / t["jitted"]["median"]
        for _, m in figures.all(job="machines")
        for t in m["streams"].values()
    ]
    yield "`step` over the cell, compiled", "≤ 1.3 ×", f"{min(steps):.2f} to {max(steps):.2f} ×"
