"""What the network and the exact algebra say of each statement of a module and each name that it binds."""

import ast
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np

from cdl import fold, pack

from ._exact import BOUND, exact, state_of, UNREACHABLE
from ._judge import Judge
from ._reading import Pair, Reader
from .signature import DefiniteF


class Answer(NamedTuple):
    """A question and both answers: the exact state after the statement, and the network's probability of bound."""

    pair: Pair
    state: int
    chance: float

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same; `None` where the statement never finishes normally."""
        return None if self.state == UNREACHABLE else (self.chance > 0.5) == (self.state == BOUND)


def compare(judge: Judge, module: ast.AST) -> list[Answer]:
    """Asks both about a module, in the order of the text. All statements are read in one forest."""
    pairs = Reader().read(module)
    if not pairs:
        return []
    forest = pack(DefiniteF, [pair.tree for pair in pairs])
    states = np.asarray(state_of(fold(exact, forest)))
    chances = np.asarray(jax.nn.sigmoid(eqx.filter_jit(judge)(forest)))
    return [Answer(pair, int(s), float(p)) for pair, s, p in zip(pairs, states, chances, strict=True)]
