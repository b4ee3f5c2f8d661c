"""Words: the elements of the free monoid on the names of generators."""

from typing import TypeAlias

from .._functors import Monoid
from .._functors.words import short
from ..errors import CdlError


Word: TypeAlias = tuple[str, ...]
"""An element of the free monoid on names: a tuple of them, the last acting first.

Examples:
    >>> word: cdl.symmetry.Word = ("shift", "shift")
    >>> cdl.symmetry.groups.cyclic(4)(word, jnp.arange(4.0)).tolist()
    [2.0, 3.0, 0.0, 1.0]
"""
WORDS: Monoid[Word] = Monoid((), lambda m, n: (*m, *n))
"""The free monoid on names: a product is one word after the other.

Examples:
    >>> cdl.symmetry.WORDS.combine(("shift",), ("mirror", "shift"))
    ('shift', 'mirror', 'shift')
"""


def word_of(word: str | Word) -> Word:
    """A word as it is; a name is a word of one. Functions that take a word begin with this.

    **Raises:** `CdlError` for what is not made of names.

    Examples:
        >>> cdl.symmetry.word_of("shift"), cdl.symmetry.word_of(("shift", "mirror"))
        (('shift',), ('shift', 'mirror'))
    """
    found = (word,) if isinstance(word, str) else word
    if not isinstance(found, tuple | list) or not all(isinstance(name, str) for name in found):
        raise CdlError(f"{short(word)} is not a word: give a name of a generator, or a tuple of names.")
    return tuple(found)
