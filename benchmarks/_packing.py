"""What packing costs beside a training step: from objects each time, or from a corpus that was flattened once."""

from typing import Any

import numpy as np

import cdl

from ._clock import Entry, in_turn, seconds
from ._problems import problem


def packing(name: str, width: int, trees: int, rounds: int) -> dict[str, Any]:
    """Milliseconds to pack a problem's trees, both ways."""
    given = problem(name, width, trees)
    took, corpus = seconds(lambda: cdl.Corpus(given.signature, given.trees))
    batch = np.random.default_rng(0).permutation(len(corpus))
    entries = [
        Entry("pack", lambda: cdl.pack(given.signature, given.trees).payload, rounds),
        Entry("corpus", lambda: corpus[batch].payload, rounds),
    ]
    return {"corpus once": 1e3 * took, **in_turn(entries)}
