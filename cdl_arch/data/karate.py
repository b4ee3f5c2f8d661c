"""Zachary's karate club: 34 members, who meets whom outside the club, and on which side each was after it split.

| the data                       | here                                                         |
| ------------------------------ | ------------------------------------------------------------ |
| a graph of 34 nodes, 78 edges  | `edges()`, `int[78, 2]`, each edge once                      |
| the two sides                  | `sides()`, `int[34]`: 0 with member 0, 1 with member 33      |

Source: Zachary, An information flow model for conflict and fission in small groups (1977). The sides are the clubs that
members joined; member 8 joined the teacher's.

Examples:
    >>> from cdl_arch.data import karate
    >>> karate.edges().shape, karate.sides()[[0, 33]].tolist()
    ((78, 2), [0, 1])
"""

import numpy as np


MEMBERS = 34
_NEIGHBOURS: dict[int, str] = {  # of each member, those with a greater number
    0: "1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31",
    1: "2 3 7 13 17 19 21 30",
    2: "3 7 8 9 13 27 28 32",
    3: "7 12 13",
    4: "6 10",
    5: "6 10 16",
    6: "16",
    8: "30 32 33",
    9: "33",
    13: "33",
    14: "32 33",
    15: "32 33",
    18: "32 33",
    19: "33",
    20: "32 33",
    22: "32 33",
    23: "25 27 29 32 33",
    24: "25 27 31",
    25: "31",
    26: "29 33",
    27: "33",
    28: "31 33",
    29: "32 33",
    30: "32 33",
    31: "32 33",
    32: "33",
}
_WITH_33 = "9 14 15 18 20 22 23 24 25 26 27 28 29 30 31 32 33"


def edges() -> np.ndarray:
    """The pairs of members who meet, `int64[78, 2]`, the lesser number first."""
    return np.array([(i, int(j)) for i, others in _NEIGHBOURS.items() for j in others.split()])


def sides() -> np.ndarray:
    """The side of each member, `int64[34]`."""
    found = np.zeros(MEMBERS, np.int64)
    found[[int(i) for i in _WITH_33.split()]] = 1
    return found
