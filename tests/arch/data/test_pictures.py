"""Pictures and their labels, read from files that are whole."""

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


def test_a_gzipped_file_that_is_cut_or_altered_is_refused_or_reads_the_same(tmp_path):
    whole = gzip.compress(idx(PIXELS), mtime=0)
    for cut in range(2, len(whole)):
        (tmp_path / "x").write_bytes(whole[:cut])
        with pytest.raises(CdlError, match="cut short"):
            read_idx(tmp_path / "x")
    for at in range(10, len(whole)):
        (tmp_path / "x").write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        try:
            found = read_idx(tmp_path / "x")
        except CdlError:
            continue
        assert np.array_equal(found, PIXELS)  # a bit that means nothing


def test_a_head_that_lies_asks_for_no_memory(tmp_path):
    (tmp_path / "x").write_bytes(b"\0\0\x08\x01\x7f\xff\xff\xff" + b"\1" * 9)
    tracemalloc.start()
    with pytest.raises(CdlError, match="2147483647"):
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


def test_digits_and_photographs_are_there():
    images, labels = digits()
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(labels).min() > 170
    grey = photograph()
    assert grey.shape == (427, 640)
    assert 0 <= grey.min() < grey.max() <= 1


@pytest.mark.parametrize(
    ("missing", "read", "words"),
    [("sklearn.datasets", digits, "scikit-learn"), ("PIL", photograph, "Pillow")],
)
def test_pictures_name_the_package_that_is_missing(missing, read, words, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(CdlError, match=words):
        read()


def test_the_karate_club_is_the_one_of_networkx():
    networkx = pytest.importorskip("networkx")
    club = networkx.karate_club_graph()
    assert sorted(map(tuple, karate.edges().tolist())) == sorted(tuple(sorted(e)) for e in club.edges())
    assert [club.nodes[i]["club"] != "Mr. Hi" for i in range(34)] == karate.sides().astype(bool).tolist()
