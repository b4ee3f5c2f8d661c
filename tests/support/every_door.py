"""Every public function of cdl, given wrong values: prints, as JSON, what is not answered by a `CdlError`.

A program, since the test suite's checks of types would answer before cdl does.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any

import cdl
from cdl._front_door import is_public, modules
from cdl.errors import CdlError


WRONG = (None, 3, "x", 2.5, [], {}, (), object(), object, cdl.Leaf(1.0))


def doors() -> dict[str, Callable[..., Any]]:
    """The public functions, by module and name."""
    return {
        f"{module.__name__}.{name}": x
        for module in modules(cdl)
        for name, x in vars(module).items()
        if inspect.isfunction(x) and not name.startswith("_") and is_public(module, name)
    }


def raw(door: Callable[..., Any]) -> list[str]:
    """The errors that are not ours, of a function that is given the same wrong value in every place that it needs."""
    places = inspect.signature(door).parameters.values()
    needed = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in places)
    found = []
    for wrong in WRONG:
        try:
            door(*[wrong] * needed)
        except CdlError:
            pass
        except Exception as error:
            found.append(f"{wrong!r}: {type(error).__name__}: {error}")
    return found


if __name__ == "__main__":
    print(json.dumps({name: raw(door) for name, door in doors().items()}))
