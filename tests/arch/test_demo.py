"""The trained network that comes with the package: its answers about a file, beside the exact ones."""

import ast

import pytest


pytest.importorskip("safetensors")

from cdl_arch.demo import _judge as shipped, BOUND, compare, MAYBE, trained, UNREACHABLE
from cdl_arch.demo.__main__ import main


TEXT = """\
if a:
    x = 1
else:
    x = 2
if a:
    y = 1
while True:
    z = 1
"""


def test_the_trained_network_answers_as_the_exact_algebra_does():
    answers = compare(trained(), ast.parse(TEXT))
    assert [(answer.pair.name, answer.state) for answer in answers] == [("x", BOUND), ("y", MAYBE), ("z", UNREACHABLE)]
    assert [answer.agrees for answer in answers] == [True, True, None]


def test_the_weights_are_small():
    assert shipped.WEIGHTS.stat().st_size < 200_000


def test_without_a_file_it_reads_one_of_its_own(capsys):
    assert main([]) == 0
    assert "The network agrees with the exact algebra on" in capsys.readouterr().out


def test_a_file_that_binds_nothing_is_said_to(tmp_path, capsys):
    (tmp_path / "empty.py").write_text("x = 1\n")
    assert main([str(tmp_path / "empty.py")]) == 0
    assert "No compound statement in this file binds a name." in capsys.readouterr().out


def test_a_file_that_is_not_python_is_named(tmp_path, capsys):
    (tmp_path / "wrong.py").write_text("if:\n")
    assert main([str(tmp_path / "wrong.py")]) == 1
    told = capsys.readouterr().err
    assert "wrong.py cannot be read as Python" in told
    assert "(wrong.py, line 1)" in told
