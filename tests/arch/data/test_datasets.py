"""Sets of pictures: read from files made here, refused where they are cut short, and a value where they are absent."""

import sys

import numpy as np
import pytest

from cdl.errors import CdlError


def records(count, seed=0):
    found = np.random.default_rng(seed).integers(0, 256, (count, 3073), dtype=np.uint8)
    found[:, 0] %= 10
    return found


def cifar(root, count=2):
    folder = root / "cifar10"
    folder.mkdir()
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    for i, name in enumerate(names):
        (folder / name).write_bytes(records(count, i).tobytes())
    return folder


@pytest.fixture
def few(monkeypatch):
    """Files of two pictures, in the place of 10,000."""
    from cdl_arch.data import cifar

    monkeypatch.setattr(cifar, "PICTURES", 2)


def test_cifar_has_its_planes_as_channels(few, tmp_path):
    from cdl_arch.data import dataset

    cifar(tmp_path)
    train, test = (dataset("cifar10", tmp_path, part) for part in ("train", "test"))
    assert train.images.shape == (10, 32, 32, 3)
    assert test.images.shape == (2, 32, 32, 3)
    first = records(2)[1]
    assert train.labels[1] == first[0]
    for channel in range(3):
        plane = first[1 + 1024 * channel : 1 + 1024 * (channel + 1)].reshape(32, 32)
        assert np.allclose(train.images[1, :, :, channel] * 255, plane)


def test_a_file_of_cifar_that_is_cut_short_is_refused_with_its_size(few, tmp_path):
    from cdl_arch.data import dataset

    folder = cifar(tmp_path)
    (folder / "data_batch_3.bin").write_bytes(records(2).tobytes()[:-1])
    with pytest.raises(CdlError, match=r"data_batch_3.bin` has 6,145 bytes: 1 pictures of 3,073 .* 3,072 bytes more"):
        dataset("cifar10", tmp_path)
    (folder / "data_batch_3.bin").write_bytes(b"")
    with pytest.raises(CdlError, match=r"has 0 bytes: 0 pictures"):
        dataset("cifar10", tmp_path)
    (folder / "data_batch_3.bin").write_bytes(bytes([10]) + records(2).tobytes()[1:])
    with pytest.raises(CdlError, match=r"has the label 10, and those of CIFAR-10 are 0 to 9"):
        dataset("cifar10", tmp_path)
    (folder / "data_batch_3.bin").unlink()
    with pytest.raises(CdlError, match=r"data_batch_3.bin` cannot be read: No such file"):
        dataset("cifar10", tmp_path)


def test_a_file_of_cifar_that_ends_between_two_pictures_is_refused(tmp_path):
    from cdl_arch.data.cifar import read_cifar

    (tmp_path / "x.bin").write_bytes(records(3).tobytes())
    with pytest.raises(CdlError, match=r"x.bin` has 9,219 bytes: 3 pictures .* 10,000 pictures are expected"):
        read_cifar(tmp_path / "x.bin")
    assert len(read_cifar(tmp_path / "x.bin", 3)[1]) == 3


def folders(root, part="train"):
    image = pytest.importorskip("PIL.Image")
    for name, colour, size in (("cat", (255, 0, 0), (20, 10)), ("dog", (0, 0, 255), (9, 30))):
        (root / "imagenet" / part / name).mkdir(parents=True)
        for i in range(2):
            image.new("RGB", size, colour).save(root / "imagenet" / part / name / f"{i}.png")
    return root / "imagenet" / part


def test_pictures_in_folders_are_opened_when_they_are_asked_for(tmp_path):
    from cdl_arch.data import dataset

    (folders(tmp_path) / "dog" / "1.png").write_bytes(b"not a picture")
    found = dataset("imagenet", tmp_path, side=8)
    assert found.images.shape == (4, 8, 8, 3)
    assert found.labels.tolist() == [0, 0, 1, 1]
    some = found.take(np.array([2, 0]))
    assert some.images.dtype == np.float32
    assert np.allclose(some.images[0], [0, 0, 1])
    assert np.allclose(some.images[1], [1, 0, 0])
    assert found.images[[]].shape == (0, 8, 8, 3)
    with pytest.raises(CdlError, match=r"1.png`, of 13 bytes, is cut short or is not a picture"):
        found.take(np.array([3]))


def test_a_picture_is_the_middle_of_its_file(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from cdl_arch.data.folders import Folders

    pixels = np.zeros((4, 12, 3), np.uint8)
    pixels[:, 4:8] = 255
    (tmp_path / "a").mkdir()
    image.fromarray(pixels).save(tmp_path / "a" / "x.png")
    assert Folders(tmp_path, 4)[[0]].min() == 1


def test_a_picture_that_is_cut_short_is_refused_with_its_size(tmp_path):
    from cdl_arch.data.folders import Folders

    file = folders(tmp_path) / "cat" / "0.png"
    whole = file.read_bytes()
    file.write_bytes(whole[:40])
    with pytest.raises(CdlError, match=r"0.png`, of 40 bytes, is cut short"):
        Folders(tmp_path / "imagenet" / "train")[[0]]


def test_folders_without_classes_or_pictures_are_refused(tmp_path):
    from cdl_arch.data.folders import Folders

    with pytest.raises(CdlError, match=r"has no folder in it"):
        Folders(tmp_path)
    with pytest.raises(CdlError, match=r"is not a folder"):
        Folders(tmp_path / "x")
    (tmp_path / "cat").mkdir()
    with pytest.raises(CdlError, match=r"cat` has no picture"):
        Folders(tmp_path)
    with pytest.raises(CdlError, match=r"`side` is 0: give at least 1"):
        Folders(tmp_path, 0)


def test_without_pillow_a_folder_is_listed_and_not_read(tmp_path, monkeypatch):
    from cdl_arch.data.folders import Folders

    found = Folders(folders(tmp_path))
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(CdlError, match=r"read with Pillow, which is not installed"):
        found[[0]]


def test_digits_are_always_there_and_split_in_two():
    from cdl_arch.data import dataset

    train, test = dataset("digits"), dataset("digits", part="test")
    assert train.images.shape == (1258, 8, 8, 1)
    assert test.images.shape == (539, 8, 8, 1)
    assert train.classes == 10


def test_absent_data_are_a_value_that_says_not_run(tmp_path):
    from cdl_arch.data import Absent, dataset

    for name in ("mnist", "cifar10", "imagenet"):
        found = dataset(name, tmp_path)
        assert isinstance(found, Absent)
        assert str(found) == f"not run: `{tmp_path / name}` is not there"
        assert isinstance(dataset(name), Absent)
    (tmp_path / "mnist").mkdir()
    with pytest.raises(CdlError, match=r"MNIST is not there"):
        dataset("mnist", tmp_path)
    with pytest.raises(CdlError, match=r"the sets are digits, mnist, cifar10, imagenet.*there is no 'svhn', 'train'"):
        dataset("svhn")
