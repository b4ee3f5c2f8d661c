"""Circuits of one gate: every circuit here is a diagram of NAND gates, each of which answers after a tick.

| the circuit     | is a diagram of                                        | gates | ticks, at most |
| --------------- | ------------------------------------------------------ | ----- | -------------- |
| `nand()`        | itself: a Moore machine                                | 1     | 1              |
| `inverter()`    | a NAND gate, which reads one input twice               | 1     | 1              |
| `conjunction()` | NAND, and an inverter after it                         | 2     | 2              |
| `disjunction()` | two inverters, and NAND after them                     | 3     | 2              |
| `exclusive()`   | four NAND gates                                        | 4     | 3              |
| `half_adder()`  | `exclusive` for the sum, `conjunction` for the carry   | 6     | 3              |
| `full_adder()`  | two half adders and a `disjunction`                    | 15    | 7              |
| `adder(n)`      | `n` full adders, each with the carry of the one before | `15n` | `4n + 3`       |

The ticks are those of `cdl.system.latency`, which reads them off the wires: after that many ticks of constant
inputs the outputs are right. Diagrams have no state, so that nesting adds no tick. All gates are one machine, and are
computed as one.

Sources: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, figure 5, for the
disjunction; D. Vagner, D. Spivak, E. Lerman, *Algebras of open dynamical systems on the operad of wiring diagrams*,
2015, for diagrams.

Examples:
    >>> from cdl_arch.system import circuits
    >>> both = circuits.conjunction()
    >>> inputs = {"a": jnp.array([True, True]), "b": jnp.array([True, True])}
    >>> answers, _ = cdl.run(both, both.state, inputs)
    >>> answers["out"].tolist()
    [False, True, True]
"""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from cdl import MooreF
from cdl.checks import whole
from cdl.system import box, System, wire, Wired


def _nand(s: Any) -> MooreF[Any, Any, Any]:
    return MooreF({"out": s}, lambda i: ~(i["a"] & i["b"]))


def nand() -> System:
    """Shows whether its two inputs were not both true a tick ago; at first, false."""
    return box(_nand, jnp.array(False), inputs={"a": bool, "b": bool}, outputs={"out": bool}, name="nand")


def inverter() -> Wired:
    """NOT: `out` from `a`."""
    return wire({"nand": nand()}, {"nand.a": "a", "nand.b": "a"}, {"out": "nand.out"}, inputs={"a": bool}, name="not")


def conjunction() -> Wired:
    """AND: `out` from `a` and `b`."""
    return _gate({"nand": nand(), "not": inverter()}, {**_ab("nand"), "not.a": "nand.out"}, "not", "and")


def disjunction() -> Wired:
    """OR: `out` from `a` and `b`."""
    parts: dict[str, System] = {"first": inverter(), "second": inverter(), "nand": nand()}
    wires = {"first.a": "a", "second.a": "b", "nand.a": "first.out", "nand.b": "second.out"}
    return _gate(parts, wires, "nand", "or")


def exclusive() -> Wired:
    """XOR: `out` from `a` and `b`."""
    wires = {
        **_ab("both"),
        **{"left.a": "a", "left.b": "both.out", "right.a": "both.out", "right.b": "b"},
        **{"out.a": "left.out", "out.b": "right.out"},
    }
    return _gate(dict.fromkeys(("both", "left", "right", "out"), nand()), wires, "out", "xor")


def half_adder() -> Wired:
    """`sum` and `carry` of `a` and `b`."""
    return wire(
        {"xor": exclusive(), "and": conjunction()},
        {**_ab("xor"), **_ab("and")},
        {"sum": "xor.out", "carry": "and.out"},
        inputs={"a": bool, "b": bool},
        name="half adder",
    )


def full_adder() -> Wired:
    """`sum` and `carry` of `a`, `b` and `c`, the carry that comes in."""
    half = half_adder()
    return wire(
        {"first": half, "second": half, "or": disjunction()},
        {
            **_ab("first"),
            **{"second.a": "first.sum", "second.b": "c", "or.a": "first.carry", "or.b": "second.carry"},
        },
        {"sum": "second.sum", "carry": "or.out"},
        inputs={"a": bool, "b": bool, "c": bool},
        name="full adder",
    )


def adder(bits: int) -> Wired:
    """The sum of two numbers of `bits` bits and a carry: a ripple of full adders, the lowest bit first.

    Inputs `a0`, `b0`, `a1`, … and `c`; outputs `sum0`, … and `carry`.
    """
    whole("bits", bits)
    one, each = full_adder(), range(bits)
    wires = {f"bit{n}.{port}": f"{port}{n}" for n in each for port in "ab"}
    wires |= {f"bit{n}.c": f"bit{n - 1}.carry" if n else "c" for n in each}
    return wire(
        {f"bit{n}": one for n in each},
        wires,
        {**{f"sum{n}": f"bit{n}.sum" for n in each}, "carry": f"bit{bits - 1}.carry"},
        inputs={**{f"{port}{n}": bool for port in "ab" for n in each}, "c": bool},
        name=f"adder of {bits} bits",
    )


def _ab(name: str) -> dict[str, str]:
    """Both inputs of a box, from outside."""
    return {f"{name}.a": "a", f"{name}.b": "b"}


def _gate(parts: Mapping[str, System], wires: Mapping[str, str], last: str, name: str) -> Wired:
    inputs = dict.fromkeys("ab", bool)
    return wire(parts, wires, {"out": f"{last}.out"}, inputs=inputs, name=name)
