"""Trees in brackets: what is read is written again, and what is not in brackets is refused with line and column."""

import pytest
from alone import run_alone
from doors import refused
from hypothesis import given, settings, strategies as st

from cdl import CdlError, functor, Leaf, Many
from cdl.errors import ForeignLayer
from cdl.trees import BracketsF, parse_brackets, Phrase, to_brackets, Word


PTB = """
( (S (NP-SBJ (DT The) (NN cat) (-LRB- -LRB-) (: ;) (-RRB- -RRB-))
     (VP (VBZ sits) (NP (-NONE- *T*-1))) (. .)))

( (X (3 (2 It) (4 's))) )
"""

# Trees of up to some twenty nodes: labels and words of letters, digits, `;`, quotes and hyphens; words that are
# brackets; phrases without a label, which then do not begin with a word; phrases without parts.
tokens = st.text("ab1;'-*", min_size=1, max_size=3)
words = st.builds(Word, tokens | st.sampled_from("()"))
trees = st.recursive(
    st.builds(lambda label, parts: Phrase(label, Many(parts)), tokens, st.lists(words, max_size=2)),
    lambda inner: (
        st.builds(lambda parts: Phrase("", Many(parts)), st.lists(inner, max_size=3))
        | st.builds(lambda label, parts: Phrase(label, Many(parts)), tokens, st.lists(inner | words, max_size=4))
    ),
    max_leaves=8,
)


@settings(max_examples=50)
@given(st.lists(trees, max_size=3))
def test_a_tree_that_is_written_is_read_again(some):
    assert parse_brackets("\n".join(map(to_brackets, some))) == some


def test_the_penn_treebank_is_read():
    first, second = parse_brackets(PTB)
    assert str(functor(BracketsF)) == "A × Many(X) + A"
    (sentence,) = first.parts.items
    subject, _, _ = sentence.parts.items
    assert (first.label, sentence.label, subject.label) == ("", "S", "NP-SBJ")
    leaves = [Phrase(label, Many([Word(word)])) for label, word in [("DT", "The"), ("NN", "cat"), ("-LRB-", "(")]]
    assert subject.parts.items == (*leaves, Phrase(":", Many([Word(";")])), Phrase("-RRB-", Many([Word(")")])))
    assert to_brackets(second) == "( (X (3 (2 It) (4 's))))"
    assert parse_brackets(to_brackets(first)) == [first]
    assert parse_brackets("  ") == []
    assert parse_brackets("(S () x)") == [Phrase("S", Many([Phrase("", Many()), Word("x")]))]
    assert parse_brackets("()(a)( b)") == [Phrase("", Many()), Phrase("a", Many()), Phrase("b", Many())]


def test_no_depth_is_too_deep():
    text = "(S " * 5_000 + "x" + ")" * 5_000
    (tree,) = parse_brackets(text)
    assert to_brackets(tree) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S\n (NP x)", r"line 2, column 8: `\)` was expected, for the `\(` at line 1, column 1, and the text ends"),
        ("(S\n (NP x", r"for the `\(` at line 2, column 2"),
        ("(S)\n )", r"line 2, column 2: `\(` or the end of the text was expected, and `\)` closes nothing"),
        ("(S)\n\n(T) x (U)", r"line 3, column 5: `\(` was expected, and 'x' stands outside all brackets"),
    ],
)
def test_an_error_names_the_line_the_column_and_what_was_expected(text, message):
    with pytest.raises(CdlError, match=message):
        parse_brackets(text)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Word("a"), r"a text is of phrases, and Word\('a'\) is none"),
        (Phrase("a b", Many()), "the label 'a b' would be read as another"),
        (Phrase("(", Many()), r"the label '\(' would be read as another"),
        (Phrase("a", Many([Word("")])), "the word '' would be read as another"),
        (Phrase("a", Many([Word("b)")])), r"the word 'b\)' would be read as another"),
        (Phrase("a", Many([Word("-LRB-")])), "the word '-LRB-' would be read as another"),
        (Phrase("a", Many([Word("b\u2003")])), "would be read as another"),
        (Phrase("a", Many([Word(3)])), "the word 3 is not a `str`: `decode` it"),
        (Phrase("", Many([Word("a")])), "a phrase without a label begins with the word 'a', which would be read as"),
    ],
)
def test_a_tree_that_would_be_read_as_another_is_not_written(tree, message):
    with pytest.raises(CdlError, match=message):
        to_brackets(tree)


def test_a_tree_of_another_signature_is_not_written():
    with pytest.raises(ForeignLayer, match="a `Leaf` is in the tree, and `Phrase` and `Word` are what brackets write"):
        to_brackets(Phrase("a", Many([Leaf(1)])))


def doors() -> None:
    assert refused(parse_brackets, "(NP cat)") == []
    assert refused(to_brackets, Phrase("NP", Many([Word("cat")]))) == []


def test_what_is_not_a_text_or_a_tree_in_brackets_is_refused():
    run_alone(doors)
