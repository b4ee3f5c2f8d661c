"""Where a name is that is not at the top of a package: in which of its public modules, or in none."""

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import NoReturn


def refuse_name(package: ModuleType, name: str) -> NoReturn:
    """**Raises:** `AttributeError`, which says in which public module of the package a name is."""
    found = [] if name[:1] == "_" else [module.__name__ for module in modules(package) if is_public(module, name)]
    where = f": it is `{found[0]}.{name}`" if found else ", and no public module of it has one"
    raise AttributeError(f"`{package.__name__}` has no `{name}`{where}.")


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """The public modules of a package as it imports them, and after all of these the ones inside them."""
    todo = [package]
    for module in todo:
        below = [x for name, x in vars(module).items() if name[:1] != "_" and isinstance(x, ModuleType)]
        below = [x for x in below if x.__name__.rpartition(".")[0] == module.__name__]
        todo += below
        yield from below


def is_public(module: ModuleType, name: str) -> bool:
    """Whether a name is public in a module: in a contents page all are, in another those that it defines."""
    names = vars(module)
    return name in names and (_own(module, name) or not any(_defined(module, x) for x in names.values()))


def _own(module: ModuleType, name: str) -> bool:
    """Whether a module defines this name. A type that is not a class is annotated as an alias where it is defined;
    another constant, which does not tell, is taken for the module's."""
    x = vars(module)[name]
    if isinstance(x, type | FunctionType):
        return _defined(module, x)
    if isinstance(x, ModuleType):
        return x.__name__ == f"{module.__name__}.{name}"
    alias = type(x).__module__ in ("typing", "types", "typing_extensions")
    return not alias or name in vars(module).get("__annotations__", ())


def _defined(module: ModuleType, x: object) -> bool:
    """Whether this is a class or a function that a module defines."""
    return isinstance(x, type | FunctionType) and x.__module__ == module.__name__
