"""Every public function of cdl, given wrong values: prints, as JSON, what is not answered by a `CdlError`.

A program, since the test suite's checks of types would answer before cdl does.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any

import cdl.metric  # it comes in at its first use
from cdl._front_door import is_public, modules
from cdl.errors import CdlError


WRONG = (None, 3, "x", 2.5, [], {}, (), object(), object, cdl.Leaf(1.0))


def doors() -> dict[str, Callable[..., Any]]:
    """The public functions, and those of public classes that make one of them, by module and name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in modules(cdl):
        for name, x in vars(module).items():
            if name.startswith("_") or not is_public(module, name):
                continue
            if inspect.isfunction(x):
                found[f"{module.__name__}.{name}"] = x
            elif isinstance(x, type) and x.__module__.startswith("cdl."):
                makers = [n for n, of in vars(x).items() if isinstance(of, staticmethod | classmethod) and n[0] != "_"]
                found |= {f"{module.__name__}.{name}.{n}": getattr(x, n) for n in makers}
    return found


def raw(door: Callable[..., Any]) -> list[str]:
    """The errors that are not ours, of a function that is given the same wrong value in every place that it needs."""
    places = inspect.signature(door).parameters.values()
    empty = [p for p in places if p.default is p.empty]
    needed = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in empty)
    named = [p.name for p in empty if p.kind is p.KEYWORD_ONLY]
    found = []
    for wrong in WRONG:
        try:
            door(*[wrong] * needed, **dict.fromkeys(named, wrong))
        except CdlError:
            pass
        except Exception as error:
            found.append(f"{wrong!r}: {type(error).__name__}: {error}")
    return found


if __name__ == "__main__":
    print(json.dumps({name: raw(door) for name, door in doors().items()}))
