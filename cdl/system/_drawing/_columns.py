"""Boxes in columns, and the wires between one column and the next.

| the drawing                                | here                                                        |
| ------------------------------------------ | ----------------------------------------------------------- |
| a wire that passes columns                 | a `via` in each of them, which has a place like a box       |
| which column a box is in                   | `_ranks`: by the longest path of wires that leads there     |
| the order in a column                      | `_order`: few crossings                                     |
| rows                                       | `_straight`: as straight as the order allows                |

Rows are counted in units of two: pins are in even rows, and borders in odd ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


Key: TypeAlias = tuple[str, str]  # "in", "out", "part" or "via", and a name
Join: TypeAlias = tuple[Key, int, Key, int]  # two ends that are joined: an item and a unit in it, twice
SWEEPS = 12  # over all columns, to and fro


@dataclass(frozen=True)
class Item:
    """What takes a place in a column: its size, and the unit of each of its ends, on its left and on its right."""

    key: Key
    width: int
    units: int
    left: Mapping[str, int]
    right: Mapping[str, int]

    @property
    def boxed(self) -> bool:
        return self.key[0] == "part"


@dataclass
class Crossing:
    """A net between two columns: the ends on both sides. `back` says to which sides a lane below leads off."""

    net: int
    left: list[tuple[Key, str]] = field(default_factory=list)
    right: list[tuple[Key, str]] = field(default_factory=list)
    back: set[str] = field(default_factory=set)
    begins: bool = False  # whether its source is here


@dataclass
class Columns:
    """Items in columns, each with its unit, and the nets between one column and the next."""

    columns: list[list[Item]]
    between: list[dict[int, Crossing]]
    units: dict[Key, int] = field(default_factory=dict)


def joins_of(made: Columns) -> list[list[Join]]:
    """Between one column and the next, each pair of ends that are joined: an item and a unit in it, twice."""
    found = []
    for column, some in enumerate(made.between):
        left = {item.key: item.right for item in made.columns[column]}
        right = {item.key: item.left for item in made.columns[column + 1]}
        found.append(
            [(a, left[a][p], b, right[b][q]) for x in some.values() for a, p in x.left for b, q in x.right]
        )  # fmt: skip
    return found


def tight(made: Columns, column: int) -> dict[Key, int]:
    """The unit of each item where a column is as tight as it may be."""
    found, at = {}, 0
    for item in made.columns[column]:
        found[item.key] = at
        at += item.units + item.boxed
    return found
