"""What is said of an architecture, as a value, and as a page of text."""

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._drawing.diagram import printable
from .._drawing.kinds import equations
from .._terms import real


MOST = 8  # how many arrays, parts or programs are listed; the rest are counted
WIDTH = 110
MEANT = re.compile(r"[<&|`*~$\\]|(?<=\])\(|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")  # `_` within a word means nothing


@dataclass(frozen=True)
class Weights:
    """An array of parameters: where it is in the architecture, its shape and type, and how many numbers it is.

    Examples:
        >>> double = cdl.Para(jnp.array(2.0), lambda p, x: p * x)
        >>> weights: cdl.explanation.Weights = cdl.explain(double, jnp.array(3.0)).parameters[0]
        >>> weights.shape, weights.size
        ('f32[]', 1)
    """

    name: str
    shape: str
    size: int


@dataclass(frozen=True)
class Checked:
    """A law that was run: the greatest difference of its two sides, over what is allowed.

    Examples:
        >>> double = cdl.Para(jnp.array(2.0), lambda p, x: p * x)
        >>> explained = cdl.explain(double, jnp.array(3.0))
        >>> law: cdl.explanation.Checked = explained.laws[0]
        >>> law.holds, law.law
        (True, 'identity() >> f = f, f >> identity() = f')
    """

    law: str
    difference: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the two sides are within the tolerance; NaN is not."""
        return self.difference <= self.tolerance

    @property
    def found(self) -> str:
        """The difference and the tolerance in words."""
        if self.difference == self.tolerance == 0:
            return "holds exactly"
        much = "different in form" if math.isinf(self.difference) else f"{self.difference:.1e}"
        return f"{'holds' if self.holds else 'FAILS'}: {much}, where {self.tolerance:.0e} is allowed"


@dataclass(frozen=True)
class Explanation:
    """An architecture explained: `str` is a page, `markdown` the same for a document.

    `functors`, one for each sort, and `type` are mathematics; `where` says what their letters are. `tying` is where
    each part of the weights is used, `laws` what was run, and `execution` how it is computed. Of a system of boxes,
    `boxes` has what stands in each.

    Examples:
        >>> double = cdl.Para(jnp.array(2.0), lambda p, x: p * x)
        >>> found = cdl.explain(double, jnp.array(3.0))
        >>> [law.holds for law in found.laws], found.type
        ([True, True, True], 'f : P × X → Y')
    """

    name: str
    kind: str
    functors: tuple[str, ...]
    type: str
    where: tuple[str, ...]
    parameters: tuple[Weights, ...]
    tying: tuple[str, ...]
    laws: tuple[Checked, ...]
    execution: tuple[str, ...]
    boxes: tuple[str, ...] = ()

    @property
    def functor(self) -> str:
        """The functor; of a family, those of all sorts as one."""
        return self.functors[0] if len(self.functors) == 1 else f"({', '.join(self.functors)})" if self.functors else ""

    @property
    def size(self) -> int:
        """How many numbers there are to learn."""
        return sum(w.size for w in self.parameters)

    @property
    def holds(self) -> bool:
        """Whether every law that was run held."""
        return all(law.holds for law in self.laws)

    @property
    def markdown(self) -> str:
        """The page as Markdown."""
        lines = [f"# {_code(printable(self.name))}, {self.kind}", ""]
        for title, body in self._sections():
            if isinstance(body[0], str):
                lines += [f"**{title}.**", "", *(f"- {_code(line)}" for line in body if isinstance(line, str)), ""]
            else:
                lines += [f"**{title}.**", "", *_table(body), ""]
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [f"{printable(self.name)}, {self.kind}"]
        for title, body in self._sections():
            lines += ["", title]
            rows = _folded(body) if isinstance(body[0], str) else _aligned(body)
            lines += [f"  {row}" for row in rows]
        return "\n".join(lines)

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _sections(self) -> Iterator[tuple[str, Sequence[str | tuple[str, ...]]]]:
        """Each title, with lines or with the rows of a table, in characters that can be printed."""
        for title, body in self._written():
            yield title, [printable(x) if isinstance(x, str) else tuple(map(printable, x)) for x in body]

    def _written(self) -> Iterator[tuple[str, Sequence[str | tuple[str, ...]]]]:
        if self.functors:
            yield "Functor" if len(self.functors) == 1 else "Functors", equations(self.functors)
        yield "Type", (self.type, *self.where)
        if self.boxes:
            yield "Boxes", self.boxes
        title = f"Parameters, P = {real(self.size)}" if self.parameters else "Parameters"
        yield title, self._weights() or ("none",)
        if self.tying:
            yield "Tying", self.tying
        yield "Laws, run", [(law.law, law.found) for law in self.laws] or ("none",)
        yield "Execution", self.execution

    def _weights(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [(w.name, w.shape, str(w.size)) for w in self.parameters[:MOST]]
        rest = self.parameters[MOST:]
        if rest:
            rows.append((f"and {len(rest)} more", "", str(sum(w.size for w in rest))))
        return rows


def cut(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    rest = len(lines) - MOST
    return (*lines[:MOST], f"… and {rest} more") if rest > 1 else tuple(lines)


def _folded(lines: Sequence[str | tuple[str, ...]]) -> list[str]:
    """Lines of no more than a page's width."""
    texts = [line for line in lines if isinstance(line, str)]
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent="    ", drop_whitespace=False, max_lines=3, placeholder=" …")
    return [row.rstrip() for text in texts for row in wrap.wrap(text)]


def _aligned(rows: Sequence[str | tuple[str, ...]]) -> list[str]:
    """The rows of a table, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _code(line: str) -> str:
    """A line as code in Markdown: between more backticks than it has in a row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    pad = " " if "`" in line else ""
    return f"{ticks}{pad}{line or ' '}{pad}{ticks}"


def _table(rows: Sequence[str | tuple[str, ...]]) -> list[str]:
    """The rows of a table in Markdown, which has no head to say."""
    head = "|" + " |" * len(rows[0])
    rule = "|" + " --- |" * len(rows[0])
    return [head, rule, *("| " + " | ".join(map(_cell, row)) + " |" for row in rows)]


def _cell(words: str) -> str:
    """A text in a cell of a table: a character that means something to Markdown or HTML is written by its number."""
    return MEANT.sub(lambda found: f"&#{ord(found[0])};", words)
