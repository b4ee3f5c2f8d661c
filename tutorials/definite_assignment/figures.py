"""Figures for pages: curves that are named where they end, and a tree as an outline beside its text.

| the figure      | what it shows                                                                        |
| --------------- | ------------------------------------------------------------------------------------ |
| `curves`        | several runs of several models, with the mean of each model's                        |
| `outline`       | each node of a tree on a line, with what two algebras say there and whether they agree |

Colours are Okabe and Ito's, which all readers tell apart; what a colour says, a shape or a name says too. Matplotlib
comes with the extra `tutorials`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


BLUE, GREEN, VERMILION = "#0072B2", "#009E73", "#D55E00"
_TEXT, _FRAME, _GRID, _FAINT = "#333333", "#888888", "#EEEEEE", "#AAAAAA"
_LINE = 0.21  # the height of a line of an outline, in inches


class Curve(NamedTuple):
    """A model's curves over the same places, one for each run; those of a `main` one are drawn above the others."""

    label: str
    colour: str
    runs: Sequence[Any]
    main: bool = True


class Node(NamedTuple):
    """A node of an outline: what one algebra says, what the other says, and whether they agree (`None`: not asked)."""

    depth: int
    name: str
    exactly: str
    learnt: str
    agrees: bool | None


def curves(axes: Any, places: Sequence[float], models: Sequence[Curve], *, apart: float) -> None:
    """Draws each model's curves and their mean, with its name at the end. `apart`: between names, in units of y."""
    ends: list[tuple[float, Curve]] = []
    for model in models:
        mean = np.mean(np.asarray(model.runs), axis=0)
        if len(model.runs) > 1 and model.main:
            for run in model.runs:
                axes.plot(places, run, color=model.colour, lw=0.9, alpha=0.35, zorder=3)
        axes.plot(places, mean, color=model.colour, lw=2.2 if model.main else 1.2, zorder=4 if model.main else 2)
        ends.append((float(mean[-1]), model))
    ends.sort(key=lambda pair: pair[0])
    for height, (_, model) in zip(_spread([end for end, _ in ends], apart, *axes.get_ylim()), ends, strict=True):
        weight = "bold" if model.main else "normal"
        at = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False}
        axes.annotate(model.label, (places[-1], height), color=model.colour, fontweight=weight, fontsize=9, **at)


def _spread(heights: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The heights, from the lowest, moved as little as need be to stand apart and between two bounds."""
    spread: list[float] = []
    for height in heights:
        spread.append(max(height, low, *(other + apart for other in spread[-1:])))
    for i in range(len(spread) - 1, -1, -1):
        spread[i] = min(spread[i], high, *(other - apart for other in spread[i + 1 : i + 2]))
    return spread


def plain(axes: Any, title: str, **labels: Any) -> None:
    """Axes with no more ink than they need."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FRAME)
    axes.tick_params(colors=_TEXT, labelsize=9)
    axes.grid(color=_GRID)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", color=_TEXT)
    axes.set(**labels)


def outline(title: str, text: Sequence[str], nodes: Sequence[Node], heads: Mapping[str, str]) -> Any:
    """A figure of a text and, beside it, its tree as an outline.

    **Arguments:** `heads`: the headings of `name`, `exactly` and `learnt`.
    """
    from matplotlib import pyplot as plt

    height = max(len(nodes), len(text)) + 4
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10.5, _LINE * height), gridspec_kw={"width_ratios": [1, 1.1], "wspace": 0.03}
    )
    for axes in (left, right):
        axes.set(xlim=(0, 1), ylim=(height - 2.5, -2.5))
        axes.axis("off")
    left.text(0, -2, title, fontweight="bold", color=_TEXT)
    for i, line in enumerate(text):
        left.text(0, i + 0.5, line, family="monospace", fontsize=8.5, va="center", color=_TEXT)
    for x, head, side in ((0.0, "name", "left"), (0.46, "exactly", "left"), (1.0, "learnt", "right")):
        right.text(x, -0.5, heads[head], fontsize=9, fontweight="bold", color=_TEXT, ha=side)
    for i, node in enumerate(nodes):
        colour, _ = _MARKS[node.agrees]
        _mark(right, 0.03 * node.depth, i + 0.5, node.name, node.agrees)
        right.text(0.46, i + 0.5, node.exactly, va="center", fontsize=9, color=_FAINT if node.agrees is None else _TEXT)
        right.text(1, i + 0.5, node.learnt, va="center", fontsize=9, ha="right", color=colour)
    for x, what, agrees in ((0.0, "they agree", True), (0.24, "they differ", False), (0.48, "not asked", None)):
        _mark(right, x, len(nodes) + 1.2, what, agrees)
    return figure


_MARKS: dict[bool | None, tuple[str, str]] = {True: (BLUE, "o"), False: (VERMILION, "D"), None: (_FAINT, ".")}


def _mark(axes: Any, x: float, y: float, text: str, agrees: bool | None) -> None:
    colour, marker = _MARKS[agrees]
    axes.plot(x + 0.012, y, marker=marker, ms=6, color=colour)
    axes.text(
        x + 0.034, y, text, va="center", fontsize=9, color=colour, fontweight="bold" if agrees is False else "normal"
    )
