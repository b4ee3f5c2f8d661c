"""Carriers: the structure of the values at the nodes of one sort."""

from dataclasses import dataclass
from typing import Any

import jax

from ..arrays.shapes import weak_as
from ._types import joined, Own


@dataclass(frozen=True)
class Carrier:
    """The structure of an algebra's values: a pytree of shapes and types."""

    structure: Any
    leaves: tuple[Any, ...]

    @classmethod
    def of(cls, own: Own) -> "Carrier":
        """That of the values like one."""
        return cls(own.structure, own.leaves)

    @property
    def own(self) -> Own:
        """A value of it."""
        return Own(self.structure, self.leaves)

    def joined(self, own: Own) -> "Carrier":
        """That of values like these, and like one more of the same structure."""
        return Carrier(self.structure, tuple(map(joined, self.leaves, own.leaves)))

    def unflatten(self, leaves: Any) -> Any:
        return jax.tree.unflatten(self.structure, list(leaves))

    def given_back(self, leaves: Any) -> Any:
        """A value as the caller gets it. Where the definition gives a Python number, it is weakly typed."""
        return self.unflatten(list(map(weak_as, leaves, self.leaves)))
