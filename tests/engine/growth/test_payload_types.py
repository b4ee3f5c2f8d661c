"""Payloads of every type come out of a growth as the definition gives them."""

from typing import Any, Generic, Never, TypeVar

import jax.numpy as jnp
import jax.random as jr
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


def of_each(x):
    """A number of every type."""
    return {t: x > 0.5 if t == "bool" else jnp.round(x).astype(t) for t in TYPES}


def coalg(s):
    scores = jnp.stack([1.5 - s, jnp.where(s < 3, s - 1.5, 0.0), s - 3.5])
    return cdl.choose(scores, End(of_each(s)), Further(s - 1), Both(of_each(s), s / 2, s - 2))


@cdl.algebra
def read(layer):
    if isinstance(layer, Further):
        return layer.below * 3
    value = sum(jnp.real(x).astype(float) for x in layer.value.values()) + jnp.where(~layer.value["bool"], 1.0, 2.0)
    return value if isinstance(layer, End) else value + layer.left - 2 * layer.right


SEEDS = jnp.array([1.0, 0.2, 2.6, 5.25])


def test_payloads_of_every_type_keep_it():
    grown = cdl.unfold(coalg, SEEDS, 16)
    assert sorted(str(x.dtype) for x in grown.payload) == sorted(TYPES)
    assert grown.trees() == [cdl.ana(coalg)(s) for s in SEEDS]
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


@pytest.mark.parametrize("given", [lambda s: True, lambda s: s.astype(int)])
def test_a_payload_of_the_kind_of_its_annotation_is_taken(given):
    coalg = lambda s: cdl.choose(jnp.stack([1.5 - s, s - 1.5]), Counted(given(s)), Further(s - 1))
    assert cdl.unfold(coalg, SEEDS, 16).trees() == [cdl.ana(coalg)(s) for s in SEEDS]
