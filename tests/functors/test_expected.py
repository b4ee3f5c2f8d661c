"""Annotations as arguments are compared with them: those of cdl can be read, and an error of a check is not hidden."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, ForwardRef, get_type_hints, Never, TypeVar

import equinox as eqx
import pytest
from typeguard import (
    check_type_internal,
    CollectionCheckStrategy,
    ForwardRefPolicy,
    TypeCheckConfiguration,
    TypeCheckError,
    TypeCheckMemo,
)

import cdl
from cdl._functors.expected import expect_type


VALUES: list[Any] = [object(), 3, (1, 2), lambda x: x, [], "x", {}]

FOUND = [name for _, name, _ in pkgutil.walk_packages(cdl.__path__, "cdl.")]
MODULES = ["cdl", *(name for name in FOUND if "._" not in name)]


def functions(module: Any) -> Iterator[Any]:
    """The functions that a module makes public, and its classes with their methods."""
    for name, made in vars(module).items():
        if name.startswith("_") or not str(getattr(made, "__module__", "")).startswith("cdl"):
            continue
        if inspect.isclass(made):
            yield made
            methods = (getattr(x, "__func__", x) for x in vars(made).values())
            yield from (x for x in methods if inspect.isfunction(x) and x.__module__.startswith("cdl"))
        elif inspect.isfunction(made):
            yield made


def unread(fn: Any, where: dict[str, Any]) -> str | None:
    """Why an annotation of a function cannot be compared with a value, if so."""
    config = TypeCheckConfiguration(ForwardRefPolicy.ERROR, None, CollectionCheckStrategy.FIRST_ITEM)
    try:
        for hint in get_type_hints(fn).values():
            for value in VALUES:
                try:
                    check_type_internal(value, hint, TypeCheckMemo(where, {}, config=config))
                except TypeCheckError:
                    pass
    except Exception as error:
        return f"{fn.__module__}.{fn.__qualname__}: {error!r}"
    return None


class Held(eqx.Module):
    """A module that is a record: its class is a function that makes one, and may be given as that."""

    x: Any


def test_expect_type_takes_a_class_of_records_as_a_function():
    expect_type("`f`", Held, Callable[[Any], Any])
    assert cdl.cata(Held)(cdl.Leaf(3)).x == cdl.Leaf(3)


@pytest.mark.parametrize("module", MODULES)
def test_the_annotations_of_public_names_can_be_read(module):
    found = [
        unread(fn, vars(importlib.import_module(fn.__module__))) for fn in functions(importlib.import_module(module))
    ]
    assert [why for why in found if why] == []


def test_expect_type_passes_over_what_cannot_be_read():
    expect_type("`x`", 3, ForwardRef("NotAName"))
    expect_type("`x`", 3, TypeVar("Bounded", bound="NotAName"))  # type: ignore[name-defined]  # noqa: F821


def test_expect_type_does_not_hide_an_error_of_the_check():
    class Broken(type):
        def __instancecheck__(cls, value: object) -> Never:
            raise ZeroDivisionError

    class Kind(metaclass=Broken):
        pass

    with pytest.raises(ZeroDivisionError):
        expect_type("`x`", 3, Kind)
