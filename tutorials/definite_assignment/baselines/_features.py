"""What a linear model sees of a tree, for any signature of one sort.

A feature is a text, with a number for how much of it there is. Counts enter by their logarithm; of a path it matters
whether it is there. Payloads are not seen.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from cdl.functors import holes


Features: TypeAlias = Callable[[Any], dict[str, float]]


def bag(tree: Any) -> dict[str, float]:
    """How many nodes of each constructor: `log(1 + n)`."""
    return _damped(Counter(type(node).__name__ for node, _ in _nodes(tree)))


def edges(tree: Any) -> dict[str, float]:
    """The bag, and how many of each pair of a node and its child."""
    counts = Counter(type(node).__name__ for node, _ in _nodes(tree))
    counts.update(
        f"{type(node).__name__} > {type(child).__name__}" for node, _ in _nodes(tree) for child in holes(node)
    )
    return _damped(counts)


def paths(*spines: type[Any]) -> Features:
    """Which paths lead from the root to a node, as in `If.1 Then.0 Bind`: 1 for each.

    A step is a constructor and the number of the place that is gone to.

    **Arguments:** `spines`: the constructors that go on a list, such as `Cons`. The step to the rest of the list is
    left out, so that every element of a list has one path; otherwise a path would seldom be seen again.
    """
    skipped = frozenset(spines)
    return lambda tree: {f"{path}{type(node).__name__}": 1.0 for node, path in _nodes(tree, skipped)}


def _nodes(tree: Any, skipped: frozenset[type[Any]] = frozenset()) -> Iterator[tuple[Any, str]]:
    """Every node, with the path that leads to it."""
    stack = [(tree, "")]
    while stack:
        node, path = stack.pop()
        yield node, path
        inside = holes(node)
        last = len(inside) - 1 if type(node) in skipped else None
        stack += [(child, path if i == last else f"{path}{type(node).__name__}.{i} ") for i, child in enumerate(inside)]


def _damped(counts: Counter[str]) -> dict[str, float]:
    return {feature: math.log1p(n) for feature, n in counts.items()}
