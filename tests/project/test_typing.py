"""Plain mypy and plain pyright, with no plugin, catch what is wrong and pass what is right, line by line.

The checkers come with the extra `check`; where one is not installed, its test is skipped.
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest


ROOT = pathlib.Path(__file__).parents[2]
TYPING = ROOT / "tests" / "support" / "typing"
FILES = [str(TYPING / name) for name in ("good.py", "bad.py")]
Errors = set[tuple[str, int]]  # the name of a file, and a line


def run(module: str, *arguments: str) -> str:
    """What `python -m module` prints."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    command = [sys.executable, "-m", module, *arguments, *FILES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def mypy() -> Errors:
    found = re.findall(r"^(.+?):(\d+): error:", run("mypy", "--follow-imports=silent"), re.MULTILINE)
    return {(pathlib.Path(path).name, int(line)) for path, line in found}


def pyright() -> Errors:
    report = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable))
    errors = [d for d in report["generalDiagnostics"] if d["severity"] == "error"]
    return {(pathlib.Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in errors}


CHECKERS = {"mypy": mypy, "pyright": pyright}


def expected(checker: str) -> Errors:
    """The lines of `bad.py` that end in `# error`, or in `# error: ` and the name of the checker."""
    marks = ("# error", f"# error: {checker}")
    lines = (TYPING / "bad.py").read_text().splitlines()
    return {("bad.py", i) for i, line in enumerate(lines, 1) if line.endswith(marks)}


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_finds_every_planted_error_and_no_other(checker):
    found, planted = CHECKERS[checker](), expected(checker)
    assert len(planted) > 65
    assert sorted(planted - found) == [], "not caught"
    assert sorted(found - planted) == [], "caught where nothing is wrong"
