"""Which mutants of a module live: those that its tests pass with. `make mutants ARGS=cdl/laws/_optics.py` lists them.

Nothing is edited. A process imports what the tests need but `cdl`, and forks for each mutant: the child puts the
changed source in the place of the module as it is imported, and runs the tests up to the first that fails. Where they
do not end, the mutant is caught, too. Types are not checked at run time here.
"""

import argparse
import contextlib
import importlib.abc
import importlib.util
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mutants import Mutant, mutants


ROOT = pathlib.Path(__file__).parents[2]
PASSED, NOT_IMPORTED = 0, 77
# Up to the first failure, and with the same examples each time. Plugins that are imported early give a warning.
OPTIONS = ["-qx", "-p", "no:cacheprovider", "-o", "addopts=", "-m", "not slow and not page", "--hypothesis-seed=0"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]


def survivors(
    path: str, tests: Sequence[str], *, sample: int | None = None, limit: int | None = None, root: pathlib.Path = ROOT
) -> list[str]:
    """The names of the mutants that live, found in a new process.

    **Arguments:** `path`: the file of the module, from `root`, from which it is imported. `tests`: files or tests, as
    pytest takes them. `sample`: how many mutants to try, the same ones each time; all of them if not given. `limit`:
    how many seconds the tests may take; if not given, a few times what they take as they are.

    **Raises:** `AssertionError` where the tests do not pass as they are, or do not import the module.
    """
    given = {"--sample": sample, "--limit": limit, "--root": root}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    done = subprocess.run(
        [sys.executable, __file__, path, "--json", *options, "--tests", *tests],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def living(
    path: str, tests: Sequence[str], sample: int | None, limit: int | None, root: pathlib.Path
) -> Iterator[Mutant]:
    """The mutants that live, each as it is found; by a process that has imported nothing of what it mutates."""
    source = (root / path).read_text()
    module = ".".join(pathlib.Path(path).with_suffix("").parts)
    began = time.monotonic()
    ended = _forked(module, source, tests, limit=600, quiet=False)
    assert ended != NOT_IMPORTED, f"No test imports {module}."
    assert ended == PASSED, "The tests have to pass as they are."
    seconds = 10 + 3 * int(time.monotonic() - began) if limit is None else limit
    found = mutants(source)
    if sample is not None and sample < len(found):
        found = sorted(random.Random(0).sample(found, sample), key=lambda mutant: mutant.line)
    yield from (m for m in found if _forked(module, m.source, tests, limit=seconds, quiet=True) == PASSED)


def _forked(module: str, source: str, tests: Sequence[str], *, limit: int, quiet: bool) -> int:
    """How the tests end with this source for the module: pytest's code, or the number of a signal, negative."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fork lacks its parent's other threads, and here there are none yet
        child = os.fork()
        if child == 0:
            _child(module, source, tests, limit, quiet, folder)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _child(module: str, source: str, tests: Sequence[str], limit: int, quiet: bool, folder: str) -> None:
    code = 1
    try:
        signal.alarm(limit)
        import hypothesis.configuration
        import pytest

        hypothesis.configuration.set_hypothesis_home_dir(folder)
        out = os.open(os.devnull, os.O_WRONLY) if quiet else 2
        os.dup2(out, 1)
        os.dup2(out, 2)
        planted = Planted(module, source)
        sys.meta_path.insert(0, planted)
        code = int(pytest.main([*OPTIONS, *tests]))
        code = code if planted.imported else NOT_IMPORTED
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and gives it this source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source, self.imported = module, source, False

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def exec_module(self, module: types.ModuleType) -> None:
        self.imported = True
        exec(compile(self.source, f"a mutant of {self.module}", "exec"), module.__dict__)


def _import_what_stays() -> None:
    """What is slow to import, and the same for every mutant; none of it starts a thread before it has work to do."""
    for name in ("equinox", "hypothesis", "optax", "pytest", "returns.contrib.hypothesis.laws", "typeguard", "xdist"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", help="the file of a module, such as cdl/laws/_optics.py")
    parser.add_argument("--tests", nargs="+", help="test files; without, those of `tests/support/mutated.py`")
    parser.add_argument("--sample", type=int, help="how many mutants to try, in the place of all")
    parser.add_argument("--limit", type=int, help="how many seconds the tests may take, before a mutant is caught")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the folder of `module` and `tests`")
    parser.add_argument("--json", action="store_true", help="one line with the names of all that live")
    given = parser.parse_args()
    if given.tests is None:
        from mutated import MODULES

        if given.module not in MODULES:
            parser.error(f"{given.module} is not in tests/support/mutated.py: give its tests with `--tests`.")
        module = MODULES[given.module]
        given.tests, given.sample = module.tests, given.sample or module.sample
    os.chdir(given.root)
    sys.path[:0] = [str(given.root), str(pathlib.Path(__file__).parent)]
    _import_what_stays()
    found = []
    for mutant in living(given.module, given.tests, given.sample, given.limit, given.root):
        found.append(mutant.name)
        if not given.json:
            print(f"{given.module}:{mutant.line}: {mutant.name}", flush=True)
    print(json.dumps(found) if given.json else f"{len(found)} live.")


if __name__ == "__main__":
    main()
