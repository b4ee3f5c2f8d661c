"""The row of each item of a column: near to the median of what it is joined with, as far as the order allows."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import median, median_low

from ._columns import Columns, Item, Join, joins_of, Key, SWEEPS, tight


def straighten(made: Columns) -> None:
    """Gives each item its unit: near to the median of what it is joined with, to and fro."""
    joins = joins_of(made)
    for column in range(len(made.columns)):
        made.units |= tight(made, column)
    best, least = dict(made.units), _bent(made, joins)
    for sweep in range(SWEEPS):
        ways = [True] if sweep % 3 == 1 else [False] if sweep % 3 == 0 else [True, False]
        order = range(len(made.columns)) if ways[0] else range(len(made.columns) - 1, -1, -1)
        for column in order:
            wanted: dict[Key, list[int]] = {}
            if True in ways and column:
                for a, p, b, q in joins[column - 1]:
                    wanted.setdefault(b, []).extend([made.units[a] + p - q] * _weight(a, b))
            if False in ways and column < len(joins):
                for a, p, b, q in joins[column]:
                    wanted.setdefault(a, []).extend([made.units[b] + q - p] * _weight(a, b))
            items = made.columns[column]
            each = [_middle(x, wanted[x.key]) if x.key in wanted else None for x in items]
            made.units |= {x.key: unit for x, unit in zip(items, _placed(items, each, made.units), strict=True)}
        if (bent := _bent(made, joins)) < least:
            best, least = dict(made.units), bent
    top = min(best.values(), default=0)
    made.units = {key: unit - top for key, unit in best.items()}


def _middle(item: Item, wanted: list[int]) -> float:
    """A box stands between what it is joined with, a wire beside one of them."""
    return median(wanted) if item.boxed else median_low(wanted)


def _bent(made: Columns, joins: list[list[Join]]) -> float:
    """How far wires are from straight, and how high all is."""
    units = made.units
    far = sum(_weight(a, b) * abs(units[a] + p - units[b] - q) for some in joins for a, p, b, q in some)
    return far + max(units.values(), default=0) - min(units.values(), default=0)


def _weight(a: Key, b: Key) -> int:
    """A long wire is to be straight before a short one."""
    return 1 + 3 * ((a[0] == "via") + (b[0] == "via"))


def _placed(items: list[Item], wanted: list[float | None], units: Mapping[Key, int]) -> list[int]:
    """The units of items in their order, as near as may be to those wanted: blocks that touch are placed by the mean of
    what is wanted in them."""
    base, offset = 0, []
    for item, after in pairwise([*items, None]):
        offset.append(base)
        base += (item.units if item else 0) + bool(item and item.boxed and after and after.boxed)
    blocks: list[tuple[float, float, int]] = []  # the sum of what is wanted, its weight, how many
    for item, want, off in zip(items, wanted, offset, strict=True):
        weight = 0.05 if want is None else 1.0
        blocks.append((((units[item.key] if want is None else want) - off) * weight, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (s, w, n), (t, v, m) = blocks.pop(), blocks.pop()
            blocks.append((s + t, w + v, n + m))
    starts = [round(s / w) for s, w, n in blocks for _ in range(n)]
    return [start + off for start, off in zip(starts, offset, strict=True)]
