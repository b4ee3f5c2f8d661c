"""Which missing port a machine looks up: found by a second call, with dictionaries that raise `NoPort`."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import jax


class NoPort(KeyError):
    """A name that was looked up among ports, and names none."""


class Asked(dict[Any, Any]):
    """The values of ports. A look-up of another name raises `NoPort`, and not only `KeyError`."""

    def __missing__(self, name: Any) -> Any:
        raise NoPort(name)


def _flattened(x: Asked) -> tuple[list[Any], tuple[Hashable, ...]]:
    return list(x.values()), tuple(x)


jax.tree_util.register_pytree_node(Asked, _flattened, lambda names, values: Asked(zip(names, values, strict=True)))


def no_port(call: Callable[..., Any], *ports: Mapping[str, Any]) -> str | None:
    """The name of a missing port that a function looks up; `None` where it fails for another reason."""
    try:
        jax.eval_shape(lambda *given: (call(*given), ())[1], *map(Asked, ports))
    except NoPort as error:
        return str(error)
    except Exception:
        return None
    return None
