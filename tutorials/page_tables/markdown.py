"""Tables in Markdown, and a number with its spread over seeds."""

from collections.abc import Iterable, Sequence

import numpy as np


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A table; columns after the first `texts` are numbers, and set to the right."""
    every = [list(head), *map(list, rows)]
    widths = [max(3, *(len(row[i]) for row in every)) for i in range(len(head))]
    lines = []
    for row in every:
        cells = [
            cell.ljust(w) if i < texts else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(_line(cells))
    rule = _line(["-" * w if i < texts else "-" * (w - 1) + ":" for i, w in enumerate(widths)])
    return "\n".join([lines[0], rule, *lines[1:]])


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean and the standard deviation of a sample, with so many digits that count in the mean."""
    mean = float(np.mean(values))
    if not np.isfinite(mean):
        return "not finite"
    if mean and not 1e-3 <= abs(mean) < 1e4:
        shown = f"{mean:.{digits - 1}e}"
        return shown if len(values) < 2 else f"{shown} ± {np.std(values, ddof=1):.0e}"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(mean))))) if mean else digits
    shown = f"{mean:.{places}f}"
    return shown if len(values) < 2 else f"{shown} ± {np.std(values, ddof=1):.{places}f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
