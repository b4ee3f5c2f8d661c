"""Sets of pictures: read from files made here, and a value where they are absent."""

import numpy as np
import pytest


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


def folders(root, part="train"):
    image = pytest.importorskip("PIL.Image")
    for name, colour, size in (("cat", (255, 0, 0), (20, 10)), ("dog", (0, 0, 255), (9, 30))):
        (root / "imagenet" / part / name).mkdir(parents=True)
        for i in range(2):
            image.new("RGB", size, colour).save(root / "imagenet" / part / name / f"{i}.png")
    return root / "imagenet" / part


def test_pictures_in_folders_are_opened_when_they_are_asked_for(tmp_path):
    from cdl_arch.data import dataset

    folders(tmp_path)
    found = dataset("imagenet", tmp_path, side=8)
    assert found.images.shape == (4, 8, 8, 3)
    assert found.labels.tolist() == [0, 0, 1, 1]
    some = found.take(np.array([2, 0]))
    assert some.images.dtype == np.float32
    assert np.allclose(some.images[0], [0, 0, 1])
    assert np.allclose(some.images[1], [1, 0, 0])
    assert found.images[[]].shape == (0, 8, 8, 3)
    every = found.images[range(4)]
    for rows in (np.array([False, True, False, True]), slice(1, 3), [-1, 0], np.array([], int)):
        assert (found.images[rows] == every[rows]).all()


def test_a_picture_is_the_middle_of_its_file(tmp_path):
    image = pytest.importorskip("PIL.Image")
    from cdl_arch.data.folders import Folders

    pixels = np.zeros((4, 12, 3), np.uint8)
    pixels[:, 4:8] = 255
    (tmp_path / "a").mkdir()
    image.fromarray(pixels).save(tmp_path / "a" / "x.png")
    assert Folders(tmp_path, 4)[[0]].min() == 1


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
        assert str(tmp_path / name) in str(found)
