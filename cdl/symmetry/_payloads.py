"""The actions on the payloads of a constructor, as users give them: one for its payload, or one for each field."""

from collections.abc import Iterable, Mapping
from typing import Any

from .._functors.poly import Const, walk
from .._functors.read import layout
from ..errors import CdlError
from ._moving import Actions


def fields_of(kind: type[Any], given: Any, known: Iterable[type[Any]]) -> dict[str, Actions]:
    """The action of each field of a constructor, among those of a signature.

    **Raises:** `CdlError` for a constructor that is not known, and for a field that has no payload.
    """
    if kind not in known:
        names = ", ".join(each.__name__ for each in known)
        raise CdlError(f"`{getattr(kind, '__name__', kind)}` is not a constructor of the signature ({names}).")
    record = layout(kind)
    own = [n for n, f in zip(record.names, record.factors, strict=True) if any(isinstance(t, Const) for t in walk(f))]
    if not isinstance(given, Mapping):
        if len(own) != 1:
            are = ", ".join(f"`{n}`" for n in own) or "none"
            raise CdlError(
                f"`{kind.__name__}` does not have one payload, but {are}: give a dictionary from the names of its "
                "fields to actions."
            )
        given = {own[0]: given}
    for name in given:
        if name not in own:
            raise CdlError(f"`{kind.__name__}` has no payload in a field `{name}`: it has {own or 'none'}.")
    return dict(given)
