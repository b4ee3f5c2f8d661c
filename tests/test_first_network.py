"""The first network, run whole and small: its bounds, its checkpoints, its answers about a file, and its programs."""

import json
import pathlib
import runpy
import sys

import pytest


pytestmark = pytest.mark.slow  # compiles every model of the page; CI runs the page itself, whole

SCRIPT = pathlib.Path(__file__).parent.parent / "tutorials" / "first_network.py"
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


class Ran:
    """One run of the script in a folder: what it printed, what it saved, and the names it left."""

    def __init__(self, folder, *more):
        self.folder, self.words = folder, [str(SCRIPT), "--tiny", "--out", str(folder), *more]

    def __call__(self, monkeypatch, capsys):
        import matplotlib

        matplotlib.use("Agg")
        monkeypatch.setattr(sys, "argv", self.words)
        capsys.readouterr()
        try:
            self.names = runpy.run_path(str(SCRIPT), run_name="first_network")
        except SystemExit:
            self.names = {}
        self.printed = capsys.readouterr().out
        return self

    @property
    def outcome(self):
        return json.loads((self.folder / "outcome-tiny.json").read_text())


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def whole(tmp_path_factory, patch):
    """A run of all of it, whose checkpoints after the first epoch are kept in a folder of their own."""
    import functools
    import io
    import types
    from contextlib import redirect_stdout

    import optax

    from cdl_arch import train as module

    for name in ("chain", "adamw", "clip_by_global_norm"):  # one optimiser for every run, and so one set of programs
        patch.setattr(optax, name, functools.cache(getattr(optax, name)))
    folder, early = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("early")
    save = module.save

    def keeping(path, run):
        save(path, run)
        if run.epoch == 1:
            save(early / path.name, run)

    patch.setattr(module, "save", keeping)
    text = io.StringIO()
    quiet = types.SimpleNamespace(readouterr=lambda: types.SimpleNamespace(out=text.getvalue()))
    with redirect_stdout(text):
        ran = Ran(folder)(patch, quiet)
    patch.setattr(module, "save", save)
    ran.early = early
    return ran


def test_every_model_is_trained_on_both_tasks_and_beats_chance(whole):
    accuracy = whole.outcome["accuracy"]
    assert set(accuracy) == {"majority", "bag", "pairs", "paths", "gated", "Tree-LSTM", "GRU"}
    for tasks in accuracy.values():
        assert all(0 <= share <= 1 for shares in tasks.values() for share in shares)
    assert sum(accuracy["gated"]["same"]) / 2 > 0.65
    assert accuracy["paths"]["same"][0] > 0.7
    assert accuracy["majority"]["same"] == [0.5]


def test_each_part_is_balanced_and_the_counts_are_printed(whole):
    counts = whole.outcome["counts"]
    assert all(many > 0 and many % 2 == 0 for many in counts.values())
    assert all(f"{name}: {many:5,} trees" in whole.printed for name, many in counts.items())


def test_a_run_of_a_tree_network_compiles_at_most_four_programs(whole):
    programs = whole.outcome["programs"]
    assert {"gated, same", "gated, large", "Tree-LSTM, same", "Tree-LSTM, large"} <= set(programs)
    assert all(many <= 4 for what, many in programs.items() if "GRU" not in what)
    assert programs["gated, same"] >= 1


def test_three_figures_are_saved(whole):
    for name in ("learning-curves", "accuracy-by-size", "one-statement"):
        assert (whole.folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_broken_run_that_is_resumed_comes_to_the_same_numbers(whole, patch, capsys):
    resumed = Ran(whole.early, "--resume")(patch, capsys)
    assert resumed.outcome["accuracy"] == whole.outcome["accuracy"]


def test_both_algebras_are_asked_about_a_file_of_the_readers(whole, patch, capsys, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    printed = Ran(whole.folder, "--check", str(mine))(patch, capsys).printed
    assert f"{mine}: 5 questions, 0 of them about statements that never finish normally" in printed
    assert "bound:     2, and the network agrees at" in printed
    assert "maybe unbound:     3, and the network agrees at" in printed
    assert "all of it took" not in printed


def test_a_file_that_is_no_python_is_said_to_be_none(whole, patch, capsys, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("if if")
    assert f"{bad} cannot be read" in Ran(whole.folder, "--check", str(bad))(patch, capsys).printed
