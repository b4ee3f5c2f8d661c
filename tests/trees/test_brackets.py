"""Trees in brackets: what is read is written again, and what is not in brackets is refused with line and column."""

from hypothesis import given, settings, strategies as st

from cdl import functor, Many
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
        | st.builds(
            lambda label, parts: Phrase(label, Many(parts)),
            tokens,
            st.lists(inner | words, max_size=4),
        )
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
    assert subject.parts.items == (
        *leaves,
        Phrase(":", Many([Word(";")])),
        Phrase("-RRB-", Many([Word(")")])),
    )
    assert to_brackets(second) == "( (X (3 (2 It) (4 's))))"
    assert parse_brackets(to_brackets(first)) == [first]
    assert parse_brackets("  ") == []
    assert parse_brackets("(S () x)") == [Phrase("S", Many([Phrase("", Many()), Word("x")]))]
    assert parse_brackets("()(a)( b)") == [
        Phrase("", Many()),
        Phrase("a", Many()),
        Phrase("b", Many()),
    ]


def test_no_depth_is_too_deep():
    text = "(S " * 5_000 + "x" + ")" * 5_000
    (tree,) = parse_brackets(text)
    assert to_brackets(tree) == text
