"""Questions of which kind a number is, refused as they are asked.

`isinstance(v, int)` and `case int():` ask a number for its class. A Python number in a definition is a traced one in a
compiled form, which is of another. `_kinds` looks for such questions in functions that read the fields of a layer. One
that is given the number itself is seen here, in the frame that asks.
"""

import builtins
import dis
import functools
import sys
import types
from typing import Any

from ._bytecode import last, line, named, NOTHING, stored
from ._differing import Differs
from ._kinds import Asked
from ._outside import LIBRARIES


def class_of(x: Any) -> type[Any]:
    """The class of a traced number. **Raises:** `Differs` where a user's function asks if it is one of Python's."""
    frame = sys._getframe(1)
    if not frame.f_code.co_filename.startswith(LIBRARIES) and (asked := _asked_at(frame.f_code, frame.f_lasti)):
        question, advice = asked.asks({**vars(builtins), **frame.f_globals, **frame.f_locals}, {})
        if question:
            raise Differs(
                f"asks {question}",
                f"in a compiled form every number is an array, and the answer is always the same, so {advice}.",
            )
    return type(x)


@functools.lru_cache(maxsize=4096)
def _asked_at(code: types.CodeType, offset: int) -> Asked | None:
    """The question that an instruction may be."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in NOTHING]
    i = next((i for i, s in enumerate(steps) if s.offset == offset), 0)
    step, before = steps[i], steps[:i]
    local = stored(steps, frozenset())[1]
    if step.opname == "MATCH_CLASS":
        return Asked(line(step), of=named(last(before[:-1], 1), local))
    if step.opname == "CALL" and (by := named(last(before, (step.arg or 0) + 2), {})[:1]):
        return Asked(line(step), by[0], named(last(before, 1), local))
    return None
