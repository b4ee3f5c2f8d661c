"""Make constraints.txt: exact versions for the oldest Python and the newest, from what `pip freeze` says in each.

`python tools/constraints.py OLDEST.txt NEWEST.txt > constraints.txt`, where each file is the freeze of an environment
with every extra but `bench` (CONTRIBUTING.md). Only names and versions are kept: no paths, no local versions.
"""

import re
import sys


HEAD = """\
# What cdl is tested with: on Python 3.11 where a line says so, and on newer ones. Made by tools/constraints.py.
# These are constraints (`pip install -c constraints.txt ...`), so a package is installed only where it is needed.
"""
NOT_PINNED = re.compile(r"cdl[-_]jax|pip|setuptools|wheel|torch.*|nvidia.*|triton|flax|pytest-benchmark|py-cpuinfo\d?")
PIN = re.compile(r"([\w.-]+)==([\w.]+)(?:\+\w+)?\s*$")


def pins(freeze: str) -> dict[str, str]:
    """The version of each package of a freeze, by the name that all spellings of it share."""
    found = filter(None, map(PIN.match, freeze.splitlines()))
    names = {re.sub(r"[-_.]+", "-", pin[1]).lower(): pin[2] for pin in found}
    return {name: version for name, version in names.items() if not NOT_PINNED.fullmatch(name)}


def constraints(oldest: dict[str, str], newest: dict[str, str]) -> str:
    """One line for each package, two where the two Pythons differ."""
    lines = []
    for name in sorted(oldest | newest):
        old, new = oldest.get(name), newest.get(name)
        if old and new and old != new:
            lines += [f'{name}=={old} ; python_version < "3.12"', f'{name}=={new} ; python_version >= "3.12"']
        else:
            lines.append(f"{name}=={old or new}")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    freezes = []
    for path in sys.argv[1:3]:
        with open(path) as file:
            freezes.append(pins(file.read()))
    print(constraints(*freezes), end="")
