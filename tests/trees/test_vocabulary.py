"""Words as numbers: an injection but for unknown words, which are all 0, at every text of a tree and nowhere else."""

from typing import Generic, TypeVar

import numpy as np
from hypothesis import given, settings, strategies as st

import cdl
from cdl import Base, cata, Cons, Fork, Leaf, Many, Nil
from cdl.trees import Array, Member, Number, Object, of_json, Phrase, String, Vocabulary, Word


X = TypeVar("X", covariant=True)


class Term:
    """A signature with texts, numbers, and places of every shape."""


class Name(Base[Term, X], Generic[X]):
    name: str
    number: int
    note: str | None


class Apply(Base[Term, X], Generic[X]):
    op: str
    first: X
    second: X | None
    rest: tuple[X, ...]
    more: Many[X]


# Terms of up to some twenty nodes, with few different texts, so that they come again; a part may stand in two places.
text = st.text("ab", max_size=2)
terms = st.recursive(
    st.builds(Name, text, st.integers(-3, 3), st.none() | text),
    lambda inner: st.builds(
        Apply,
        text,
        inner,
        st.none() | inner,
        st.lists(inner, max_size=2).map(tuple),
        st.lists(inner, max_size=2).map(Many),
    ),
    max_leaves=8,
)


def encoded(vocabulary, tree):
    """The definition: a fold that writes each constructor again."""

    def again(layer):
        id = lambda word: None if word is None else vocabulary.id(word)
        if isinstance(layer, Name):
            return Name(id(layer.name), layer.number, id(layer.note))
        return Apply(id(layer.op), layer.first, layer.second, layer.rest, layer.more)

    return cata(cdl.algebra(again))(tree)


@settings(max_examples=30)
@given(st.lists(terms, min_size=1, max_size=3), terms)
def test_a_tree_is_numbered_as_by_a_fold_and_comes_back(seen, other):
    vocabulary = Vocabulary.of(seen)
    for tree in [*seen, other]:
        assert vocabulary.encode(tree) == encoded(vocabulary, tree)
    for tree in seen:
        assert vocabulary.decode(vocabulary.encode(tree)) == tree


def test_vocabulary_has_frequent_words_first():
    trees = [of_json({"a": ["b", "c", "c"]}), of_json(["d", "b"])]
    assert Vocabulary.of(trees).words == ("<unknown>", "b", "c", "a", "d")
    assert Vocabulary.of(trees, least=2).words == ("<unknown>", "b", "c")
    assert Vocabulary.of(trees, only=[Member]) == Vocabulary(("<unknown>", "a"), (Member,))
    assert Vocabulary.of(trees, unknown="b").words == ("b", "c", "a", "d")
    assert Vocabulary.of([]).words == ("<unknown>",)


def test_numbers_are_int32_and_unknown_words_are_0():
    vocabulary = Vocabulary(("?", "a", "b"))
    tree = vocabulary.encode(of_json({"b": ["a", "x", 7, True]}))
    assert tree == Object(Many([Member(2, Array(Many([String(1), String(0), Number(7), cdl.trees.Boolean(True)])))]))
    item = tree.members.items[0].value.items.items
    assert [type(x.value) for x in item] == [np.int32, np.int32, int, bool]
    assert vocabulary.decode(tree) == of_json({"b": ["a", "?", 7, True]})
    assert (len(vocabulary), list(vocabulary), vocabulary.id("b"), vocabulary.id("x")) == (
        3,
        ["?", "a", "b"],
        2,
        0,
    )
    assert [w in vocabulary for w in ("a", "x", "?", 1)] == [True, False, False, False]
    assert [vocabulary.word(i) for i in (0, np.int32(2))] == ["?", "b"]


def test_words_and_labels_may_have_a_vocabulary_each():
    (tree,) = cdl.trees.parse_brackets("(S (S a) b)")
    words, labels = Vocabulary.of([tree], only=[Word]), Vocabulary.of([tree], only=[Phrase])
    assert (words.words, labels.words) == (("<unknown>", "a", "b"), ("<unknown>", "S"))
    assert words.encode(tree) == Phrase("S", Many([Phrase("S", Many([Word(1)])), Word(2)]))
    both = labels.encode(words.encode(tree))
    assert both == Phrase(1, Many([Phrase(1, Many([Word(1)])), Word(2)]))
    assert words.decode(labels.decode(both)) == tree


def test_a_part_that_is_shared_stays_so():
    shared = Leaf("a")
    for _ in range(200):
        shared = Fork(shared, shared)
    vocabulary = Vocabulary.of([shared])
    tree = vocabulary.encode(shared)
    assert tree.left is tree.right
    assert vocabulary.decode(tree) == shared


def test_no_depth_is_too_deep():
    tree = Nil()
    for i in range(5_000):
        tree = Cons("ab"[i % 2], tree)
    vocabulary = Vocabulary.of([tree])
    assert vocabulary.words == ("<unknown>", "a", "b")
    assert vocabulary.decode(vocabulary.encode(tree)) == tree
