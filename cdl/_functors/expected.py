"""Arguments and their annotations, as typeguard reads these: once for a call, never for a node."""

import re
import types
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints, Literal, Union

import numpy as np
from typeguard import check_type, TypeCheckError

from ..errors import CdlError
from .words import short


def expect_type(what: str, value: Any, hint: Any) -> None:
    """**Raises:** `CdlError` where a value does not fit an annotation."""
    try:
        check_type(bool(value) if isinstance(value, np.bool_) else value, hint)
    except TypeCheckError:
        raise CdlError(f"{what} is {short(value)}, and is to be {spelt(hint)}.") from None
    except Exception:  # an annotation that cannot be read by itself tells nothing
        return


def annotations(fn: Callable[..., Any]) -> dict[str, Any]:
    """What is annotated at each parameter; nothing, where names are not known at run time."""
    try:
        return {n: hint for n, hint in get_type_hints(fn).items() if n != "return"}
    except (NameError, TypeError):
        return {}


def is_switch(hint: Any) -> bool:
    """Whether an annotation allows truth values, words out of a few, and `None`, and nothing else."""
    if get_origin(hint) in (Union, types.UnionType):
        return all(x is type(None) or is_switch(x) for x in get_args(hint))
    return hint is bool or get_origin(hint) is Literal


def spelt(hint: Any) -> str:
    """An annotation in words."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(f'"{x}"' if isinstance(x, str) else repr(x) for x in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(map(spelt, get_args(hint)))
    if hint is bool:
        return "`True` or `False`"
    if hint is type(None):
        return "`None`"
    text = str(hint) if get_args(hint) or not hasattr(hint, "__name__") else hint.__name__
    return f"`{re.sub(r'([A-Za-z_]+[.])+', '', text)}`"
