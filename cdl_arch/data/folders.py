"""Pictures in folders, one folder for each class, as ImageNet's: opened when they are asked for, and resized.

| in the folder              | here                                                              |
| -------------------------- | ----------------------------------------------------------------- |
| `n01440764/` and others    | the classes, numbered in the order of their names                 |
| `n01440764/a.JPEG`         | one picture: its shorter side resized, the middle square kept     |

Nothing is opened to list a folder, so that a million files cost a million names. `folder[rows]` opens those rows.

Examples:
    >>> import pathlib
    >>> from cdl_arch.data.folders import Folders
    >>> for kind in ("cat", "dog"):
    ...     pathlib.Path("pets", kind).mkdir(parents=True)
    ...     pathlib.Path("pets", kind, "a.png").touch()
    >>> pets = Folders("pets")
    >>> len(pets), pets.classes
    (2, ('cat', 'dog'))
"""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from cdl.checks import whole
from cdl.errors import CdlError


DEEP = ("I", "F")  # modes of Pillow with more than 8 bits
ENDS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".ppm"})


class Folders:
    """The pictures under a folder, `(n, side, side, 3)`, read lazily.

    **Arguments:** `root`: has a folder for each class. `side`: of the pictures that come out.

    **Raises:** `CdlError` for a missing folder, a folder without classes, or a class without a picture. When pictures
    are read: where Pillow is not installed, for rows that are not there, for a file that is cut short or that is not a
    picture, with its size, and for one of more than 8 bits, whose colours Pillow would cut off.
    """

    def __init__(self, root: str | os.PathLike[str], side: int = 64) -> None:
        folder = Path(root)
        if not folder.is_dir():
            raise CdlError(f"`{folder}` is not a folder: one with a folder for each class is expected there.")
        whole("side", side)
        self.classes: tuple[str, ...] = tuple(sorted(path.name for path in folder.iterdir() if path.is_dir()))
        files, labels = list[Path](), list[int]()
        for i, name in enumerate(self.classes):
            own = sorted(path for path in (folder / name).iterdir() if path.suffix.lower() in ENDS)
            if not own:
                raise CdlError(
                    f"`{folder / name}` has no picture ({', '.join(sorted(ENDS))}): a class has one or more."
                )
            files += own
            labels += [i] * len(own)
        if not files:
            raise CdlError(f"`{folder}` has no folder in it: one for each class is expected.")
        self.files: tuple[Path, ...] = tuple(files)
        self.labels: Int[np.ndarray, " n"] = np.array(labels, np.int32)
        self.side = side

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """That of the array of all pictures, were it made."""
        return len(self.files), self.side, self.side, 3

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(
        self, rows: Sequence[int] | Int[np.ndarray, " k"] | Bool[np.ndarray, " n"] | slice
    ) -> Float[np.ndarray, "k side side 3"]:
        """These pictures, from 0 to 1. Rows are what an array of all pictures takes: numbers, a mask, a slice."""
        try:
            asked = rows if isinstance(rows, slice) or len(rows) else np.zeros(0, np.int64)
            wanted = np.arange(len(self))[asked]
        except (IndexError, TypeError) as error:
            raise CdlError(
                f"rows of {len(self)} pictures are numbers along one axis, a mask of {len(self)}, or a slice: {error}."
            ) from error
        if wanted.ndim != 1:
            raise CdlError(f"rows of pictures are along one axis, and these are of shape {wanted.shape}.")
        found = np.zeros((len(wanted), *self.shape[1:]), np.float32)
        for at, row in enumerate(wanted):
            found[at] = self._picture(self.files[row])
        return found

    def _picture(self, file: Path) -> np.ndarray:
        image = _pillow()
        try:
            with image.open(file) as opened:
                mode = opened.mode
                found = opened.convert("RGB")
        except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
            size = file.stat().st_size if file.exists() else 0
            raise CdlError(f"`{file}`, of {size:,} bytes, is cut short or is not a picture: {error}.") from error
        if mode.startswith(DEEP):
            raise CdlError(
                f"`{file}` has more than 8 bits a colour (mode {mode!r}), and Pillow cuts these off at 255: save it "
                "with 8."
            )
        width, height = found.size
        cut = min(width, height)
        left, top = (width - cut) // 2, (height - cut) // 2
        box = (left, top, left + cut, top + cut)
        small = found.resize((self.side, self.side), image.Resampling.BILINEAR, box=box)
        return np.asarray(small, np.float32) / np.float32(255)


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise CdlError(
            "pictures in folders are read with Pillow, which is not installed: `pip install pillow`."
        ) from error
