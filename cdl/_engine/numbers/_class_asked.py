"""Questions of which kind a number is, or of its text, refused as they are asked.

`isinstance(v, int)` and `case int():` ask a number for its class. A Python number in a definition is a traced one in a
compiled form, which is of another. `_kinds` looks for such questions in functions that read the fields of a layer. One
that is given the number itself is seen here, in the frame that asks.

`str(v)` gives the word of a tree in a definition, and the name of a traced number in a compiled form. `print(v)` and
`f"{v}"` are let through: they are mostly for a reader.
"""

import builtins
import dis
import functools
import sys
import types
from typing import Any

from ..code._bytecode import NOTHING, stored
from ..code._outside import LIBRARIES
from ._differing import Differs, is_integer, one_answer
from ._kinds import Asked, asked_at
from ._texts import value_of


def class_of(x: Any) -> type[Any]:
    """The class of a traced number. **Raises:** `Differs` where a user's function asks if it is one of Python's."""
    question, names = _asked_by_user()
    found, advice = question.asks(names, {}) if question else ("", "")
    if found:
        raise one_answer(found, advice)
    return type(x)


def text_of(x: Any) -> str:
    """The text of a traced payload. **Raises:** `Differs` where a user's function asks for that of a whole number, by
    `str`: it may be a word."""
    question, names = _asked_by_user() if is_integer(x) and not x.shape else (None, {})
    if question and value_of(question.by, names) is str:
        raise Differs(
            "asks for the text of a payload",
            "in a compiled form that is the name of a traced array. To ask for a word, compare its number, "
            '`word == words.id("and")`; to show it, write `jax.debug.print("{}", word)`.',
        )
    return repr(x)


def _asked_by_user() -> tuple[Asked | None, dict[str, Any]]:
    """The question that a user's frame may be asking just now, and what its names stand for."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith((__name__, "jaxtyping")):
        frame = frame.f_back
    if frame.f_code.co_filename.startswith(LIBRARIES) or not (question := _asked_at(frame.f_code, frame.f_lasti)):
        return None, {}
    return question, {**vars(builtins), **frame.f_globals, **frame.f_locals}


@functools.lru_cache(maxsize=4096)
def _asked_at(code: types.CodeType, offset: int) -> Asked | None:
    """The question that an instruction may be, or the first after it: a call that Python has made faster is one of two
    instructions, and then the frame is at the first."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    i = next((i for i, s in enumerate(steps) if s.offset >= offset), 0)
    return asked_at(steps, i, stored(steps, frozenset())[1])
