"""The programs of the tables about search: each in a small size, and what they report of a score."""

import numpy as np
import pytest
from table_rows import rows


@pytest.fixture
def few(monkeypatch):
    """Two of the methods: each has its own programs to compile."""
    from searches import _methods

    for name in list(_methods.METHODS)[2:]:
        monkeypatch.delitem(_methods.METHODS, name)


@pytest.mark.slow
def test_pictures_has_a_row_for_every_method(few, monkeypatch):
    from searches import pictures

    monkeypatch.delenv("CDL_DATA", raising=False)
    arguments = "--seeds 2 --budget 4 --reseeds 1 --steps 5 --depth 1".split()
    digits, elsewhere = map(rows, pictures.PROGRAM.main(arguments).split("\n\n"))
    assert [row[0] for row in digits[2:]] == ["random", "half left out by δ"]
    assert all(row[1] == "4" for row in digits[2:])
    assert all(float(row[3].split(" ± ")[0]) > 0 for row in digits[2:])
    assert [row[0] for row in elsewhere[2:]] == ["cifar10"] * 2 + ["imagenet"] * 2
    assert {cell for row in elsewhere[2:] for cell in row[2:]} == {"not run"}


@pytest.mark.slow
def test_the_table_of_resampled_searches_has_every_share():
    from searches import resampled

    arguments = "--pool 12 --seeds 2 --inits 1 --trainings 2 --draws 20 --steps 5 --depth 1".split()
    searches, foreseen = map(rows, resampled.PROGRAM.main(arguments).split("\n\n"))
    assert len(searches) == 2 + 2 + 2 * len(resampled.SHARES) + 2
    assert [row[0] for row in foreseen[2:]] == list(resampled.SCORES)


def test_a_score_foresees_where_it_ranks_as_the_accuracy_does():
    from cdl_arch.search import Pool
    from searches.resampled import _foresight

    test = np.array([[0.9], [0.5], [np.nan], [0.5]])
    pool = Pool(test, test, np.array([[True], [True], [False], [True]]))
    assert _foresight(np.array([0.0, 1.0, np.nan, 1.0]), pool) == (-1.0, 1.0)
    assert _foresight(np.array([np.inf, 1.0, 0.0, 1.0]), pool) == (1.0, 0.0)
    assert _foresight(np.array([np.nan, 0.0, np.nan, 0.0]), pool)[1] == pytest.approx(5 / 6)
