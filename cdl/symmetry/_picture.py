"""Matrices as pictures: a tying with a letter and a colour for each of its numbers, and the generators of an action."""

import string
from collections.abc import Iterable

import numpy as np

from .._drawing.diagram import Canvas, Diagram
from ._sparse import Sparse


MOST = 48  # rows and columns that are drawn of a matrix
LISTED = 12  # numbers whose weights are counted below


def letters(dimension: int) -> list[str]:
    """A name for each number: letters, and where these do not suffice, `n0`, `n1`, …"""
    alphabet = string.ascii_lowercase + string.ascii_uppercase
    return list(alphabet[:dimension]) if dimension <= len(alphabet) else [f"n{i}" for i in range(dimension)]


def cells(factors: Sparse, shape: tuple[int, int]) -> list[list[tuple[str, int]]]:
    """Each weight as a text and a tint: `·` for zero, the letter of its number, `-` or a factor before it, `+` for a
    sum. The factors are those over the number's greatest weight."""
    names, columns = letters(factors.shape[1]), min(shape[1], MOST)
    start, numbers, values = factors.indptr, factors.indices, factors.data
    most = np.zeros(factors.shape[1])
    np.maximum.at(most, numbers, np.abs(values))

    def cell(place: int) -> tuple[str, int]:
        at = slice(start[place], start[place + 1])
        if at.stop == at.start:
            return "·", 0
        if at.stop - at.start > 1:
            return "+", 0
        number = int(numbers[at][0])
        return _multiple(values[at][0] / most[number], names[number]), number + 1

    return [[cell(i * shape[1] + j) for j in range(columns)] for i in range(min(shape[0], MOST))]


def _multiple(factor: float, name: str) -> str:
    """A name with a factor of three digits before it, where that is not 1."""
    text = f"{factor:.3g}"
    return {"1": "", "-1": "-"}.get(text, text) + name


def tying_diagram(factors: Sparse, shape: tuple[int, int]) -> Diagram:
    """The weight matrix, a colour for each number; below, how many weights each number has."""
    canvas = Canvas()
    _matrix(canvas, cells(factors, shape), 0, 0)
    canvas.notes.extend(counts(factors, shape))
    return canvas.finished()


def counts(factors: Sparse, shape: tuple[int, int]) -> list[str]:
    """How many weights each number has; and what of a large matrix is not drawn."""
    many = np.bincount(factors.indices, minlength=factors.shape[1])
    found = [f"{n} × {name}" for name, n in zip(letters(len(many)), many.tolist(), strict=True)][:LISTED]
    rest = [f"{len(many) - LISTED} more"] if len(many) > LISTED else []
    zero = int(np.sum(np.diff(factors.indptr) == 0))
    lines = [f"weights: {', '.join([*found, *rest, *([f'{zero} of zero'] if zero else [])])}"]
    if max(shape) > MOST:
        lines.append(
            f"the first {min(shape[0], MOST)} rows and {min(shape[1], MOST)} columns of {shape[0]} × {shape[1]}"
        )
    return lines


def generators_diagram(named: Iterable[tuple[str, np.ndarray]]) -> Diagram:
    """Matrices side by side, each below its name."""
    canvas, x = Canvas(), 0
    for name, matrix in named:
        values = sorted({v for v in matrix.ravel().tolist() if v})
        shown = matrix[:MOST, :MOST].tolist()
        canvas.node(name, "port", x, 0)
        width = _matrix(canvas, [[_entry(v, values) for v in row] for row in shown], x, 1)
        x += max(width, len(name)) + 3
        if len(matrix) > MOST:
            canvas.notes.append(f"{name}: the first {MOST} rows and columns of {len(matrix)}")
    return canvas.finished()


def _entry(value: float, values: list[float]) -> tuple[str, int]:
    return (f"{value:g}", values.index(value) + 1) if value else ("·", 0)


def _matrix(canvas: Canvas, rows: list[list[tuple[str, int]]], x: int, y: int) -> int:
    """The cells of a matrix, from an upper left corner; its width."""
    wide = 2 + max((len(text) for row in rows for text, _ in row), default=0)
    for i, row in enumerate(rows):
        for j, (text, tint) in enumerate(row):
            canvas.node(text, "cell", x + j * wide, y + i, width=wide, height=1, tint=tint)
    return wide * max(map(len, rows), default=0)
