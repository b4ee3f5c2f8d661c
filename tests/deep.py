"""Room for tests that go deep: run in a Python of their own, where no call has its types checked and no garbage is
collected.

Both cost more than the calls themselves, of which a tree of 100,000 layers makes millions.
"""

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable


DEPTH = 100_000
TESTS = pathlib.Path(__file__).parent


def run_alone(function: Callable[[], None]) -> None:
    """Calls a function of a module in `tests` in a new process; fails as it fails."""
    code = f"import gc; gc.disable(); import {function.__module__} as module; module.{function.__name__}()"
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
