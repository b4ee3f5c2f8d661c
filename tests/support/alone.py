"""A second Python for tests, in which no call has its types checked.

The checks cost far more than the calls themselves, of which a tree of 100,000 layers makes millions. It is started once
for all the tests of this process, since most of their time is that of imports, and calls one function after another.
"""

import contextlib
import functools
import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any, IO


DEPTH = 100_000
SUPPORT = pathlib.Path(__file__).parent
ROOT = SUPPORT.parents[1]


def run_alone(function: Callable[..., None], folder: pathlib.Path | None = None) -> None:
    """Calls a function of a test module in the second Python, in a folder if one is given; fails as it fails."""
    python = second()
    where = pathlib.Path(inspect.getfile(function)).parent
    print(json.dumps([str(where), function.__module__, function.__name__, str(folder or ROOT)]), file=python.stdin)
    python.stdin.flush()
    said = python.stdout.readline()
    if not said:
        second.cache_clear()
        raise AssertionError(f"the second Python ended in `{function.__name__}` with {python.wait()}")
    failure = json.loads(said)
    assert failure is None, failure


@functools.cache
def second() -> Any:
    path = os.pathsep.join(map(str, [SUPPORT, ROOT, ROOT / "tutorials"]))
    return subprocess.Popen(  # which ends when its standard input does, with this process
        [sys.executable, "-m", __name__],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def serve(asked: IO[str], answers: IO[str]) -> None:
    """Calls what each line names, and answers with its traceback, or with null."""
    for line in asked:
        where, module, name, folder = json.loads(line)
        sys.path.insert(0, where)
        try:
            with contextlib.chdir(folder):
                getattr(importlib.import_module(module), name)()
            failure = None
        except BaseException:  # what a test raises is its answer, `pytest.fail` and `SystemExit` too
            failure = traceback.format_exc()[-3000:]
        finally:
            sys.path.remove(where)
        print(json.dumps(failure), file=answers, flush=True)


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a test prints is no answer
        serve(sys.stdin, answers)
