"""Payloads of every type come out of a growth as the definition gives them."""

from typing import Any, Generic, Never, TypeVar

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import cdl


X = TypeVar("X", covariant=True)
TYPES = ("bool", "int8", "uint32", "int32", "float16", "bfloat16", "complex64")


class Typed:
    """The name of a functor."""


class End(cdl.Base[Typed, Never]):
    value: Any


class Further(cdl.Base[Typed, X], Generic[X]):
    below: X


class Both(cdl.Base[Typed, X], Generic[X]):
    value: Any
    left: X
    right: X


def grow(dtype):
    def coalg(s):
        value = (s > 0.5) if dtype == "bool" else jnp.round(s).astype(dtype)
        scores = jnp.stack([1.5 - s, jnp.where(s < 3, s - 1.5, 0.0), s - 3.5])
        return cdl.choose(scores, End(value), Further(s - 1), Both(value, s / 2, s - 2))

    return coalg


@cdl.algebra
def read(layer):
    if isinstance(layer, Further):
        return layer.below * 3
    value = (
        jnp.where(~layer.value, 1.0, 2.0)
        if jnp.issubdtype(layer.value.dtype, jnp.bool_)
        else jnp.real(layer.value).astype(float)
    )
    return value if isinstance(layer, End) else value + layer.left - 2 * layer.right


SEEDS = jnp.array([1.0, 0.2, 2.6, 5.25])


@pytest.mark.parametrize("dtype", TYPES)
def test_payloads_keep_their_type(dtype):
    coalg = grow(dtype)
    grown = cdl.unfold(coalg, SEEDS, 16)
    defined = [cdl.ana(coalg)(s) for s in SEEDS]
    assert {x.dtype for x in grown.payload} == {np.dtype(dtype)}
    assert grown.trees() == defined
    values, _ = cdl.refold(read, coalg, SEEDS, 16)
    assert values.tolist() == [float(cdl.hylo(read, coalg)(s)) for s in SEEDS]
    likely = [float(cdl.likelihood(coalg, s)(tree)) for s, tree in zip(SEEDS, grown.trees(), strict=True)]
    assert jnp.allclose(grown.log_prob.sum(1), jnp.array(likely), atol=1e-6)


def test_random_keys_are_payloads_too():
    def coalg(s):
        return cdl.choose(jnp.stack([1.5 - s, s - 1.5]), End(jr.key(7)), Further(s - 1))

    @cdl.algebra
    def draw(layer):
        return jr.uniform(layer.value) if isinstance(layer, End) else 2 * layer.below

    values, _ = cdl.refold(draw, coalg, SEEDS[:3], 8)
    assert values.tolist() == [float(cdl.hylo(draw, coalg)(s)) for s in SEEDS[:3]]
    grown = cdl.unfold(coalg, SEEDS[:3], 8)
    assert grown.payload[0].dtype == jr.key(0).dtype


class Counted(cdl.Base[Typed, Never]):
    count: int


@pytest.mark.parametrize("given", [lambda s: 1, lambda s: True, lambda s: s.astype(int)])
def test_a_payload_of_the_kind_of_its_annotation_is_taken(given):
    coalg = lambda s: cdl.choose(jnp.stack([1.5 - s, s - 1.5]), Counted(given(s)), Further(s - 1))
    assert cdl.unfold(coalg, SEEDS, 16).trees() == [cdl.ana(coalg)(s) for s in SEEDS]
