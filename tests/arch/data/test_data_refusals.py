"""Files, rows, labels and parts of data that are not what they say are refused."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from equivariant import unchecked
from test_datasets import records
from test_pictures import idx, PIXELS, written

import cdl
from cdl_arch.data import Batches, dataset
from cdl_arch.data.cifar import read_cifar
from cdl_arch.data.folders import Folders
from cdl_arch.data.idx import read_idx
from cdl_arch.data.pictures import mnist, photograph


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def png(kind: type = np.uint8) -> bytes:
    image, file = pytest.importorskip("PIL.Image"), io.BytesIO()
    image.fromarray(np.full((2, 2), 255, kind)).save(file, "png")
    return file.getvalue()


def folder(at: Path, picture: bytes | None = None, names: str = "ab") -> Path:
    """A folder of classes with one picture each."""
    for name in names:
        put(at / name / "0.png", picture or png())
    return at


def parts(at: Path) -> Path:
    folder(at / "imagenet" / "train")
    folder(at / "imagenet" / "test", names="ac")
    return at


def corpus() -> cdl.Corpus:
    return cdl.Corpus(cdl.ListF, [cdl.to_list([1.0])] * 6)


def batches(**how: object) -> Batches:
    return Batches(corpus(), np.arange(6), **{"size": 2, **how})


HEAD = png()[:8] + (9).to_bytes(4, "big") + png()[12:]  # a first part that is too short
WIDE = b"BM" + bytes(8) + b"\x36\0\0\0\x28\0\0\0" + (10**5).to_bytes(4, "little") * 2
WIDE += b"\1\0\x18" + bytes(25)

ROWS: list[tuple[Callable[[Path], object], str]] = [
    (lambda at: read_idx(at / "no.idx"), "no.idx No such file"),
    (lambda at: read_idx("a\0b"), "null byte"),
    (lambda at: read_idx(put(at / "x", b"\x89PNG\r\n")), "[137, 80, 78, 71]"),
    (lambda at: read_idx(put(at / "x", idx(PIXELS)[:11])), "head 16 11"),
    (lambda at: read_idx(put(at / "x", idx(PIXELS)[:-1])), "(2, 3, 4) 24 23"),
    (lambda at: read_idx(put(at / "x", idx(PIXELS) + b"\0")), "24 more"),
    (lambda at: read_idx(put(at / "x", b"\0\0\x08\x02" + b"\xff" * 8)), "2 axes 4294967295"),
    (mnist, "train-images-idx3-ubyte"),
    (lambda at: mnist(at, "test"), "t10k"),
    (lambda at: mnist(written(at, labels=(3,))), "2 pictures 1 labels"),
    (lambda at: mnist(written(at, labels=(3, 10))), "label 10"),
    (lambda at: mnist(written(at, kind=9)), "int8 uint8"),
    (lambda at: mnist(written(at, pixels=PIXELS)), "3 × 4 28 × 28"),
    (lambda at: photograph("cat.jpg"), "china.jpg"),
    (lambda at: dataset("svhn"), "svhn cifar10"),
    (lambda at: read_cifar(put(at / "x", records(2).tobytes()[:-1]), 2), "6,145 3,073 3,072"),
    (lambda at: read_cifar(put(at / "x", records(3).tobytes())), "9,219 10,000"),
    (lambda at: read_cifar(put(at / "x", bytes([10]) + bytes(3072)), 1), "label 10"),
    (lambda at: Folders(at), "no folder"),
    (lambda at: Folders(at / "x"), "not a folder"),
    (lambda at: Folders(put(at / "a" / "x", b"").parents[1]), "no picture"),
    (lambda at: Folders(folder(at, b"not a picture"))[[0]], "0.png 13 bytes"),
    (lambda at: Folders(folder(at, png()[:40]))[[0]], "0.png 40 bytes"),
    (lambda at: Folders(folder(at, HEAD))[[0]], "0.png"),
    (lambda at: Folders(folder(at, WIDE))[[0]], "0.png"),
    (lambda at: Folders(folder(at, png(np.uint16)))[[0]], "0.png 8 bits"),
    (lambda at: Folders(folder(at))[[2]], "2 pictures mask"),
    (lambda at: dataset("imagenet", parts(at)), "'b'"),
    (lambda at: batches(labels={"x": np.arange(6), "y": np.arange(9)}), "labels 6 trees"),
    (lambda at: batches(size=9, keep_last=False), "9 out of 6"),
    (lambda at: batches(size=4, programs=1), "1 programs"),
    (lambda at: corpus().batches(9, drop_last=True), "9 6 drop_last"),
    (lambda at: corpus().batches(3, indices=[3, 7]), "5 7"),
]


@pytest.mark.parametrize(("read", "words"), ROWS, ids=[words for _, words in ROWS])
def test_data_are_refused(read: Callable[[Path], object], words: str, tmp_path: Path) -> None:
    with unchecked(), pytest.raises(cdl.CdlError) as told:
        read(tmp_path)
    assert [word for word in words.split() if word not in str(told.value)] == []
