"""Boolean circuits, which have derivatives too: polynomials over `Z₂`, the field of two elements.

| the mathematics                                        | here                                                      |
| ------------------------------------------------------ | --------------------------------------------------------- |
| a polynomial map `Z₂ⁿ → Z₂ᵐ`                           | `Z2Map`; `f + g`, `f * g`, and `variables(n)` to begin with |
| its reverse derivative, formally                       | `R(f)`, of which `==` is equality of polynomials          |
| its value at bits, one sample in each bit of a word    | `f(words)`                                                |
| a circuit of gates                                     | optics of words: `XOR`, `AND`, `NOT`, `OR`, `COPY`, …     |
| `Z → Z₂` is a map of rings                             | `reverse(f)`: `jax.vjp`, on whole numbers mod 2           |

Polynomials are not functions here: `x²` and `x` have the same values and different derivatives, `0` and `1`. As
functions they would be equal, and the chain rule would fail: `x ↦ (x, x) ↦ x·x` would have two derivatives.

Examples:
    >>> x, y = cdl.optics.z2.variables(2)
    >>> by_x, by_y = cdl.optics.R(x * y)(
    ...     jnp.array([0b0011, 0b0101, 0b1111])
    ... )  # four samples, one in each bit
    >>> int(by_x) == 0b0101, int(by_y) == 0b0011
    (True, True)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, final, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._functors.expected import expect_fields
from .._functors.usage import whole as size, with_types
from ._category import DifferentiableMap, expect_length, expect_places, fit
from ._whole import all_of, bits, Kinds, kinds, on_whole, types, whole
from .letters import X, Y
from .optic import Optic


Monomial: TypeAlias = tuple[int, ...]  # the exponent of each variable
Polynomial: TypeAlias = frozenset[Monomial]  # the sum of these


@final
@dataclass(frozen=True)
class Z2Map(DifferentiableMap["Z2Map"]):
    """A polynomial for each output, in `source` variables.

    Examples:
        >>> x, y = cdl.optics.z2.variables(2)
        >>> disjunction = x * y + x + y
        >>> bin(disjunction(jnp.array([0b0011, 0b0101]))[0])
        '0b111'
    """

    source: int
    rows: tuple[Polynomial, ...]

    def __post_init__(self) -> None:
        expect_fields(self)

    @property
    def target(self) -> int:  # type: ignore[override]
        return len(self.rows)

    def __call__(self, x: Array, /) -> Array:
        expect_length(x, self.source)
        ones = jnp.full(x.shape[1:], -1).astype(x.dtype)
        found = [_value(row, x, ones) for row in self.rows]
        return jnp.stack(found) if found else x[:0]

    @with_types
    def __rshift__(self, other: "Z2Map") -> "Z2Map":
        fit("f >> g", self.target, other.source)
        return Z2Map(self.source, tuple(self._into(row) for row in other.rows))

    @with_types
    def __and__(self, other: "Z2Map") -> "Z2Map":
        fit("f & g", self.source, other.source)
        return Z2Map(self.source, self.rows + other.rows)

    @with_types
    def __add__(self, other: "Z2Map") -> "Z2Map":
        self._beside("f + g", other)
        return Z2Map(self.source, tuple(p ^ q for p, q in zip(self.rows, other.rows, strict=True)))

    @with_types
    def __mul__(self, other: "Z2Map") -> "Z2Map":
        self._beside("f * g", other)
        return Z2Map(self.source, tuple(_times(p, q) for p, q in zip(self.rows, other.rows, strict=True)))

    @classmethod
    @with_types
    def pick(cls, source: int, places: Sequence[int], /) -> "Z2Map":
        size("source", source, least=0)
        expect_places(source, places)
        return Z2Map(source, tuple(frozenset([_variable(source, i)]) for i in places))

    @classmethod
    @with_types
    def zero(cls, source: int, target: int, /) -> "Z2Map":
        size("source", source, least=0)
        size("target", target, least=0)
        return Z2Map(source, (frozenset(),) * target)

    def reversed(self) -> "Z2Map":
        n, m = self.source, self.target

        def by(i: int) -> Polynomial:
            """`Σⱼ ∂fⱼ/∂xᵢ · wⱼ`."""
            parts = ((e, _variable(m, j)) for j, row in enumerate(self.rows) for e in row if e[i] % 2)
            return _sum((*e[:i], e[i] - 1, *e[i + 1 :], *w) for e, w in parts)

        return Z2Map(n + m, tuple(by(i) for i in range(n)))

    def observed(self) -> Any:
        return self

    def _beside(self, what: str, other: "Z2Map") -> None:
        fit(what, self.source, other.source)
        fit(what, self.target, other.target)

    def _into(self, row: Polynomial) -> Polynomial:
        """A polynomial of the outputs, as one of the inputs."""
        one = frozenset([(0,) * self.source])
        products = []
        for monomial in row:
            value = one
            for factor, exponent in zip(self.rows, monomial, strict=True):
                for _ in range(exponent):
                    value = _times(value, factor)
            products.append(value)
        return _sum(chain.from_iterable(products))


@with_types
def variables(n: int, /) -> tuple[Z2Map, ...]:
    """The `n` variables, as maps `Z₂ⁿ → Z₂`: sums and products of them are polynomials.

    Examples:
        >>> x, y = cdl.optics.z2.variables(2)
        >>> x * y == y * x, x * x == x
        (True, False)
    """
    size("n", n, least=0)
    return tuple(Z2Map.pick(n, (i,)) for i in range(n))


@with_types
def one(n: int, /) -> Z2Map:
    """The polynomial `1`, in `n` variables.

    Examples:
        >>> (x,) = cdl.optics.z2.variables(1)
        >>> negated = x + cdl.optics.z2.one(1)
        >>> int(negated(jnp.array([0b01]))[0]) & 1
        0
    """
    size("n", n, least=0)
    return Z2Map(n, (frozenset([(0,) * n]),))


@with_types
def reverse(f: Callable[[X], Y], /) -> Optic[X, Y]:
    """A function of bits as floating numbers, made of sums and products, with its reverse derivative mod 2.

    Exact for sums and products of any length, in every floating type: it runs on whole numbers, which wrap around.

    **Raises:** `CdlError` for an operation that is neither a sum nor a product, and for a number that is not whole;
    where only a compiled program knows the number, what it gives is NaN.

    Examples:
        >>> product = cdl.optics.z2.reverse(lambda bits: bits[0] * bits[1])
        >>> product.put(jnp.array([1.0, 0.0]), jnp.array(1.0)).tolist()
        [0.0, 1.0]
    """

    def forward(x: X) -> tuple[Y, Any]:
        source = kinds(x)
        run, (y_type, pull_type) = on_whole(lambda x: jax.vjp(f, x), types(x, source))
        given, sound = whole(x)
        (y, pull), constant = run(given)
        sound = all_of([sound, constant])
        return bits(y, kinds(y_type), sound), _Residual(pull, sound, kinds(pull_type), source)

    def backward(kept: _Residual, dy: Any) -> Any:
        run, _ = on_whole(lambda pull, dy: pull(dy)[0], types(kept.pull, kept.kinds), types(dy, kinds(dy)))
        change, sound = whole(dy)
        back, _ = run(kept.pull, change)
        return bits(back, kept.source, all_of([kept.sound, sound]))

    return Optic.of(forward, backward)


class _Residual(eqx.Module):
    """A pullback of whole numbers, and the dtypes that they, and the input, have in the program that is given."""

    pull: Any
    sound: Any
    kinds: Kinds = eqx.field(static=True)
    source: Kinds = eqx.field(static=True)


def _gate(name: str, forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Optic[Any, Any, Any, Any]:
    return Optic.of(forward, backward).named(name)


XOR: Optic[tuple[Array, Array], Array] = _gate("xor", lambda xy: (xy[0] ^ xy[1], ()), lambda _, d: (d, d))
"""`x, y ↦ x + y`, and back `dz ↦ dz, dz`.

Examples:
    >>> bin(cdl.optics.to_lens(cdl.optics.z2.XOR).get((0b0011, 0b0101)))
    '0b110'
"""
AND: Optic[tuple[Array, Array], Array] = _gate(
    "and", lambda xy: (xy[0] & xy[1], xy), lambda xy, d: (xy[1] & d, xy[0] & d)
)
"""`x, y ↦ x y`, and back `dz ↦ y dz, x dz`.

Examples:
    >>> bin(cdl.optics.to_lens(cdl.optics.z2.AND).get((0b0011, 0b0101)))
    '0b1'
    >>> [bin(change) for change in cdl.optics.z2.AND.put((0b0011, 0b0101), 0b1111)]
    ['0b101', '0b11']
"""
NOT: Optic[Array, Array] = _gate("not", lambda x: (~x, ()), lambda _, d: d)
"""`x ↦ x + 1`, and back `dz ↦ dz`.

Examples:
    >>> bin(cdl.optics.to_lens(cdl.optics.z2.NOT).get(0b01) & 0b11)
    '0b10'
"""
COPY: Optic[Array, tuple[Array, Array]] = _gate("copy", lambda x: ((x, x), ()), lambda _, d: d[0] ^ d[1])
"""`x ↦ x, x`, and back `dy, dz ↦ dy + dz`.

Examples:
    >>> bin(cdl.optics.z2.COPY.put(0b01, (0b11, 0b01)))
    '0b10'
"""
DISCARD: Optic[Array, tuple[()], Array, tuple[()]] = _gate("discard", lambda x: ((), x), lambda x, _: x ^ x)
"""`x ↦ ()`, and back `() ↦ 0`.

Examples:
    >>> cdl.optics.z2.DISCARD.put(0b01, ())
    0
"""
MIDDLE: Optic[Any, Any, Any, Any] = Optic.iso(lambda v: _middle(v), lambda v: _middle(v)).named("middle four")
"""`(x, y), (z, w) ↦ (x, z), (y, w)`, and back the same.

Examples:
    >>> cdl.optics.to_lens(cdl.optics.z2.MIDDLE).get(((1, 2), (3, 4)))
    ((1, 3), (2, 4))
"""
OR: Optic[tuple[Array, Array], Array] = ((COPY @ COPY) >> MIDDLE >> (AND @ XOR) >> XOR).named("or")
"""`x, y ↦ x y + x + y`, made of the gates above.

Examples:
    >>> bin(cdl.optics.to_lens(cdl.optics.z2.OR).get((0b0011, 0b0101)))
    '0b111'
"""


def _middle(four: Any) -> Any:
    (a, b), (c, d) = four
    return (a, c), (b, d)


def _variable(n: int, i: int) -> Monomial:
    return tuple(int(i == k) for k in range(n))


def _sum(monomials: Iterable[Monomial]) -> Polynomial:
    return frozenset(monomial for monomial, count in Counter(monomials).items() if count % 2)


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    return _sum(tuple(a + b for a, b in zip(d, e, strict=True)) for d, e in product(p, q))


def _value(row: Polynomial, x: Array, ones: Array) -> Array:
    total = jnp.zeros_like(ones)
    for monomial in row:
        term = ones
        for i, exponent in enumerate(monomial):
            term = term & x[i] if exponent else term
        total = total ^ term
    return total
