"""Every public function answers what it cannot take with a sentence of ours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    program = [sys.executable, str(ROOT / "tests/support/every_door.py")]
    here = tmp_path_factory.mktemp("doors")  # some write files
    ran = subprocess.run(program, cwd=here, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


def test_every_public_function_is_tried(answers: dict[str, list[str]]) -> None:
    assert len(answers) > 180
    assert {
        "cdl.schemes.cata",
        "cdl.laws.monad",
        "cdl.io.save",
        "cdl.learning.losses.mse",
        "cdl.system.Port.of",
    } <= set(answers)


def test_a_wrong_value_is_refused_in_our_words(answers: dict[str, list[str]]) -> None:
    assert {door: errors for door, errors in answers.items() if errors} == {}
