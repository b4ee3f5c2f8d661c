"""Types are checked at run time in this suite, and what is wrong does raise: planted calls, under jaxtyping's hook."""

import importlib
import sys
import textwrap

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
import typeguard
from jaxtyping import AnnotationError, install_import_hook, TypeCheckError


PLANTED = """
    import dataclasses
    from collections.abc import Sequence
    from typing import Generic, NamedTuple, Self, TYPE_CHECKING, TypeVar, Union
    import equinox as eqx
    from jaxtyping import Array, Float, Int
    from typing_extensions import TypeAliasType

    if TYPE_CHECKING:
        from somewhere import Unknown

    T = TypeVar("T")
    B = TypeVar("B", bound="Box")
    Vector = Float[Array, " n"]
    Boxed = TypeAliasType("Boxed", "tuple[T, Box[T]]", type_params=(T,))

    def dot(x: Float[Array, " n"], y: Float[Array, " n"]) -> Float[Array, ""]:
        return (x * y).sum()

    def first(x: Int[Array, "n d"]) -> Int[Array, " d"]:
        return x[:, 0]

    def total(*xs: float, **named: int) -> float:
        return sum(xs) + sum(named.values())

    Nested = Union[int, "list[Nested]"]

    class Row(NamedTuple):
        index: int
        names: "tuple[str, ...]" = ()

    class Strange(NamedTuple):
        field: "Unknown"

    def lost_in_a_record(x: int) -> Strange:
        return Strange(x)

    def every(xs: list[int]) -> int:
        return len(xs)

    def pairs(xs: dict[str, tuple[int, str]], others: tuple[int, ...] = (), more: Sequence[int] = ()) -> int:
        return len(xs)

    def rows(xs: list[Row]) -> int:
        return len(xs)

    def nested(x: Nested) -> int:
        return 0

    def vectors(xs: Union[list[Vector], list[float]], y: Vector) -> int:
        return len(xs)

    def either(x: Union[float, Vector]) -> "Vector | float":
        return x

    def boxed(pair: Boxed[int]) -> int:
        return pair[0]

    def lost_in_a_function(x: int) -> int:
        class Local:
            pass

        def inner(x: "Local") -> int:
            return 0

        return inner(Local())

    def unboxed(x: B, cls: type[B]) -> B:
        return x

    def lost(x: "Unknown") -> int:
        return 0

    def lost_inside(x: int) -> list["Unknown"]:
        return []

    class Box(Generic[T]):
        def same(self, other: "Box[T]") -> "Box[T]":
            return other

        def chain(self) -> Self:
            return self

        @property
        def size(self) -> int:
            return "large"

        @staticmethod
        def make(n: int) -> "Box[int]":
            return Box()

    @dataclasses.dataclass(frozen=True)
    class Pair:
        left: Float[Array, " n"]
        right: Float[Array, " n"]

    class Cell(eqx.Module):
        weight: Float[Array, "n n"]

        def __call__(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
            return self.weight @ x
"""


@pytest.fixture(scope="module", params=["", "from __future__ import annotations"], ids=["", "strings"])
def planted(request, tmp_path_factory):
    """A module under the hook of this suite; once more with every annotation a string (PEP 563)."""
    name = f"planted_{len(request.param)}"
    folder = tmp_path_factory.mktemp(name)
    (folder / f"{name}.py").write_text(request.param + "\n" + textwrap.dedent(PLANTED))
    sys.path.insert(0, str(folder))
    try:
        with install_import_hook(name, "cdl.testing.typechecked"):
            yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def test_right_calls_pass(planted):
    x = jnp.ones(3)
    assert planted.dot(x, x) == 3
    assert planted.total(1.0, 2.0, n=3) == 6
    assert planted.either(1.5) == 1.5
    assert planted.every([1, 2]) == 2
    assert planted.pairs({"a": (1, "b")}, (1, 2), [3]) == 1
    assert planted.rows([planted.Row(1), planted.Row(2, ("a",))]) == 2
    assert planted.nested([[1], []]) == 0
    assert planted.vectors([x], x) == planted.vectors([1.0], x) == 1
    box = planted.Box()
    assert planted.boxed((1, box)) == 1
    assert planted.unboxed(box, planted.Box) is box
    assert box.same(box).chain() is planted.Box.make(1).same(box)
    assert planted.Cell(jnp.eye(3))(x).shape == planted.Pair(x, x).left.shape


def ones(*shape):
    return jnp.ones(shape)


WRONG = {
    "an argument of another length": lambda m: m.dot(ones(3), ones(4)),
    "an argument of another dtype": lambda m: m.first(ones(3, 2)),
    "a result of another length": lambda m: m.first(jnp.ones((3, 2), int)),
    "a result of another type": lambda m: m.Box().size,
    "a later member of a list": lambda m: m.every([1, "a"]),
    "a key of a dictionary": lambda m: m.pairs({1: (1, "b")}),
    "a pair of another length": lambda m: m.pairs({"a": (1, "b", "c")}),
    "a later member of a tuple of any length": lambda m: m.pairs({}, (1, "a")),
    "a later member of a sequence": lambda m: m.pairs({}, (), [1, "a"]),
    "a tuple for a named tuple": lambda m: m.rows([(1, ())]),
    "a member of an alias that contains itself": lambda m: m.nested([[1], ["a"]]),
    "another length than that of a list's vectors": lambda m: m.vectors([ones(3)], ones(4)),
    "one of many named arguments": lambda m: m.total(n=1.5),
    "no member of a union": lambda m: m.either("a"),
    "an alias with an argument": lambda m: m.boxed((1, 2)),
    "a variable with a bound": lambda m: m.unboxed(3, m.Box),
    "a class that names itself": lambda m: m.Box().same(3),
    "a static method": lambda m: m.Box.make("a"),
    "a dataclass whose fields differ": lambda m: m.Pair(ones(3), ones(4)),
    "a module's field": lambda m: m.Cell(ones(2, 3)),
    "under jit": lambda m: jax.jit(m.dot)(ones(3), ones(4)),
    "under jit of vmap of grad": lambda m: jax.jit(jax.vmap(jax.grad(m.dot)))(ones(5, 3), ones(5, 4)),
    "a method under jit": lambda m: eqx.filter_jit(m.Cell(ones(2, 2)))(ones(2, 2)),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_call_raises(planted, call):
    with pytest.raises(TypeCheckError, match="Type-check error whilst checking"):
        call(planted)


@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("lost", "Unknown"),
        ("lost_inside", "Unknown"),
        ("lost_in_a_record", "Unknown"),
        ("lost_in_a_function", "Local"),
    ],
)
def test_an_annotation_that_names_something_unknown_raises(planted, name, unknown):
    message = rf"`planted_\d+\.{name}\S*` cannot be resolved.*'{unknown}' is not defined"
    with pytest.raises(AnnotationError, match=message):
        getattr(planted, name)(3)


def test_without_the_hook_the_checker_is_a_decorator():
    from cdl.testing import typechecked

    @typechecked
    def double(x: int) -> int:
        return 2 * x if x else None

    assert double(2) == 4
    with pytest.raises(typeguard.TypeCheckError, match="str is not an instance of int"):
        double("a")
    with pytest.raises(typeguard.TypeCheckError, match="NoneType is not an instance of int"):
        double(0)
    assert typechecked(abs) is abs


def test_the_hook_has_instrumented_every_module_of_cdl():
    import cdl

    ours = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("cdl", "cdl_arch")}
    assert cdl.__name__ in ours
    unchecked = [name for name, m in ours.items() if not type(m.__loader__).__module__.startswith("jaxtyping")]
    assert unchecked == []


def test_a_wrong_call_of_cdl_itself_raises():
    import cdl

    with pytest.raises(TypeCheckError, match=r"the parameters of cdl\._functors\.base\.project"):
        cdl.functors.project(3)
