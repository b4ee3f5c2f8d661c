"""Optics, lenses and maps with a derivative that do not fit are refused by name."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

from cdl import CdlError, Lens, Optic, Para, ParaOptic
from cdl.errors import PortMismatch
from cdl.optics import DifferentiableMap, SmoothMap, Z2Map


def matrix(rows: int, columns: int, source: Any = None) -> Any:
    para = Para(jnp.ones((rows, columns)), lambda w, x: w @ x)
    return ParaOptic.of(para, source=source, name=f"to {rows}")


ISO, LENS = Optic.iso(lambda x: x, lambda dy: dy), Lens(lambda x: x, lambda x, dy: dy)
FOUR, THREE = matrix(4, 2, (2,)), matrix(3, 4, (4,))
JOIN = ParaOptic.of(Para((), lambda _, pair: jnp.append(pair[0], 1.0)))
SQUARES = SmoothMap(2, 2, lambda x: x * x)


def kind(of: type[DifferentiableMap[Any]]) -> list[tuple[Callable[[], object], type, str]]:
    two, three = of.identity(2), of.identity(3)
    return [
        (lambda: two >> three, PortMismatch, ">> 2 3"),
        (lambda: two & three, PortMismatch, "& 2 3"),
        (lambda: two + of.pick(2, (0,)), PortMismatch, "+ 2 1"),
        (lambda: of.pick(2, (0, 4)), PortMismatch, "pick 4 2"),
        # JAX would read the last number in place of one that is missing.
        (lambda: three(jnp.zeros(2, bool if of is Z2Map else float)), PortMismatch, "3 (2,)"),
    ]


ROWS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: THREE >> FOUR, PortMismatch, "4 3 f32[3] f32[2]"),
    (lambda: FOUR >> matrix(2, 3), PortMismatch, "<2,3> f32[4] (3,)"),
    (lambda: (FOUR @ FOUR) >> JOIN >> THREE, PortMismatch, "3 f32[5]"),
    (lambda: (ISO @ ISO).get((1.0,)), CdlError, "pair tuple"),
    (lambda: (LENS @ LENS).put((1.0, 2.0), {0: 1.0, 1: 2.0}), CdlError, "pair"),
    (lambda: Optic.swap().get(3.0), CdlError, "pair tuple"),
    (lambda: SQUARES(jnp.array([1, 2])), CdlError, "floating (2,)"),
    (lambda: SmoothMap(2, 3, lambda x: x * x)(jnp.ones(2)), PortMismatch, "target 3 (2,)"),
    *kind(SmoothMap),
    *kind(Z2Map),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[words for *_, words in ROWS])
def test_optics_refuse(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as told:
        call()
    assert [word for word in words.split() if word not in str(told.value)] == []
