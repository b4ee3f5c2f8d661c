"""The words of errors: a value in few characters, a name with its article, a number of things."""

import re
import reprlib
from typing import Any


LONG = 80  # characters: what is longer is cut
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = LONG


def short(value: Any) -> str:
    """The `repr` of a value on one line, cut where it is long: of a list, only the first few are written at all.

    Examples:
        >>> cdl.checks.short(list(range(1000)))
        '[0, 1, 2, 3, 4, 5, ...]'
    """
    try:
        text = " ".join(_repr.repr(value).split())
    except ValueError:  # an integer of very many digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def an(name: str) -> str:
    """A name of the code with its article: "a `list`", "an `Obj`".

    Examples:
        >>> cdl.checks.an("list"), cdl.checks.an("Obj")
        ('a `list`', 'an `Obj`')
    """
    vowel = re.match(r"(?!un[ai]|uint|us|eu|one)[aeiou]", str(name), re.IGNORECASE)
    return f"{'an' if vowel else 'a'} `{name}`"


def number_of(thing: str, number: int) -> str:
    """A number of things: "1 sort", "2 sorts".

    **Arguments:** `thing`: its name, in the singular. `number`: how many.

    Examples:
        >>> cdl.checks.number_of("sort", 1), cdl.checks.number_of("sort", 2)
        ('1 sort', '2 sorts')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def first_line(error: Exception) -> str:
    """What an error says first; its kind, where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]
