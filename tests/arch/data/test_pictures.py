"""Pictures and their labels, read from files that are whole; others are refused, with what was expected."""

import gzip
import struct
import sys
import tracemalloc

import numpy as np
import pytest

from cdl.errors import CdlError
from cdl_arch.data import karate
from cdl_arch.data.idx import read_idx
from cdl_arch.data.pictures import digits, mnist, photograph


def idx(array, kind=8):
    return bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


PIXELS = np.arange(2 * 3 * 4, dtype=np.uint8).reshape((2, 3, 4))


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("array", "kind"),
    [(PIXELS, 8), (np.array([[-2, 300]], ">i2"), 11), (np.array([1.5, -2.0], ">f4"), 13), (PIXELS[:0], 8)],
)
def test_an_array_comes_back(tmp_path, array, kind, zipped):
    content = idx(array, kind)
    (tmp_path / "x").write_bytes(gzip.compress(content) if zipped else content)
    found = read_idx(tmp_path / "x")
    assert np.array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.flags.writeable


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"begins with the bytes \[\], and an IDX file with 0, 0, a type"),
        (b"\x89PNG\r\n", r"begins with the bytes \[137, 80, 78, 71\].*it is another file"),
        (b"\0\0\x0a\x01\0\0\0\0", r"\[0, 0, 10, 1\].*a type \(8, 9, 11, 12, 13, 14\)"),
        (b"\0\0\x08\0", "a number of axes"),
        (idx(PIXELS)[:11], "ends in its head: 16 bytes are expected there, and 11 found"),
        (idx(PIXELS)[:-1], r"says that it holds \(2, 3, 4\) of 1 bytes, 24 in all, and 23 are there"),
        (idx(PIXELS) + b"\0", "24 in all, and more are there"),
        (
            b"\0\0\x08\x02" + b"\xff" * 8,
            "18446744065119617025 bytes along 2 axes, of up to 4294967295 places",
        ),
        (b"\0\0\x08\x03" + b"\0" * 4 + b"\xff" * 8, "0 bytes along 3 axes, of up to 4294967295 places: more than 4 G"),
        (b"\0\0\x08\x02" + b"\xff\xff\xff\xff\0\0\0\x01", r"4294967295 in all, and 0 are there"),
        (b"\0\0\x08\xff" + b"\0" * 1020, "0 bytes along 255 axes"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, content, message, zipped):
    (tmp_path / "x").write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(CdlError, match=message):
        read_idx(tmp_path / "x")


def test_a_gzipped_file_that_is_cut_or_altered_is_refused_or_reads_the_same(tmp_path):
    whole = gzip.compress(idx(PIXELS), mtime=0)
    for cut in range(2, len(whole)):
        (tmp_path / "x").write_bytes(whole[:cut])
        with pytest.raises(CdlError, match=r"cut short or altered"):
            read_idx(tmp_path / "x")
    for at in range(10, len(whole)):
        (tmp_path / "x").write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        try:
            found = read_idx(tmp_path / "x")
        except CdlError:
            continue
        assert np.array_equal(found, PIXELS)  # a bit that means nothing


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CdlError, match=r"nothing.idx` cannot be read: No such file"):
        read_idx(tmp_path / "nothing.idx")
    with pytest.raises(CdlError, match=r"cannot be read: Is a directory"):
        read_idx(tmp_path)
    with pytest.raises(CdlError, match=r"'a\\x00b' is not a path: embedded null byte"):
        read_idx("a\0b")


def test_a_head_that_lies_asks_for_no_memory(tmp_path):
    (tmp_path / "x").write_bytes(b"\0\0\x08\x01\x7f\xff\xff\xff" + b"\1" * 9)
    tracemalloc.start()
    with pytest.raises(CdlError, match=r"2147483647 in all, and 9 are there"):
        read_idx(tmp_path / "x")
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


DIGITS = np.arange(2 * 28 * 28, dtype=np.uint64).astype(np.uint8).reshape((2, 28, 28))


def written(folder, pixels=DIGITS, labels=(3, 9), kind=8, name="train"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(pixels)))
    (folder / f"{name}-labels.idx1-ubyte").write_bytes(idx(np.array(labels, np.uint8), kind))
    return folder


def test_mnist_is_read_from_a_folder(tmp_path):
    images, labels = mnist(written(tmp_path))
    assert images.dtype == np.float32
    assert np.allclose(images * 255, DIGITS)
    assert labels.tolist() == [3, 9]


def test_mnist_that_is_not_there_or_is_something_else_is_refused(tmp_path):
    with pytest.raises(CdlError, match=r"has no file `train-images-idx3-ubyte` or .* MNIST is not there"):
        mnist(tmp_path)
    with pytest.raises(CdlError, match=r"parts of MNIST are .train. and .t10k., not .test."):
        mnist(tmp_path, "test")
    with pytest.raises(CdlError, match=r"has 2 pictures, and .* has 1 labels"):
        mnist(written(tmp_path / "a", labels=(3,)))
    with pytest.raises(CdlError, match=r"has the label 10, and those of digits are 0 to 9"):
        mnist(written(tmp_path / "b", labels=(3, 10)))
    with pytest.raises(CdlError, match=r"holds uint8 along 2 axes, and uint8 along 3"):
        mnist(written(tmp_path / "c", pixels=DIGITS[0]))
    with pytest.raises(CdlError, match=r"holds 2 pictures of 3 × 4, and MNIST has one or more of 28 × 28"):
        mnist(written(tmp_path / "e", pixels=PIXELS))
    with pytest.raises(CdlError, match=r"holds 0 pictures of 28 × 28, and MNIST has one or more"):
        mnist(written(tmp_path / "f", pixels=DIGITS[:0], labels=()))
    with pytest.raises(CdlError, match=r"holds int8 along 1 axes, and uint8 along 1"):
        mnist(written(tmp_path / "d", kind=9))


def test_digits_and_photographs_are_there():
    images, labels = digits()
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(labels).min() > 170
    grey = photograph()
    assert grey.shape == (427, 640)
    assert 0 <= grey.min() < grey.max() <= 1
    with pytest.raises(CdlError, match=r'"china.jpg" and "flower.jpg", and no photograph'):
        photograph("cat.jpg")


def test_what_is_not_installed_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(CdlError, match=r"come with scikit-learn, which is not installed"):
        digits()


def test_a_photograph_without_pillow_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(CdlError, match=r"read with Pillow, which is not installed"):
        photograph()


def test_the_karate_club_is_the_one_of_networkx():
    networkx = pytest.importorskip("networkx")
    club = networkx.karate_club_graph()
    assert sorted(map(tuple, karate.edges().tolist())) == sorted(tuple(sorted(e)) for e in club.edges())
    assert [club.nodes[i]["club"] != "Mr. Hi" for i in range(34)] == karate.sides().astype(bool).tolist()
