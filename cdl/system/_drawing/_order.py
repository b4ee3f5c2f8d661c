"""The order in each column: by the mean of what an item is joined with, to and fro.

Source: K. Sugiyama, S. Tagawa, M. Toda, *Methods for visual understanding of hierarchical system structures*, 1981.
"""

from bisect import bisect_right, insort

from ._columns import Columns, Join, joins_of, Key, SWEEPS, tight


def order(made: Columns) -> None:
    """Orders each column by what its items are joined with, to and fro; keeps the order that crosses least."""
    joins = joins_of(made)
    best, least = [list(column) for column in made.columns], _crossed(made, joins)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in range(1, len(made.columns)) if forward else range(len(made.columns) - 2, -1, -1):
            places = tight(made, column - 1 if forward else column + 1)
            near: dict[Key, list[float]] = {}
            for a, p, b, q in joins[column - 1 if forward else column]:
                own, other, unit = (b, a, p) if forward else (a, b, q)
                near.setdefault(own, []).append(places[other] + unit)
            here = {item.key: i for i, item in enumerate(made.columns[column])}
            mean = {key: sum(near[key]) / len(near[key]) if key in near else float(i) for key, i in here.items()}
            made.columns[column].sort(key=lambda item: (mean[item.key], here[item.key]))
        count = _crossed(made, joins)
        if count < least:
            best, least = [list(column) for column in made.columns], count
    made.columns = best


def _crossed(made: Columns, joins: list[list[Join]]) -> int:
    """How many pairs of joined ends cross."""
    count = 0
    for column, some in enumerate(joins):
        here, there = tight(made, column), tight(made, column + 1)
        seen: list[int] = []
        for _, end in sorted((here[a] + p, there[b] + q) for a, p, b, q in some):
            count += len(seen) - bisect_right(seen, end)
            insort(seen, end)
    return count
