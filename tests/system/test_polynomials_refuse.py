"""What polynomials and their maps answer to what is none."""

import operator
from typing import Any

import pytest

from cdl.errors import CdlError
from cdl.system import DependentLens, Polynomial


P = Polynomial({"a": [0, 1], "b": []})
SENT: Any = {"a": ("a", (0, 1)), "b": ("b", ())}
LENS: Any = DependentLens(P, P, SENT)
ODD: Any = 3


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.matmul])
def test_a_polynomial_is_put_together_with_a_polynomial(op):
    with pytest.raises(CdlError, match=r"must be a `Polynomial`|must be `Polynomial`"):
        op(P, ODD)
    with pytest.raises(CdlError, match=r"3 and y² \+ 1 have no such sum, product or power"):
        op(ODD, P)


@pytest.mark.parametrize(
    "make",
    [
        lambda: P**ODD,
        lambda: P ** (-1),
        lambda: P.then(ODD),
        lambda: P.count(ODD),
        lambda: P.at(ODD),
        lambda: Polynomial.monomial(ODD, ODD),
        lambda: DependentLens.identity(ODD),
        lambda: LENS >> ODD,
        lambda: LENS @ ODD,
        lambda: DependentLens(ODD, P, SENT),
        lambda: DependentLens(P, P, ODD),
    ],
)
def test_what_is_no_polynomial_or_lens_is_refused(make):
    with pytest.raises(CdlError):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Polynomial({"a": [[1]]}), r"'a' has directions \[\[1\]\]: give hashable values"),
        (lambda: Polynomial({"a": ODD}), "must be"),
        (lambda: DependentLens(P, P, {**SENT, "z": ("a", (0, 1))}), r"'z' is sent, and is none of the positions"),
        (lambda: DependentLens(P, P, {"a": SENT["a"]}), "'b' is sent nowhere"),
        (lambda: DependentLens(P, P, {**SENT, "a": ODD}), r"'a' goes with 3: give `\(position, directions back\)`"),
        (lambda: DependentLens(P, P, {**SENT, "a": ("a", ODD)}), r"'a' goes with \('a', 3\): give"),
        (lambda: DependentLens(P, P, {**SENT, "a": ("a", (0, 1), 5)}), r"'a' goes with .*5\): give"),
        (lambda: DependentLens(P, P, {**SENT, "a": ([], (0, 1))}), r"directions back\)`, hashable values"),
        (lambda: DependentLens(P, P, {**SENT, "a": ("a", ([], 1))}), r"directions back\)`, hashable values"),
        (lambda: LENS.back("z", 0), r"'z' is not a position of this lens here: these are \['a', 'b'\]"),
        (lambda: LENS.back([], 0), r"\[\] is not a position of this lens"),
        (lambda: LENS.back("a", 9), r"9 is not a direction of this lens here: these are \[0, 1\]"),
        (lambda: LENS.at(ODD), "`element` of `DependentLens.at` is 3, and must be"),
        (lambda: LENS.at(("z", ())), "'z' is not a position of this lens"),
        (lambda: LENS.at(("a", (1,))), "has 1 values, and 'a' has 2 directions: give a value for each"),
        (lambda: LENS.at(("a", (1, 2, 3))), "has 3 values, and 'a' has 2 directions"),
    ],
)
def test_odd_values_are_named(make, words):
    with pytest.raises(CdlError, match=words):
        make()


def test_a_lens_given_by_lists_is_that_given_by_tuples():
    assert DependentLens(P, P, {"a": ["a", [0, 1]], "b": ["b", []]}) == LENS  # type: ignore[arg-type]
    assert LENS.at(("a", ([], {}))) == ("a", ([], {}))
