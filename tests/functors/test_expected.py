"""Annotations as arguments are compared with them: those of cdl can be read, and an error of a check is not hidden."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from cdl import Many
from cdl._functors.expected import expect_type
from cdl.errors import CdlError


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


class Called(eqx.Module):
    """A module that is called."""

    def __call__(self, layer: Any) -> Any:
        return layer


class Inherits(Called):
    """One that is called as its parent is."""


class Held(eqx.Module):
    """A module that is a record: its class is a function that makes one, and may be given as that."""

    x: Any


@pytest.mark.parametrize("kind", [Called, Inherits, eqx.nn.Linear])
def test_a_class_of_modules_that_are_called_is_refused_where_one_of_them_belongs(kind):
    with pytest.raises(
        CdlError, match=f"`f` is the class `{kind.__name__}`: make one, `{kind.__name__}\\(…\\)`, and give"
    ):
        expect_type("`f`", kind, Callable[[Any], Any])
    with pytest.raises(CdlError, match=f"takes an algebra, and was given the class `{kind.__name__}`: make one"):
        cdl.cata(kind)


def test_a_class_whose_modules_are_not_called_is_a_function():
    expect_type("`f`", Held, Callable[[Any], Any])
    assert cdl.cata(Held)(cdl.Leaf(3)).x == cdl.Leaf(3)


@pytest.mark.parametrize("module", MODULES)
def test_the_annotations_of_public_names_can_be_read(module):
    found = [
        unread(fn, vars(importlib.import_module(fn.__module__))) for fn in functions(importlib.import_module(module))
    ]
    assert [why for why in found if why] == []


def test_an_annotation_that_cannot_be_read_is_passed_over():
    expect_type("`x`", 3, ForwardRef("NotAName"))
    expect_type("`x`", 3, TypeVar("Bounded", bound="NotAName"))  # type: ignore[name-defined]  # noqa: F821


def test_an_error_of_the_check_is_not_hidden():
    class Broken(type):
        def __instancecheck__(cls, value: object) -> Never:
            raise ZeroDivisionError

    class Kind(metaclass=Broken):
        pass

    with pytest.raises(ZeroDivisionError):
        expect_type("`x`", 3, Kind)


def test_what_does_not_fit_is_told_what_it_must_be():
    with pytest.raises(CdlError, match=r"^`x` is 3, and must be `Many`"):
        expect_type("`x`", 3, Many)


@pytest.mark.parametrize(
    ("value", "hint", "words"),
    [
        (3, Callable[[Any, int], Any], "is 3, and must be a function of 2 arguments."),
        (3, Callable[..., Any], "is 3, and must be a function."),
        (
            lambda model, *more: 0,
            Callable[[], Any],
            r"a function of 0 arguments: its arguments are \(model, \*more\)\.",
        ),
        (cdl.Leaf(1), Iterable[cdl.Fix[Any]], r"is Leaf\(1\), and must be a list: write `\[…\]`, also of one\."),
        (cdl.Leaf, Collection[type[Any]], r"and must be a list: write `\[Leaf\]`, also of one\."),
        ([1], Sequence[str], r"is \[1\], and must be a list of `str`\."),
        ({"u"}, Mapping[str, Any], r"is {'u'}, and must be a `dict` from `str`: write `{'u': …}`\."),
        ([3], Mapping[str, Many], r"is \[3\], and must be a `dict` from `str` to `Many`: write `{'name': …}`\."),
        (3, Mapping[str, int] | None, "is 3, and must be a `dict` from `str` to `int` or `None`."),
    ],
)
def test_in_the_place_of_a_type_stands_what_to_write(value: Any, hint: Any, words: str):
    with pytest.raises(CdlError, match=f"{words}$"):
        expect_type("`x`", value, hint)
