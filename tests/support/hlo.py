"""A reader of optimised HLO: what the bodies of its loops copy and gather.

A computation is in a loop where a `while` names it as its body or condition, or where one in a loop calls it, as a
fusion, a call, a branch or another loop.
"""

import re
from collections.abc import Iterator


HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) .*\{$")
CALLED = re.compile(r"(?:calls|to_apply|body|condition|\w+_computation)=%?([\w.\-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
LOOP = re.compile(r" while\(.*?(?:condition|body)=%?([\w.\-]+).*?(?:condition|body)=%?([\w.\-]+)")
GATHER = re.compile(r"= \w+\[(\d+).* gather\(")
COPY = re.compile(r"= \(?\w+\[(\d*)[\d,]*\].* (?:copy|copy-start)\(")


def computations(text: str) -> dict[str, list[str]]:
    """The instructions of each computation of a module, by its name."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if head := HEAD.match(line):
            lines = found.setdefault(head[1], [])
        elif line.startswith(" "):
            lines.append(line.strip())
    return found


def in_loops(found: dict[str, list[str]]) -> set[str]:
    """The names of the computations that a loop runs again and again."""
    todo = [name for lines in found.values() for line in lines for loop in LOOP.findall(line) for name in loop]
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(called for line in found[name] for called in _called(line))
    return reached


def gathered_in_loops(text: str) -> list[int]:
    """How many rows each gather in a loop reads."""
    found = computations(text)
    lines = [line for name in sorted(in_loops(found)) for line in found[name]]
    return [int(gather[1]) for line in lines if (gather := GATHER.search(line))]


def copies_in_loops(text: str, lengths: set[int]) -> list[str]:
    """The copies that loops make of arrays whose leading dimension is one of `lengths`, each with its computation."""
    found = computations(text)
    return [
        f"{name}: {line}"
        for name in sorted(in_loops(found))
        for line in found[name]
        if (copy := COPY.search(line)) and copy[1] and int(copy[1]) in lengths
    ]


def _called(line: str) -> Iterator[str]:
    yield from CALLED.findall(line)
    for names in BRANCHES.findall(line):
        yield from (name.strip().removeprefix("%") for name in names.split(","))
