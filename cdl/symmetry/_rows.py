"""How far two values are apart in each array of a carrier, by the size of the array, over many layers."""

import math
from typing import Any, NamedTuple

from ._apart import gaps, greatest, leaves, traced


class Row(NamedTuple):
    """Of one layer: the difference in each array of the carrier, and the size of the array."""

    gaps: list[float]
    sizes: list[float]

    @staticmethod
    def of(left: Any, right: Any, value: Any) -> "Row":
        if traced((left, right, value)):
            return Row([math.nan], [1.0])
        found = gaps(left, right)
        if found is None:
            return Row([math.inf], [1.0])
        return Row(found, [max(greatest(x), greatest(y)) for x, y in zip(leaves(right), leaves(value), strict=True)])


def worst(rows: list[Row]) -> float:
    """The greatest difference over the size of its array, in any layer."""
    if not all(len(row.gaps) == len(rows[0].gaps) for row in rows):
        return math.inf
    largest = [max(sizes) for sizes in zip(*(row.sizes for row in rows), strict=True)]
    found = 0.0
    for row in rows:
        for gap, size, most in zip(row.gaps, row.sizes, largest, strict=True):
            if math.isnan(gap):
                return math.nan
            if gap:
                found = max(found, gap / max(size, most / 100) if most else math.inf)
    return found
