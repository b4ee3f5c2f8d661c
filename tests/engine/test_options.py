"""Options: one that is not one is answered with those that are, and `help` shows all that there are."""

import importlib
import inspect
from typing import Any

from first_day import (
    corpus,
    refused,
)

from cdl import (
    annotate,
    Corpus,
    fold,
)
from cdl._front_door import is_public


def test_every_function_answers_a_misspelt_option_with_its_own():
    found = [fn for fn in public().values() if not fn.__module__.startswith("cdl.laws")]
    given = {fn: inspect.signature(fn).parameters for fn in found}
    keyword = lambda fn: any(p.kind is p.KEYWORD_ONLY for p in given[fn].values())
    found = [fn for fn in found if keyword(fn) or fn.__name__ in ("save", "load", "draw")]
    found = [corpus.pack, *(fn for fn in found if "self" not in given[fn])]
    assert {"pack", "Seq.of", "explain", "gan", "tabulate", "save"} <= {fn.__qualname__ for fn in found}
    for fn in [*found, Corpus, importlib.import_module("cdl_arch.train").train]:
        refused(f"`{fn.__qualname__}` has no option `quickly`: it takes ", lambda fn=fn: fn(quickly=True))


def public() -> dict[str, Any]:
    """Every function of `cdl` and its packages that is for users, and every method of their classes."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("cdl", importlib.import_module("cdl"))]
    seen: set[int] = set()
    while waiting:
        name, thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        inside = inspect.ismodule(thing) and thing.__name__.startswith("cdl")
        if inside or (inspect.isclass(thing) and thing.__module__.startswith("cdl")):
            members = {n: m for n, m in vars(thing).items() if not n.startswith("_")}
            if inside:  # without what a module imports for itself
                members = {n: m for n, m in members.items() if is_public(thing, n)}
            waiting += [(f"{name}.{n}", getattr(m, "__func__", m)) for n, m in members.items()]
        elif callable(thing) and inspect.isroutine(thing) and thing.__module__.startswith("cdl"):
            found[name] = thing
    return found


def test_no_public_function_hides_its_options():
    functions = public()
    assert len(functions) > 200
    assert {"fold", "run", "Seq.of", "conv", "walk"} <= {fn.__qualname__ for fn in functions.values()}
    hiding = [
        name
        for name, fn in functions.items()
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())
    ]
    assert hiding == []


def test_help_shows_the_options_of_fold_with_their_defaults():
    shown = {name: p.default for name, p in inspect.signature(fold).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert shown == dict(key=None, how=None)
    assert inspect.signature(annotate).parameters.keys() == inspect.signature(fold).parameters.keys()
    for name, meaning in shown.items():
        assert f"`{name}`" in fold.__doc__, (name, meaning)
