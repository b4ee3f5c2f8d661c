"""Wires, checked: each input of a box has one driver, and both ends of a wire have one type and one unit."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from .._functors.words import short
from ..errors import PortMismatch
from ._interface import expect_join, expect_name, Interface, Port


MOST = 8  # names that an error lists


def once_each(wires: Any) -> dict[str, str]:
    """The wires by what they drive, each input once."""
    found: dict[str, str] = {}
    for pair in wires.items() if isinstance(wires, Mapping) else wires:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise PortMismatch(f"`wires` has {short(pair)}: give pairs of an input and its source, or a mapping.")
        target, source = pair
        if not isinstance(target, str) or not isinstance(source, str):
            raise PortMismatch(f"the wire from {short(source)} to {short(target)}: name one source and one input.")
        if target in found:
            raise PortMismatch(
                f"`{target}` has two drivers, `{found[target]}` and `{source}`: give it one, or a box that joins them."
            )
        found[target] = source
    return found


def expect_wires(
    boxes: Mapping[str, Interface], wires: Mapping[str, str], outputs: Mapping[str, str], inputs: Mapping[str, Port]
) -> None:
    """**Raises:** `PortMismatch` for an input without a driver, for a wire whose end is not there or has another type,
    and for an output outside that is not an output of a box."""
    wanted = {f"{box}.{port}": x for box, boxed in boxes.items() for port, x in boxed.inputs.items()}
    given = {f"{box}.{port}": x for box, boxed in boxes.items() for port, x in boxed.outputs.items()}
    sources = {**given, **inputs}
    for target, source in wires.items():
        if target not in wanted:
            turned = " It is an output: a wire is written `{input: what drives it}`." if target in given else ""
            raise PortMismatch(f"`{target}` is not an input of a box: the inputs are {listed(wanted, target)}.{turned}")
        if source not in sources:
            outside = "" if "." in source else f" For one from outside, give its type in `inputs`, `{source!r}: …`."
            raise PortMismatch(
                f"`{source}`, which drives `{target}`, is not a source: the sources are {listed(sources, source)}."
                f"{outside}"
            )
        expect_join(source, sources[source], target, wanted[target])
    for target in wanted:
        if target not in wires:
            raise PortMismatch(f"`{target}` has no driver: name an output of a box, or an input, in `wires`.")
    for name, source in outputs.items():
        expect_name("port", name)
        if source not in given:
            what = "an input, which would go through in no time" if source in inputs else "no output of a box"
            raise PortMismatch(
                f"the output `{name}` is `{source}`, {what}: the outputs of boxes are {listed(given, source)}."
            )


def listed(names: Iterable[str], like: str) -> str:
    """Some names: of many, first those that are like another one, and how many more there are."""
    every = list(names)
    order = dict.fromkeys([*(get_close_matches(like, every, 3) if len(every) > MOST else []), *every])
    found = [f"`{name}`" for name in islice(order, MOST)]
    rest = [f"and {len(every) - MOST} more"] if len(every) > MOST else []
    return ", ".join([*found, *rest]) or "none"
