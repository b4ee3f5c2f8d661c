"""Large NumPy arrays that a case reads: compared with a copy at each call, and hashed again only where they changed."""

import hashlib

import numpy as np
import pytest


@pytest.fixture
def digests(monkeypatch):
    """The module, with nothing kept, and a list of what was hashed since."""
    from cdl._engine.arrays import _digest

    hashed, blake2b = [], hashlib.blake2b
    monkeypatch.setattr(hashlib, "blake2b", lambda bits: hashed.append(len(bits)) or blake2b(bits))
    monkeypatch.setattr(_digest, "_kept", {})
    return _digest, hashed


def test_an_array_is_hashed_again_only_where_it_changed(digests):
    module, hashed = digests
    table = np.zeros((64, 64))
    first = module.digest(table)
    assert module.digest(table) == first == module.digest(table.copy())
    del hashed[:]
    assert module.digest(table) == first
    assert hashed == []
    table[63, 63] = -0.0  # equal as a number, and other bits
    assert module.digest(table) != first
    assert hashed == [4096]
    table[63, 63] = 0.0
    assert module.digest(table) == first


@pytest.mark.parametrize("view", [lambda x: x[::2], lambda x: x.T, lambda x: x.view(np.int8)[:, 1:-2]])
def test_a_view_changes_with_the_array_that_it_is_of(digests, view):
    module, _ = digests
    table = np.zeros((128, 64))
    part = view(table)
    before = module.digest(part)
    table[2, 2] = 1e300 / 3
    assert module.digest(part) != before


def test_an_array_at_the_address_of_one_that_is_gone_is_another(digests):
    module, _ = digests
    for value in range(5):
        table = np.full(4096, value)
        assert module.digest(table) == module.digest(np.full(4096, value))
        del table
    assert module._kept == {}


def test_copies_take_no_more_than_their_room(digests, monkeypatch):
    module, hashed = digests
    monkeypatch.setattr(module, "MOST", 100_000)
    tables = [np.full(4096, float(value)) for value in range(4)]
    found = [module.digest(table) for table in tables]
    assert len(module._kept) == 3
    assert len(set(found)) == 4
    assert [module.digest(table) for table in tables] == found
    large = np.zeros(20_000)
    del hashed[:]
    assert module.digest(large) == module.digest(large)
    assert hashed == [20_000, 20_000]
