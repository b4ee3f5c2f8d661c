"""`python -m cdl_arch.demo [FILE]`: the network's answers about a file, beside the exact ones."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from returns.result import Success

from ..data import stdlib
from . import _reading
from ._compare import Answer, compare
from ._exact import BOUND, MAYBE, UNREACHABLE
from ._judge import trained


_STATES = {UNREACHABLE: "never finishes", BOUND: "bound", MAYBE: "maybe unbound"}


def main(arguments: Sequence[str]) -> int:
    """Prints a table and its summary; 1 where the file cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m cdl_arch.demo",
        description="Does each compound statement of a Python file, by itself, bind each of its names for certain? "
        "A trained tree network answers, and so does the exact algebra.",
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path(_reading.__file__), help="by default, one of ours")
    file = parser.parse_args(arguments).file
    match stdlib.parse(file):
        case Success(module):
            answers = compare(trained(), module)
        case failure:
            print(f"{file} cannot be read as Python: {failure.failure()}", file=sys.stderr)
            return 1
    print(
        f"{file}\nDoes the statement, by itself, bind the name for certain? What stands before it is not looked at.\n"
    )
    if not answers:
        print("No compound statement in this file binds a name.")
        return 0
    width = max(len("name"), *(len(answer.pair.name) for answer in answers))
    print(f"{'lines':>9}  {'name':{width}}  {'exactly':14}  {'the network':13}  its probability of bound")
    for answer in answers:
        print(_row(answer, width))
    asked = [answer.agrees for answer in answers if answer.agrees is not None]
    if asked:
        share = f"{sum(asked)} of {len(asked)} ({sum(asked) / len(asked):.1%})"
        print(f"\nThe network agrees with the exact algebra on {share}.")
    return 0


def _row(answer: Answer, width: int) -> str:
    (_, _, name, line, end), state, chance = answer
    start = f"{f'{line}-{end}':>9}  {name:{width}}  {_STATES[state]:14}"
    if answer.agrees is None:
        return f"{start}  not asked"
    said = _STATES[BOUND if chance > 0.5 else MAYBE]
    return f"{start}  {said:13}  {chance:.2f}{'' if answer.agrees else '  <- differs'}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
