"""A payload that is compared with a text where no bytecode tells: in a helper, with a variable, a field of a module."""

import operator
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import algebra, cata, CdlError, fold, Fork, Leaf, pack, TreeF
from cdl.trees import Vocabulary


PRICE = "price"
TREE = Fork(Leaf("price"), Leaf("so"))
WORDS = Vocabulary.of([TREE])


class Names(eqx.Module):
    """An algebra that counts the leaves of which `asks` is true."""

    asks: Callable[[Any, Any], Any] = eqx.field(static=True)
    name: str = eqx.field(static=True, default="price")
    names: tuple[str, ...] = eqx.field(static=True, default=("no", "price"))

    def __call__(self, layer: TreeF[Any, Any]) -> Any:
        match layer:
            case Leaf(word):
                return 1.0 * bool(self.asks(self, word))
            case Fork(left, right):
                return left + right


def of_a_variable(_: Names, word: Any) -> bool:
    name = PRICE
    return bool(word == name)


def of_a_variable_first(_: Names, word: Any) -> bool:
    name = PRICE
    return bool(name == word)


def by_a_pattern(_: Names, word: Any) -> bool:
    match word:
        case "price":
            return True
    return False


def not_equal(cell: Names, word: Any) -> bool:
    return not word != cell.name


COMPARE: dict[str, Callable[[Names, Any], Any]] = {
    "a variable": of_a_variable,
    "a variable, first": of_a_variable_first,
    "a pattern": by_a_pattern,
    "not equal": not_equal,
    "a field": lambda cell, word: word == cell.name,
    "an operator": lambda cell, word: operator.eq(word, cell.name),
    "a tuple": lambda cell, word: (word, 1) == (cell.name, 1),
    "one of several": lambda cell, word: word in cell.names,
    "among others": lambda cell, word: cell.name in [word],
    "how often": lambda cell, word: cell.names.count(word),
    "each": lambda cell, word: any(word == name for name in cell.names),
}


@pytest.mark.parametrize("how", COMPARE)
def test_a_payload_that_is_compared_with_a_text_is_refused_where_it_is_asked(how: str):
    cell = Names(COMPARE[how])
    assert cata(algebra(cell))(TREE) == 1.0
    with pytest.raises(
        CdlError, match=r"`Names` asks whether a payload is the text '(price|no)' at `Leaf`: .*words.id"
    ):
        fold(algebra(cell), pack(TreeF, [WORDS.encode(TREE)]))


ASK: dict[str, tuple[Callable[[Names, Any], Any], str]] = {
    "str": (lambda cell, word: str(word) == cell.name, "asks for the text of a payload at `Leaf`.*words.id"),
    "a method": (lambda cell, word: word.startswith("pr"), r"uses `.startswith` of a payload at `Leaf`. .*words.id"),
    "a key": (lambda cell, word: {cell.name: True}.get(word), "hashes a number at `Leaf`"),
    "an order": (lambda cell, word: word < "q", "fails for `Leaf.*'<' not supported"),
}


@pytest.mark.parametrize("how", ASK)
def test_what_only_a_text_answers_is_refused(how: str):
    asks, told = ASK[how]
    assert cata(algebra(Names(asks)))(TREE) == 1.0
    with pytest.raises(CdlError, match=told):
        fold(algebra(Names(asks)), pack(TreeF, [WORDS.encode(TREE)]))


def text_of(word: Any) -> str:
    return str(word)


def test_a_question_is_seen_after_python_made_the_call_faster():
    """Python 3.11 specialises a call that it has run some ten times, and its frame is at another instruction then."""
    assert all(text_of(i) == f"{i}" for i in range(100))
    with pytest.raises(CdlError, match="for the text of a payload"):
        fold(algebra(Names(lambda _, word: text_of(word))), pack(TreeF, [WORDS.encode(TREE)]))


def test_a_payload_may_be_printed(capsys: pytest.CaptureFixture[str]):
    @algebra
    def counts(layer: TreeF[Any, Any]) -> Any:
        match layer:
            case Leaf(word):
                print(word, f"{word}", [word])
                return jnp.where(word == WORDS.id("so"), 1.0, 0.0)
            case Fork(left, right):
                print(str(left))
                return left + right

    assert fold(counts, pack(TreeF, [WORDS.encode(TREE)])).tolist() == [1.0]
    assert "int32" in capsys.readouterr().out


def test_a_method_that_arrays_do_not_have_is_not_told_as_one_of_texts():
    """`split` of a hidden state, as in PyTorch."""
    with pytest.raises(AttributeError, match="split"):
        fold(algebra(lambda layer: jnp.ones(4).split(2)), pack(TreeF, [Leaf(1)]))
    halves = lambda layer: layer.label.split(2)
    with pytest.raises(AttributeError, match="split"):
        fold(algebra(halves), pack(TreeF, [Leaf(jnp.ones(4))]))


def as_jax(x: Any) -> Any:
    return x if isinstance(x, jax.Array) else jnp.asarray(x)


def test_an_array_of_real_numbers_may_be_asked_if_it_is_one():
    """It is one of NumPy or JAX in the definition, and either way an array."""
    total = algebra(lambda layer: as_jax(layer.label).sum())
    assert fold(total, pack(TreeF, [Leaf(np.ones(4, np.float32))])).tolist() == [4.0]


def test_a_text_in_a_static_field_may_be_compared_with_another():
    def named(cell: Names, word: Any) -> Any:
        return jnp.where(word == 2, 1.0, 0.0) if str(cell.name) == "price" and isinstance(cell.name, str) else 0.0

    class Steers(Names):
        def __call__(self, layer: TreeF[Any, Any]) -> Any:
            match layer:
                case Leaf(word):
                    return self.asks(self, word)
                case Fork(left, right):
                    return left + right

    found = fold(algebra(Steers(named)), pack(TreeF, [Fork(Leaf(2), Leaf(1))]))
    assert jax.tree.leaves(found)[0].tolist() == [1.0]
