"""Instances with one mistake, planted to break one law, and the test that they break that one alone."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from cdl._functors.difference import difference
from cdl.errors import LawBroken


def breaks(law: str, check: Callable[[], None], *sides: Any) -> None:
    """That of all the equations that a law function compares this one alone fails, and that the error names it.

    **Arguments:** `check`: calls the law function, twice the same way: it runs once to its end, where what fails is
    only written down, and once as users call it. `sides`: the two sides that the error shows, if given.
    """
    failed: set[str] = set()

    def write_down(name: str, left: Any, right: Any, tolerance: float = 0.0, *, at: str = "") -> None:
        if difference(left, right, tolerance) is not None:
            failed.add(name)

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("cdl.laws._") and hasattr(module, "hold") and not name.endswith("._hold"):
                patch.setattr(module, "hold", write_down)
        check()
    assert failed == {law}
    shown = "the left side gives `{}` where the right gives `{}`.".format(*sides) if sides else "the left side gives"
    with pytest.raises(LawBroken, match=f"^{re.escape(law)}(, at the (layer|seed) `.*`)?: {re.escape(shown)}"):
        check()


def wrong_at(f: Callable[..., Any], answers: dict[Any, Any]) -> Callable[..., Any]:
    """A function that is another one but at these arguments, of which it gives these answers."""
    return lambda *x: answers[x[0]] if len(x) == 1 and x[0] in answers else answers[x] if x in answers else f(*x)
