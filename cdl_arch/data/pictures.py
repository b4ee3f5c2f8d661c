"""Pictures with their labels: scikit-learn's digits, MNIST from files that are there, and a photograph.

| the data                         | here                 | comes from                                            |
| -------------------------------- | -------------------- | ----------------------------------------------------- |
| 1,797 digits of 8 × 8            | `digits()`           | scikit-learn, which has them in its package           |
| 70,000 digits of 28 × 28         | `mnist(folder)`      | the four IDX files of MNIST, gzipped or not           |
| a photograph in grey             | `photograph(name)`   | scikit-learn, which has two; it needs Pillow          |

Nothing is downloaded. Where data are not there a `CdlError` says what was looked for and where.

Examples:
    >>> from cdl_arch.data import pictures
    >>> pictures.digits().images.shape
    (1797, 8, 8)
"""

import importlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cdl.errors import CdlError

from .idx import read_idx


SIDE = 28  # of a picture of MNIST


class Pictures(NamedTuple):
    """Pictures in grey, from 0 to 1, and what each shows."""

    images: Float[np.ndarray, "n height width"]
    labels: Int[np.ndarray, " n"]


def digits() -> Pictures:
    """The digits of scikit-learn, `float32[1797, 8, 8]`. **Raises:** `CdlError` where it is not installed."""
    found = _datasets().load_digits()
    return Pictures((found.images / 16).astype(np.float32), found.target.astype(np.int32))


def mnist(folder: str | os.PathLike[str], part: str = "train") -> Pictures:
    """MNIST, `float32[n, 28, 28]`, from a folder with its files under their usual names, with `.gz` or without.

    **Arguments:** `part`: "train", of 60,000, or "t10k", the 10,000 to test with.

    **Raises:** `CdlError` where a file is not there, is not an IDX file, or holds anything other than was expected.
    """
    if part not in ("train", "t10k"):
        raise CdlError(f'the parts of MNIST are "train" and "t10k", not {part!r}.')
    images = _found(Path(folder), f"{part}-images-idx3-ubyte")
    labels = _found(Path(folder), f"{part}-labels-idx1-ubyte")
    pixels, shown = read_idx(images), read_idx(labels)
    for file, array, axes in ((images, pixels, 3), (labels, shown, 1)):
        if array.dtype != np.uint8 or array.ndim != axes:
            raise CdlError(
                f"`{file}` holds {array.dtype} along {array.ndim} axes, and uint8 along {axes} is expected there."
            )
    if not len(pixels) or pixels.shape[1:] != (SIDE, SIDE):
        raise CdlError(
            f"`{images}` holds {len(pixels)} pictures of {pixels.shape[1]} × {pixels.shape[2]}, and MNIST has one or "
            f"more of {SIDE} × {SIDE}: it is another data set."
        )
    if len(pixels) != len(shown):
        raise CdlError(f"`{images}` has {len(pixels)} pictures, and `{labels}` has {len(shown)} labels.")
    if shown.max(initial=0) > 9:
        raise CdlError(f"`{labels}` has the label {shown.max()}, and those of digits are 0 to 9.")
    return Pictures((pixels / np.float32(255)).astype(np.float32), shown.astype(np.int32))


def photograph(name: str = "china.jpg") -> Float[np.ndarray, "height width"]:
    """A photograph that scikit-learn has, "china.jpg" or "flower.jpg", in grey from 0 to 1: `float32[427, 640]`.

    **Raises:** `CdlError` where scikit-learn or Pillow is not installed, and for another name.
    """
    if name not in ("china.jpg", "flower.jpg"):
        raise CdlError(f'scikit-learn has "china.jpg" and "flower.jpg", and no photograph {name!r}.')
    datasets = _datasets()
    try:
        colours = datasets.load_sample_image(name)
    except ImportError as error:
        raise CdlError("a photograph is read with Pillow, which is not installed: `pip install pillow`.") from error
    return (colours @ np.array([0.299, 0.587, 0.114]) / 255).astype(np.float32)


def _datasets() -> Any:
    try:
        return importlib.import_module("sklearn.datasets")
    except ImportError as error:
        raise CdlError(
            "these data come with scikit-learn, which is not installed: `pip install scikit-learn`."
        ) from error


def _found(folder: Path, name: str) -> Path:
    """The file of a name, as it is or gzipped; some have a point where others have a hyphen."""
    stems = (name, name.replace("-idx", ".idx"))
    for path in (folder / f"{stem}{end}" for stem in stems for end in ("", ".gz")):
        if path.is_file():
            return path
    raise CdlError(f"`{folder}` has no file `{name}` or `{name}.gz`: MNIST is not there.")
