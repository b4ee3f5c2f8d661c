"""Rows, labels and files that do not fit are refused, and never read as others."""

import numpy as np
import pytest
from equivariant import unchecked

from cdl.errors import CdlError


@pytest.fixture(autouse=True)
def _as_users_run_it():
    """Without the checks of annotations that only the tests have."""
    with unchecked():
        yield


def pictures(root, names=("cat", "dog"), count=2):
    image = pytest.importorskip("PIL.Image")
    for i, name in enumerate(names):
        (root / name).mkdir(parents=True)
        for j in range(count):
            image.new("RGB", (2, 2), (40 * (count * i + j), 0, 0)).save(root / name / f"{j}.png")
    return root


def test_pictures_in_folders_are_read_by_the_rows_that_an_array_takes(tmp_path):
    from cdl_arch.data import dataset
    from cdl_arch.data.folders import Folders

    found = Folders(pictures(tmp_path / "imagenet" / "train"), 2)
    every = found[range(4)]
    assert np.allclose(every[:, 0, 0, 0], np.arange(4) * 40 / 255)
    for rows in (np.array([False, True, False, True]), slice(1, 3), [-1, 0], np.array([[]], int)[0]):
        assert (found[rows] == every[rows]).all()
    mask = found.labels == 1
    some = dataset("imagenet", tmp_path, side=2).take(mask)
    assert some.images.shape[0] == len(some.labels) == 2
    for rows in ([4], np.array([1.0]), np.array([True]), 1):
        with pytest.raises(CdlError, match=r"rows of 4 pictures are numbers along one axis, a mask of 4, or a slice"):
            found[rows]
    with pytest.raises(CdlError, match=r"these are of shape \(1, 2\)"):
        found[np.array([[0, 1]])]


def test_two_parts_with_other_classes_are_refused(tmp_path):
    from cdl_arch.data import dataset

    pictures(tmp_path / "imagenet" / "train", ("cat", "dog"))
    pictures(tmp_path / "imagenet" / "test", ("cat", "eel"))
    for part in ("train", "test"):
        with pytest.raises(CdlError, match=r"class 'dog' in one of its parts and not in the other"):
            dataset("imagenet", tmp_path, part)


def test_a_picture_of_16_bits_is_refused(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from cdl_arch.data.folders import Folders

    (tmp_path / "a").mkdir()
    image.fromarray(np.array([[0, 65535], [300, 20000]], np.uint16)).save(tmp_path / "a" / "x.png")
    with pytest.raises(CdlError, match=r"x.png` has more than 8 bits a colour"):
        Folders(tmp_path, 2)[[0]]


def test_a_picture_whose_head_is_damaged_is_refused(tmp_path):
    from cdl_arch.data.folders import Folders

    file = pictures(tmp_path) / "cat" / "0.png"
    good = file.read_bytes()
    head = good[:8] + (9).to_bytes(4, "big") + good[12:]  # a first part that is too short
    wide = b"BM" + bytes(8) + b"\x36\0\0\0\x28\0\0\0" + (10**5).to_bytes(4, "little") * 2 + b"\1\0\x18" + bytes(25)
    for broken in (head, wide):
        file.write_bytes(broken)
        with pytest.raises(CdlError, match=r"0.png`, of .* bytes, is cut short or is not a picture"):
            Folders(tmp_path)[[0]]


def test_a_file_of_no_pictures_and_a_path_that_is_none_are_refused(tmp_path):
    from cdl_arch.data.cifar import read_cifar

    (tmp_path / "x.bin").write_bytes(b"")
    with pytest.raises(CdlError, match=r"`pictures` is 0: give at least 1"):
        read_cifar(tmp_path / "x.bin", 0)
    with pytest.raises(CdlError, match=r"is not a path: embedded null byte"):
        read_cifar("a\0b")


def test_batches_have_a_label_for_each_tree_and_start_at_a_step_that_there_is():
    import jax.numpy as jnp

    import cdl
    from cdl_arch.data import Batches

    corpus = cdl.Corpus(cdl.ListF, [cdl.to_list([float(i)] * (i + 1)) for i in range(6)])
    rows = np.arange(6)
    for labels in (jnp.arange(3), {"x": np.arange(6), "y": np.arange(9)}, 3):
        with pytest.raises(CdlError, match=r"`labels` has an array of shape .* and the corpus has 6 trees"):
            Batches(corpus, rows, 2, labels=labels)
    with pytest.raises(CdlError, match=r"batches of 9 out of 6 trees"):
        Batches(corpus, rows, 9, keep_last=False)
    with pytest.raises(CdlError, match=r"`seed` is -1"):
        Batches(corpus, rows, 2, seed=-1)
    found = Batches(corpus, rows, 2)
    for epoch, start, words in ((-1, 0, "`epoch` is -1"), (0, -1, "`start` is -1")):
        with pytest.raises(CdlError, match=words):
            found(epoch, start)
