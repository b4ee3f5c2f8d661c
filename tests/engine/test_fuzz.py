"""Random programs of cdl: each compiled form gives what its definitions give, or refuses by name (see `fuzz`).

A failure prints its program, as it was drawn; `make fuzz ARGS="--seed 3 --seconds 1"` prints a smaller one.
"""

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


SEEDS = (*few((1, 7, 65, 12, 6, 8, 9, 11, 24, 25, 27, 37, 41, 49, 55), 0, 1, 2),)


def holds(case, of=judge.run):
    """Whether a case is `equal`, or `refused` by name; it fails otherwise."""
    verdict = of(case)
    if verdict.kind not in ("equal", "refused"):
        pytest.fail(f"{verdict.why}\n{verdict.detail}\n\n{case.program}", pytrace=False)
    return verdict.kind


def drawn(seed):
    return cases.draw(random.Random(f"case {seed}"))


def first(wanted):
    """The first case that is drawn of some kind."""
    return next(case for seed in range(99) for case in drawn(seed) if wanted(case))


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_forms_of_a_random_family_agree_with_their_definitions(seed):
    found = Counter(holds(case) for case in drawn(seed))
    assert found["equal"] > found["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1200, 10))
def test_compiled_forms_of_many_random_families_agree_with_their_definitions(first):
    found = Counter(holds(case) for seed in range(first, first + 10) for case in drawn(seed))
    assert found["equal"] > 4 * found["refused"]


@pytest.fixture
def clear():
    """No program that was made as for another platform."""
    jax.clear_caches()
    yield
    jax.clear_caches()


SIDES = [
    ("fold", "gradient", "Linear", "an accelerator"),
    ("follow", "gradient", "Linear", "a CPU"),
    ("refold", "gradient", "Linear", "a CPU"),
    ("fold", "gradient", "scan", "a CPU"),
    ("inherit_values", "gradient", "Linear", "a CPU"),
    ("unfold_key", "gradient", "Linear", "a CPU"),
    ("inherit_values", "gradient", "scan", "an accelerator"),
    ("annotate", "gradient", "custom_vjp", "an accelerator"),
    ("follow", "gradient", "scan", "a CPU, weights apart"),
    ("refold", "gradient", "cond", "an accelerator"),
]


@pytest.mark.parametrize(("form", "transform", "cell", "platform"), few(SIDES, 0, 1, 2))
def test_constructors_that_share_programs_agree_on_each_platform(form, transform, cell, platform, clear):
    assert holds(table.sides(form, transform, cell), lambda case: judge.run_for(platform, case)) == "equal"


def test_everything_that_there_is_to_draw_is_drawn():
    every = [case for seed in range(600) for case in drawn(seed)]
    assert {case.form for case in every} == {*forms.FORMS, *growth.FORMS, *lists.FORMS}
    assert {case.transform for case in every} == {*cases.TRANSFORMS}
    assert {case.family.sorts for case in every} == {1, 2, 3, 4}
    terms = [t for case in every for c in case.family.constructors for t in c.terms]
    assert {t[0] for t in terms} == {"x", "maybe", "pair", "list", "many", "data"}
    data = [t[1] for t in terms if t[0] == "data"]
    assert {"tuple", "dict", "maybe", "scalar", "py"} <= {kind[0] for kind in data}
    assert {kind[1] for kind in data if kind[0] == "array"} == {*payloads.WIDE}
    assert max(len(c.fields) for case in every for c in case.family.constructors) == 70
    assert max(len(case.family.constructors) for case in every) == 40
    algebras = [case.algebra for case in every if not case.lists]
    assert {a.style for a in algebras} == {"hash", "float", "number"}
    assert {(a.stacked, a.closed, a.keyed) for a in algebras} >= {(1, 1, 0), (1, 0, 1), (0, 0, 1), (0, 1, 0)}
    assert {c for a in algebras for c in a.carriers} == {*CARRIERS}
    assert {w for a in algebras for w in a.ways.values()} == {*REDUCTIONS}
    assert {c for a in algebras for c in a.cells.values()} >= cells.EVERY.keys() - {"Dropout"}


def test_a_program_stands_alone(capsys):
    with judge.as_a_user(False):
        exec(compile(drawn(1)[0].program, "<program>", "exec"), {"__name__": "alone"})
    printed = capsys.readouterr().out
    assert printed.count("by plain recursion") == printed.count("compiled") == 1
    assert "raises" not in printed


WRONG = {
    "one": ("hash", lambda x: x.at[-1].add(1)),
    "in bfloat16": ("float", lambda x: x.astype("bfloat16").astype("float32")),
    "by a constant": ("float", lambda x: x * 1.002),
}


@pytest.mark.parametrize("how", WRONG)
def test_a_form_that_differs_is_found(monkeypatch, how):
    import cdl

    fold, (style, change) = cdl.fold, WRONG[how]
    number = lambda x: change(x) if x.dtype in ("float32", "uint32") else x
    case = first(lambda c: c.form == "fold" and c.algebra.style == style and c.algebra.dtypes == ("float32",))
    monkeypatch.setattr(cdl, "fold", lambda alg, data, **options: jax.tree.map(number, fold(alg, data, **options)))
    assert judge.run(case) == judge.Verdict("failure", f"fold, {case.transform} differs: values")


def test_digits_that_a_definition_has_lost_itself_are_excused():
    """`standardize` of three equal numbers makes much of the last digit of each."""
    case = replace(table.case("fold", "value", dict.fromkeys(table.PLACES, ("standardize",))), x64=False)
    case = replace(case, algebra=replace(case.algebra, dtypes=("float32",)))
    with judge.as_a_user(case.x64):
        names = judge.made(case)
        plain = names["plain"](names["PARAMS"])
        pair = jax.tree.map(lambda x: x * (1 + 1e-7), plain), plain
    assert judge._excused(case, judge.Verdict("failure", "differs: values", "", pair))


def test_what_is_found_is_made_smaller():
    """Of a tree that fails where it has a `Many` with a child, that node and its child are left."""
    kinds = lambda case: {c.name: c.terms for c in case.family.constructors}
    fails = lambda case: any(
        term[0] == "many" and value
        for tree in case.trees
        for node in nodes(tree)
        for value, term in zip(node.fields, kinds(case)[node.name], strict=True)
    )
    small = shrink(first(lambda c: not c.lists and len(c.trees) > 4 and fails(c)), fails, 20)
    assert fails(small)
    assert len(small.trees) == 1
    assert small.nodes == 1 + min(n for s, n in small.family.costs.items())
    assert sum(len(c.fields) for c in small.family.constructors) <= 2
    assert small.algebra.cells == {}
    assert not replace(small, form="fold").algebra.keyed


def apart(make, names):
    """Cells all at once; where that fails, each alone, so that the failure names them."""
    if judge.run(make(names)).kind == "equal":
        return
    alone = {name: judge.run(make((name,))) for name in names}
    pytest.fail("\n".join(f"{n}: {v.why}" for n, v in alone.items() if v.kind != "equal") or "only together")


def one_of(names):
    """Some cells, each at one of the places."""
    at = table.dealt(table.NO_KEY, 0)
    return {place: tuple(n for n in some if n in names) or ("identity",) for place, some in at.items()}


@pytest.mark.parametrize("transform", ["value", "gradient"])
def test_each_cell_agrees_at_one_of_the_places(transform):
    apart(lambda names: table.case("fold", transform, one_of(names)), table.NO_KEY)


OTHERS = [
    ("seq", "gradient", 3), ("inherit", "gradient", 12), ("run", "value", 3), ("follow", "gradient", 4),
    *((form, "gradient", 1) for form in ("annotate", "inherit_values", "refold")),
    *((form, "gradient", 1) for form in ("seq", "packed", "prefixes", "packed_prefixes", "run", "run_seq")),
]  # fmt: skip


@pytest.mark.parametrize(("form", "transform", "every"), few(OTHERS, 0, 1, 2))
def test_cells_agree_in_other_forms(form, transform, every):
    of_trees = lambda names: table.case(form, transform, {"One.f0": names})
    of_lists = lambda names: table.of_lists(form, transform, names)
    apart(of_lists if form in lists.FORMS else of_trees, table.NO_KEY[::every])


def test_cells_without_a_gradient_agree_at_each_place():
    apart(lambda names: table.case("fold", "value", dict.fromkeys(table.PLACES, names)), tuple(cells.FORWARD))


@pytest.mark.parametrize("style", ["hash", "float"])
def test_cases_that_differ_in_what_their_cells_close_over_are_kept_apart(style):
    names = tuple(cells.WORDS) if style == "hash" else (*cells.CONTROL, *cells.FORWARD)
    apart(lambda names: table.twins(names, style), names)


def test_cells_with_a_key_agree_at_some_places():
    at = {p: (name,) for p, name in zip(table.PLACES, 2 * tuple(cells.KEYED), strict=True)}
    assert holds(table.case("fold", "value", at, keyed=True)) == "equal"


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(1, len(table.PLACES)))
def test_each_cell_agrees_at_each_place_with_its_gradient(turn):
    assert holds(table.case("fold", "gradient", table.dealt(table.NO_KEY, turn))) == "equal"


def test_the_table_has_every_function_of_jax_nn():
    aside = {"initializers", "scaled_matmul", "scaled_dot_general", "get_scaled_dot_general_config"}
    found = " ".join(cells.FUNCTIONS.values()) + inspect.getsource(parts.attending)
    assert {n for n in dir(jax.nn) if not n.startswith("_") and f"jax.nn.{n}" not in found} <= aside


def test_families_have_finite_trees():
    for seed in range(300):
        rng = random.Random(f"family {seed}")
        family = families.draw(rng, False)
        assert family.costs.keys() == set(range(family.sorts))
