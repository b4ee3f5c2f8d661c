"""Words as numbers: what an embedding reads.

| the mathematics                          | here                                                      |
| ---------------------------------------- | --------------------------------------------------------- |
| an injection of finitely many words in ℕ | `Vocabulary.words`: the word with the number `i` at `i`   |
| `F_str X → F_ℕ X`, at every layer        | `encode`; `decode` the other way                          |
| all words besides                        | the number 0                                              |
"""

import collections
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._functors import Base, Fix
from .._functors.described import described
from .._functors.origin import not_yet_a_tree
from .._functors.usage import whole, with_usage
from .._functors.words import short
from ..errors import CdlError
from ._texts import expect_texts, mapped, texts


@dataclass(frozen=True, init=False)
class Vocabulary:
    """Words and their numbers, frozen: `words[0]` stands for every word that is not among them.

    `only` has the constructors whose texts it numbers. Where it is empty, all texts are numbered. So labels and words
    can have a vocabulary each.

    A vocabulary that was saved as its words, in a JSON file say, is made again as `Vocabulary(words)`.

    **Raises:** `CdlError` where `words` are not texts in an order, or one is there twice; where `only` has something
    else than constructors with a text.

    Examples:
        >>> trees = cdl.trees.parse_brackets("(NP (DT the) cat)")
        >>> words = cdl.trees.Vocabulary.of(trees)
        >>> words.encode(trees[0])
        Phrase(4, Many([Phrase(2, Many([Word(1)])), Word(3)]))
        >>> words.decode(words.encode(trees[0])) == trees[0]
        True
    """

    words: tuple[str, ...]
    only: tuple[type[Any], ...] = ()

    @with_usage
    def __init__(self, words: Iterable[str], only: Iterable[type[Any]] = ()) -> None:
        if isinstance(words, str | Set) or not isinstance(words, Iterable):
            raise CdlError(
                f"the words of a vocabulary are {described(words)}: give texts in an order, such as "
                '`Vocabulary(["<unknown>", "a", "b"])`. `Vocabulary.of(trees)` finds them.'
            )
        if isinstance(only, str) or not isinstance(only, Iterable):
            raise CdlError(f"`only` is {described(only)}: give constructors, such as `[Word]`.")
        object.__setattr__(self, "words", tuple(words))
        object.__setattr__(self, "only", tuple(only))
        if (wrong := next((word for word in self.words if not isinstance(word, str)), None)) is not None:
            raise CdlError(f"a vocabulary has {described(wrong)} among its words: each is a `str`.")
        expect_texts(self.only)
        if not self.words:
            raise CdlError("a vocabulary is empty: give texts, the first of which stands for all that are unknown.")
        if len(self._number) < len(self.words):
            (twice, _), *_ = collections.Counter(self.words).most_common(1)
            raise CdlError(f"a vocabulary has the word {short(twice)} twice, and a word has one number: leave one out.")

    @staticmethod
    @with_usage
    def of(
        trees: Iterable[Fix[Any]],
        *,
        only: Collection[type[Any]] = (),
        least: int = 1,
        unknown: str = "<unknown>",
    ) -> "Vocabulary":
        """The words of some trees: the texts in their payloads.

        **Arguments:**

        - `trees`: the trees to learn from, and not those to test on.
        - `only`: the constructors whose texts are words; by default all. One that is in none of the trees adds no word.
        - `least`: how often a word has to occur to get a number.
        - `unknown`: what `decode` writes for 0. It has the number 0 itself, if it is met.

        **Returns:** a vocabulary with the most frequent word first, and of equally frequent ones the one that was
        met first.

        **Raises:** `CdlError` where something that is not a tree is given, and where `only` has anything other than
        constructors with a text.
        """
        chosen = tuple(only)
        expect_texts(chosen)
        count: collections.Counter[str] = collections.Counter()
        encoded: list[Any] = []
        for tree in trees:
            _expect_tree(tree)
            count.update(texts(tree, chosen))
            if not count and not encoded:
                encoded += texts(tree, chosen, np.int32)
        if encoded and not count:
            raise CdlError(
                f"the trees have no text, and {short(encoded[0])} where one belongs: they are encoded. Give the trees "
                "that they were encoded from."
            )
        least = whole("least", least)
        kept = (word for word, times in count.most_common() if times >= least and word != unknown)
        return Vocabulary((unknown, *kept), chosen)

    def __len__(self) -> int:
        """How many numbers there are: the rows of an embedding."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether a word has a number other than 0."""
        return self._number.get(word, 0) > 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def id(self, word: str) -> int:
        """The number of a word; 0 for one that is unknown. **Raises:** `CdlError` for what is not a text."""
        if not isinstance(word, str):
            raise CdlError(f"`id` is of a word, and was given {described(word)}: give a `str`.")
        return self._number.get(word, 0)

    def word(self, number: int | np.integer[Any]) -> str:
        """The word of a number. **Raises:** `CdlError` where there is none."""
        try:
            i = operator.index(number)
        except TypeError:
            i = -1
        if not 0 <= i < len(self.words):
            raise CdlError(f"{short(number)} is not the number of a word: those are 0 to {len(self.words) - 1}.")
        return self.words[i]

    def encode(self, tree: Fix[Any]) -> Fix[Any]:
        """The tree with the number of each word, an `np.int32`, in the word's place. What is not a text stays.

        The texts are in the fields that are annotated `str`, `str | None`, or with a type variable.

        **Raises:** `CdlError` where something that is not a tree is given.
        """
        number, zero = self._numbers, self._numbers[self.words[0]]
        return self._mapped(tree, lambda v: number.get(v, zero) if isinstance(v, str) else v)

    def decode(self, tree: Fix[Any]) -> Fix[Any]:
        """The tree with the word of each number in its place: `decode(encode(tree)) == tree` where all are known.

        Numbers are looked for where `encode` looks for texts.

        **Raises:** `CdlError` where something that is not a tree is given, or a number has no word.
        """
        words = self._words
        return self._mapped(tree, lambda v: (words.get(v) if type(v) is np.int32 else None) or self._decoded(v))

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def _words(self) -> dict[Any, str]:
        return dict(enumerate(self.words))

    def _decoded(self, value: Any) -> Any:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return self.word(value) if whole else value

    @cached_property
    def _numbers(self) -> dict[Any, np.int32]:
        return {word: np.int32(i) for i, word in enumerate(self.words)}

    def _mapped(self, tree: Fix[Any], f: Callable[[Any], Any]) -> Fix[Any]:
        _expect_tree(tree)
        return mapped(tree, f, self.only)


def _expect_tree(tree: Any) -> None:
    if not isinstance(tree, Base):
        raise CdlError(
            f"{described(tree)} was given where a tree belongs: a vocabulary is of trees, and maps one at a time."
            f"{not_yet_a_tree(tree)}"
        )
