"""Sets of labelled pictures behind one value, so that what learns from one learns from all.

| `name`       | what it reads                                    | the pictures               |
| ------------ | ------------------------------------------------ | -------------------------- |
| `"digits"`   | scikit-learn's digits, always there              | `(n, 8, 8, 1)`             |
| `"mnist"`    | `root/mnist/`, its four IDX files                | `(n, 28, 28, 1)`           |
| `"cifar10"`  | `root/cifar10/`, its six binary files            | `(n, 32, 32, 3)`           |
| `"imagenet"` | `root/imagenet/train/` and `…/test/`, by class   | `(n, side, side, 3)`, lazy |

Data that are not there are a value, `Absent`, which a table shows as "not run". Data that are there and broken raise.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cdl.errors import CdlError

from .cifar import CLASSES, FILES, read_cifar
from .folders import Folders
from .pictures import digits, mnist


PARTS = ("train", "test")
TESTED = 0.3  # the share of the digits to test with


class Dataset(NamedTuple):
    """Labelled pictures. `images` has a shape and a length, and is asked for rows: an array, or `Folders`.

    Examples:
        >>> from cdl_arch.data import Dataset, dataset
        >>> digits: Dataset = dataset("digits", part="test")
        >>> digits.name, len(digits.labels) == len(digits.images)
        ('digits', True)
    """

    name: str
    images: Float[np.ndarray, "_ _ _ _"] | Folders
    labels: Int[np.ndarray, " _"]
    classes: int

    def take(self, rows: Int[np.ndarray, " k"]) -> "Dataset":
        """These rows, in memory."""
        return Dataset(self.name, self.images[rows], self.labels[rows], self.classes)


class Absent(NamedTuple):
    """Data that are not on this machine, and what was looked for.

    Examples:
        >>> from cdl_arch.data import Absent, dataset
        >>> nothing = dataset("mnist", "no-such-folder")
        >>> isinstance(nothing, Absent), nothing.name
        (True, 'mnist')
    """

    name: str
    wanted: str

    def __str__(self) -> str:
        return f"not run: {self.wanted} is not there"


def dataset(
    name: str, root: str | os.PathLike[str] | None = None, part: str = "train", *, side: int = 64
) -> Dataset | Absent:
    """A set of pictures by its name.

    **Arguments:** `root`: the folder with a folder for each set; `digits` needs none. `part`: "train" or
    "test". `side`: what pictures in folders are resized to.

    **Returns:** the set, or `Absent`, where nothing of it is there.

    **Raises:** `CdlError` for any other name or part, for files that are cut short or hold something else, and for
    folders whose two parts have other classes.

    Examples:
        >>> from cdl_arch.data import dataset
        >>> digits = dataset("digits")
        >>> digits.images.shape[1:], digits.classes
        ((8, 8, 1), 10)
    """
    if name not in SETS or part not in PARTS:
        raise CdlError(
            f"the sets are {', '.join(SETS)}, with the parts {' and '.join(PARTS)}: there is no {name!r}, {part!r}."
        )
    folder = Path(root or ".") / name
    if name != "digits" and (root is None or not folder.is_dir()):
        return Absent(name, f"`{folder}`")
    return SETS[name](folder, part, side)


def _digits(folder: Path, part: str, side: int) -> Dataset:
    """The last 30 % of a shuffle that is always the same are to test with."""
    images, labels = digits()
    mixed = np.random.default_rng(0).permutation(len(labels))
    cut = round(len(labels) * (1 - TESTED))
    rows = mixed[:cut] if part == "train" else mixed[cut:]
    return Dataset("digits", images[rows][..., None], labels[rows], 10)


def _mnist(folder: Path, part: str, side: int) -> Dataset:
    images, labels = mnist(folder, "t10k" if part == "test" else part)
    return Dataset("mnist", images[..., None], labels, 10)


def _cifar10(folder: Path, part: str, side: int) -> Dataset:
    read = [read_cifar(folder / file) for file in FILES[part]]
    images, labels = zip(*read, strict=True)
    return Dataset("cifar10", np.concatenate(images), np.concatenate(labels), CLASSES)


def _imagenet(folder: Path, part: str, side: int) -> Dataset:
    found = Folders(folder / part, side)
    other = folder / PARTS[part == PARTS[0]]
    if other.is_dir():  # both parts number their classes in the order of the names
        names = {path.name for path in other.iterdir() if path.is_dir()}
        if alone := sorted(names.symmetric_difference(found.classes)):
            raise CdlError(
                f"`{folder}` has the class {alone[0]!r} in one of its parts and not in the other, so that a number "
                "would mean two classes: give both parts the same folders."
            )
    return Dataset("imagenet", found, found.labels, len(found.classes))


SETS: dict[str, Callable[[Path, str, int], Dataset]] = {
    "digits": _digits,
    "mnist": _mnist,
    "cifar10": _cifar10,
    "imagenet": _imagenet,
}
