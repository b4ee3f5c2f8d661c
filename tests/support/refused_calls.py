"""Tables of calls that are refused: what a user reads, whose Python checks no types at run time."""

from collections.abc import Callable, Iterable
from typing import Any

import jaxtyping
import pytest


def table(*rows: tuple[Callable[..., Any], type[Exception], str]) -> pytest.MarkDecorator:
    """Parametrises a test by rows: a call, the class of its error, and words of the message."""
    params = [pytest.param(*row, id=row[2]) for row in rows]
    return pytest.mark.parametrize(("call", "error", "words"), params)


def each(
    values: Iterable[Any], call: Callable[[Any], Any], error: type[Exception], words: str, /
) -> list[tuple[Callable[..., Any], type[Exception], str]]:
    """A row for the call of each of the values."""
    return [(lambda x=x: call(x), error, words) for x in values]


def refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    """Asserts that the call raises the error, and that its message, or a note, has each of the words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        with pytest.raises(error) as caught:
            call()
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert all(word in said for word in words.split()), said
