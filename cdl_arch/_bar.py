"""The progress of a training, as a bar with tqdm."""

import sys
from typing import Any


class Bar:
    """A progress bar of epochs; nothing where it is not wanted, or tqdm is not installed."""

    def __init__(self, title: str, begun: int, epochs: int, wanted: bool | None) -> None:
        self.bar: Any = None
        if sys.stderr.isatty() if wanted is None else wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=epochs, initial=begun, desc=title, unit="epoch", leave=False)

    def advance(self, run: Any) -> None:
        if self.bar is not None:
            at = run.epoch - 1
            self.bar.set_postfix(loss=f"{run.losses[at]:.4f}", score=f"{run.scores[at]:.4f}")
            self.bar.update()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()
