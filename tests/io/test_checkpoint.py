"""Checkpoints: what is saved is loaded, and a file that is not whole, unchanged and of the template is refused."""

import enum
import hashlib
import inspect
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


def test_what_is_saved_is_loaded_leaf_for_leaf_with_its_type(value, tmp_path):
    from cdl.io import load, save

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


def test_a_template_may_be_shapes_alone(tmp_path):
    from cdl.io import load, save

    make = lambda: eqx.nn.Linear(2, 3, key=jr.key(0))
    save(tmp_path / "a", make())
    assert eqx.tree_equal(load(tmp_path / "a", eqx.filter_eval_shape(make)), make())


def test_a_template_of_shapes_may_have_keys_and_texts(tmp_path):
    from cdl.io import load, save

    value = {"keys": jr.split(jr.key(1), 2), "text": "hello", "none": None, "empty": jnp.zeros((0, 3), jnp.int8)}
    save(tmp_path / "a", value)
    shape = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype) if eqx.is_array(x) else "?"
    assert eqx.tree_equal(data(load(tmp_path / "a", jax.tree.map(shape, value))), data(value))


def test_the_order_of_bytes_in_memory_is_not_part_of_the_type(tmp_path):
    from cdl.io import load, save

    save(tmp_path / "a", np.arange(3, dtype=">f4"))
    loaded = load(tmp_path / "a", jnp.zeros(3))
    assert eqx.tree_equal(loaded, jnp.arange(3.0), typematch=True)


def test_a_number_that_takes_the_type_of_others_still_does(tmp_path):
    from cdl.io import load, save

    rate = jnp.asarray(0.5)
    assert rate.weak_type
    save(tmp_path / "a", rate)
    assert (load(tmp_path / "a", rate) * jnp.ones(2, jnp.bfloat16)).dtype == jnp.bfloat16


def test_an_array_of_64_bits_is_not_loaded_as_one_of_32(tmp_path):
    from cdl.errors import CheckpointError
    from cdl.io import load, save

    save(tmp_path / "a", {"a": np.array([0.1])})
    assert load(tmp_path / "a", {"a": np.zeros(1)})["a"].dtype == np.float64
    with jax.enable_x64(True):
        wide = {"a": jnp.zeros(1)}
        assert load(tmp_path / "a", wide)["a"].dtype == jnp.float64
    with pytest.raises(CheckpointError, match=r"`\['a'\]` is float64\[1\], and JAX would make it float32: switch on"):
        load(tmp_path / "a", wide)


def refusal(path, like):
    from cdl.errors import CheckpointError
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
    saved.unlink()
    os.mkfifo(saved)
    assert "is a device, a pipe or a socket, and a checkpoint is a file" in refusal(saved, value)
    assert "is a folder, and a checkpoint is a file" in refusal(saved.parent, value)


def test_another_version_is_refused_by_number(value, saved):
    content = bytearray(saved.read_bytes())
    content[6] = 9
    saved.write_bytes(content)
    assert "has version 9 of the format, and this reads version 2" in refusal(saved, value)


@pytest.mark.parametrize("left", [7, 43, 60, -1])
def test_a_file_cut_short_is_refused_with_both_lengths(value, saved, left):
    saved.write_bytes(saved.read_bytes()[:left])
    message = refusal(saved, value)
    assert "cut short" in message
    assert "bytes" in message


def test_trailing_bytes_are_refused_with_both_lengths(value, saved):
    saved.write_bytes(saved.read_bytes() + b"!")
    message = refusal(saved, value)
    many, says = (int(n) for n in re.findall(r"(\d+) bytes, and its head says (\d+)", message)[0])
    assert many == says + 1


@pytest.mark.parametrize(("at", "part"), [(50, "head"), (-40, "content"), (-3, "content")])
def test_a_flipped_bit_is_refused_with_both_checksums(value, saved, at, part):
    content = bytearray(saved.read_bytes())
    content[at] ^= 1
    saved.write_bytes(content)
    (length,) = struct.unpack("<I", content[8:12])
    read, said = (content[44 : 44 + length], content[12:44]) if part == "head" else (content[:-32], content[-32:])
    said, found = bytes(said), hashlib.sha256(bytes(read)).digest()
    message = refusal(saved, value)
    at = next(i for i in range(32) if said[i] != found[i])  # the last bytes where the checksum itself was altered
    before, after = "…" * (at > 0), "…" * (at < 24)
    shown = [before + x[at : at + 8].hex() + after for x in (said, found)]
    assert shown[0] != shown[1]
    assert f"the {part} of `{saved}` was altered: its checksum is {shown[0]}, and its content's {shown[1]}." in message


def test_a_file_that_is_too_long_is_refused_before_its_content_is_read(tmp_path):
    from cdl.io import save

    save(tmp_path / "a", jnp.zeros(4))
    with (tmp_path / "a").open("r+b") as file:
        file.truncate(2**40)  # a sparse file: it takes no room on the disk, and no memory could hold it
    assert "is too long: its body has 1099511" in refusal(tmp_path / "a", jnp.zeros(4))


def test_a_file_of_another_structure_is_refused_before_its_content_is_read(tmp_path):
    from cdl.io import save

    save(tmp_path / "a", jnp.zeros(4))
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[:-40] + b"altered!" + whole[-32:])
    assert "the content of" in refusal(tmp_path / "a", jnp.zeros(4))
    assert "leaf 0 of 1 is the value: float32[4] in the file" in refusal(tmp_path / "a", jnp.zeros(5))


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
    text = {"a": "two", "b": jnp.zeros((3, 2))}
    assert "`['a']`: float32[2] in the file, and leaf 0 of 2 is `['a']`: str" in refusal(path, text)
    whole = {"a": jnp.zeros(2, jnp.int32), "b": jnp.zeros((3, 2))}
    assert "`['a']`: float32[2] in the file, and leaf 0 of 2 is `['a']`: int32[2]" in refusal(path, whole)


def test_what_no_file_can_hold_is_refused_when_saving(tmp_path):
    from cdl.errors import CheckpointError
    from cdl.io import save

    with pytest.raises(
        CheckpointError, match=r"`\['a'\]` is 1267650600228229401496703205376, and an integer.* 64 bits"
    ):
        save(tmp_path / "a", {"a": 2**100})
    with pytest.raises(CheckpointError, match="an array of Python objects"):
        save(tmp_path / "a", {"a": np.array([object()])})
    with pytest.raises(CheckpointError, match=r"is only a shape, float32\[2\]"):
        save(tmp_path / "a", {"a": jax.ShapeDtypeStruct((2,), jnp.float32)})
    with pytest.raises(CheckpointError, match=r"`\['a'\]` is traced, float32\[2\], .* save outside of `jit`"):
        jax.jit(lambda x: save(tmp_path / "a", {"a": x}))(jnp.zeros(2))
    with pytest.raises(
        CheckpointError, match=r"a text has '\\udc80', and texts in a checkpoint are of whole characters"
    ):
        save(tmp_path / "a", "\udc80")
    with pytest.raises(CheckpointError, match=r"the head of `.*` would have \d+ bytes, and at most 67108864 are read"):
        save(tmp_path / "a", "long" * 2**24)
    assert list(tmp_path.iterdir()) == []


class Level(enum.IntEnum):
    HIGH = 1


LOST = [b"bytes", Level.HIGH, {1, 2}, object(), np.ma.masked_array([1.0, 2.0], [True, False]), np.dtype("f4")]


def test_what_is_not_a_path_and_what_cannot_be_saved_is_named(tmp_path):
    from cdl import Corpus, ListF
    from cdl.errors import CheckpointError
    from cdl.io import load, save

    plainly, back = inspect.unwrap(save), inspect.unwrap(load)
    with pytest.raises(CheckpointError, match=r"^the value is a `Corpus`, and a checkpoint holds arrays"):
        plainly(tmp_path / "a", Corpus(ListF, []))
    plainly(tmp_path / "one", {"a": 1})
    with pytest.raises(CheckpointError, match=r"^`Corpus` is a class, .* give one, such as `Corpus\(…\)`\. To load"):
        back(tmp_path / "one", Corpus)
    with pytest.raises(CheckpointError, match=r"^`Corpus` is a class, and a checkpoint holds a value"):
        plainly(tmp_path / "a", Corpus)
    with pytest.raises(CheckpointError, match=r"`save` takes the path first, and was given an array .* `save\(path, …"):
        plainly(jnp.zeros(1), tmp_path / "a")
    with pytest.raises(CheckpointError, match="`load` takes the path first"):
        back(jnp.zeros(1), tmp_path / "a")


@pytest.mark.parametrize("leaf", LOST, ids=lambda leaf: type(leaf).__name__)
def test_a_leaf_that_would_be_lost_is_refused(tmp_path, leaf):
    from cdl.errors import CheckpointError
    from cdl.io import load, save

    message = rf"`\['a'\]` is an? `{re.escape(type(leaf).__qualname__)}`, and a checkpoint holds arrays, keys, numbers"
    with pytest.raises(CheckpointError, match=message):
        save(tmp_path / "a", {"a": leaf})
    save(tmp_path / "a", {"a": 1})
    with pytest.raises(CheckpointError, match=message):
        load(tmp_path / "a", {"a": leaf})


def test_a_layer_with_texts_among_its_fields_is_saved_whole(tmp_path):
    from cdl.io import load, save

    make = lambda name: eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name=name, mode="ema")
    save(tmp_path / "a", make("batch"))
    assert load(tmp_path / "a", make("?"))[0].axis_name == "batch"


def forged(head: bytes, body: bytes, length: int | None = None) -> bytes:
    """A file whose checksums are right, whatever is in it."""
    from cdl.io._head import MAGIC, START

    content = START.pack(MAGIC, 2, len(head) if length is None else length, hashlib.sha256(head).digest()) + head + body
    return content + hashlib.sha256(content).digest()


HEADS = [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"leaves": 3}',
    b'{"leaves":[],"texts":[],"length":1e999}',
    b'{"leaves":[],"texts":[],"length":true}',
    b'{"leaves":[],"texts":[],"length":-4}',
    b'{"leaves":[],"texts":[],"length":' + b"9" * 5000 + b"}",
    b'{"leaves":null,"texts":[],"length":4}',
    b'{"leaves":[],"texts":"text","length":4}',
    b'{"leaves":[[[]]],"texts":{},"length":4}',
    b'{"leaves":[],"texts":[],"length":4,"more":1}',
]  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_a_forged_head_is_refused(saved, value, head):
    saved.write_bytes(forged(head, b"four"))
    refusal(saved, value)
    saved.write_bytes(forged(head, b"four", length=2**32 - 1))
    assert "cut short or altered" in refusal(saved, value)


def test_a_head_that_contradicts_its_leaves_is_refused(saved):
    saved.write_bytes(forged(b'{"leaves":["``: float32[2]"],"texts":[],"length":4}', b"four"))
    assert "for these leaves it has 0 texts and 4 bytes, and they take 0 and 8" in refusal(saved, jnp.zeros(2))
    saved.write_bytes(forged(b'{"leaves":["``: str"],"texts":[],"length":0}', b""))
    assert "for these leaves it has 0 texts and 0 bytes, and they take 1 and 0" in refusal(saved, "text")


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
