"""The source of Python's standard library: real programs, on any machine that runs Python.

Files are split by a hash of their path, so that a file is in the same part on every machine, and a longer or shorter
list of files moves none of the others.

Examples:
    >>> from cdl_arch.data import stdlib
    >>> [stdlib.relative(path) for path in stdlib.files(1)]
    ['__future__.py']
"""

import ast
import hashlib
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from returns.result import Failure, Result, Success


TRAIN, VALIDATION, TEST = 0, 1, 2
SPLITS = ("train", "validation", "test")

_SKIPPED = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages"})


@cache
def root() -> Path:
    """The folder that holds the library."""
    return Path(sysconfig.get_path("stdlib"))


def files(limit: int | None = None) -> list[Path]:
    """The library's files in the order of their paths, tests and installed packages left out; the first `limit`."""
    found = (path for path in sorted(root().rglob("*.py")) if _SKIPPED.isdisjoint(path.relative_to(root()).parts))
    return list(islice(found, limit))


def relative(path: Path) -> str:
    """The path from the library's folder, with `/`; another file keeps its whole path."""
    return (path.relative_to(root()) if path.is_relative_to(root()) else path).as_posix()


def split_of(path: Path) -> int:
    """`TRAIN` for 70 files in a hundred, `VALIDATION` for 10 and `TEST` for 20."""
    number = int(hashlib.sha256(relative(path).encode()).hexdigest()[:8], 16) % 100
    return TRAIN if number < 70 else VALIDATION if number < 80 else TEST


def parse(path: Path) -> Result[ast.Module, Exception]:
    """The syntax of a file, or why it has none: not every file in a library is a program of this Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of the library's style
            return Success(ast.parse(path.read_bytes(), str(path)))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Failure(error)


def syntax(paths: Iterable[Path] | None = None) -> Iterator[tuple[Path, ast.Module]]:
    """The files that can be read, each with its syntax, one at a time."""
    for path in files() if paths is None else paths:
        match parse(path):
            case Success(module):
                yield path, module
