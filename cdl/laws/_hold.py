"""That a law holds, and what is said where it does not."""

from typing import Any

from .._functors.difference import difference
from ..errors import LawBroken


def hold(law: str, left: Any, right: Any, tolerance: float = 0.0) -> None:
    """That the two sides are the same value.

    **Raises:** `LawBroken`, with the parts of the two sides that differ and no more.
    """
    found = difference(left, right, tolerance)
    if found is not None:
        raise LawBroken(f"{law}: the left side gives `{_text(found[0])}` where the right gives `{_text(found[1])}`.")


def _text(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 200 else text[:199] + "…"
