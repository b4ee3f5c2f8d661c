"""A law of maps takes three functions, each in its place: one that stands in another's is told, with both named."""

from collections.abc import Callable
from typing import Any

from .._functors import Base
from .._functors.described import described
from .._functors.words import first_line, short
from .._schemes import Algebra
from ..errors import CdlError, ForeignLayer


Fn = Callable[[Any], Any]


def maps_of_algebras(usage: str, h: Fn, alg: Fn, other: Fn) -> tuple[Fn, Fn, Fn]:
    """The map and the two algebras, each of which tells where it is called with what it does not take.

    **Arguments:** `usage`: how the law is called, as in `"fusion(h, alg, other, tree)"`.

    **Raises:** when one is called, `CdlError` where it fails, and where an `Algebra` is given what is not a layer.
    """
    order = f"`h` maps the values of `alg` to those of `other`, and these two read layers. Write `{usage}`."
    return (
        _in_place("h", h, "a value of `alg`", order),
        _in_place("alg", alg, "a layer", order),
        _in_place("other", other, "a layer", order),
    )


def maps_of_coalgebras(usage: str, h: Fn, coalg: Fn, other: Fn, *, of: str = "coalg") -> tuple[Fn, Fn, Fn]:
    """The map and the two coalgebras, as above. `of`: the name of the argument `coalg`.

    **Raises:** when one is called, `CdlError` where it fails, `ForeignLayer` where a coalgebra does not give a layer.
    """
    order = f"`h` maps the seeds of `{of}` to those of `other`, and these two give layers. Write `{usage}`."
    return (
        _in_place("h", h, f"a seed of `{of}`", order),
        _giving_layers(of, coalg, f"a seed of `{of}`", order),
        _giving_layers("other", other, "a value of `h`", order),
    )


def _in_place(name: str, fn: Fn, what: str, order: str) -> Fn:
    def called(x: Any) -> Any:
        if isinstance(fn, Algebra) and not isinstance(x, Base):
            raise CdlError(
                f"`{name}` is {described(fn)}, which reads layers, and is called with `{short(x)}`, {what}: {order}"
            )
        try:
            return fn(x)
        except CdlError:
            raise
        except (TypeError, AttributeError) as error:
            raise CdlError(
                f"`{name}` is {described(fn)}, and fails on `{short(x)}`, {what} ({first_line(error)}): {order}"
            ) from error

    return called


def _giving_layers(name: str, fn: Fn, what: str, order: str) -> Fn:
    called = _in_place(name, fn, what, order)

    def checked(seed: Any) -> Any:
        layer = called(seed)
        if not isinstance(layer, Base):
            raise ForeignLayer(
                f"`{name}` is {described(fn)}, and gives `{short(layer)}`, which is not a layer: {order}"
            )
        return layer

    return checked
