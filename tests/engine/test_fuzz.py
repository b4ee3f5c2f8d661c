"""Random programs of cdl: each compiled form gives what its definitions give, or refuses by name (see `fuzz`).

A failure prints its program, as it was drawn; `make fuzz ARGS="--seed 3 --seconds 1"` prints a smaller one.
"""

import dataclasses
import inspect
import random
from collections import Counter
from dataclasses import replace

import jax
import pytest
from few import few
from fuzz import cases, cells, families, forms, growth, judge, lists, parts, payloads, table
from fuzz.algebras import CARRIERS, REDUCTIONS
from fuzz.shrink import shrink
from fuzz.trees import nodes


SEEDS = (*few((1, 7, 12, 65, 6, 8, 9, 11, 24, 25, 27, 37, 41, 49, 55), 0, 1, 2, 3),)


def holds(case, of=judge.run):
    """Whether a case is `equal`, or `refused` by name; it fails otherwise."""
    verdict = of(case)
    if verdict.kind not in ("equal", "refused"):
        pytest.fail(f"{verdict.why}\n{verdict.detail}\n\n{case.program}", pytrace=False)
    return verdict.kind


def drawn(seed):
    return cases.draw(random.Random(f"case {seed}"))


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_forms_of_a_random_family_agree_with_their_definitions(seed):
    found = Counter(holds(case) for case in drawn(seed))
    assert found["equal"] > found["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1200, 10))
def test_compiled_forms_of_many_random_families_agree_with_their_definitions(first):
    found = Counter(holds(case) for seed in range(first, first + 10) for case in drawn(seed))
    assert found["equal"] > 4 * found["refused"]


def test_everything_that_there_is_to_draw_is_drawn():
    every = [case for seed in range(600) for case in drawn(seed)]
    text = "\n".join(case.body for case in every[::4])
    assert {case.form for case in every} == {*forms.FORMS, *growth.FORMS, *lists.FORMS}
    assert {case.transform for case in every} == {*cases.TRANSFORMS}
    assert {case.family.sorts for case in every} == {1, 2, 3, 4}
    terms = [t for case in every for c in case.family.constructors for t in c.terms]
    assert {t[0] for t in terms} == {"x", "maybe", "pair", "list", "many", "data"}
    assert {"tuple", "dict", "maybe", "scalar", "py"} <= {t[1][0] for t in terms if t[0] == "data"}
    assert all(f'"{dtype}")' in text for dtype in payloads.WIDE)
    assert max(len(c.fields) for case in every for c in case.family.constructors) == 70
    assert max(len(case.family.constructors) for case in every) == 40
    algebras = [case.algebra for case in every if not case.lists]
    assert {a.style for a in algebras} == {"hash", "float", "number"}
    assert {c for a in algebras for c in a.carriers} == {*CARRIERS}
    assert {w for a in algebras for w in a.ways.values()} == {*REDUCTIONS}
    assert {c for a in algebras for c in a.cells.values()} >= cells.EVERY.keys() - {"Dropout"}


def test_a_program_stands_alone(capsys):
    with judge.as_a_user(False):
        exec(compile(drawn(1)[0].program, "<program>", "exec"), {"__name__": "alone"})
    printed = capsys.readouterr().out
    assert printed.count("by plain recursion") == printed.count("compiled") == 1
    assert "raises" not in printed


def test_a_form_that_differs_is_found_and_made_smaller(monkeypatch):
    import cdl

    fold = cdl.fold
    wrong = lambda alg, data, **options: jax.tree.map(lambda x: x.at[-1].add(1), fold(alg, data, **options))
    case = next(c for seed in range(99) for c in drawn(seed) if c.form == "fold" and c.algebra.style == "hash")
    monkeypatch.setattr(cdl, "fold", wrong)
    assert judge.run(case) == judge.Verdict("failure", "fold, value differs: values")


ROUNDED = {
    "in bfloat16": lambda x: x.astype("bfloat16").astype("float32"),
    "by a constant": lambda x: x * 1.002,
}


@pytest.mark.parametrize("how", ROUNDED)
def test_digits_that_a_definition_has_are_not_excused(monkeypatch, how):
    import cdl

    fold = cdl.fold
    case = next(c for s in range(99) for c in drawn(s) if c.form == "fold" and c.algebra.dtypes == ("float32",))
    single = lambda x: ROUNDED[how](x) if x.dtype == jax.numpy.float32 else x
    monkeypatch.setattr(cdl, "fold", lambda alg, data, **options: jax.tree.map(single, fold(alg, data, **options)))
    assert judge.run(case).why == "fold, value differs: values"


def test_digits_that_a_definition_has_lost_itself_are_excused():
    """`standardize` of three equal numbers makes much of the last digit of each."""
    names = ("standardize",)
    case = dataclasses.replace(table.case("fold", "value", dict.fromkeys(table.PLACES, names)), x64=False)
    case = dataclasses.replace(case, algebra=dataclasses.replace(case.algebra, dtypes=("float32",)))
    wrong = judge.Verdict("failure", "differs: values", "", judge_pair(case))
    assert judge._excused(case, wrong)


def judge_pair(case):
    """What is compiled, a little off, and what is right."""
    with judge.as_a_user(case.x64):
        names = judge.made(case)
        plain = names["plain"](names["PARAMS"])
        return jax.tree.map(lambda x: x * (1 + 1e-7), plain), plain


def test_what_is_found_is_made_smaller():
    """Of a tree that fails where it has a `Many` with a child, that node and its child are left."""
    kinds = lambda case: {c.name: c.terms for c in case.family.constructors}
    fails = lambda case: any(
        term[0] == "many" and value
        for tree in case.trees
        for node in nodes(tree)
        for value, term in zip(node.fields, kinds(case)[node.name], strict=True)
    )
    case = next(c for seed in range(99) for c in drawn(seed) if not c.lists and len(c.trees) > 4 and fails(c))
    small = shrink(case, fails, 20)
    assert fails(small)
    assert len(small.trees) == 1
    assert small.nodes == 1 + min(n for s, n in small.family.costs.items())
    assert sum(len(c.fields) for c in small.family.constructors) <= 2
    assert small.algebra.cells == {}
    assert not replace(small, form="fold").algebra.keyed


def apart(make, names, of=judge.run):
    """Cells all at once; where that fails, each alone, so that the failure names them."""
    if of(make(names)).kind == "equal":
        return
    alone = {name: of(make((name,))) for name in names}
    pytest.fail("\n".join(f"{n}: {v.why}" for n, v in alone.items() if v.kind != "equal") or "only together")


SLOW_PLACES = [pytest.param(p, marks=pytest.mark.slow) for p in ("Two.f0", "Two.f1", "Row.f0")]


@pytest.mark.parametrize("place", ["One.f0", "Some.f0", "Some.f0'", *SLOW_PLACES])
def test_each_cell_is_traced_at_each_place(place):
    apart(lambda names: table.case("fold", "value", {place: names}), table.NO_KEY, judge.traced)


def test_each_cell_is_traced_backwards_inside_of_map():
    apart(lambda names: table.case("fold", "gradient", {"Some.f0'": names}), table.NO_KEY, judge.traced)


@pytest.mark.parametrize("form", few(["annotate", "inherit", "follow", "refold"], 1, 3))
def test_cells_are_traced_in_other_forms(form):
    some = table.NO_KEY[::3]
    apart(lambda names: table.case(form, "value", {"One.f0": names}), some, judge.traced)


@pytest.mark.parametrize("form", few(["seq", "run"], 1))
def test_each_cell_agrees_on_lists_and_in_machines(form):
    apart(lambda names: table.of_lists(form, "value", names), table.NO_KEY)


def test_each_cell_agrees_at_one_of_the_places():
    assert holds(table.case("fold", "value", table.dealt(table.NO_KEY, 0))) == "equal"


def test_cells_without_a_gradient_agree_at_each_place():
    apart(lambda names: table.case("fold", "value", dict.fromkeys(table.PLACES, names)), tuple(cells.FORWARD))


@pytest.mark.parametrize("style", ["hash", "float"])
def test_cases_that_differ_in_what_their_cells_close_over_are_kept_apart(style):
    names = tuple(cells.WORDS) if style == "hash" else (*cells.CONTROL, *cells.FORWARD)
    apart(lambda names: table.twins(names, style), names)


@pytest.mark.parametrize("form", ["fold", "inherit", "seq"])
def test_what_cells_read_from_outside_is_read_at_each_call(form):
    some = tuple(name for name in cells.CONTROL if name.startswith("setting"))
    made = table.of_lists(form, "changed", some) if form == "seq" else table.case(form, "changed", {"One.f0": some})
    assert holds(made) == "equal"


def test_cells_with_a_key_agree_at_some_places():
    at = {p: (name,) for p, name in zip(table.PLACES, 2 * tuple(cells.KEYED), strict=True)}
    assert holds(table.case("fold", "value", at, keyed=True)) == "equal"


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(len(table.PLACES)))
def test_each_cell_agrees_at_each_place_with_its_gradient(turn):
    assert holds(table.case("fold", "gradient", table.dealt(table.NO_KEY, turn))) == "equal"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["annotate", "inherit", "inherit_values", "follow", "refold", "unfold"])
def test_each_cell_agrees_in_other_forms_with_its_gradient(form):
    apart(lambda names: table.case(form, "gradient", {"One.f0": names}), table.NO_KEY)


@pytest.mark.slow
@pytest.mark.parametrize("form", lists.FORMS)
def test_each_cell_agrees_on_lists_with_its_gradient(form):
    apart(lambda names: table.of_lists(form, "gradient", names), table.NO_KEY)


def test_the_table_has_every_function_of_jax_nn():
    aside = {"initializers", "scaled_matmul", "scaled_dot_general", "get_scaled_dot_general_config"}
    found = " ".join(cells.FUNCTIONS.values()) + inspect.getsource(parts.attending)
    assert {n for n in dir(jax.nn) if not n.startswith("_") and f"jax.nn.{n}" not in found} <= aside


def test_families_have_finite_trees():
    for seed in range(300):
        rng = random.Random(f"family {seed}")
        family = families.draw(rng, False)
        assert family.costs.keys() == set(range(family.sorts))
