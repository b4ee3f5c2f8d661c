"""The first network, run whole and small: its bounds, its checkpoints, its answers about a file, and its programs."""

import json
import pathlib
import re
import runpy
import shutil
import sys
from contextlib import redirect_stdout, suppress

import pytest
from alone import run_alone


pytestmark = pytest.mark.slow  # a minute and a half; CI runs it

SCRIPT = pathlib.Path(__file__).parents[2] / "tutorials" / "first_network.py"
MINE = """\
def f(items):
    for item in items:
        x = item
        break
    else:
        x = None
    while True:
        if x:
            y = x
            break
    return y

if f([]):
    z = 1
"""


def every_run():
    """Three runs of the script, in the folder that Python is in: what each prints goes into a file there."""
    import functools

    import matplotlib
    import optax

    from cdl_arch import train as module

    matplotlib.use("Agg")
    for name in (
        "chain",
        "adamw",
        "clip_by_global_norm",
    ):  # one optimiser for every run, and so one set of programs
        setattr(optax, name, functools.cache(getattr(optax, name)))
    pathlib.Path("early").mkdir()
    save = module.save

    def keeping(path, run):
        save(path, run)
        if run.epoch == 1:  # as if the run had been broken off here
            save(pathlib.Path("early") / path.name, run)

    module.save = keeping
    run("whole", "--out", "whole")
    module.save = save
    run("resumed", "--out", "early", "--resume")
    pathlib.Path("mine.py").write_text(MINE)
    run("mine", "--out", "whole", "--check", "mine.py")


def run(name, *words):
    sys.argv = [str(SCRIPT), "--tiny", *words]
    with open(f"{name}.txt", "w") as file, redirect_stdout(file):
        with suppress(SystemExit):  # it answers about a file, and ends
            runpy.run_path(str(SCRIPT), run_name="first_network")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first-network")
    run_alone(every_run, folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def outcome(folder):
    return json.loads((folder / "whole" / "outcome-tiny.json").read_text())


def test_every_model_is_trained_on_both_tasks_and_beats_chance(outcome):
    accuracy = outcome["accuracy"]
    assert set(accuracy) == {"majority", "bag", "pairs", "paths", "gated", "Tree-LSTM", "GRU"}
    for tasks in accuracy.values():
        assert all(0 <= share <= 1 for shares in tasks.values() for share in shares)
    assert sum(accuracy["gated"]["same"]) / 2 > 0.65
    assert accuracy["paths"]["same"][0] > 0.7
    assert accuracy["majority"]["same"] == [0.5]


def test_three_figures_are_saved(folder):
    for name in ("learning-curves", "accuracy-by-size", "one-statement"):
        assert (folder / "whole" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_broken_run_that_is_resumed_comes_to_the_same_numbers(folder, outcome):
    resumed = json.loads((folder / "early" / "outcome-tiny.json").read_text())
    assert resumed["accuracy"] == outcome["accuracy"]


def test_both_algebras_are_asked_about_a_file_of_the_readers(folder):
    printed = (folder / "mine.txt").read_text()
    assert re.search(r"mine.py: 5 .*\n* *bound: +2,.*\n* *maybe unbound: +3,", printed, re.DOTALL)
