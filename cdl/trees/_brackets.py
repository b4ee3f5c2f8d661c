"""Trees in brackets, as the Penn Treebank writes them: `(S (NP (DT the) (NN cat)) (VP (VBZ sits)))`.

| the mathematics | here                                                                |
| --------------- | ------------------------------------------------------------------- |
| `A × Many(X)`   | `Phrase`: a label, which may be empty, and its parts                |
| `A`             | `Word`                                                              |

`A` is what stands for a text: `str` at first, and a whole number once a `Vocabulary` has numbered the words.

A word has no brackets in it as it is written: `-LRB-` stands for `(`, and `-RRB-` for `)`. `;` does not begin a
comment: in the Penn Treebank it is a word.
"""

import re
from typing import Any, Generic, Never, NoReturn, TypeAlias, TypeVar, Union

from .._functors import Base, Fix, Many
from .._functors.origin import originate
from .._functors.usage import with_types, with_usage
from .._functors.words import an, short
from ..errors import CdlError, ForeignLayer
from ._pause import uncollected


A = TypeVar("A", covariant=True)  # a text, or its number
X = TypeVar("X", covariant=True)  # a recursive place

TOKEN = re.compile(r"[()]|[^()\s]+")
WORDS = {"-LRB-": "(", "-RRB-": ")"}
WRITTEN = {word: written for written, word in WORDS.items()}


class Brackets(Generic[A]):
    """The name of the functor of trees in brackets, whose labels and words are of type `A`.

    Examples:
        >>> tree: cdl.Fix[cdl.trees.Brackets[str]] = cdl.trees.parse_brackets("(NP (DT the) cat)")[
        ...     0
        ... ]
        >>> cdl.trees.to_brackets(tree)
        '(NP (DT the) cat)'
    """


class Phrase(Base["Brackets[A]", X], Generic[A, X]):
    """A pair of brackets: a label, which is empty where there is none, and the parts.

    Examples:
        >>> cdl.trees.parse_brackets("(DT the)")[0]
        Phrase('DT', Many([Word('the')]))
    """

    label: A
    parts: Many[X]


class Word(Base["Brackets[A]", Never], Generic[A]):
    """A word.

    Examples:
        >>> cdl.trees.to_brackets(cdl.trees.Phrase("N", cdl.Many([cdl.trees.Word("cat")])))
        '(N cat)'
    """

    word: A


BracketsF: TypeAlias = Union[Phrase[A, X], Word[A]]
"""One layer of a tree in brackets: `Phrase` or `Word`.

Examples:
    >>> str(cdl.functor(cdl.trees.BracketsF))
    'A × Many(X) + A'
"""
originate({str: Word, "phrase": Phrase}, "cdl.trees.parse_brackets(text)")


@with_types
@uncollected
def parse_brackets(text: str) -> list[Fix[Brackets[str]]]:
    """The trees in a text: files of the Penn Treebank and its kin, labelled S-expressions.

    ```python
    [tree] = cdl.trees.parse_brackets("(NP (DT the) (NN cat))")
    assert tree == Phrase(
        "NP", Many([Phrase("DT", Many([Word("the")])), Phrase("NN", Many([Word("cat")]))])
    )
    ```

    What follows an opening bracket, and is not a bracket, is the label. Where there is none, as in the outermost pair
    of `( (S …) )`, the label is `""`. The word `-LRB-` is read as `(`, and `-RRB-` as `)`; labels stay as they are.

    **Arguments:** `text`: any number of trees, as deep as memory allows.

    **Returns:** the trees, in order.

    **Raises:** `CdlError` with the line and the column, and what was expected there.

    Examples:
        >>> cdl.trees.parse_brackets("(A (B c))")
        [Phrase('A', Many([Phrase('B', Many([Word('c')]))]))]
    """
    trees: list[Fix[Brackets[str]]] = []
    parts: list[Fix[Brackets[str]]] = trees  # of the pair of brackets that is open
    above: list[tuple[list[Fix[Brackets[str]]], str, int]] = []  # of those around it: parts, label, where it opened
    label, opened, fresh = "", -1, False
    for found in TOKEN.finditer(text):
        token = found[0]
        if token == "(":
            above.append((parts, label, opened))
            parts, label, opened, fresh = [], "", found.start(), True
        elif token == ")":
            if not above:
                _refuse(text, found.start(), "`(` or the end of the text was expected, and `)` closes nothing")
            tree: Fix[Brackets[str]] = Phrase(label, Many(parts))
            parts, label, opened = above.pop()
            parts.append(tree)
            fresh = False
        elif fresh:
            label, fresh = token, False
        elif above:
            parts.append(Word(WORDS.get(token, token)))
        else:
            _refuse(text, found.start(), f"`(` was expected, and {short(token)} stands outside all brackets")
    if above:
        _refuse(text, len(text), f"`)` was expected, for the `(` at {_at(text, opened)}, and the text ends")
    return trees


@with_usage
def to_brackets(tree: Fix[Brackets[str]]) -> str:
    """The tree as text on one line, which `parse_brackets` reads as the same tree again.

    **Raises:** `CdlError` for a tree that would be read as another: a label or a word with a space or a bracket in it,
    an empty word, the word `-LRB-`, a word alone, a word that would be taken for the label of a phrase without one.

    Examples:
        >>> [tree] = cdl.trees.parse_brackets("( A (B  c) )")
        >>> cdl.trees.to_brackets(tree)
        '(A (B c))'
    """
    if not isinstance(tree, Phrase):
        raise CdlError(
            f"brackets write a `Phrase`, and the tree is {short(tree)}: write `Phrase(label, Many([…]))` around it."
        )
    pieces: list[str] = []
    todo: list[Fix[Brackets[str]] | str] = [tree]
    while todo:
        x = todo.pop()
        if isinstance(x, str):
            pieces.append(x)
        elif isinstance(x, Word):
            pieces.append(f" {WRITTEN.get(x.word) or _writable(x.word)}")
        elif isinstance(x, Phrase):
            parts = x.parts.items
            if x.label != "":
                _writable(x.label, "label")
            elif parts and isinstance(parts[0], Word):
                raise CdlError(
                    f"a phrase without a label begins with the word {short(parts[0].word)}, which would be read as its "
                    "label: give it a label."
                )
            pieces.append(f" ({x.label}")
            todo.append(")")
            todo += reversed(parts)
        else:
            raise ForeignLayer(
                f"{an(type(x).__name__)} is in the tree, and `Phrase` and `Word` are what brackets write."
            )
    return "".join(pieces)[1:]


def _writable(text: Any, what: str = "word") -> str:
    if not isinstance(text, str):
        raise CdlError(
            f"the {what} {short(text)} is not a `str`: `decode` it with the `Vocabulary` that gave it its number."
        )
    if TOKEN.fullmatch(text) is None or text in "()" or (what == "word" and text in WORDS):
        raise CdlError(f"the {what} {short(text)} would be read as another: write it without spaces and brackets.")
    return text


def _refuse(text: str, at: int, why: str) -> NoReturn:
    raise CdlError(f"{_at(text, at)}: {why}.")


def _at(text: str, at: int) -> str:
    """A position as line and column, both from 1."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
