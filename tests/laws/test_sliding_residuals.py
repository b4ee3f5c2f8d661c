"""The sliding law where the residual is moved: it has another type and size on each side, and no way back.

A rectifier keeps its whole input, or one bit of each number. Words that were joined are cut again by the words
themselves, or by their lengths. Both ways are one lens; an optic that reads its residual's type or size is not.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import close
from hypothesis import given, settings, strategies as st
from planted import breaks

from cdl import laws, Lens, Optic, to_optic
from cdl.optics import to_lens


SHAPE = (4, 3)
matrices = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=12, max_size=12).map(
    lambda numbers: np.array(numbers, np.float32).reshape(SHAPE)
)


def rectify(x: Any) -> Any:
    """The value, and the whole input as the residual: `f32[4, 3]`."""
    return jnp.maximum(x, 0), x


def signs(x: Any) -> Any:
    """One bit of each number: from `f32[4, 3]` to `u8[2]`. Many inputs have the same."""
    return jnp.packbits(x > 0)


def masked(bits: Any, dy: Any) -> Any:
    return jnp.where(jnp.unpackbits(bits, count=dy.size).reshape(dy.shape) > 0, dy, 0)


KEEPS_BITS = Optic.of(lambda x: (rectify(x)[0], signs(x)), masked)
KEEPS_ALL = Optic.of(rectify, lambda x, dy: masked(signs(x), dy))


@settings(max_examples=20)
@given(matrices, matrices)
def test_a_rectifier_that_keeps_bits_is_one_that_keeps_its_input(x, dy):
    laws.sliding(rectify, signs, masked, x, dy)
    by_jax = jax.vjp(jax.nn.relu, x)[1](dy)[0]
    for lens in (to_lens(KEEPS_BITS), to_lens(KEEPS_ALL), Lens(jax.nn.relu, lambda x, dy: masked(signs(x), dy))):
        close(lens.put(x, dy), by_jax, 0.0)
    close(to_optic(to_lens(KEEPS_BITS)).put(x, dy), by_jax, 0.0)  # whose residual is the whole input again


words = st.lists(st.text("abc", max_size=4), max_size=4).map(tuple)


def cut(lengths: Any, text: str) -> Any:
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple(text[at : at + length] for at, length in zip(starts, lengths, strict=True))


join = lambda parts: ("".join(parts), parts)
sizes = lambda parts: tuple(map(len, parts))


@settings(max_examples=20)
@given(words, st.text("xyz", max_size=16))
def test_words_are_cut_again_by_the_words_or_by_their_lengths(parts, text):
    laws.sliding(join, sizes, cut, parts, text)
    lens = Lens(lambda parts: "".join(parts), lambda parts, text: cut(sizes(parts), text))
    assert to_optic(lens).put(parts, text) == Optic.of(lambda p: ("".join(p), sizes(p)), cut).put(parts, text)
    assert lens.put(parts, lens.get(parts)) == parts


def weighed(ahead: Any, back: Any) -> Any:
    """An optic whose way back depends on how much it keeps."""
    return Optic.of(ahead, lambda kept, dy: back(kept, dy) * kept.nbytes)


def shows(ahead: Any, back: Any) -> Any:
    """An optic whose value depends on the type of what it keeps."""
    return Optic.of(lambda x: (ahead(x)[0] + ahead(x)[1].dtype.itemsize, ahead(x)[1]), back)


def half(ahead: Any, back: Any) -> Any:
    """An optic that keeps its residual in half precision: what is very small is lost before it is slid, not after."""
    shorter = lambda kept: kept.astype(jnp.float16) if jnp.issubdtype(kept.dtype, jnp.floating) else kept
    return Optic.of(lambda x: (ahead(x)[0], shorter(ahead(x)[1])), back)


@pytest.mark.parametrize(("by", "side"), [(weighed, "put"), (shows, "get"), (half, "put")])
def test_an_optic_that_reads_the_type_or_the_size_of_its_residual_does_not_slide(by, side):
    x, dy = jnp.full(SHAPE, 1e-9), jnp.ones(SHAPE)
    laws.sliding(rectify, signs, masked, x, dy)
    law = f"`((1 × m) ∘ f, b) = (f, b ∘ (m × 1))`, {side}"
    breaks(law, lambda: laws.sliding(rectify, signs, masked, x, dy, by=by))
