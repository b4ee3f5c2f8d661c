"""Cases of which a few run at once, and all of them with the slow tests.

What takes seconds for each case says here which of its cases catch most: the suite runs those.
"""

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], *at_once: int) -> list[Any]:
    """The cases; those that are not at one of the places `at_once` are slow ones."""
    each = list(cases)
    assert at_once
    assert set(at_once) <= set(range(len(each)))
    return [case if i in at_once else slow(case) for i, case in enumerate(each)]


def slow(case: Any) -> Any:
    """A case that runs with the slow tests; the parameters of one are a tuple or a single value."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
