"""A Python of its own for a test, where no call has its types checked.

The checks cost far more than the calls themselves, of which a tree of 100,000 layers makes millions.
"""

import inspect
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable


DEPTH = 100_000
SUPPORT = pathlib.Path(__file__).parent
ROOT = SUPPORT.parents[1]


def run_alone(function: Callable[[], None], folder: pathlib.Path | None = None) -> None:
    """Calls a function of a test module in a new process, in a folder if one is given; fails as it fails."""
    code = f"import {function.__module__} as module; module.{function.__name__}()"
    own = pathlib.Path(inspect.getfile(function)).parent
    path = os.pathsep.join(map(str, [own, SUPPORT, ROOT, ROOT / "tutorials"]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
