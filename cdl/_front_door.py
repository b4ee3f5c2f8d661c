"""Where a name is that is not at the top of a package: in which of its public modules, or in none."""

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Literal, NoReturn, TypeVar


def refuse_name(package: ModuleType, name: str) -> NoReturn:
    """**Raises:** `AttributeError`, which says in which public module of the package a name is."""
    found = [] if name[:1] == "_" else [module.__name__ for module in _modules(package) if _has(module, name)]
    where = f": it is `{found[0]}.{name}`" if found else ", and no public module of it has one"
    raise AttributeError(f"`{package.__name__}` has no `{name}`{where}.")


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """The public modules of a package as it imports them, and after all of these the ones inside them."""
    todo = [package]
    for module in todo:
        below = [x for name, x in vars(module).items() if name[:1] != "_" and isinstance(x, ModuleType)]
        below = [x for x in below if x.__name__.rpartition(".")[0] == module.__name__]
        todo += below
        yield from below


def _has(module: ModuleType, name: str) -> bool:
    """Whether a name is public in a module: in a contents page all are, in another those that it defines."""
    names = vars(module)
    return name in names and (_own(module, names[name]) or not any(_defined(module, x) for x in names.values()))


def _own(module: ModuleType, x: object) -> bool:
    """Whether a module defines this; of a constant, which does not tell, it is taken to be so."""
    if isinstance(x, ModuleType):
        return x.__name__.startswith(f"{module.__name__}.")
    silent = not isinstance(x, type | FunctionType | type(Literal) | TypeVar)
    return silent or _defined(module, x)


def _defined(module: ModuleType, x: object) -> bool:
    """Whether this is a class or a function that a module defines."""
    return isinstance(x, type | FunctionType) and x.__module__ == module.__name__
