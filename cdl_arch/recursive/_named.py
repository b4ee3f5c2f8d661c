"""What a network has for each constructor, found by name; what is of one form is held in stacks."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast, Self, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.tree_util import DictKey, register_pytree_with_keys_class

from cdl.schemes import Stacked


M = TypeVar("M")


@register_pytree_with_keys_class
class Named(Mapping[str, M]):
    """A mapping from names to modules, as a pytree. `fold` reads a stack as it is, where it would stack the modules of
    a `dict` at every step.

    `held` has the modules that stand alone, by their names, and stacks of the modules of several constructors, by what
    their forms are called. `named["If"]` is that of the constructor `If`, also where it is in a stack.

    Examples:
        >>> from cdl_arch.recursive import Named, tree_rnn
        >>> cells: Named = tree_rnn(
        ...     cdl.TreeF, 4, payload={cdl.Leaf: 10}, key=jax.random.key(0)
        ... ).cells
        >>> sorted(cells)
        ['0 places, 0 groups', '2 places, 0 groups']
    """

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def __getitem__(self, name: str) -> M:
        for key, found in self.held.items():
            if not isinstance(found, Stacked):
                if key == name:
                    return cast("M", found)
            elif kind := next((k for k in found.constructors if k.__name__ == name), None):
                return cast("M", found[kind])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        for key, found in self.held.items():
            yield from (kind.__name__ for kind in found.constructors) if isinstance(found, Stacked) else (key,)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Named({self.held!r})"

    def tree_flatten_with_keys(self) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
        return [(DictKey(name), found) for name, found in self.held.items()], tuple(self.held)

    @classmethod
    def tree_unflatten(cls, names: tuple[str, ...], found: Any) -> Self:
        return cls(dict(zip(names, found, strict=True)))


def named(modules: dict[str, M], kinds: dict[str, type[Any]], form: Callable[[str], str | None]) -> Named[M]:
    """These modules, in stacks where several are of one form.

    **Arguments:** `kinds`: the constructors of those that may be in a stack, by the modules' names. `form`: what the
    form of a module is called, from its name; `None` where it is to stand alone.
    """
    forms: dict[str, list[str]] = {}
    for name in kinds:
        if (called := form(name)) is not None:
            forms.setdefault(called, []).append(name)
    held: dict[str, Any] = dict(modules)
    for called, names in forms.items():
        if len(names) > 1:
            held[called] = _stack([held.pop(name) for name in names], tuple(kinds[name] for name in names))
    return Named(held)


def _stack(modules: list[M], kinds: tuple[type[Any], ...]) -> Stacked[M]:
    arrays, rest = zip(*(eqx.partition(module, eqx.is_array) for module in modules), strict=True)
    return Stacked(eqx.combine(jax.tree.map(lambda *xs: jnp.stack(xs), *arrays), rest[0]), kinds)
