"""A pause of the garbage collector, while very many objects are made and none of them is garbage."""

import functools
import gc
from collections.abc import Callable
from typing import Any, cast, TypeVar


Function = TypeVar("Function", bound=Callable[..., Any])


def uncollected(fn: Function) -> Function:
    """The function, with the collector of cycles off while it runs, if it was on.

    It goes through all objects again each time that their number has grown by some share: half the time of making a
    large tree. What is freed by its count of references still is.
    """

    @functools.wraps(fn)
    def run(*args: Any, **options: Any) -> Any:
        on = gc.isenabled()
        gc.disable()
        try:
            return fn(*args, **options)
        finally:
            if on:
                gc.enable()

    return cast("Function", run)
