"""Checkpoints: what is saved is loaded, and a file that is not whole, unchanged and of the template is refused."""

import hashlib
import random
import struct

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from cdl.errors import CheckpointError
from cdl.io import load, save


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
        "doubles": (np.float64(0.5), np.complex128(1j), np.array("2026-01-01", "datetime64[D]")),
        "the other way round": np.arange(3, dtype=">f8"),
        "record": np.array([(1, 2.5)], [("a", ">i4"), ("b", "<f8")]),
        "texts": ("best so far", "", "naïve ∘ ☃\n\0"),
        "not saved": jnp.tanh,
        "nothing": None,
    }


def blank(value):
    """The same structure with other numbers and texts in it."""
    zero = lambda x: jr.wrap_key_data(jr.key_data(x) * 0, impl=jr.key_impl(x)) if _is_key(x) else type(x)(x * 0)
    array = lambda x: x * 0 if eqx.is_array(x) and not _is_key(x) else zero(x)
    other = lambda x: array(x) if not isinstance(x, str | np.ndarray) else "another" if isinstance(x, str) else nil(x)
    nil = lambda x: np.zeros(x.shape, x.dtype)
    return jax.tree.map(lambda x: x if callable(x) else other(x), value)


def _is_key(x):
    return eqx.is_array(x) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def data(value):
    """The value with keys as plain numbers, which compare."""
    return jax.tree.map(lambda x: jr.key_data(x) if _is_key(x) else x, value)


def test_load_gives_what_was_saved_with_its_types(value, tmp_path):

    save(tmp_path / "a", value)
    loaded = load(tmp_path / "a", blank(value))
    assert not eqx.tree_equal(data(blank(value)), data(value))
    assert eqx.tree_equal(data(loaded), data(value), typematch=True)
    assert loaded["not saved"] is jnp.tanh
    assert [type(n) for n in loaded["numbers"]] == [int, float, bool, complex]
    assert [type(n) for n in loaded["doubles"]] == [np.float64, np.complex128, np.ndarray]
    assert loaded["the other way round"].dtype == np.dtype(">f8")
    assert loaded["texts"] == value["texts"]
    assert isinstance(loaded["table"], np.ndarray)


def test_load_takes_a_template_of_shapes_keys_and_texts(tmp_path):

    value = {
        "keys": jr.split(jr.key(1), 2),
        "text": "hello",
        "none": None,
        "empty": jnp.zeros((0, 3), jnp.int8),
    }
    save(tmp_path / "a", value)
    shape = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype) if eqx.is_array(x) else "?"
    assert eqx.tree_equal(data(load(tmp_path / "a", jax.tree.map(shape, value))), data(value))


def test_load_keeps_weak_types(tmp_path):

    rate = jnp.asarray(0.5)
    assert rate.weak_type
    save(tmp_path / "a", rate)
    assert (load(tmp_path / "a", rate) * jnp.ones(2, jnp.bfloat16)).dtype == jnp.bfloat16


def test_load_refuses_to_make_64_bits_32(tmp_path):

    save(tmp_path / "a", {"a": np.array([0.1])})
    assert load(tmp_path / "a", {"a": np.zeros(1)})["a"].dtype == np.float64
    with jax.enable_x64(True):
        wide = {"a": jnp.zeros(1)}
        assert load(tmp_path / "a", wide)["a"].dtype == jnp.float64
    with pytest.raises(CheckpointError, match=r"`\['a'\]`.*float64.*float32"):
        load(tmp_path / "a", wide)


def refusal(path, like):

    with pytest.raises(CheckpointError) as caught:
        load(path, like)
    return str(caught.value)


@pytest.fixture
def saved(value, tmp_path):

    save(tmp_path / "a", value)
    return tmp_path / "a"


def test_load_refuses_a_long_file_before_it_is_read(tmp_path):

    save(tmp_path / "a", jnp.zeros(4))
    with (tmp_path / "a").open("r+b") as file:
        file.truncate(2**40)  # a sparse file: it takes no room on the disk, and no memory could hold it
    assert "too long" in refusal(tmp_path / "a", jnp.zeros(4))


def test_load_refuses_another_structure_before_the_content(tmp_path):

    save(tmp_path / "a", jnp.zeros(4))
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[:-40] + b"altered!" + whole[-32:])
    assert "the content of" in refusal(tmp_path / "a", jnp.zeros(4))
    assert "float32[4]" in refusal(tmp_path / "a", jnp.zeros(5))


def forged(head: bytes, body: bytes, length: int | None = None) -> bytes:
    """A file whose checksums are right, whatever is in it."""
    from cdl.io._head import MAGIC, START

    content = START.pack(MAGIC, 2, len(head) if length is None else length, hashlib.sha256(head).digest()) + head + body
    return content + hashlib.sha256(content).digest()


HEADS = [
    *(b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"leaves": 3}'),
    b'{"leaves":[],"texts":[],"length":1e999}',
    b'{"leaves":[],"texts":[],"length":-4}',
    b'{"leaves":[],"texts":[],"length":' + b"9" * 5000 + b"}",
    b'{"leaves":[[[]]],"texts":{},"length":4}',
    b'{"leaves":[],"texts":[],"length":4,"more":1}',
]


def test_load_refuses_a_forged_head(saved, value):
    for head in HEADS:
        saved.write_bytes(forged(head, b"four"))
        refusal(saved, value)
        saved.write_bytes(forged(head, b"four", length=2**32 - 1))
        assert "cut short" in refusal(saved, value)
    saved.write_bytes(forged(b'{"leaves":["``: float32[2]"],"texts":[],"length":4}', b"four"))
    assert "0 texts and 4 bytes, and they take 0 and 8" in refusal(saved, jnp.zeros(2))


def with_byte(content, at, byte=None):
    return content[:at] + bytes([content[at] ^ 1 if byte is None else byte]) + content[at:][1:]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: b"PK\x03\x04 and so on", "begins with b'PK"),
        (lambda content: b"", "begins with b''"),
        (lambda content: with_byte(content, 6, 9), "version 9"),
        *((lambda content, left=left: content[:left], "cut short") for left in (7, 43, 60, -1)),
        (lambda content: content + b"!", "too long"),
        (lambda content: with_byte(content, 50), "the head of"),
        (lambda content: with_byte(content, -40), "the content of"),
        (lambda content: with_byte(content, -3), "checksum"),
    ],
)
def test_load_refuses_a_file_that_is_not_whole(saved, value, change, words):
    saved.write_bytes(change(saved.read_bytes()))
    assert words in refusal(saved, value)


def test_load_refuses_every_mutation_of_a_file(saved, value):
    chance, whole = random.Random(0), saved.read_bytes()
    for _ in range(500):
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
