"""Which port a machine asks for that there is not: found by a second call, with dictionaries that tell."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import jax


class NoPort(KeyError):
    """A name that was looked up in the values of ports, and is none of them."""


class Asked(dict[Any, Any]):
    """The values of ports, which tell a name that is none of theirs from any other look-up."""

    def __missing__(self, name: Any) -> Any:
        raise NoPort(name)


def _apart(x: Asked) -> tuple[list[Any], tuple[Hashable, ...]]:
    return list(x.values()), tuple(x)


jax.tree_util.register_pytree_node(Asked, _apart, lambda names, values: Asked(zip(names, values, strict=True)))


def no_port(call: Callable[..., Any], *ports: Mapping[str, Any]) -> str | None:
    """The name of the port that a function looks up and that there is not; `None` where it fails by something else."""
    try:
        jax.eval_shape(lambda *given: (call(*given), ())[1], *map(Asked, ports))
    except NoPort as error:
        return str(error)
    except Exception:
        return None
    return None
