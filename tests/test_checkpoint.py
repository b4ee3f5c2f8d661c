"""Checkpoints: what is saved is loaded, and a file that is not whole, unchanged and of the template is refused."""

import hashlib
import os
import random
import re
import struct

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest


@pytest.fixture
def value():
    """A value with every kind of leaf that is saved, and some that are not."""
    return {
        "net": eqx.nn.MLP(2, 3, 4, 1, key=jr.key(0)),
        "key": jr.key(7),
        "many keys": jr.split(jr.key(7, impl="rbg"), 3),
        "half": jnp.arange(3, dtype=jnp.bfloat16),
        "table": np.arange(6).reshape(2, 3),
        "empty": jnp.zeros((0, 2)),
        "one": np.float32(0.5),
        "numbers": (3, 2.5, True, 1j),
        "not saved": jnp.tanh,
        "nothing": None,
    }


def blank(value):
    """The same structure with other numbers in it."""
    zero = lambda x: jr.wrap_key_data(jr.key_data(x) * 0, impl=jr.key_impl(x)) if _is_key(x) else type(x)(x * 0)
    array = lambda x: x * 0 if isinstance(x, np.ndarray) or (eqx.is_array(x) and not _is_key(x)) else zero(x)
    return jax.tree.map(lambda x: x if callable(x) else array(x), value)


def _is_key(x):
    return eqx.is_array(x) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def data(value):
    """The value with keys as plain numbers, which compare."""
    return jax.tree.map(lambda x: jr.key_data(x) if _is_key(x) else x, value)


def test_what_is_saved_is_loaded_leaf_for_leaf_with_its_type(value, tmp_path):
    from cdl.io import load, save

    save(tmp_path / "a", value)
    loaded = load(tmp_path / "a", blank(value))
    assert not eqx.tree_equal(data(blank(value)), data(value))
    assert eqx.tree_equal(data(loaded), data(value), typematch=True)
    assert loaded["not saved"] is jnp.tanh
    assert [type(n) for n in loaded["numbers"]] == [int, float, bool, complex]
    assert isinstance(loaded["table"], np.ndarray)


def test_a_template_may_be_shapes_alone(tmp_path):
    from cdl.io import load, save

    make = lambda: eqx.nn.Linear(2, 3, key=jr.key(0))
    save(tmp_path / "a", make())
    assert eqx.tree_equal(load(tmp_path / "a", eqx.filter_eval_shape(make)), make())


def test_a_file_is_replaced_whole_or_stays_as_it_was(value, tmp_path, monkeypatch):
    from cdl.io import load, save

    path = tmp_path / "a"
    save(path, value)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert path.stat().st_mode & 0o777 == (tmp_path / "a").stat().st_mode & 0o777

    def fails(*_):
        raise OSError("no room")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="no room"):
        save(path, blank(value))
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert eqx.tree_equal(data(load(path, value)), data(value))


def refusal(path, like):
    from cdl import CheckpointError
    from cdl.io import load

    with pytest.raises(CheckpointError) as caught:
        load(path, like)
    return str(caught.value)


@pytest.fixture
def saved(value, tmp_path):
    from cdl.io import save

    save(tmp_path / "a", value)
    return tmp_path / "a"


def test_another_file_is_refused_by_how_it_begins(value, saved):
    saved.write_bytes(b"PK\x03\x04 and so on")
    assert "begins with b'PK" in refusal(saved, value)
    saved.write_bytes(b"")
    assert "begins with b'', and not b'cdl" in refusal(saved, value)


def test_another_version_is_refused_by_number(value, saved):
    content = bytearray(saved.read_bytes())
    content[6] = 9
    saved.write_bytes(content)
    assert "has version 9 of the format, and this reads version 1" in refusal(saved, value)


@pytest.mark.parametrize("left", [7, 43, 60, -1])
def test_a_file_cut_short_is_refused_with_both_lengths(value, saved, left):
    saved.write_bytes(saved.read_bytes()[:left])
    message = refusal(saved, value)
    assert "cut short" in message
    assert "bytes" in message


def test_trailing_bytes_are_refused_with_both_lengths(value, saved):
    saved.write_bytes(saved.read_bytes() + b"!")
    message = refusal(saved, value)
    many, says = (int(n) for n in re.findall(r"(\d+) bytes, and it says (\d+)", message)[0])
    assert many == says + 1


def test_a_flipped_bit_is_refused_with_both_checksums(value, saved):
    content = bytearray(saved.read_bytes())
    content[-3] ^= 1
    saved.write_bytes(content)
    found = hashlib.sha256(bytes(content[40:])).hexdigest()[:16]
    assert f"its checksum is {bytes(content[8:24]).hex()[:16]}…, and its content's {found}…" in refusal(saved, value)


def test_another_template_is_refused_with_the_two_leaves_that_differ(tmp_path):
    from cdl.io import save

    path = tmp_path / "a"
    save(path, {"a": jnp.zeros(2), "b": jnp.zeros((3, 2))})
    wider = {"a": jnp.zeros(2), "b": jnp.zeros((3, 4))}
    assert "leaf 1 of 2 is `['b']`: float32[3,2] in the file, and leaf 1 of 2 is `['b']`: float32[3,4]" in refusal(
        path, wider
    )
    fewer = {"a": jnp.zeros(2)}
    assert "leaf 1 of 2 is `['b']`: float32[3,2] in the file, and leaf 1 of 1 is nothing" in refusal(path, fewer)
    named = {"a": jnp.zeros(2), "c": jnp.zeros((3, 2))}
    assert "is `['b']`: float32[3,2] in the file, and leaf 1 of 2 is `['c']`: float32[3,2]" in refusal(path, named)
    whole = {"a": jnp.zeros(2, jnp.int32), "b": jnp.zeros((3, 2))}
    assert "`['a']`: float32[2] in the file, and leaf 0 of 2 is `['a']`: int32[2]" in refusal(path, whole)


def test_what_no_file_can_hold_is_refused_when_saving(tmp_path):
    from cdl import CheckpointError
    from cdl.io import save

    with pytest.raises(
        CheckpointError, match=r"`\['a'\]` is 1267650600228229401496703205376, and an integer.* 64 bits"
    ):
        save(tmp_path / "a", {"a": 2**100})
    with pytest.raises(CheckpointError, match="an array of Python objects"):
        save(tmp_path / "a", {"a": np.array([object()])})
    with pytest.raises(CheckpointError, match=r"is only a shape, float32\[2\]"):
        save(tmp_path / "a", {"a": jax.ShapeDtypeStruct((2,), jnp.float32)})
    assert list(tmp_path.iterdir()) == []


def forged(head: bytes, body: bytes, length: int | None = None) -> bytes:
    """A file whose checksum is right, whatever is in it."""
    from cdl.io._checkpoint import MAGIC

    content = struct.pack("<I", len(head) if length is None else length) + head + body
    return MAGIC + struct.pack("<H", 1) + hashlib.sha256(content).digest() + content


HEADS = [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"leaves": 3}',
    b'{"leaves":[],"many":0,"structure":"","length":1e999}',
    b'{"leaves":null,"many":0,"structure":"","length":4}',
    b'{"leaves":[],"many":2,"structure":"","length":4}',
    b'{"leaves":[[[]]],"many":1,"structure":{},"length":4}',
]  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_a_forged_head_is_refused(saved, value, head):
    saved.write_bytes(forged(head, b"four"))
    refusal(saved, value)
    saved.write_bytes(forged(head, b"four", length=2**32 - 1))
    assert "cut short or altered" in refusal(saved, value)


def test_two_thousand_mutations_of_a_file_are_each_refused(saved, value):
    chance, whole = random.Random(0), saved.read_bytes()
    for _ in range(2000):
        content = bytearray(whole)
        at, span = chance.randrange(len(content)), chance.randrange(1, 40)
        match chance.randrange(5):
            case 0:
                content[at] ^= 1 << chance.randrange(8)
            case 1:
                del content[at:]
            case 2:
                del content[at : at + span]
            case 3:
                content[at:at] = content[: chance.randrange(1, 200)]
            case 4:
                content[at : at + 4] = struct.pack("<I", chance.choice([0, 2**31, 2**32 - 1]))
        if bytes(content) != whole:
            saved.write_bytes(content)
            refusal(saved, value)
