"""Tiles have every row and every edge of a `Many` once, and of one stage and variant each."""

import numpy as np
import pytest

from cdl._engine.forests._tiles import TILE, tiled


RUNS = [[0, 0, 3, 0], [1], [TILE], [TILE + 1, 1, 2 * TILE], [0, 5 * TILE - 1, 7, 0, 1], []]


@pytest.mark.parametrize("counts", RUNS, ids=str)
@pytest.mark.parametrize("start", [0, 7])
def test_a_run_is_cut_into_tiles(counts, start):
    begin = start + np.cumsum(counts, dtype=np.int64) - np.array(counts, np.int64)
    place, first = tiled(begin, start + sum(counts))
    each = [
        range(b + t, min(b + t + TILE, b + n)) for b, n in zip(begin, counts, strict=True) for t in range(0, n, TILE)
    ]
    assert first.tolist() == [tile[0] for tile in each]
    assert place.tolist() == [t * TILE + o for t, tile in enumerate(each) for o in range(len(tile))]
