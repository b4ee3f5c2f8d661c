"""Definite assignment: what is read from real files, and that three ways to answer the question agree."""

import ast
import random

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st


@pytest.fixture(scope="module")
def d():
    import definite_assignment as definite

    return definite


@pytest.fixture(scope="module")
def examples(d):
    from cdl_arch.data import stdlib

    names = [
        "json/decoder.py",
        "json/scanner.py",
        "json/tool.py",
        "glob.py",
        "getopt.py",
        "tempfile.py",
        "getpass.py",
    ]
    return d.collect([stdlib.root() / name for name in names])


def read(d, text):
    """The tree of each name, for the outermost statement of a text."""
    statement = ast.parse(text).body[0]
    return {pair.name: pair.tree for pair in d.Reader().read(statement) if pair.line == 1}


def table(d, tree):
    from cdl import cata

    return np.asarray(cata(d.exact)(tree))


def by_outcomes(d, tree):
    """The table of a tree, from where sets of concrete states arrive."""
    code = lambda states: d.MAYBE if False in states else d.BOUND if states else d.UNREACHABLE
    befores = [frozenset(), frozenset([True]), frozenset([False])]
    return np.array([[code(exit) for exit in d.outcomes(tree, before)] for before in befores]).T


QUESTIONS = [
    ("if a:\n  x = 1", "maybe"),
    ("if a:\n  x = 1\nelse:\n  x = 2", "bound"),
    ("if (x := a):\n  pass", "bound"),
    ("for x in a:\n  pass", "maybe"),
    ("for i in a:\n  if i: break\nelse:\n  x = 2", "maybe"),
    ("for i in a:\n  x = 1\n  break\nelse:\n  x = 2", "bound"),
    ("while True:\n  x = 1\n  if a: break", "bound"),
    ("while True:\n  if a: break\n  x = 1", "maybe"),
    ("while 1:\n  x = 1", "unreachable"),
    ("with a:\n  return\n  x = 1", "unreachable"),
    ("try:\n  x = 1\nexcept E:\n  pass", "maybe"),
    ("try:\n  x = 1\nexcept E:\n  return", "bound"),
    ("try:\n  pass\nexcept E:\n  x = 1\nelse:\n  x = 2", "bound"),
    ("for i in a:\n  try:\n    x = 1\n  finally:\n    break\nelse:\n  x = 2", "maybe"),
    ("match a:\n  case 1: x = 1\n  case _: x = 2", "bound"),
    ("match a:\n  case 1: x = 1\n  case _ if b: x = 2", "maybe"),
    ("match a:\n  case [x, *_]: pass\n  case x: pass", "bound"),
    ("if a:\n  def x(): y = 1\nelse:\n  class x: pass", "bound"),
    ("if a:\n  x: int\nelse:\n  x = 1", "maybe"),
]


@pytest.mark.parametrize(("text", "answer"), QUESTIONS)
def test_a_small_statement_is_answered_as_a_reader_would(d, text, answer):
    expected = {"unreachable": d.UNREACHABLE, "bound": d.BOUND, "maybe": d.MAYBE}[answer]
    tree = read(d, text)["x"]
    assert table(d, tree)[d.AFTER, d.MAYBE] == d.state_after(tree) == expected


@pytest.mark.parametrize(
    "text",
    [
        "if a:\n  x = 1\n  del x",
        "if a:\n  global x\n  x = 1",
        "try:\n  pass\nexcept E as x:\n  x = 1",
        "for i in (x := a):\n  x = 1",
        "if a:\n  [x for x in b]",
        "if a:\n  def f():\n    x = 1",
        "if a:\n  x.y = x[0] = 1",
    ],
)
def test_reader_asks_nothing_of_a_name_that_is_not_settled(d, text):
    assert "x" not in read(d, text)


def test_a_statement_is_read_without_its_names(d):
    s = d.signature
    tree = read(d, "for x in a:\n  if x: break\n  y = x\nelse:\n  await z")["x"]
    leave = s.If(s.Expr(), s.Then(s.Break(), s.Done()), s.Done())
    body = s.Then(leave, s.Then(s.Assign(), s.Done()))
    assert tree == s.For(s.Bind(), body, s.Then(s.Expr(), s.Done()))


def test_size_counts_a_block_as_one_node_and_its_members(d):
    module = ast.parse("try:\n  x = 1\nexcept A:\n  pass\nexcept B:\n  pass\nelse:\n  if a: x = 2")
    sizes = [pair.size for pair in d.Reader().read(module)]
    inner = 1 + 1 + (1 + 1) + 1
    assert sizes == [1 + (1 + 1) + (1 + 2 * (1 + 1)) + (1 + inner) + 1, inner]


def test_files_keep_their_part_and_tests_are_left_out():
    from cdl_arch.data import stdlib

    paths = stdlib.files(60)
    assert len(paths) == 60
    assert not any({"test", "tests"} & set(path.relative_to(stdlib.root()).parts) for path in paths)
    assert {stdlib.split_of(path) for path in paths} == {
        stdlib.TRAIN,
        stdlib.VALIDATION,
        stdlib.TEST,
    }
    assert [stdlib.split_of(stdlib.root() / name) for name in ("argparse.py", "shutil.py", "json/tool.py")] == SPLITS


def test_an_example_shows_its_source(d, examples):
    some = examples.pick(np.arange(0, len(examples.trees), 9))
    for tree, source in zip(some.trees, some.sources, strict=True):
        statement = next(n for n in ast.walk(ast.parse(source.path.read_text())) if _at(n, source))
        assert d.tree_of(statement, source.name) == tree
        assert source.name in source.text()
        assert f"{source.path.name}:{source.line}: {source.name}" in str(source)


SPLITS = [0, 2, 2]


def _at(node, source):
    from cdl_arch.demo._names import COMPOUND

    return isinstance(node, COMPOUND) and (node.lineno, node.end_lineno) == (
        source.line,
        source.end,
    )


def test_balancing_keeps_as_many_of_each_answer_in_each_part(d):
    states = np.array([0, 1, 2, 2, 2, 1, 1, 2, 0, 1], np.int32)
    splits = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2], np.int32)
    kept = d.balanced(states, splits)
    assert [(splits[i], states[i]) for i in kept].count((0, d.MAYBE)) == 1
    for split in range(3):
        answers = states[kept][splits[kept] == split]
        assert (answers == d.BOUND).sum() == (answers == d.MAYBE).sum()
    assert (kept == d.balanced(states, splits)).all()
    assert d.UNREACHABLE not in states[kept]


def test_exact_agrees_with_outcomes_on_real_statements(d, examples):
    small = [tree for tree, size in zip(examples.trees, examples.sizes, strict=True) if size <= 50]
    for tree in random.Random(0).sample(small, 20):
        assert (table(d, tree) == by_outcomes(d, tree)).all()


@pytest.mark.slow
def test_exact_agrees_with_outcomes_on_the_whole_library(d):
    from cdl import fold, pack

    trees = d.collect().trees
    tables = np.asarray(fold(d.exact, pack(d.DefiniteF, trees)))
    assert all((exact == by_outcomes(d, tree)).all() for exact, tree in zip(tables, trees, strict=True))


def statements(s):
    """Random trees, each part of the sort that belongs there; loops and exits wherever they may be."""
    leaf = st.sampled_from([s.Bind(), s.Return(), s.Raise(), s.Break(), s.Continue(), s.Pass()])
    place = st.sampled_from([s.Bind(), s.Expr()])

    def nested(inner):
        block = st.lists(inner, max_size=3).map(lambda many: _spine(s.Then, s.Done(), many))
        handlers = st.lists(block, max_size=2).map(lambda many: _spine(s.Except, s.NoMore(), many))
        kinds = st.sampled_from([s.Case, s.CaseAny])
        cases = st.lists(st.tuples(kinds, place, block), max_size=3).map(lambda many: _cases(s, many))
        loops = [st.builds(k, place, block, block) for k in (s.For, s.While, s.WhileTrue, s.If)]
        rest = [st.builds(s.With, place, block), st.builds(s.Try, block, handlers, block, block)]
        return st.one_of(*loops, *rest, st.builds(s.Match, cases))

    return st.recursive(leaf, nested, max_leaves=8)


def _spine(constructor, end, parts):
    for part in reversed(parts):
        end = constructor(part, end)
    return end


def _cases(s, parts):
    end = s.NoMatch()
    for kind, pattern, body in reversed(parts):
        end = kind(pattern, body, end)
    return end


@settings(max_examples=20)
@given(data=st.data())
def test_the_exact_algebra_agrees_with_both_on_any_statement(d, data):
    tree = data.draw(statements(d.signature))
    exact = table(d, tree)
    assert (exact == by_outcomes(d, tree)).all()
    chance = random.Random(0)
    for state, bound in ((d.MAYBE, False), (d.BOUND, True)):
        for walk in (d.walk(tree, chance, bound) for _ in range(6)):
            if walk.exit in (d.AFTER, d.BREAK, d.CONTINUE):
                assert exact[walk.exit, state] >= (d.BOUND if walk.bound else d.MAYBE)


def test_the_exact_algebra_is_the_same_folded(d, examples):
    from cdl import fold, pack

    trees = examples.trees[:40]
    tables = fold(d.exact, pack(d.DefiniteF, trees))
    assert tables.dtype == jnp.int32
    assert [d.state_after(tree) for tree in trees] == tables[:, d.AFTER, d.MAYBE].tolist()


def test_a_signature_is_made_from_the_classes_of_ast():
    from cdl import algebra, cata, functor
    from cdl_arch.data import python_ast

    assert len(functor(python_ast.python_ast_signature()).summands) == len(python_ast.constructors()) > 90

    @algebra
    def count(layer):
        return 1 + layer.children.sum(0)

    node = ast.parse("def f(x):\n    return [x + 1 for x in x]")
    assert cata(count)(python_ast.tree_of(node)) == sum(1 for _ in ast.walk(node))
    assert type(python_ast.tree_of(node)).__name__ == "Module"
