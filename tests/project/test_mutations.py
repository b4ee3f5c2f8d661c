"""The tests catch what an author may do wrong: of the mutants of a module, those that live are known, with a reason."""

import pathlib

import pytest
from mutants import mutants
from mutated import MODULES
from mutation import ROOT, survivors


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path, module in MODULES.items() if module.equivalent is not None])
def test_no_mutant_lives_but_those_that_no_test_can_catch(path):
    module = MODULES[path]
    living, known = survivors(path, module.tests, sample=module.sample), module.equivalent or {}
    assert [name for name in living if name not in known] == []
    assert module.sample is not None or [name for name in known if name not in living] == []


def test_every_law_has_its_mutants_tried():
    laws = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cdl" / "laws").glob("_[a-z]*.py")}
    assert laws <= {path for path, module in MODULES.items() if module.equivalent is not None and not module.sample}


def test_modules_and_their_tests_are_where_they_are_said_to_be():
    named = [
        *MODULES,
        *(test.partition("::")[0] for module in MODULES.values() for test in module.tests),
    ]
    assert [path for path in named if not (ROOT / path).exists()] == []


SOURCE = '''
def bounded(x: int, most: "int | None" = 3) -> int:
    """At most so many."""
    check(x)
    if x > most and not done:
        raise ValueError
    match x:
        case 0:
            return [a - 1 for a in b if a]
        case _:
            return x if x else zip(a, strict=True)
'''


def test_mutants_are_the_small_changes_and_are_named_by_them():
    assert [mutant.name.removeprefix("bounded: ") for mutant in mutants(SOURCE)] == [
        "`3` is `4`",
        "`check(x)` is left out",
        "`if x > most and (not done)` is negated",
        "`if x > most and (not done)` never holds",
        "`if x > most and (not done)` always holds",
        "`x > most and (not done)` is `x > most or not done`",
        "`x > most` is `x >= most`",
        "`not done` is `done`",
        "`raise ValueError` is left out",
        "`case 0` is left out",
        "`case _` is left out",
        "`0` is `1`",
        "`[a - 1 for a in b if a]` is `[a - 1 for a in b]`",
        "`a - 1` is `a + 1`",
        "`1` is `2`",
        "`x if x else zip(a, strict=True)` is `x if not x else zip(a, strict=True)`",
        "`x if x else zip(a, strict=True)` is `x`",
        "`x if x else zip(a, strict=True)` is `zip(a, strict=True)`",
    ]
    assert len({mutant.source for mutant in mutants(SOURCE)}) == len(mutants(SOURCE))


LITTLE = """
def down(n):
    while n > 0:
        n -= 1
    return n + 0
"""


@pytest.mark.slow
def test_survivors_catches_failures_and_what_does_not_end(tmp_path: pathlib.Path):
    (tmp_path / "little.py").write_text(LITTLE)
    (tmp_path / "test_little.py").write_text("import little\n\ndef test_down():\n    assert little.down(3) == 0\n")
    (tmp_path / "test_other.py").write_text("def test_nothing():\n    pass\n")
    living = survivors("little.py", ["test_little.py"], root=tmp_path, limit=2)
    assert living == ["down: `n + 0` is `n - 0`"]
    assert (tmp_path / "little.py").read_text() == LITTLE
    with pytest.raises(AssertionError, match="No test imports little"):
        survivors("little.py", ["test_other.py"], root=tmp_path)
