"""A race: everyone's values and gradients held to each other, then everyone timed in turn."""

from typing import Any

import numpy as np

from ._clock import Entry, in_turn, once
from ._contestants import Cdl, Recursion, torch, TorchLevels, TorchNodes, Unrolled
from ._levels import STORES
from ._machine import cores
from ._problems import Problem, problem


TOLERANCE = 1e-4


def race(name: str, width: int, trees: int, rounds: int, slow: bool) -> dict[str, Any]:
    """One problem at one width. `slow` says whether those run as well who need seconds for a step."""
    given = problem(name, width, trees)
    fold = Cdl(given)
    everyone: list[tuple[Any, int, float]] = [(fold, rounds, 1.0)]
    stores: dict[str, Any] = {}
    if torch is not None:
        torch.set_num_threads(cores())
        found = {store: TorchLevels(given, store) for store in STORES}
        for way, levels in found.items():
            agree(fold, levels)
            stores[way] = {"forward": min(_twice(levels.forward)), "both": min(_twice(levels.both))}
        everyone.append((found[min(stores, key=lambda way: stores[way]["both"])], rounds, 1.0))
    if slow:
        few = max(1, trees // 128)
        everyone.append((Unrolled(given, "pieces"), rounds, 1.0))
        everyone.append((Recursion(given, few), 1, trees / few))
        if torch is not None:
            everyone.append((TorchNodes(given), min(rounds, 2), 1.0))
    for other, *_ in everyone[1:]:
        agree(fold, other)
    return {
        **_described(given, fold),
        "stores": stores,
        "compile": {c.name: c.seconds for c, *_ in everyone if hasattr(c, "seconds")},
        "forward": in_turn([Entry(c.name, c.forward, r, scale, warm=True) for c, r, scale in everyone]),
        "both": in_turn([Entry(c.name, c.both, r, scale, warm=True) for c, r, scale in everyone]),
    }


def agree(one: Any, other: Any) -> None:
    """Asserts equal values at the roots and, where the other reads every tree, equal losses and gradients."""
    a, b = np.asarray(one.forward()), np.asarray(other.forward())
    close(other.name, "values", a[: len(b)], b)
    a, b = one.both(), other.both()
    if not hasattr(other, "gradients"):
        return
    close(other.name, "loss", a[0], b[0])
    first, second = one.gradients(a), other.gradients(b)
    for name in second:
        close(other.name, name, _stacked(first[name]), _stacked(second[name]))


def close(who: str, what: str, a: Any, b: Any) -> None:
    """Asserts that the largest difference is small beside the largest number."""
    a, b = np.asarray(a), np.asarray(b)
    error = float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
    assert error < TOLERANCE, f"{who}: {what} differ by {error:.1e}"


def _stacked(x: Any) -> Any:
    return np.stack([np.asarray(y) for y in x]) if isinstance(x, list | tuple) else np.asarray(x)


def _twice(run: Any) -> list[float]:
    return [once(run)[0] for _ in range(2)]


def _described(given: Problem, fold: Cdl) -> dict[str, Any]:
    table, bucket = given.table, fold.forest.bucket
    return {
        "trees": len(given.trees),
        "nodes": len(table),
        "inner": table.inner,
        "levels": int(table.height.max()) + 1,
        "groups": sum(len(level.groups) for level in table.levels),
        "kinds": len(table.kinds),
        "operations": given.operations,
        "fill": fold.forest.fill,
        "sizes": [(s.rows, s.edges) for s in bucket.sizes],
        "capacity": bucket.nodes,
    }
