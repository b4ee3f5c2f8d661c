"""Words as numbers: an injection but for unknown words, which are all 0, at every text of a tree and nowhere else."""

import dataclasses
from typing import Generic, TypeVar

import numpy as np
import pytest
from alone import run_alone
from hypothesis import given, settings, strategies as st

import cdl
from cdl import Base, cata, CdlError, Cons, Fork, Leaf, Many, MealyF, Nil, pack
from cdl.errors import PayloadMismatch
from cdl.trees import Array, JSONF, Member, Null, Number, Object, of_json, Phrase, String, Vocabulary, Word


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


def test_the_most_frequent_word_comes_first_and_of_equals_the_one_that_was_met_first():
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
    assert (len(vocabulary), list(vocabulary), vocabulary.id("b"), vocabulary.id("x")) == (3, ["?", "a", "b"], 2, 0)
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


def test_a_vocabulary_is_frozen():
    vocabulary = Vocabulary(("?", "a"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        vocabulary.words = ("?",)
    assert hash(vocabulary) == hash(Vocabulary(("?", "a")))


def test_words_and_constructors_may_be_lists():
    vocabulary = Vocabulary(["?", "a"], [Word])
    assert vocabulary == Vocabulary(("?", "a"), (Word,))
    assert vocabulary.words == ("?", "a")
    assert hash(vocabulary) == hash(Vocabulary(("?", "a"), (Word,)))
    assert Vocabulary(iter(["?", "a"])).words == ("?", "a")


def test_texts_that_are_packed_are_told_who_numbers_them():
    with pytest.raises(PayloadMismatch, match=r"number the values, as `Vocabulary.of\(trees\).encode\(tree\)`"):
        pack(JSONF, [of_json({"a": "b"})])
    with pytest.raises(PayloadMismatch, match=r"number the values, as `Vocabulary.of\(trees\).encode\(tree\)`"):
        pack(JSONF, [String(np.array("b"))])


def given_something_else() -> None:
    with pytest.raises(CdlError, match="the words of a vocabulary are `'abc'`: give texts in an order"):
        Vocabulary("abc")
    with pytest.raises(CdlError, match="the words of a vocabulary are a `set`: give texts in an order"):
        Vocabulary({"a", "b"})
    with pytest.raises(CdlError, match="the words of a vocabulary are `3`: give texts in an order"):
        Vocabulary(3)
    with pytest.raises(CdlError, match="a vocabulary has `1` among its words: each is a `str`"):
        Vocabulary(("?", 1))
    with pytest.raises(CdlError, match="has `3` among its words"):
        Vocabulary.of([Null()], unknown=3)
    with pytest.raises(CdlError, match=r"`only` has `'cat'`, which is not a constructor: .* as in `only=\[Word\]`"):
        Vocabulary.of([Null()], only=["cat"])
    with pytest.raises(CdlError, match=r"`only` is the class `Word`: give constructors, such as `\[Word\]`"):
        Vocabulary(("?",), Word)


def test_words_and_constructors_that_are_none_are_refused():
    run_alone(given_something_else)


def test_what_a_vocabulary_does_not_take_is_refused():
    with pytest.raises(CdlError, match="has the word 'a' twice, and a word has one number"):
        Vocabulary(("?", "a", "b", "a"))
    with pytest.raises(CdlError, match="a vocabulary is empty: give texts, the first of which"):
        Vocabulary(())
    with pytest.raises(CdlError, match="`only` has `Null`, which has no text"):
        Vocabulary.of([Null()], only=[Null])
    with pytest.raises(CdlError, match="`'a'` was given where a tree belongs"):
        Vocabulary.of(["a"])
    with pytest.raises(CdlError, match="`least` is 0: give at least 1"):
        Vocabulary.of([Null()], least=0)
    with pytest.raises(CdlError, match="5 is not the number of a word: those are 0 to 1"):
        Vocabulary(("?", "a")).decode(String(5))
    with pytest.raises(CdlError, match="-1 is not the number of a word"):
        Vocabulary(("?", "a")).word(-1)
    with pytest.raises(CdlError, match="`MealyF` has a function in it, so that it is a machine"):
        Vocabulary(("?", "a")).encode(MealyF(lambda i: (i, i)))
